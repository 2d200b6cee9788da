"""Which of two old policies was created later: the old engine's tie-break (legacy.md §2.2–2.4).

Git does not hold creation times. Where they decide, the answer is a `Tie`, never a guess; only
an inventory (which has them) or a state whose file order is the order of creation settles it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from itertools import combinations

from kumamigrate.dataclass import dataclass
from kumamigrate.model.resource import Resource


class Ties(StrEnum):
    """What is known about the order of creation of policies without a creation time."""

    FILE_ORDER = "file-order"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class CreationTie:
    """Policies of equal rank of which the one created last would win, and nobody knows which."""

    policies: tuple[Resource, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the policies, sorted."""
        return tuple(sorted(policy.name for policy in self.policies))


@dataclass(frozen=True, slots=True, kw_only=True)
class Latest:
    """The policy created last, with the tie that this choice breaks, if it is one."""

    policy: Resource
    tie: CreationTie | None = None

    @property
    def policies(self) -> tuple[Resource, ...]:
        """The policies that may have won: several in a tie."""
        return (self.policy,) if self.tie is None else self.tie.policies


Options = tuple[Resource | None, ...]
"""The old policies of which one decides: several in a tie; None where none does."""


def options_of(latest: Latest | None) -> Options:
    """Return the policies that may have won."""
    return (None,) if latest is None else latest.policies


def created_at(policy: Resource) -> datetime | None:
    """Return the creation time of a policy, or None when it has none that can be read."""
    try:
        time = datetime.fromisoformat(policy.created)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def later(first: Resource, second: Resource, position: dict[int, int], ties: Ties) -> bool | None:
    """Say whether `first` was created after `second`; None when that is unknown.

    `position` maps `id(policy)` to its place in the file order.
    """
    one, two = created_at(first), created_at(second)
    if one is not None and two is not None and one != two:
        return one > two
    if ties is Ties.FILE_ORDER and (one is None) == (two is None):
        return position[id(first)] > position[id(second)]
    return None


def latest(policies: Sequence[Resource], ties: Ties) -> Latest:
    """Return the policy created last among policies in file order. `policies` is not empty.

    In a tie the first by name stands in, so that output does not depend on the order of files.
    """
    distinct = _distinct(policies)
    if ties is Ties.UNKNOWN and sum(bool(p.created) for p in distinct) < 2:
        return _of(distinct)  # as files from Git are: no two of them need be compared
    position = {id(policy): index for index, policy in enumerate(policies)}
    return _of([p for p in distinct if not any(later(q, p, position, ties) for q in distinct)])


def _distinct(policies: Sequence[Resource]) -> list[Resource]:
    return list({id(policy): policy for policy in policies}.values())


def _of(policies: Sequence[Resource]) -> Latest:
    if len(policies) == 1:
        return Latest(policy=policies[0])
    named = sorted(policies, key=lambda policy: (policy.namespace, policy.name))
    return Latest(policy=named[0], tie=CreationTie(policies=tuple(named)))


def newest_first(policies: Sequence[Resource], ties: Ties) -> tuple[tuple[Resource, ...], bool]:
    """Return policies of one rank, last created first, and whether that order is known.

    `policies` is in file order; one that stands there twice stays twice (no dedup, §2.4).
    """
    position = {id(policy): index for index, policy in enumerate(policies)}
    distinct = _distinct(policies)
    if any(later(a, b, position, ties) is None for a, b in combinations(distinct, 2)):
        return tuple(sorted(policies, key=lambda p: (p.namespace, p.name))), False
    count = {id(p): sum(bool(later(q, p, position, ties)) for q in distinct) for p in distinct}
    return tuple(sorted(policies, key=lambda policy: count[id(policy)])), True


def merge_ties(ties: Iterable[CreationTie | None]) -> tuple[CreationTie, ...]:
    """Return the distinct ties, in the order of their names."""
    named = {tie.names: tie for tie in ties if tie is not None}
    return tuple(named[names] for names in sorted(named))
