"""Which policies can make two states differ at all: the suspects (prover.md §3, "sequence").

What a proxy reads of a type is decided by the policies that reach it, in Kuma's order: by whom
each chooses, what it says, and all that sorting looks at. Policies of which both states hold one
with the same three are in the same order on both sides, whatever else there is. So a proxy that
only such policies choose reads the same. The others are the suspects.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence

from kumamigrate.dataclass import dataclass
from kumamigrate.model.release import Release
from kumamigrate.model.resource import NAMESPACE, ORIGIN, ZONE, Resource
from kumamigrate.prover.stages.local import said_in
from kumamigrate.targetref.items import top_of
from kumamigrate.targetref.sort import role_of
from kumamigrate.universe.reach import Known, Reach
from kumamigrate.universe.side import ROUTES, Side

Sections = tuple[str, ...]
TO: Sections = ("to",)
INBOUND: Sections = ("rules", "from")
SINGLE: Sections = ("default",)
NOWHERE: Sections = ()
"""Where it only counts whether a policy reaches a proxy."""
ALL_SECTIONS = (TO, INBOUND, SINGLE, NOWHERE)

Speaking = tuple[Known, ...]


@dataclass(frozen=True, slots=True)
class Suspects:
    """The policies of one type by which two states can differ, of either side.

    `every` says that nothing is known to be equal: two releases, or another mesh around it.
    """

    known: frozenset[Known] = frozenset()
    every: bool = False

    def __bool__(self) -> bool:
        return self.every or bool(self.known)

    def among(self, some: Iterable[Known]) -> list[Known]:
        """Return the suspects among some policies."""
        return [known for known in some if self.every or known in self.known]


EVERY = Suspects(every=True)


def either(*found: Suspects) -> Suspects:
    """Return the suspects of several types together."""
    known = frozenset(one for suspects in found for one in suspects.known)
    return Suspects(known, every=any(suspects.every for suspects in found))


class Sequences:
    """Finds suspects, type by type and section by section, once each."""

    def __init__(self, before: Side, after: Side, reaches: tuple[Reach, Reach]) -> None:
        self._sides = (before, after)
        self._reaches = reaches
        self._found: dict[tuple[str, Sections], Suspects] = {}
        self._same_mesh = _is_same_mesh(before, after)

    def suspects(self, policy_type: str, sections: Sections) -> Suspects:
        """Return the suspects of a type, as far as some sections of its policies count."""
        if not self._same_mesh:
            return EVERY
        key = (policy_type, sections)
        if key not in self._found:
            self._found[key] = self._suspects(policy_type, sections)
        return self._found[key]

    def _suspects(self, policy_type: str, sections: Sections) -> Suspects:
        release = self._sides[0].release
        was, now = (
            tuple(k for k in reach.of(policy_type) if speaks(k.policy, sections, side))
            for reach, side in zip(self._reaches, self._sides, strict=True)
        )
        ties = [known for side in (was, now) for known in _tied(side, release)]
        for reach, side in zip(self._reaches, (was, now), strict=True):
            ties += (known for known in side if reach.is_ambiguous(known.policy))
        for told in (self._by_content, _by_meaning(sections, self._sides[0])):
            was, now = _without_equal(was, now, told)
        return Suspects(frozenset((*was, *now, *ties)))

    def _by_content(self, known: Known) -> Hashable:
        # Whom a policy on a route chooses, the route says, as references mean what is there.
        return (self._sides[0].contents.of(known.policy), known.requirement, known.about)


def _is_same_mesh(before: Side, after: Side) -> bool:
    """Say whether all but policies that the matcher sorts is the same on both sides."""
    if before.release != after.release or before.ground != after.ground:
        return False
    if before.state.complete != after.state.complete or after.shares:
        return False
    return all(
        before.kinds.get(kind) == after.kinds.get(kind)
        for kind in {*before.kinds, *after.kinds} - before.release.policy_types.keys()
    )


def speaks(policy: Resource, sections: Sections, side: Side) -> bool:
    """Say whether a policy says anything in some sections, or is there where none is asked for."""
    return not sections or any(section in sections for section, _ in _said(policy, side))


def _said(policy: Resource, side: Side) -> tuple[tuple[str, Hashable], ...]:
    """Return the sections of a policy with what they say, read once for all proofs."""
    side.contents.of(policy)  # which keeps it, so that its id stays its own
    key = ("said", id(policy), side.release.name)
    kept = side.contents.kept
    if key not in kept:
        kept[key] = tuple(said_in(policy, side.release))
    found: tuple[tuple[str, Hashable], ...] = kept[key]
    return found


def _by_meaning(sections: Sections, side: Side) -> Callable[[Known], Hashable]:
    release = side.release

    def told(known: Known) -> Hashable:
        policy = known.policy
        said = [one for one in _said(policy, side) if one[0] in sections]
        whom = (known.requirement, known.about)
        return (*whom, _rank(policy, release), _named(policy, release), tuple(said))

    return told


def _rank(policy: Resource, release: Release) -> Hashable:
    """Return all that any of Kuma's sorts looks at but what an entry is about."""
    top = top_of(policy, release)
    kinds = (top.kind, bool(top.section_name), bool(top.name), bool(top.labels))
    tags = len(top.tags or ()) if top.kind == "MeshGateway" else 0
    return (*kinds, tags, policy.labels.get(ORIGIN, ""), role_of(policy), policy.display_name)


def _named(policy: Resource, release: Release) -> Hashable:
    """Return what else the policy is known by: the route it is on, where references start."""
    top = top_of(policy, release)
    on = top.name if top.kind in ("MeshHTTPRoute", "MeshGateway") else ""
    own = (policy.name, policy.namespace) if policy.type in ROUTES else ()
    # References by labels find routes by any of theirs.
    labels = tuple(sorted(policy.labels.items())) if policy.type in ROUTES else ()
    return (on, policy.labels.get(NAMESPACE), policy.labels.get(ZONE), own, labels)


def _tied(listed: Sequence[Known], release: Release) -> list[Known]:
    """Return the policies that nothing but chance, or their place in the files, puts in order."""
    ranks = Counter(_rank(known.policy, release) for known in listed)
    tied = [known for known in listed if ranks[_rank(known.policy, release)] > 1]
    if "identity" in release.dataplane_rank:
        tied += _in_circles(listed, release)
    return tied


def _in_circles(listed: Sequence[Known], release: Release) -> list[Known]:
    """Return references to Dataplanes where by name and by labels beat each other in circles."""
    tops = {id(known): top_of(known.policy, release) for known in listed}
    mine = [known for known in listed if tops[id(known)].kind == "Dataplane"]
    named = any(tops[id(k)].name for k in mine)
    labelled = any(tops[id(k)].labels and not tops[id(k)].name for k in mine)
    return mine if named and labelled else []


def _without_equal(
    was: Speaking, now: Speaking, told: Callable[[Known], Hashable]
) -> tuple[Speaking, Speaking]:
    """Return two lists without what both hold, one for one."""
    keys = [[told(known) for known in side] for side in (was, now)]
    both = Counter(keys[0]) & Counter(keys[1])
    return _left(was, keys[0], both.copy()), _left(now, keys[1], both)


def _left(side: Speaking, keys: Sequence[Hashable], both: Counter[Hashable]) -> Speaking:
    left = []
    for known, key in zip(side, keys, strict=True):
        if both[key] > 0:
            both[key] -= 1
        else:
            left.append(known)
    return tuple(left)
