"""Which routes a made-up proxy is tried with, where some route has to leave it its outbounds.

Any one will do. Which it is makes a difference at a place only by what else of the place comes with
it, and by a namespace of which the place speaks: of those that are alike there one is tried.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Set

from kumamigrate.universe.combinations import Pairings
from kumamigrate.universe.excluding import implies, on_inbounds, parts_of
from kumamigrate.universe.madeup import Atom, Requirement, Setting, in_order, surroundings


class Leaving:
    """What routes ask of a proxy that leave it its outbounds."""

    def __init__(self, requirements: Iterable[Requirement], pairings: Pairings) -> None:
        self.requirements = tuple(dict.fromkeys(requirements))
        self.pairings = pairings
        self._surroundings: dict[Setting, tuple[Setting, ...]] = {}
        self._by_part: dict[Hashable, set[int]] = {}
        for at, requirement in enumerate(self.requirements):
            if requirement.atom is not None:
                for part in pairings.parts(requirement.atom):
                    self._by_part.setdefault(part, set()).add(at)

    def told_apart(self, mattering: Iterable[Atom], spoken: Set[str]) -> ToldApart:
        """Return what a place tells apart that asks for some atoms and speaks of namespaces."""
        atoms = tuple(dict.fromkeys(mattering))
        parts = {part for atom in atoms for part in parts_of(atom)}
        touching = (self._by_part.get(part, ()) for part in parts)
        return ToldApart(self, atoms, spoken, frozenset(at for found in touching for at in found))

    def surroundings(self, setting: Setting) -> tuple[Setting, ...]:
        """Return what surrounds a proxy in each of the routes, in their order."""
        found = self._surroundings.get(setting)
        if found is None:
            found = tuple(surroundings(setting, one) for one in self.requirements)
            self._surroundings[setting] = found
        return found


class ToldApart:
    """The routes as one place sees them. `touching` are those that may bring what it asks for."""

    def __init__(
        self,
        leaving: Leaving,
        mattering: tuple[Atom, ...],
        spoken: Set[str],
        touching: frozenset[int],
    ) -> None:
        self._leaving = leaving
        self._mattering = mattering
        self._spoken = spoken
        self._touching = touching

    def with_routes(
        self, chosen: tuple[Atom, ...], setting: Setting, tried: Set[Hashable]
    ) -> Iterator[tuple[tuple[Atom, ...], Setting, Hashable]]:
        """Yield a proxy with each route, its surroundings, and what all of its kind share; none of
        a kind that was tried. Most routes bring nothing that matters: those are passed quickly,
        since every set is tried with all of them."""
        alone = self._brought(chosen)
        for at, there in enumerate(self._leaving.surroundings(setting)):
            space = there.namespace if there.namespace in self._spoken else ""
            here = (space, there.zone, there.gateway)
            if at not in self._touching and (here, alone) in tried:
                continue
            atom, pairings = self._leaving.requirements[at].atom, self._leaving.pairings
            whole = () if atom is None else pairings.whole(atom, there)
            atoms = tuple(sorted({*chosen, *whole}, key=in_order))
            kind = (here, self._brought(atoms))
            if kind not in tried:
                yield atoms, there, kind

    def _brought(self, atoms: tuple[Atom, ...]) -> frozenset[Atom]:
        """Return what a proxy has of all that matters."""
        inbounds = on_inbounds(atoms)
        return frozenset(a for a in self._mattering if any(implies(one, a) for one in inbounds))
