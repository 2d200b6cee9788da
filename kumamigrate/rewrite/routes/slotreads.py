"""What routes read at their slots in one state, held against what they shall read (§4, §5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kumamigrate.model.conf import JsonConf, canonical
from kumamigrate.model.kri import kri_of
from kumamigrate.rewrite.routes.inherited import InheritedSlot, Reader
from kumamigrate.rewrite.routes.routeconf import Leaf, effective, folded, from_leaves, leaves
from kumamigrate.rewrite.routes.routes import old_route_name
from kumamigrate.source.text import at_path
from kumamigrate.targetref.entry import Entry


def read_at(reader: Reader, slot: InheritedSlot) -> JsonConf:
    """Return what the real-resource outbound reads at a slot in this state."""
    selection = reader.matcher.selection(slot.proxy, reader.policy_type)
    found = reader.matcher.resource(selection, slot.destination, kri_of(slot.owner))
    return found.conf if found is not None else {}


def as_it_acts(reader: Reader, slot: InheritedSlot, conf: Mapping[str, Any]) -> JsonConf:
    """Return a conf in the form in which it has its effect at a slot."""
    return effective(reader.policy_type, conf, reader.fields, slot.protocol)


def disturbs(reader: Reader, slot: InheritedSlot, conf: JsonConf) -> bool:
    """Say whether a conf changes what a real-resource outbound reads at a slot today.

    What policies in the old place said without effect may take effect; so may what they stand
    on where there was no retry policy at all. This is product.md §5's activation.
    """
    inert = folded(reader.raw(entry) for entry in slot.entries if entry.via is not None)
    was = dict(leaves(as_it_acts(reader, slot, read_at(reader, slot))))
    now = dict(leaves(as_it_acts(reader, slot, conf)))
    said = dict(leaves(as_it_acts(reader, slot, inert)))
    given = {path for path, _ in leaves(inert)}
    wanted = dict(leaves(as_it_acts(reader, slot, slot.wanted)))
    if inert and not now and not wanted:
        return False  # numRetries: 0, as written: no retry policy at all
    if any(path not in now for path in was):
        return True
    return any(
        was.get(path) != value
        and not (path in given and said.get(path) == value)
        and not (not was and wanted.get(path) == value)
        for path, value in now.items()
    )


def misses_in(
    reader: Reader, slots: Iterable[InheritedSlot]
) -> list[tuple[InheritedSlot, JsonConf]]:
    """Return the slots that do not read what they shall, with what they read."""
    return [
        (slot, conf)
        for slot in slots
        for conf in [read_at(reader, slot)]
        if as_it_acts(reader, slot, conf) != as_it_acts(reader, slot, slot.wanted)
    ]


def lacking(
    reader: Reader, misses: Iterable[tuple[InheritedSlot, JsonConf]], own: JsonConf
) -> JsonConf:
    """Return the inherited values that are missing; where proxies differ, the first one's.

    Values that the policy sets itself are not among them: another policy overrules those.
    """
    mine = {path for path, _ in leaves(own)}
    values: dict[Leaf, Any] = {}
    for slot, conf in misses:
        written = dict(leaves(slot.wanted))
        have = dict(leaves(as_it_acts(reader, slot, conf)))
        for path, value in leaves(as_it_acts(reader, slot, slot.wanted)):
            if have.get(path) != value and path not in mine and path in written:
                values.setdefault(path, written[path])
    return from_leaves(values)


def source_of(
    reader: Reader, slots: Iterable[InheritedSlot], path: Leaf, value: Any
) -> Entry | None:
    """Return the entry that gave a route an inherited value."""
    for slot in slots:
        for entry in reversed(slot.entries):
            if old_route_name(entry.policy) is None:
                found = at_path(reader.raw(entry), path)
                if found is not None and canonical(found) == canonical(value):
                    return entry
    return None
