"""Which atoms exclude each other: what both ask of one thing, in two ways."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from kumamigrate.model.resource import DISPLAY_NAME, NAMESPACE, ORIGIN, ZONE
from kumamigrate.universe.madeup import Atom, Pairs, Setting


def excluded(asked: Sequence[Mapping[Hashable, str] | None]) -> list[int]:
    """Return for each of some askers those that it excludes, itself included: whoever wants
    another value for the same thing."""
    by_slot: dict[Hashable, int] = {}
    by_value: dict[Hashable, int] = {}
    for at, one in enumerate(asked):
        for slot, value in one.items() if one is not None else ():
            by_slot[slot] = by_slot.get(slot, 0) | 1 << at
            by_value[slot, value] = by_value.get((slot, value), 0) | 1 << at
    found = []
    for at, one in enumerate(asked):
        against = 1 << at
        for slot, value in one.items() if one is not None else ():
            against |= by_slot[slot] & ~by_value[slot, value]
        found.append(against)
    return found


def slots_asked(whole: Iterable[Atom], one_inbound: bool) -> dict[Hashable, str] | None:
    """Return what atoms ask of the one place for each thing, None where they exclude each other."""
    found: dict[Hashable, str] = {}
    for atom in whole:
        for slot, value in slots_of(atom, one_inbound):
            if found.setdefault(slot, value) != value:
                return None
    return found


def asked_slots(
    whole: Iterable[Atom], setting: Setting, one_inbound: bool
) -> dict[Hashable, str] | None:
    """Return the same in some surroundings, which have labels of their own."""
    listed = [*whole]
    if any(atom.name and atom.identity != (setting.zone, setting.namespace) for atom in listed):
        return None
    labels: Pairs = ((NAMESPACE, setting.namespace),)
    if setting.zone:
        labels += ((ZONE, setting.zone), (ORIGIN, "zone"))
    return slots_asked((Atom(labels=labels), *listed), one_inbound)


def slots_of(atom: Atom, one_inbound: bool) -> Iterator[tuple[Hashable, str]]:
    """Yield what an atom asks of one thing each, and the value it wants there."""
    if atom.name:
        yield "name", atom.name
    for key, value in atom.labels:
        yield ("name" if key == DISPLAY_NAME else ("label", key)), value
    if one_inbound:
        yield from ((("tag", key), value) for key, value in atom.tags if value != "*")
        if atom.section:
            yield "section", atom.section


def parts_of(atom: Atom) -> Iterator[Hashable]:
    """Yield all that an atom is made of, piece by piece."""
    yield from (("tag", pair) for pair in atom.tags)
    yield from (("label", pair) for pair in atom.labels)
    if atom.name:
        yield "name", atom.name
    if atom.section:
        yield "section", atom.section


def implies(atom: Atom, other: Atom) -> bool:
    """Say whether whoever has an atom has another one."""
    return (
        all(pair in atom.labels for pair in other.labels)
        and all(pair in atom.tags for pair in other.tags)
        and other.section in ("", atom.section)
        and (not other.name or (other.name, other.identity) == (atom.name, atom.identity))
    )


def on_inbounds(atoms: Sequence[Atom]) -> tuple[Atom, ...]:
    """Return atoms as a proxy has them that has all: each on an inbound of its own, with the labels
    and the name of the proxy."""
    labels = tuple(dict.fromkeys(pair for atom in atoms for pair in atom.labels))
    named = next((atom for atom in atoms if atom.name), Atom())
    whole = Atom((), labels, named.name, named.identity)
    return (
        whole,
        *(Atom(one.tags, labels, named.name, named.identity, one.section) for one in atoms),
    )


def bits(mask: int) -> Iterator[int]:
    """Yield the numbers of a set."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
