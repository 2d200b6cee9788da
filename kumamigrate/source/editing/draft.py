"""From the value a resource shall have to edits of its text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.source.editing.align import LIKE, Slot, align_items, align_keys, likeness, same
from kumamigrate.source.editing.edits import Edit, EditRun, finish
from kumamigrate.source.editing.emit import literal_text, scalar_text
from kumamigrate.source.editing.layout import Layout
from kumamigrate.source.editing.render import Renderer, inline_first, node_style
from kumamigrate.source.editing.sheet import RefusedError, Sheet
from kumamigrate.source.editing.sources import (
    Source,
    SourcePlace,
    entry_place,
    first_start,
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


@dataclass(frozen=True, slots=True)
class _Gap:
    """What happens between two kept children: old ones dropped, new ones put there."""

    left: int | None
    dropped: tuple[int, ...]
    fresh: tuple[tuple[str, Value], ...]
    right: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Children:
    """The children of a collection by place: where each begins (key or dash) and ends."""

    node: MapNode | SeqNode
    starts: tuple[int, ...]
    nodes: tuple[Node, ...]

    @property
    def ends(self) -> tuple[int, ...]:
        return tuple(
            max(child.end, start + 1) for start, child in zip(self.starts, self.nodes, strict=True)
        )


@dataclass(slots=True, kw_only=True)
class Draft:
    """Collects the runs that make one resource say its new value.

    `base` is the node that `Moved` paths start from. `copying` says that the text is not
    edited in place, but that a copy of it is. `vacated` holds the ids of nodes that move to
    another place of the resource: what is written where they stood does not get their comments.
    """

    sheet: Sheet
    base: Node
    base_place: SourcePlace
    layout: Layout
    runs: list[EditRun]
    copying: bool = False
    vacated: frozenset[int] = frozenset()

    @property
    def renderer(self) -> Renderer:
        return Renderer(
            sheet=self.sheet,
            base=self.base,
            base_place=self.base_place,
            layout=self.layout,
            redraft=edits_of_copy,
            elsewhere=self.copying,
        )

    def diff(self, node: Node, value: Value, place: SourcePlace) -> None:
        """Draft the edits that turn a node into a value."""
        if isinstance(value, Moved) and moved_node(self.base, value) is node:
            if isinstance(value.value, Unchanged):
                return
            value = value.value
        wanted = plain(self.base, value)
        if same(json_value(node), wanted):
            return
        if isinstance(node, AliasNode):
            detail = f"the value comes from *{node.name}; an edit would have to go through it"
            raise RefusedError(Reason.ALIAS, node.start, detail)
        if self.sheet.in_use(node):
            alias = self.sheet.used[id(node)][0]
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
        elif isinstance(node, ScalarNode) and self.scalar(node, value, wanted, place):
            return
        else:
            self.replace(node, value, place)

    def scalar(self, node: ScalarNode, value: Value, wanted: JSON, place: SourcePlace) -> bool:
        """Replace a scalar by another in its own style, if the new value permits that."""
        if isinstance(value, Moved) or isinstance(wanted, (dict, list)):
            return False
        if node.templated:
            detail = "the value comes from a template expression"
            raise RefusedError(Reason.TEMPLATE, node.start, detail)
        if node.start == node.end or "\n" in self.sheet.text[node.start : node.end]:
            return self.literal(node, wanted, place)
        quote = {Style.SINGLE: "'", Style.DOUBLE: '"'}.get(node.style)
        if isinstance(wanted, str) and "\n" in wanted and quote is None:
            return False
        text = scalar_text(wanted, self.layout, flow=place.flow, quote=quote)
        self.put(
            EditRun(start=node.start, end=node.end, render=lambda: ("", text), above=place.above)
        )
        return True

    def literal(self, node: ScalarNode, wanted: JSON, place: SourcePlace) -> bool:
        if node.style is not Style.LITERAL or not isinstance(wanted, str):
            return False
        text = literal_text(wanted, place.column + self.layout.step, self.layout.newline)
        if text is None:
            return False
        self.put(
            EditRun(start=node.start, end=node.end, render=lambda: ("", text), above=place.above)
        )
        return True

    def put(self, run: EditRun) -> None:
        """Add a run; what stands in its span will vanish from there."""
        self.runs.append(run)
        if run.end > run.start and not self.copying:
            self.sheet.cuts.append((run.start, run.end))

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
        children = _Children(
            node=node,
            starts=tuple(key.start for key, _ in node.entries),
            nodes=tuple(child for _, child in node.entries),
        )
        for slot in slots:
            if slot.old is not None and slot.key is None:
                self.check_uncovered(node, names[slot.old])
        for step in _gaps(slots, value, new_names):
            if isinstance(step, _Gap):
                self.gap(children, step, place)
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
            text = scalar_text(name, self.layout, flow=place.flow, quote=quote)
            self.put(EditRun(start=key.start, end=key.end, render=lambda: ("", text)))
        self.diff(child, value[name], entry_place(self.sheet, node, slot.old, place))

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
            if name not in value or not same(old, plain(self.base, value[name])):
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
            old = children.get(id(moved_node(self.base, new)))
            if old is not None and old not in value and old not in found.values():
                found[key] = old
        return found

    def comes_from_elsewhere(self, node: MapNode, key: str, new: Value) -> bool:
        child = node.get(key)
        if isinstance(new, Moved):
            return moved_node(self.base, new) is not child
        return id(child) in self.vacated and not same(json_value(child), plain(self.base, new))

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
            was, wanted = json_value(old), plain(self.base, new)
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
                found = positions.get(id(moved_node(self.base, item)))
                if found is not None and found not in pinned.values():
                    pinned[index] = found
        wanted = [plain(self.base, item) for item in value]
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
        children = _Children(node=node, starts=starts, nodes=node.items)
        for step in _gaps(slots, values, {}):
            if isinstance(step, _Gap):
                self.gap(children, step, place)
            else:
                assert step.old is not None
                inner = item_place(self.sheet, node, step.old, place)
                self.diff(node.items[step.old], values[str(step.key)], inner)

    # Children that come and go

    def gap(self, children: _Children, gap: _Gap, place: SourcePlace) -> None:
        for index in gap.dropped:
            self.sheet.check_cut(children.nodes[index])
        if children.node.style is Style.FLOW:
            self.flow_gap(children, gap, place)
        else:
            self.block_gap(children, gap)

    def texts(self, children: _Children, gap: _Gap, column: int) -> Callable[[], str]:
        renderer = self.renderer
        if isinstance(children.node, MapNode):
            return lambda: "".join(
                renderer.entry(key, value, column, flow=_was_flow(children, gap, key))
                for key, value in gap.fresh
            )
        flow = all(_is_flow(node) for node in children.nodes)
        return lambda: "".join(renderer.item(v, column, flow=flow) for _, v in gap.fresh)

    def block_gap(self, children: _Children, gap: _Gap) -> None:
        lines, starts, ends = self.sheet.lines, children.starts, children.ends
        column = lines.column(starts[0])
        text = self.texts(children, gap, column)
        if gap.left is None and not lines.first_on_line(starts[0]):
            self.first_gap(children, gap, text, column)
            return
        if gap.dropped:
            first, last = gap.dropped[0], gap.dropped[-1]
            start, end = lines.head(starts[first]), lines.tail(ends[last], column)
        elif gap.left is not None:
            start = end = lines.tail(ends[gap.left], column)
        else:
            # The comments above the first child of a copy may not be part of the copy.
            start = end = lines.start(starts[0]) if self.copying else lines.head(starts[0])
        self.check_branch(start if gap.fresh else starts[0], starts[0])
        self.put(
            EditRun(start=start, end=end, render=lambda: ("", text()), column=column, whole=True)
        )

    def first_gap(
        self, children: _Children, gap: _Gap, text: Callable[[], str], column: int
    ) -> None:
        """Draft a gap before the first child where that stands behind a dash."""
        lines, starts = self.sheet.lines, children.starts
        above = lines.start(starts[0])
        indent = len(self.sheet.text[above:]) - len(self.sheet.text[above:].lstrip(" "))
        if gap.dropped and gap.fresh:
            end = self.behind_comment(children.ends[gap.dropped[-1]])
            tail = ""
        elif gap.dropped:
            assert gap.right is not None
            end = starts[gap.right]
            tail = ""
        else:
            end = starts[0]
            tail = self.sheet.newline + " " * column

        def render() -> tuple[str, str]:
            over, body = inline_first(text(), column, indent)
            return over, body.rstrip("\r\n") + tail

        self.put(EditRun(start=starts[0], end=end, render=render, above=above, column=indent))

    def flow_gap(self, children: _Children, gap: _Gap, place: SourcePlace) -> None:
        lines, starts, ends = self.sheet.lines, children.starts, children.ends
        node = children.node
        split = lines.start(node.start) != lines.start(starts[0])
        column = lines.column(starts[0])
        pad = self.layout.indent * column
        comma = "," + self.sheet.newline + pad if split else self.layout.comma
        renderer = self.renderer
        if not split:
            renderer = replace(renderer, layout=replace(renderer.layout, pretty=False))
            column = max(place.column, 0)

        def joined() -> str:
            if isinstance(node, MapNode):
                return comma.join(renderer.flow_entry(k, v, column) for k, v in gap.fresh)
            return comma.join(renderer.flow(v, column) for _, v in gap.fresh)

        before = after = ""
        if gap.dropped and gap.fresh:
            start, end = starts[gap.dropped[0]], ends[gap.dropped[-1]]
        elif gap.dropped and gap.right is not None:
            start, end = starts[gap.dropped[0]], starts[gap.right]
        elif gap.dropped:
            assert gap.left is not None
            start, end = ends[gap.left], ends[gap.dropped[-1]]
        elif gap.left is not None:
            start = end = ends[gap.left]
            before = comma
        else:
            start = end = starts[0]
            after = comma
        self.put(
            EditRun(
                start=start,
                end=end,
                render=lambda: ("", before + joined() + after if gap.fresh else ""),
                above=place.above,
                column=place.column,
            )
        )

    def check_branch(self, first: int, second: int) -> None:
        if not self.sheet.same_branch(first, second):
            detail = "the edit would stand inside a template condition"
            raise RefusedError(Reason.TEMPLATE, first, detail)

    # Values replaced whole

    def replace(self, node: Node, value: Value, place: SourcePlace) -> None:
        """Write a value of another kind where a node stands."""
        self.sheet.check_cut(node)
        if place.flow:
            text = self.flow_value(value, place)
            self.put(
                EditRun(
                    start=node.start,
                    end=node.end,
                    render=text,
                    above=place.above,
                    column=place.column,
                )
            )
        elif place.item:
            self.replace_item(node, value, place)
        else:
            self.replace_entry(node, value, place)

    def flow_value(self, value: Value, place: SourcePlace) -> Callable[[], tuple[str, str]]:
        renderer = self.renderer
        return lambda: ("", renderer.flow(value, place.column))

    def replace_item(self, node: Node, value: Value, place: SourcePlace) -> None:
        lines = self.sheet.lines
        start, lead, column = node.start, "", lines.column(node.start)
        if node.end == node.start:
            start, lead, column = place.gap, " ", place.column + 2
        renderer = self.renderer
        long = renderer.is_block(value) or (isinstance(value, str) and "\n" in value)
        end = self.behind_comment(node.end) if long or isinstance(value, Moved) else node.end

        def render() -> tuple[str, str]:
            over, body = renderer.behind_dash(value, place.column, column)
            return over, lead + body.rstrip("\r\n")

        self.put(
            EditRun(start=start, end=end, render=render, above=place.above, column=place.column)
        )

    def behind_comment(self, offset: int) -> int:
        """Return the end of the comment behind an offset, if one stands there."""
        comment = self.sheet.lines.trailing(offset)
        return offset if comment is None else comment.end

    def replace_entry(self, node: Node, value: Value, place: SourcePlace) -> None:
        lines = self.sheet.lines
        renderer = self.renderer
        below = lines.start(first_start(node)) != lines.start(place.gap)
        if not renderer.is_block(value):
            start = place.gap if below or node.start == node.end else node.start
            lead = " " if start == place.gap else ""
            column = place.column
            end = self.behind_comment(node.end) if isinstance(value, Moved) else node.end
            commented = lines.trailing(end) is not None

            def inline() -> tuple[str, str]:
                over, text = renderer.inline(value, column, commented=commented)
                return over, lead + text if text else ""

            self.put(EditRun(start=start, end=end, render=inline, above=place.above, column=column))
            return

        def lines_below() -> tuple[str, str]:
            return "", renderer.block(value, place.column)

        if below:
            start, end = lines.next(place.gap), lines.tail(node.end, place.column)
        else:
            start = end = lines.next(node.end)
            self.put(EditRun(start=place.gap, end=node.end, above=place.above, column=place.column))
        self.put(EditRun(start=start, end=end, render=lines_below, column=place.column, whole=True))


def edits_of_copy(renderer: Renderer, source: Source, value: Value) -> list[Edit]:
    """Return the edits of a copy of old text that shall say a value."""
    draft = Draft(
        sheet=renderer.sheet,
        base=renderer.base,
        base_place=renderer.base_place,
        layout=renderer.layout,
        runs=[],
        copying=True,
    )
    draft.diff(source.node, value, source.place)
    return finish(draft.runs, renderer.sheet, copying=True)


def _is_flow(node: Node) -> bool:
    filled = (isinstance(node, MapNode) and node.entries) or (
        isinstance(node, SeqNode) and node.items
    )
    return bool(filled) and node_style(node) is Style.FLOW


def _was_flow(children: _Children, gap: _Gap, key: str) -> bool:
    """Say whether a new entry takes the place of one in flow style."""
    node = children.node
    if not isinstance(node, MapNode) or len(gap.dropped) != len(gap.fresh):
        return False
    names = [key_text(node.entries[index][0]) for index in gap.dropped]
    places = [name for name, _ in gap.fresh]
    index = names.index(key) if key in names else places.index(key)
    return _is_flow(children.nodes[gap.dropped[index]])


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
) -> list[_Gap | Slot]:
    """Return kept slots and, between them, what is dropped and what is new there."""
    steps: list[_Gap | Slot] = []
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
                steps.append(_Gap(left, tuple(dropped), tuple(fresh), right))
            dropped, fresh = [], []
            if slot is not None:
                steps.append(slot)
                left = slot.old
    return steps
