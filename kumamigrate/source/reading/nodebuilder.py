"""From the events of PyYAML's parser to the nodes of one document."""

from __future__ import annotations

from typing import Any

from kumamigrate.dataclass import dataclass, field, replace
from kumamigrate.pattern import pattern
from kumamigrate.source.node import JSON, AliasNode, MapNode, Node, ScalarNode, SeqNode, Style
from kumamigrate.source.reading.mask import Masked, restore, substituted
from kumamigrate.source.reading.parser import yaml
from kumamigrate.source.reading.scalar import resolve_plain, resolve_tagged
from kumamigrate.source.reading.unparsable import (
    UnparsableError,
    check_depth,
    check_keys,
    check_size,
)
from kumamigrate.source.text import Reason

_STYLES = {
    None: Style.PLAIN,
    "": Style.PLAIN,
    "'": Style.SINGLE,
    '"': Style.DOUBLE,
    "|": Style.LITERAL,
    ">": Style.FOLDED,
}
_GAP = pattern(r"(?:\s|#[^\r\n]*+)*+")
_PROPERTIES = pattern(r"(?:[&!]\S*+(?:\s++(?:#[^\r\n]*+)?)*+)*+")
_LINE_END = pattern(r"[\r\n]|\Z")


@dataclass(slots=True, kw_only=True)
class NodeBuilder:
    """Holds what the parts of one document share while it is read."""

    original: str
    masked: Masked
    base: int
    chunk: str
    parser: Any = None
    anchors: dict[str, tuple[Node, int, int]] = field(default_factory=dict)
    open_anchors: set[str] = field(default_factory=set)
    last: int = 0  # end of the latest leaf

    def node(self, event: Any, depth: int) -> tuple[Node, int, int]:
        """Return a node, how many values it stands for and how deep it goes."""
        if isinstance(event, yaml.ScalarEvent):
            return self.scalar(event), 1, 1
        start = self.base + event.start_mark.index
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event, start, depth)
        check_depth(depth, start)
        anchor = event.anchor
        before = self.last or self.base
        if anchor:
            self.open_anchors.add(anchor)
        is_map = isinstance(event, yaml.MappingStartEvent)
        built = self.mapping(event, start, depth) if is_map else self.sequence(event, start, depth)
        node, size, height, limit = built
        if self.masked.overlapping(before, limit) or _local(event.tag):
            node = replace(node, templated=True)
        check_size(size, start)
        if anchor:
            self.open_anchors.discard(anchor)
            self.anchors[anchor] = (node, size, height)
        return node, size, height

    def event(self) -> Any:
        return self.parser.get_event()

    def alias(self, event: Any, start: int, depth: int) -> tuple[Node, int, int]:
        end = self.base + event.end_mark.index
        name = event.anchor
        if name in self.open_anchors:
            raise UnparsableError(
                Reason.ALIAS, start, f"alias *{name} refers to a value it is part of"
            )
        if name not in self.anchors:
            raise UnparsableError(
                Reason.UNPARSABLE, start, f"alias *{name} has no anchor before it"
            )
        target, size, height = self.anchors[name]
        check_depth(depth + height, start)
        self.last = end
        return AliasNode(start=start, end=end, name=name, target=target), size, height

    def scalar(self, event: Any) -> ScalarNode:
        start = self.base + event.start_mark.index
        end = self.base + event.end_mark.index
        style = _STYLES[event.style]
        text: str = event.value
        if style is Style.LITERAL or style is Style.FOLDED:
            end = self.base + _block_end(self.chunk, start - self.base, end - self.base)
        overlapping = self.masked.overlapping(start, end)
        templated = bool(overlapping)
        if templated:
            text = restore(text, self.original, self.masked, (start, end))
        value: JSON = text
        if event.tag is not None and event.tag != "!":
            value = text if templated else resolve_tagged(text, event.tag)
        elif style is Style.PLAIN and not templated and event.tag is None:
            value = resolve_plain(text)
        node = ScalarNode(
            start=start,
            end=end,
            style=style,
            text=text,
            value=value,
            templated=templated or substituted(text) or _local(event.tag),
            anchor=event.anchor,
            tag=event.tag,
        )
        if event.anchor:
            self.anchors[event.anchor] = (node, 1, 1)
        self.last = end
        return node

    def mapping(self, event: Any, start: int, depth: int) -> tuple[MapNode, int, int, int]:
        entries: list[tuple[ScalarNode, Node]] = []
        size, height = 1, 1
        while not isinstance(ev := self.event(), yaml.MappingEndEvent):
            if not isinstance(ev, yaml.ScalarEvent):
                at = self.base + ev.start_mark.index
                raise UnparsableError(Reason.UNPARSABLE, at, "a key that is not plain text")
            key = self.scalar(ev)
            if key.value is None:
                raise UnparsableError(Reason.UNPARSABLE, key.start, "a key that is null")
            child, more, below = self.node(self.parser.get_event(), depth + 1)
            entries.append((key, child))
            size += more
            height = max(height, below + 1)
        limit = self.base + _end_index(ev)
        flow = bool(event.flow_style)
        node = MapNode(
            start=start,
            end=limit if flow else self.last,
            style=Style.FLOW if flow else Style.BLOCK,
            entries=tuple(entries),
            anchor=event.anchor,
        )
        if flow:
            self.last = limit
        check_size(size, start)
        check_keys(node)
        return node, size, height, limit

    def sequence(self, event: Any, start: int, depth: int) -> tuple[SeqNode, int, int, int]:
        items: list[Node] = []
        dashes: list[int] = []
        size, height = 1, 1
        flow = bool(event.flow_style)
        at = _PROPERTIES.match(self.chunk, start - self.base)
        scan = at.end() if at else start - self.base
        while not isinstance(ev := self.event(), yaml.SequenceEndEvent):
            if not flow:
                gap = _GAP.match(self.chunk, scan)
                dash = gap.end() if gap else scan
                assert self.chunk[dash] == "-", (self.chunk, dash)
                dashes.append(self.base + dash)
                self.last = self.base + dash + 1
            child, more, below = self.node(ev, depth + 1)
            items.append(child)
            scan = self.last - self.base
            size += more
            height = max(height, below + 1)
        limit = self.base + _end_index(ev)
        node = SeqNode(
            start=start,
            end=limit if flow else self.last,
            style=Style.FLOW if flow else Style.BLOCK,
            items=tuple(items),
            dashes=tuple(dashes),
            anchor=event.anchor,
        )
        if flow:
            self.last = limit
        return node, size, height, limit


def _end_index(event: Any) -> int:
    index: int = event.end_mark.index
    return index


def _local(tag: str | None) -> bool:
    """Say whether a tag is one for some tool (`!vault`, `!include`), which makes the value."""
    return tag is not None and len(tag) > 1 and tag.startswith("!")


def _block_end(chunk: str, start: int, end: int) -> int:
    """Return where a block scalar's content ends: its last line break and, unless the header
    keeps them, the blank lines behind it do not belong to it."""
    header_end = _line_end(chunk, start)
    header = chunk[start:header_end].split(" #")[0]
    body = chunk[header_end:end]
    if "+" in header.split("|")[-1].split(">")[-1]:
        kept = body[:-2] if body.endswith("\r\n") else body[:-1]
        return header_end + len(kept)
    return header_end + len(body.rstrip(" \t\r\n"))


def _line_end(text: str, offset: int) -> int:
    found = _LINE_END.search(text, offset)
    return found.start() if found is not None else len(text)
