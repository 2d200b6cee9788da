"""Where the parts of an old resource stand, and what new values refer to."""

from __future__ import annotations

from collections.abc import Mapping

from kumamigrate.dataclass import dataclass
from kumamigrate.source.editing.sheet import RefusedError, Sheet
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
    node_at,
    walk,
)
from kumamigrate.source.text import FieldPath, Reason
from kumamigrate.source.value import Moved, Unchanged, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePlace:
    """Where a value stands.

    `at` is the offset of its key or dash, `gap` that behind the colon or dash, `column` the
    column its children must be indented against, `above` the line start where comments go that
    lose their place. `item` says that it stands behind a dash, `root` that it is a document.
    """

    at: int
    gap: int
    column: int
    flow: bool
    above: int
    item: bool = False
    root: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A node that a `Moved` refers to and its place. `own` is false behind an alias."""

    node: Node
    place: SourcePlace
    own: bool = True


def root_place(sheet: Sheet, node: Node) -> SourcePlace:
    """Return the place of the root of a document."""
    start = first_start(node)
    line = sheet.lines.start(start)
    flow = isinstance(node, (MapNode, SeqNode)) and node.style is Style.FLOW
    return SourcePlace(at=start, gap=start, column=-1, flow=flow, above=line, root=True)


def first_start(node: Node) -> int:
    """Return where the first child of a block collection stands, else the node's own start."""
    if isinstance(node, MapNode) and node.style is Style.BLOCK:
        return node.entries[0][0].start
    if isinstance(node, SeqNode) and node.dashes:
        return node.dashes[0]
    return node.start


def colon_end(text: str, key: ScalarNode, child: Node) -> int:
    """Return the offset behind a key's colon."""
    colon = text.find(":", key.end, max(child.start, key.end + 1) + 1)
    if colon < 0:
        raise RefusedError(Reason.UNPARSABLE, key.start, "a key without a colon")
    return colon + 1


def entry_place(sheet: Sheet, node: MapNode, index: int, place: SourcePlace) -> SourcePlace:
    """Return the place of a mapping's value."""
    key, child = node.entries[index]
    flow = node.style is Style.FLOW
    lines = sheet.lines
    return SourcePlace(
        at=key.start,
        gap=colon_end(sheet.masked.text, key, child),
        column=_indent(sheet, key.start) if flow else lines.column(key.start),
        flow=flow,
        above=place.above if flow else lines.start(key.start),
    )


def item_place(sheet: Sheet, node: SeqNode, index: int, place: SourcePlace) -> SourcePlace:
    """Return the place of a sequence's item."""
    lines = sheet.lines
    flow = node.style is Style.FLOW
    at = node.items[index].start if flow else node.dashes[index]
    return SourcePlace(
        at=at,
        gap=at if flow else at + 1,
        column=_indent(sheet, at) if flow else lines.column(at),
        flow=flow,
        above=place.above if flow else lines.start(at),
        item=True,
    )


def _indent(sheet: Sheet, offset: int) -> int:
    start = sheet.lines.start(offset)
    while sheet.text[start : start + 1] in (" ", "\t"):
        start += 1
    return start - sheet.lines.start(offset)


def place_of(sheet: Sheet, root: Node, path: FieldPath, place: SourcePlace) -> Source:
    """Return the node at a path with its place. Raises ValueError if there is none."""
    node = root
    own = True
    for part in path:
        while isinstance(node, AliasNode):
            node, own = node.target, False
        index = _index(node, part)
        if index is None:
            found = node_at(root, path)
            if found is None:
                raise ValueError(f"nothing stands at {path}")
            return Source(node=found, place=place, own=False)
        if isinstance(node, MapNode):
            place = entry_place(sheet, node, index, place)
            node = node.entries[index][1]
        elif isinstance(node, SeqNode):
            place = item_place(sheet, node, index, place)
            node = node.items[index]
    return Source(node=node, place=place, own=own)


def _index(node: Node, part: str | int) -> int | None:
    if isinstance(node, MapNode):
        for index, (key, _) in enumerate(node.entries):
            if not is_merge(key) and key_text(key) == part:
                return index
    if isinstance(node, SeqNode) and isinstance(part, int) and 0 <= part < len(node.items):
        return part
    return None


def moved_node(base: Node, moved: Moved) -> Node:
    """Return the node a `Moved` refers to. Raises ValueError if there is none."""
    node = base if moved.path == () else node_at(base, moved.path)
    if node is None:
        raise ValueError(f"nothing stands at {moved.path}")
    return node


def plain(base: Node, value: Value) -> JSON:
    """Return a value with everything moved put in."""
    if isinstance(value, Moved):
        if isinstance(value.value, Unchanged):
            return json_value(moved_node(base, value))
        return plain(base, value.value)
    if isinstance(value, Mapping):
        return {key: plain(base, child) for key, child in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(base, child) for child in value]
    assert value is None or isinstance(value, (bool, int, float, str))
    return value


def tied(sheet: Sheet, node: Node) -> bool:
    """Say whether a node's text means something else, or nothing, in another document."""
    return any(
        isinstance(inner, AliasNode) or sheet.in_use(inner) for _, inner in walk(node)
    ) or any(
        is_merge(key)
        for _, inner in walk(node)
        if isinstance(inner, MapNode)
        for key, _ in inner.entries
    )
