"""What a namespace adds to a made-up proxy: nothing, unless somebody speaks of that namespace.

A proxy is chosen by the same policies as one that has the same in a namespace of which nobody
speaks, but for those who ask for the namespace. So only with something that these ask for does it
have to be tried again there; all others were tried.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set

from kumamigrate.dataclass import dataclass
from kumamigrate.model.identity import IDENTITY, match_labels
from kumamigrate.model.resource import (
    DISPLAY_NAME,
    MESH,
    NAMESPACE,
    ORIGIN,
    PROXY_TYPE,
    SERVICE,
    ZONE,
)
from kumamigrate.universe.combinations import Combinations, Pairings
from kumamigrate.universe.excluding import bits, excluded, slots_asked
from kumamigrate.universe.madeup import OTHER_NAMESPACE, ZONE_TAG, Atom, Requirement, Setting
from kumamigrate.universe.side import Side

_OF_ALL = {MESH, NAMESPACE, ORIGIN, PROXY_TYPE, ZONE}
"""Labels that every proxy of some surroundings has, whatever is asked of it."""

Mark = Hashable
"""Something that a proxy has: a tag or a label with its value, a name, an inbound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearby:
    """The atoms to combine in some surroundings, and those of which a set has to hold one (None:
    none of them)."""

    atoms: Set[Atom]
    telling: Set[Atom] | None = None

    def worth(self, among: Combinations) -> Callable[[int], bool]:
        """Return what says of a set whether it holds one of those that it has to."""
        if self.telling is None:
            return lambda _members: True
        telling = among.among(self.telling)
        return lambda members: bool(members & telling)


class Spoken:
    """The namespaces that some requirements speak of, and what they ask of a proxy there.

    Of each one thing is enough: whoever lacks it is not chosen.
    """

    def __init__(self, requirements: Iterable[Requirement]) -> None:
        self._asked: dict[str, set[Mark]] = {}
        self._of_all: set[str] = set()
        for requirement in requirements:
            spaces = _spaces(requirement)
            mark = next(_asked(requirement.atom), None)
            for space in spaces:
                if mark is None:
                    self._of_all.add(space)
                else:
                    self._asked.setdefault(space, set()).add(mark)

    def asked(self, namespace: str) -> Set[Mark] | None:
        """Return what is asked for in a namespace, None where any proxy of it is meant."""
        if namespace in self._of_all or namespace == OTHER_NAMESPACE:
            return None
        return self._asked.get(namespace, set())


class Namespaces:
    """What is worth trying in each namespace.

    `requirements` are those whose atoms are combined, `besides` what else is asked of proxies.
    """

    def __init__(
        self,
        requirements: Iterable[Requirement],
        besides: Spoken,
        pairings: Pairings,
        *,
        one_inbound: bool,
    ) -> None:
        listed = tuple(requirements)
        self._every = frozenset(r.atom for r in listed if r.atom is not None)
        self._spoken = (Spoken(listed), besides)
        self._pairings = pairings
        self._one_inbound = one_inbound
        self._known: dict[Setting, _Excluding] = {}

    def near(self, setting: Setting) -> Nearby:
        """Return what is worth trying in some surroundings."""
        marks: set[Mark] = set()
        for spoken in self._spoken:
            asked = spoken.asked(setting.namespace)
            if asked is None:
                return Nearby(atoms=self._every)
            marks |= asked
        plain = setting._replace(namespace=OTHER_NAMESPACE)
        if plain not in self._known:
            self._known[plain] = _Excluding.of(
                self._every, plain, self._pairings, self._one_inbound
            )
        return self._known[plain].beside(marks)


@dataclass(frozen=True, slots=True)
class _Excluding:
    """Atoms where nobody speaks of the namespace: which have a mark, which exclude each other."""

    atoms: Sequence[Atom]
    marked: Mapping[Mark, int]
    excluded: Sequence[int]

    @classmethod
    def of(
        cls, atoms: Iterable[Atom], plain: Setting, pairings: Pairings, one_inbound: bool
    ) -> _Excluding:
        listed = [*atoms]
        wholes = [pairings.whole(atom, plain) for atom in listed]
        marked: dict[Mark, int] = {}
        for at, whole in enumerate(wholes):
            for mark in {mark for atom in whole for mark in _marks_of(atom)}:
                marked[mark] = marked.get(mark, 0) | 1 << at
        return cls(listed, marked, excluded([slots_asked(one, one_inbound) for one in wholes]))

    def beside(self, marks: Iterable[Mark]) -> Nearby:
        """Return the atoms that have one of some marks, with all that one of them goes with."""
        telling = 0
        for mark in marks:
            telling |= self.marked.get(mark, 0)
        near = telling
        for at in bits(telling):
            near |= (1 << len(self.atoms)) - 1 & ~self.excluded[at]
        found, all_near = (frozenset(self.atoms[at] for at in bits(m)) for m in (telling, near))
        return Nearby(atoms=all_near, telling=found)


def of_identities(side: Side) -> Iterator[Requirement]:
    """Yield what the MeshIdentities of a side ask of the proxies that they are for."""
    for identity in side.state.of_type(IDENTITY):
        labels = match_labels(identity)
        if labels is not None:
            pairs = tuple(sorted((key, str(value)) for key, value in labels.items()))
            yield Requirement(atom=Atom(labels=pairs) if pairs else None)


def _marks_of(atom: Atom) -> frozenset[Mark]:
    """Return all by which a proxy that has an atom may be known; a tag by its key alone as well,
    for who asks for any value."""
    found: set[Mark] = {("label", DISPLAY_NAME, atom.name), ("section", atom.section)}
    found |= {("label", *one) for one in atom.labels}
    for key, value in atom.tags:
        found |= {("tag", key, value), ("tag", key)}
    return frozenset(found)


def _asked(atom: Atom | None) -> Iterator[Mark]:
    """Yield what a proxy has to have of itself to have an atom."""
    if atom is None:
        return
    if atom.name:
        yield "label", DISPLAY_NAME, atom.name
    yield from (("label", *one) for one in atom.labels if one[0] not in _OF_ALL)
    for key, value in atom.tags:
        if value != "*" and key != ZONE_TAG:
            yield "tag", key, value
        elif key not in (SERVICE, ZONE_TAG):
            yield "tag", key
    if atom.section:
        yield "section", atom.section


def _spaces(requirement: Requirement) -> set[str]:
    """Return the namespaces that a requirement speaks of."""
    found = set(requirement.namespaces)
    if requirement.atom is not None:
        found.update(v for k, v in requirement.atom.labels if k == NAMESPACE)
        if requirement.atom.name:
            found.add(requirement.atom.identity[1])
    return found
