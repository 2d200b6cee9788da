"""Sets of atoms that one made-up proxy can have; those that exclude each other are never built.

An atom brings along what is taken for granted to go with it (a label with its tag), so that a set
is counted by what policies can tell apart. Sets are numbers: bit `n` stands for the atom `n`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

from kumamigrate.dataclass import dataclass, field
from kumamigrate.model.resource import NAMESPACE
from kumamigrate.universe.excluding import asked_slots, bits, excluded, implies, parts_of
from kumamigrate.universe.madeup import Atom, Requirement, Setting, in_order

FEW = 7
"""Of up to so many atoms every set is tried."""
MOST_SETS = 6_000
"""More sets than this are not tried at one place."""


@dataclass(frozen=True, slots=True)
class Gates:
    """What some requirements ask of the surroundings of a proxy."""

    zones: frozenset[str]
    namespaces: frozenset[str]
    typed: bool

    @classmethod
    def of(cls, requirements: Iterable[Requirement]) -> Gates:
        """Return what some requirements ask together."""
        listed = list(requirements)
        return cls(
            zones=frozenset(zone for r in listed for zone in r.zones),
            namespaces=frozenset(space for r in listed for space in r.namespaces),
            typed=any(r.proxy_types for r in listed),
        )

    def seen_from(self, setting: Setting) -> Hashable:
        """Return what is equal for surroundings that admit the same of them."""
        zone = setting.zone if setting.zone in self.zones else ""
        space = setting.namespace if setting.namespace in self.namespaces else ""
        return (zone, space, self.typed and setting.gateway)


class Pairings:
    """What is taken for granted to go together: who has one of two atoms has the other."""

    def __init__(self, pairs: Iterable[tuple[Requirement, Requirement]]) -> None:
        self._by_part: dict[Hashable, list[tuple[Requirement, Requirement]]] = {}
        self._known: dict[tuple[Atom, Hashable], tuple[Atom, ...]] = {}
        self._gates: dict[Atom, Gates] = {}
        for pair in pairs:
            for mine, other in (pair, pair[::-1]):
                if mine.atom is not None and other.atom is not None:
                    first = next(parts_of(mine.atom))
                    self._by_part.setdefault(first, []).append((mine, other))

    def whole(self, atom: Atom, setting: Setting | None) -> tuple[Atom, ...]:
        """Return an atom with all that goes with it in some surroundings, or in any (None)."""
        if not self._by_part:
            return (atom,)
        key = (atom, None if setting is None else self._gates_of(atom).seen_from(setting))
        if key not in self._known:
            asked = _is_plain if setting is None else setting.admits
            self._known[key] = tuple(self._joined(atom, asked))
        return self._known[key]

    def _gates_of(self, atom: Atom) -> Gates:
        """Return what has a say in what goes with an atom."""
        if atom not in self._gates:
            near = (p for other in self._joined(atom, lambda _: True) for p in self._near(other))
            self._gates[atom] = Gates.of(one for pair in near for one in pair)
        return self._gates[atom]

    def parts(self, atom: Atom) -> frozenset[Hashable]:
        """Return all that an atom and what may go with it are made of, whatever surrounds them."""
        return frozenset(p for one in self._joined(atom, lambda _: True) for p in parts_of(one))

    def home(self, requirement: Requirement) -> str:
        """Return the one namespace in which a proxy may have what is asked, "" where any may do.

        In all others its atom excludes what every proxy there has.
        """
        if len(requirement.namespaces) == 1:
            return next(iter(requirement.namespaces))
        if requirement.atom is None:
            return ""
        spaces = (
            atom.identity[1] if atom.name else dict(atom.labels).get(NAMESPACE, "")
            for atom in self.whole(requirement.atom, None)
        )
        return next(filter(None, spaces), "")

    def _joined(self, atom: Atom, asked: Callable[[Requirement], bool]) -> dict[Atom, None]:
        found: dict[Atom, None] = {atom: None}
        waiting = [atom]
        while waiting:
            one = waiting.pop()
            for mine, beside in self._near(one):
                other = beside.atom
                if other is None or other in found or implies(one, other):
                    continue
                if asked(mine) and asked(beside):
                    found[other] = None
                    waiting.append(other)
        return found

    def _near(self, atom: Atom) -> Iterator[tuple[Requirement, Requirement]]:
        """Yield the pairs of which whoever has an atom has the first."""
        for part in parts_of(atom):
            for pair in self._by_part.get(part, ()):
                if pair[0].atom is not None and implies(atom, pair[0].atom):
                    yield pair


def _is_plain(requirement: Requirement) -> bool:
    """Say whether a proxy may be chosen in any surroundings whatever."""
    return requirement == Requirement(atom=requirement.atom)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Atoms by the part they can play: up to `most` of them decide together.

    `suspects` are those of policies that say or rank otherwise than before; `anybody` that one of
    those chooses any proxy.
    """

    atoms: frozenset[Atom] = frozenset()
    most: int = 0
    suspects: frozenset[Atom] = frozenset()
    anybody: bool = False


