"""What of a resource changes: the value that it shall have, compared with its nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kumamigrate.dataclass import dataclass
from kumamigrate.source.editing.align import LIKE, Slot, align_items, align_keys, likeness, same
from kumamigrate.source.editing.editruns import Children, EditRuns, Gap
from kumamigrate.source.editing.edits import Edit, EditRun, finish
from kumamigrate.source.editing.emit import scalar_text
from kumamigrate.source.editing.render import Renderer
from kumamigrate.source.editing.sheet import RefusedError
from kumamigrate.source.editing.sources import (
    Source,
    SourcePlace,
    entry_place,
    item_place,
    moved_node,
    plain,
)
from kumamigrate.source.node import (
    JSON,
    AliasNode,
    MapNode,
    Node,
    ScalarNode,
    SeqNode,
    Style,
    is_merge,
    json_value,
    key_text,
    merge_sources,
)
from kumamigrate.source.text import Reason
from kumamigrate.source.value import Moved, Unchanged, Value

MERGE = "<<"


@dataclass(slots=True)
class Draft:
    """Compares a value with the nodes of a resource; where text changes is up to its `runs`.

    `vacated` holds the ids of nodes that move to another place of the resource: what is written
    where they stood does not get their comments.
    """

    runs: EditRuns
    vacated: frozenset[int] = frozenset()

    def diff(self, node: Node, value: Value, place: SourcePlace) -> None:
        """Draft the edits that turn a node into a value."""
        if isinstance(value, Moved) and moved_node(self.runs.base, value) is node:
            if isinstance(value.value, Unchanged):
                return
            value = value.value
        wanted = plain(self.runs.base, value)
        if same(json_value(node), wanted):
            return
        if isinstance(node, AliasNode):
            detail = f"the value comes from *{node.name}; an edit would have to go through it"
            raise RefusedError(Reason.ALIAS, node.start, detail)
        if self.runs.sheet.in_use(node):
            alias = self.runs.sheet.used[id(node)][0]
            detail = f"the value is anchored, and *{alias.name} uses it elsewhere"
            raise RefusedError(Reason.ALIAS, node.start, detail)
        if isinstance(node, MapNode) and isinstance(value, Mapping) and value and node.entries:
            self.mapping(node, value, place)
        elif (
            isinstance(node, SeqNode)
            and isinstance(value, Sequence)
            and not isinstance(value, str)
            and value
            and node.items
        ):
            self.sequence(node, value, place)
        elif isinstance(node, ScalarNode) and self.runs.scalar(node, value, wanted, place):
            return
        else:
            self.runs.replace(node, value, place)

    # Mappings

    def mapping(self, node: MapNode, value: Mapping[str, Value], place: SourcePlace) -> None:
        names = [MERGE if is_merge(key) else key_text(key) for key, _ in node.entries]
        merged = self.merged(node, names, value)
        renames = self.renames(node, names, value)
        replaced = frozenset(
            key
            for key, new in value.items()
            if key in names and key not in renames and self.comes_from_elsewhere(node, key, new)
        )
        wanted = [renames.get(key, key) for key in value if key not in merged]
        new_names = {old: new for new, old in renames.items()}
        if MERGE in names:
            wanted.insert(0, MERGE)
        slots = align_keys(names, wanted, replaced=replaced - set(renames.values()))
        slots = self.renamed_slots(node, slots, value, new_names)
        children = Children(
            node=node,
            starts=tuple(key.start for key, _ in node.entries),
            nodes=tuple(child for _, child in node.entries),
        )
        for slot in slots:
            if slot.old is not None and slot.key is None:
                self.check_uncovered(node, names[slot.old])
        for step in _gaps(slots, value, new_names):
            if isinstance(step, Gap):
                self.runs.gap(children, step, place)
            elif step.key != MERGE:
                self.kept(node, step, value, new_names, place)

    def kept(
        self,
        node: MapNode,
        slot: Slot,
        value: Mapping[str, Value],
        new_names: Mapping[str, str],
        place: SourcePlace,
    ) -> None:
        assert slot.old is not None
        assert slot.key is not None
        key, child = node.entries[slot.old]
        name = new_names.get(slot.key, slot.key)
        if name != key_text(key):
            quote = {Style.SINGLE: "'", Style.DOUBLE: '"'}.get(key.style)
            text = scalar_text(name, self.runs.layout, flow=place.flow, quote=quote)
            self.runs.put(EditRun(start=key.start, end=key.end, render=lambda: ("", text)))
        self.diff(child, value[name], entry_place(self.runs.sheet, node, slot.old, place))

    def merged(self, node: MapNode, names: Sequence[str], value: Mapping[str, Value]) -> set[str]:
        """Return the keys that `<<` brings in; refuse if the new value differs in one."""
        found: dict[str, JSON] = {}
        for key, child in node.entries:
            if is_merge(key):
                for source in reversed(merge_sources(child)):
                    inner = json_value(source)
                    assert isinstance(inner, dict)
                    found.update(inner)
        for name, old in found.items():
            if name in names:
                continue
            if name not in value or not same(old, plain(self.runs.base, value[name])):
                detail = f"{name!r} comes through '<<'; an edit would have to go through it"
                raise RefusedError(Reason.ALIAS, node.start, detail)
        return {name for name in found if name not in names}

    def check_uncovered(self, node: MapNode, name: str) -> None:
        for key, child in node.entries:
            if is_merge(key) and any(s.get(name) is not None for s in merge_sources(child)):
                detail = f"without this {name!r} the one that '<<' brings in would count"
                raise RefusedError(Reason.ALIAS, key.start, detail)

    def renames(
        self, node: MapNode, names: Sequence[str], value: Mapping[str, Value]
    ) -> dict[str, str]:
        """Return new key → old key where the new value is the moved old one of this mapping."""
        children = {id(child): name for name, (_, child) in zip(names, node.entries, strict=True)}
        found: dict[str, str] = {}
        for key, new in value.items():
            if not isinstance(new, Moved) or new.anew or key in names:
                continue
            old = children.get(id(moved_node(self.runs.base, new)))
            if old is not None and old not in value and old not in found.values():
                found[key] = old
        return found

    def comes_from_elsewhere(self, node: MapNode, key: str, new: Value) -> bool:
        child = node.get(key)
        if isinstance(new, Moved):
            return moved_node(self.runs.base, new) is not child
        return id(child) in self.vacated and not same(json_value(child), plain(self.runs.base, new))

    def renamed_slots(
        self,
        node: MapNode,
        slots: Sequence[Slot],
        value: Mapping[str, Value],
        new_names: dict[str, str],
    ) -> list[Slot]:
        """Turn a dropped and a new entry that stand together and say the same into a rename."""
        result = list(slots)
        for first, last in _gap_bounds(slots):
            part = slots[first:last]
            dropped = [s.old for s in part if s.old is not None]
            fresh = [s.key for s in part if s.key is not None]
            if len(dropped) != 1 or len(fresh) != 1:
                continue
            (index,), (key,) = dropped, fresh
            new = value[key]
            old = node.entries[index][1]
            if isinstance(new, Moved) or isinstance(old, AliasNode):
                continue
            was, wanted = json_value(old), plain(self.runs.base, new)
            alike = likeness(was, wanted) > LIKE and type(was) is type(wanted)
            if same(was, wanted) or (alike and isinstance(was, (dict, list))):
                name = key_text(node.entries[index][0])
                new_names[name] = key
                result[first:last] = [Slot(index, name), Slot(None, None)]
        return [s for s in result if s != Slot(None, None)]

    # Sequences

    def sequence(self, node: SeqNode, value: Sequence[Value], place: SourcePlace) -> None:
        pinned: dict[int, int] = {}
        positions = {id(child): index for index, child in enumerate(node.items)}
        for index, item in enumerate(value):
            if isinstance(item, Moved):
                found = positions.get(id(moved_node(self.runs.base, item)))
                if found is not None and found not in pinned.values():
                    pinned[index] = found
        wanted = [plain(self.runs.base, item) for item in value]
        old = [json_value(item) for item in node.items]
        outside = {i for i, item in enumerate(value) if isinstance(item, Moved) and i not in pinned}
        aligned = align_items(old, wanted, pinned)
        for index, source in enumerate(aligned):
            if source is None or index in pinned or id(node.items[source]) not in self.vacated:
                continue
            if not same(old[source], wanted[index]):
                outside.add(index)
        aligned = [None if i in outside else found for i, found in enumerate(aligned)]
        self.items(node, [(found, item) for found, item in zip(aligned, value, strict=True)], place)

    def items(
        self, node: SeqNode, wanted: Sequence[tuple[int | None, Value]], place: SourcePlace
    ) -> None:
        """Draft a sequence given, for each new item, the index of the old one it continues."""
        slots: list[Slot] = []
        values: dict[str, Value] = {}
        position = 0
        for number, (found, value) in enumerate(wanted):
            values[str(number)] = value
            if found is None:
                slots.append(Slot(None, str(number)))
                continue
            slots.extend(Slot(i, None) for i in range(position, found))
            slots.append(Slot(found, str(number)))
            position = found + 1
        slots.extend(Slot(i, None) for i in range(position, len(node.items)))
        flow = node.style is Style.FLOW
        starts = tuple(i.start for i in node.items) if flow else node.dashes
        children = Children(node=node, starts=starts, nodes=node.items)
        for step in _gaps(slots, values, {}):
            if isinstance(step, Gap):
                self.runs.gap(children, step, place)
            else:
                assert step.old is not None
                inner = item_place(self.runs.sheet, node, step.old, place)
                self.diff(node.items[step.old], values[str(step.key)], inner)


def edits_of_copy(renderer: Renderer, source: Source, value: Value) -> list[Edit]:
    """Return the edits of a copy of old text that shall say a value."""
    draft = Draft(EditRuns(renderer.elsewhere()))
    draft.diff(source.node, value, source.place)
    return finish(draft.runs.found, renderer.old.sheet, copying=True)


def _gap_bounds(slots: Sequence[Slot]) -> list[tuple[int, int]]:
    bounds: list[tuple[int, int]] = []
    first: int | None = None
    for index, slot in enumerate(slots):
        kept = slot.old is not None and slot.key is not None
        if kept and first is not None:
            bounds.append((first, index))
            first = None
        elif not kept and first is None:
            first = index
    if first is not None:
        bounds.append((first, len(slots)))
    return list(reversed(bounds))


def _gaps(
    slots: Sequence[Slot], values: Mapping[str, Value], new_names: Mapping[str, str]
) -> list[Gap | Slot]:
    """Return kept slots and, between them, what is dropped and what is new there."""
    steps: list[Gap | Slot] = []
    left: int | None = None
    dropped: list[int] = []
    fresh: list[tuple[str, Value]] = []
    for slot in [*slots, None]:
        if slot is not None and slot.old is None:
            assert slot.key is not None
            fresh.append((slot.key, values[new_names.get(slot.key, slot.key)]))
        elif slot is not None and slot.key is None:
            assert slot.old is not None
            dropped.append(slot.old)
        else:
            right = slot.old if slot is not None else None
            if dropped or fresh:
                steps.append(Gap(left, tuple(dropped), tuple(fresh), right))
            dropped, fresh = [], []
            if slot is not None:
                steps.append(slot)
                left = slot.old
    return steps
