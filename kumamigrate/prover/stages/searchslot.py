"""A place of made-up proxies: who can matter there, and which sets of those have to be tried."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.prover.slots.mesh import MeshComparison
from kumamigrate.prover.stages.sequence import Suspects
from kumamigrate.universe.combinations import FEW, MOST_SETS, Combinations, Pairings, Part
from kumamigrate.universe.madeup import Requirement, Setting, by_atom, count
from kumamigrate.universe.namespaces import Nearby, Spoken, of_identities
from kumamigrate.universe.reach import Known, Reach

MOST_TOGETHER = FEW + 3
"""Where all policies of a proxy decide together, no proxy with more of them is tried."""

WIDER = 2
"""How many times as many policies decide about three states as about two: each that one of the two
comparisons needs may be missing in the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """What policies ask that can play one part in a decision, and the suspects among them.

    Up to `most` of them decide together.
    """

    asked: frozenset[Requirement] = frozenset()
    suspects: frozenset[Requirement] = frozenset()
    most: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSlot:
    """All that can matter at one place: those who say values, who hide them, and routes.

    `compared` is whether only sets with a suspect are of interest. With `every_set` all policies
    decide together.
    """

    roles: tuple[Role, ...]
    compared: bool
    every_set: bool = False

    @property
    def asked(self) -> frozenset[Requirement]:
        """What policies that matter here ask of a proxy."""
        return frozenset(r for role in self.roles for r in role.asked)

    @property
    def settled(self) -> bool:
        """Whether nothing here can differ: no suspect, or routes alone of which nobody speaks."""
        if not self.compared:
            return False
        silent = len(self.roles) > 1 and not any(role.asked for role in self.roles[:-1])
        return silent or not any(role.suspects for role in self.roles)

    @property
    def wider(self) -> SearchSlot:
        """The slot where three states decide together."""
        return replace(self, roles=tuple(replace(r, most=r.most * WIDER) for r in self.roles))


Homes = Mapping[str, tuple[frozenset[Requirement], frozenset[Requirement]]]
"""By namespace ("": any) what policies ask of proxies that can only be there, and the suspects."""


def _homes(role: Role, pairings: Pairings) -> Homes:
    found: dict[str, tuple[list[Requirement], list[Requirement]]] = {}
    for at, listed in enumerate((role.asked, role.suspects)):
        for requirement in listed:
            found.setdefault(pairings.home(requirement), ([], []))[at].append(requirement)
    return {space: (frozenset(a), frozenset(s)) for space, (a, s) in found.items()}


class RoleAsked:
    """What the policies of a role ask, found by where and by what it takes to be chosen."""

    def __init__(self, role: Role, pairings: Pairings) -> None:
        self._role = role
        self._homes = _homes(role, pairings)
        self._by_atom = by_atom(role.asked)

    def part(self, setting: Setting, nearby: Nearby) -> Part:
        """Return the part that policies can play in some surroundings."""
        asked, suspected = self._near(setting, nearby)
        here = [r for r in asked if setting.admits(r)]
        suspects = [r for r in suspected if setting.admits(r)]
        return Part(
            atoms=frozenset(r.atom for r in here if r.atom is not None),
            most=self._role.most,
            suspects=frozenset(r.atom for r in suspects if r.atom is not None),
            anybody=any(r.atom is None for r in suspects),
        )

    def _near(
        self, setting: Setting, nearby: Nearby
    ) -> tuple[Collection[Requirement], Collection[Requirement]]:
        if nearby.telling is not None:
            atoms = (None, *nearby.atoms)
            asked = [r for atom in atoms for r in self._by_atom.get(atom, ())]
            return asked, [r for r in asked if r in self._role.suspects]
        near = [self._homes[space] for space in ("", setting.namespace) if space in self._homes]
        return [r for asked, _ in near for r in asked], [r for _, found in near for r in found]


def spoken_besides(pair: MeshComparison, reaches: Iterable[Reach]) -> Spoken:
    """Return what is asked of proxies besides by the policies of a type: by references that go
    together, by patches (names of routes may matter to them) and by identities."""
    asked = [known.requirement for reach in reaches for known in reach.of("MeshProxyPatch")]
    asked += (one for reach in reaches for one in of_identities(reach.side))
    asked += (one for coupled in pair.couplings.asked for one in coupled)
    return Spoken(asked)


def role_of(listed: Iterable[Known], suspects: Suspects, most: int) -> Role:
    known = tuple(listed)
    return Role(
        asked=frozenset(k.requirement for k in known),
        suspects=frozenset(k.requirement for k in suspects.among(known)),
        most=most,
    )


def sets_of(combinations: Combinations, slot: SearchSlot, parts: Sequence[Part]) -> Iterator[int]:
    """Yield the sets to try: all where there are few, else those that can decide together."""
    if len(combinations) > FEW and not slot.every_set:
        yield from combinations.deciding(parts, with_suspects=slot.compared)
        return
    every = combinations.every(MOST_TOGETHER)
    if not slot.compared or any(part.anybody for part in parts):
        yield from every
        return
    holding = combinations.holding(atom for part in parts for atom in part.suspects)
    yield from (members for members in every if members & holding)


def smallest(combinations: Combinations) -> list[int]:
    """Return the smallest sets, for a difference at least, where there are too many."""
    most = 2 if count(len(combinations), 2) <= MOST_SETS else 1
    return sorted(islice(combinations.up_to(most), MOST_SETS), key=int.bit_count)
