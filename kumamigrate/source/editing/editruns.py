"""Where a change is cut out of the text and put into it: children that come and go, new values."""

from __future__ import annotations

from collections.abc import Callable

from kumamigrate.dataclass import dataclass, field, replace
from kumamigrate.source.editing.columns import inline_first
from kumamigrate.source.editing.edits import EditRun
from kumamigrate.source.editing.emit import literal_text, scalar_text
from kumamigrate.source.editing.layout import Layout
from kumamigrate.source.editing.render import Renderer, node_style
from kumamigrate.source.editing.sheet import RefusedError, Sheet
from kumamigrate.source.editing.sources import SourcePlace, first_start
from kumamigrate.source.node import JSON, MapNode, Node, ScalarNode, SeqNode, Style, key_text
from kumamigrate.source.text import Reason
from kumamigrate.source.value import Moved, Value


@dataclass(frozen=True, slots=True)
class Gap:
    """What happens between two kept children: old ones dropped, new ones put there."""

    left: int | None
    dropped: tuple[int, ...]
    fresh: tuple[tuple[str, Value], ...]
    right: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Children:
    """The children of a collection by place: where each begins (key or dash) and ends."""

    node: MapNode | SeqNode
    starts: tuple[int, ...]
    nodes: tuple[Node, ...]

    @property
    def ends(self) -> tuple[int, ...]:
        return tuple(
            max(child.end, start + 1) for start, child in zip(self.starts, self.nodes, strict=True)
        )


@dataclass(slots=True)
class EditRuns:
    """Collects the runs of text that make one resource say its new value."""

    renderer: Renderer
    found: list[EditRun] = field(default_factory=list)

    @property
    def base(self) -> Node:
        return self.renderer.old.base

    @property
    def sheet(self) -> Sheet:
        return self.renderer.old.sheet

    @property
    def layout(self) -> Layout:
        return self.renderer.layout

    def scalar(self, node: ScalarNode, value: Value, wanted: JSON, place: SourcePlace) -> bool:
        """Replace a scalar by another in its own style, if the new value permits that."""
        if isinstance(value, Moved) or isinstance(wanted, (dict, list)):
            return False
        if node.templated:
            detail = "the value comes from a template expression"
            raise RefusedError(Reason.TEMPLATE, node.start, detail)
        quote = {Style.SINGLE: "'", Style.DOUBLE: '"'}.get(node.style)
        if node.start == node.end or "\n" in self.sheet.text[node.start : node.end]:
            if node.style is not Style.LITERAL or not isinstance(wanted, str):
                return False
            text = literal_text(wanted, place.column + self.layout.step, self.layout.newline)
        elif isinstance(wanted, str) and "\n" in wanted and quote is None:
            return False
        else:
            text = scalar_text(wanted, self.layout, flow=place.flow, quote=quote)
        if text is None:
            return False
        run = EditRun(start=node.start, end=node.end, render=lambda: ("", text), above=place.above)
        self.put(run)
        return True

    def put(self, run: EditRun) -> None:
        """Add a run; what stands in its span will vanish from there."""
        self.found.append(run)
        if run.end > run.start and not self.renderer.old.elsewhere:
            self.sheet.cuts.append((run.start, run.end))

    # Children that come and go

    def gap(self, children: Children, gap: Gap, place: SourcePlace) -> None:
        for index in gap.dropped:
            self.sheet.check_cut(children.nodes[index])
        if children.node.style is Style.FLOW:
            self.flow_gap(children, gap, place)
        else:
            self.block_gap(children, gap)

    def texts(self, children: Children, gap: Gap, column: int) -> Callable[[], str]:
        renderer = self.renderer
        if isinstance(children.node, MapNode):
            return lambda: "".join(
                renderer.entry(key, value, column, flow=_was_flow(children, gap, key))
                for key, value in gap.fresh
            )
        flow = all(_is_flow(node) for node in children.nodes)
        return lambda: "".join(renderer.item(v, column, flow=flow) for _, v in gap.fresh)

    def block_gap(self, children: Children, gap: Gap) -> None:
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
            start = end = (
                lines.start(starts[0]) if self.renderer.old.elsewhere else lines.head(starts[0])
            )
        self.check_branch(start if gap.fresh else starts[0], starts[0])
        self.put(
            EditRun(start=start, end=end, render=lambda: ("", text()), column=column, whole=True)
        )

    def first_gap(self, children: Children, gap: Gap, text: Callable[[], str], column: int) -> None:
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

    def flow_gap(self, children: Children, gap: Gap, place: SourcePlace) -> None:
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
            self.put(
                EditRun(
                    start=node.start,
                    end=node.end,
                    render=lambda: ("", self.renderer.flow(value, place.column)),
                    above=place.above,
                    column=place.column,
                )
            )
        elif place.item:
            self.replace_item(node, value, place)
        else:
            self.replace_entry(node, value, place)

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


def _is_flow(node: Node) -> bool:
    filled = (isinstance(node, MapNode) and node.entries) or (
        isinstance(node, SeqNode) and node.items
    )
    return bool(filled) and node_style(node) is Style.FLOW


def _was_flow(children: Children, gap: Gap, key: str) -> bool:
    """Say whether a new entry takes the place of one in flow style."""
    node = children.node
    if not isinstance(node, MapNode) or len(gap.dropped) != len(gap.fresh):
        return False
    names = [key_text(node.entries[index][0]) for index in gap.dropped]
    places = [name for name, _ in gap.fresh]
    index = names.index(key) if key in names else places.index(key)
    return _is_flow(children.nodes[gap.dropped[index]])