class TooManySetsError(Exception):
    """There are more sets than can be tried."""


@dataclass(slots=True)
class Combinations:
    """The sets of some atoms that one proxy can have in some surroundings.

    Atoms that only come together count as one. With `one_inbound` all tags stand on one inbound.
    """

    atoms: Sequence[Atom]
    setting: Setting
    pairings: Pairings
    one_inbound: bool
    _numbers: dict[Atom, int] = field(init=False)
    _wholes: list[tuple[Atom, ...]] = field(init=False)
    _fits: list[int] = field(init=False)
    _possible: int = field(init=False)

    def __post_init__(self) -> None:
        """Work out which atoms come together, and which exclude each other."""
        wholes: dict[frozenset[Atom], int] = {}
        self._numbers, self._wholes = {}, []
        for atom in self.atoms:
            whole = self.pairings.whole(atom, self.setting)
            at = self._numbers[atom] = wholes.setdefault(frozenset(whole), len(wholes))
            if at == len(self._wholes):
                self._wholes.append(whole)
        asked = [asked_slots(whole, self.setting, self.one_inbound) for whole in self._wholes]
        self._possible = sum((one is not None) << at for at, one in enumerate(asked))
        self._fits = [self._possible & ~one for one in excluded(asked)]

    def __len__(self) -> int:
        """Return how many there are to combine."""
        return len(self._wholes)

    def chosen(self, members: int) -> tuple[Atom, ...]:
        """Return the atoms of a set with what goes with them."""
        found = {atom for at in bits(members) for atom in self._wholes[at]}
        return tuple(sorted(found, key=in_order))

    def up_to(self, most: int) -> Iterator[int]:
        """Yield the sets up to a size."""
        return self._sets(self._possible, most)

    def every(self, most: int) -> Iterator[int]:
        """Yield every set. Raises TooManySetsError where one is larger than can be tried."""
        for members in self.up_to(most + 1):
            if members.bit_count() > most:
                raise TooManySetsError
            yield members

    def holding(self, suspects: Iterable[Atom]) -> int:
        """Return the atoms whose proxies policies with some atoms choose."""
        asked: dict[Hashable, list[Atom]] = {}
        for one in suspects:
            asked.setdefault(next(parts_of(one)), []).append(one)
        return sum(
            1 << at
            for at, whole in enumerate(self._wholes)
            if any(
                implies(atom, one)
                for atom in whole
                for part in parts_of(atom)
                for one in asked.get(part, ())
            )
        )

    def among(self, atoms: Iterable[Atom]) -> int:
        """Return those that are among some atoms."""
        return sum({1 << self._numbers[atom] for atom in atoms if atom in self._numbers})

    def deciding(self, parts: Sequence[Part], *, with_suspects: bool) -> Iterator[int]:
        """Yield the sets of up to so many atoms of each part, with a suspect in some part."""
        masks = [(self.among(part.atoms), part.most) for part in parts]
        if not with_suspects:
            yield from self._product(masks, self._possible)
            return
        for at, part in enumerate(parts):
            less = [(m, most - (i == at)) for i, (m, most) in enumerate(masks)]
            if part.anybody:
                yield from self._product(less, self._possible)
            for one in bits(self.among(part.suspects) & self._possible):
                for members in self._product(less, self._fits[one]):
                    yield members | 1 << one

    def _product(self, masks: Sequence[tuple[int, int]], allowed: int) -> Iterator[int]:
        if not masks:
            yield 0
            return
        (mask, most), *rest = masks
        for members in self._sets(mask & allowed, most):
            left = allowed
            for at in bits(members):
                left &= self._fits[at]
            for others in self._product(rest, left):
                yield members | others

    def _sets(self, mask: int, most: int) -> Iterator[int]:
        yield 0
        if most <= 0:
            return
        while mask:
            lowest = mask & -mask
            mask ^= lowest
            for members in self._sets(mask & self._fits[lowest.bit_length() - 1], most - 1):
                yield members | lowest


def limited(sets: Iterable[int]) -> list[int]:
    """Return sets once each, small ones first. Raises TooManySetsError."""
    found: dict[int, None] = {}
    for members in sets:
        found[members] = None
        if len(found) > MOST_SETS:
            raise TooManySetsError
    return sorted(found, key=int.bit_count)
