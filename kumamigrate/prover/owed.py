"""What a change owes: slot by slot and proxy by proxy, `after == goal or after == current`.

A proof of a change compares what the claim wants (goal) with what proxies read after it. Where the
two differ, the state that the change begins with is read for the very same proxy: a value that
stood there already, the change has left as it is (prover.md §2).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.effective.difference import Witness
from kumamigrate.model.state import State
from kumamigrate.prover.claims.carry import UNSET
from kumamigrate.prover.oldengine import OldEngine
from kumamigrate.prover.slots.mesh import MeshComparison
from kumamigrate.universe.reach import Reach
from kumamigrate.universe.side import Side
from kumamigrate.universe.traffic import Outbound


@dataclass(frozen=True)
class Begun:
    """What a change begins with: what the claim wants of it, and the state itself.

    `activated` are the slots in which the change lets values begin to work: there is nothing left
    as it was, and the goal is owed, whichever proxy is asked.
    """

    goal: State
    current: State
    activated: frozenset[tuple[str, ...]] = frozenset()

    def of_mesh(self, mesh: str) -> Begun:
        """Return the same for one mesh."""
        return replace(self, goal=self.goal.mesh(mesh), current=self.current.mesh(mesh))


@dataclass(frozen=True)
class Owed:
    """`pair` holds the goal and the state that a change begins with; `after` is the one after it,
    on a release that ends outbounds by tag where `tags_end` says so.

    What the goal is may differ from the goal that the change is held to: then a difference counts
    as the same one only where both goals agree as well.
    """

    pair: MeshComparison
    after: Side
    activated: frozenset[tuple[str, ...]] = frozenset()
    tags_end: bool = False

    @cached_property
    def old(self) -> OldEngine:
        """What the old engine has a say in, where the change begins."""
        return OldEngine(self.pair, tags_end=self.tags_end)

    @property
    def reach(self) -> Reach:
        """What the policies are about that stand where the change begins."""
        return self.pair.reaches[1]

    @cached_property
    def _written(self) -> frozenset[str]:
        """The types that the change touches."""
        old, new = self.pair.after.kinds, self.after.kinds
        return frozenset(kind for kind in {*old, *new} if old.get(kind) != new.get(kind))

    def left(self, found: Sequence[Witness], stood: Sequence[Witness]) -> tuple[Witness, ...]:
        """Return the differences of a proxy without those that stood there before the change.

        A route that is compared only now, or a cluster that it leads to, shows again what the
        service itself showed already, of types that the change does not touch.
        """
        if self.tags_end:
            found = [witness for witness in found if not _of_release(witness)]
        if not found or not stood:
            return tuple(found)
        known = {witness.key[1:] for witness in stood}
        known_there = {_at_service(witness) for witness in stood}
        return tuple(
            witness
            for witness in found
            if (witness.key[1:] not in known or witness.slot in self.activated)
            and (witness.policy_type in self._written or _at_service(witness) not in known_there)
        )

    def is_led_to(self, witness: Witness) -> bool:
        """Whether a difference shows at a cluster that is another service's, of which the change
        says nothing itself: it may have stood at that service's own outbound."""
        return ">" in witness.place and witness.policy_type not in self._written


def _of_release(witness: Witness) -> bool:
    """Whether a release alone brings a difference, of what no policy says of an outbound by tag,
    whichever change lets the real one come that takes its place (legacy-notes C16)."""
    by_tag = witness.outbound is Outbound.SERVICE_TAG and witness.policy_type in UNSET
    return by_tag and not (witness.before.policy or witness.after.policy)


def _at_service(witness: Witness) -> tuple[str, ...]:
    """Return a difference without the route it shows at or that leads to it, and who makes it."""
    place = witness.place.rpartition(">")[2]
    key = replace(witness, route=None, place=place).key[1:]
    return (*key, witness.before.policy, witness.after.policy)
