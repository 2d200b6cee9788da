"""The node tree of a YAML document: values with their exact places in the text."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from kumamigrate.dataclass import dataclass

JSON = None | bool | int | float | str | list["JSON"] | dict[str, "JSON"]


class Style(StrEnum):
    """How a node is written."""

    PLAIN = "plain"
    SINGLE = "single"
    DOUBLE = "double"
    LITERAL = "literal"
    FOLDED = "folded"
    BLOCK = "block"
    FLOW = "flow"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ScalarNode:
    """A scalar. `value` is what Kuma's reader makes of it; `text` the content as a string.

    `templated` means that the span holds a template expression, so the value is unknown.
    """

    start: int
    end: int
    style: Style
    text: str
    value: JSON
    templated: bool = False
    anchor: str | None = None
    tag: str | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MapNode:
    """A mapping, entries in the order written. `end` is the end of its last leaf (or `}`)."""

    start: int
    end: int
    style: Style
    entries: tuple[tuple[ScalarNode, Node], ...]
    templated: bool = False
    anchor: str | None = None

    def get(self, key: str) -> Node | None:
        """Return the value node of a key, or None. Keys that `<<` brings in are found too."""
        for k, node in self.entries:
            if key_text(k) == key and not is_merge(k):
                return node
        for k, node in self.entries:
            if is_merge(k):
                for source in merge_sources(node):
                    if (found := source.get(key)) is not None:
                        return found
        return None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SeqNode:
    """A sequence. In block style `dashes` holds the offset of each `-`; else it is empty."""

    start: int
    end: int
    style: Style
    items: tuple[Node, ...]
    dashes: tuple[int, ...] = ()
    templated: bool = False
    anchor: str | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AliasNode:
    """`*name`: stands for `target`, but may not be edited through."""

    start: int
    end: int
    name: str
    target: Node
    templated: bool = False


Node = ScalarNode | MapNode | SeqNode | AliasNode


def is_merge(key: ScalarNode) -> bool:
    """Say whether a key is `<<`, which merges other mappings in."""
    return key.text == "<<" and key.style is Style.PLAIN


def merge_sources(node: Node) -> tuple[MapNode, ...]:
    """Return the mappings that the value of `<<` stands for, the strongest first."""
    target = followed(node)
    if isinstance(target, MapNode):
        return (target,)
    if isinstance(target, SeqNode):
        return tuple(n for n in map(followed, target.items) if isinstance(n, MapNode))
    return ()


def followed(node: Node) -> ScalarNode | MapNode | SeqNode:
    """Return what a node stands for: itself, or the target of an alias."""
    while isinstance(node, AliasNode):
        node = node.target
    return node


def json_value(node: Node | None) -> JSON:
    """Return plain JSON: aliases followed, merges merged, local keys winning.

    Bounded, because the reader refuses documents that are too deep or grow too large.
    """
    if node is None:
        return None
    target = followed(node)
    if isinstance(target, ScalarNode):
        return target.value
    if isinstance(target, SeqNode):
        return [json_value(item) for item in target.items]
    result: dict[str, JSON] = {}
    for key, child in target.entries:
        if is_merge(key):
            for source in reversed(merge_sources(child)):
                merged = json_value(source)
                assert isinstance(merged, dict)
                result.update(merged)
        else:
            result[key_text(key)] = json_value(child)
    return result


def key_text(key: ScalarNode) -> str:
    """Return a mapping key as Kuma's reader has it (`y:` is the key "true")."""
    if isinstance(key.value, str):
        return key.value
    if isinstance(key.value, bool):
        return "true" if key.value else "false"
    if key.value is None:
        return "null"
    return str(key.value)


def node_at(root: Node | None, path: tuple[str | int, ...]) -> Node | None:
    """Return the node at a path below `root`, or None. Aliases are followed."""
    node = root
    for part in path:
        while isinstance(node, AliasNode):
            node = node.target
        if isinstance(node, MapNode) and isinstance(part, str):
            node = node.get(part)
        elif isinstance(node, SeqNode) and isinstance(part, int) and part < len(node.items):
            node = node.items[part]
        else:
            return None
    return node


def key_start(root: Node | None, path: tuple[str | int, ...]) -> int | None:
    """Return where the key or the dash stands that a path ends with, None where there is none."""
    parent = node_at(root, path[:-1]) if path else None
    while isinstance(parent, AliasNode):
        parent = parent.target
    if isinstance(parent, MapNode):
        return next((key.start for key, _ in parent.entries if key_text(key) == path[-1]), None)
    if isinstance(parent, SeqNode) and isinstance(path[-1], int) and parent.dashes:
        return parent.dashes[path[-1]]
    return None


def walk(
    node: Node, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], Node]]:
    """Yield every node below and including `node` with its path, in text order."""
    yield path, node
    if isinstance(node, MapNode):
        for key, child in node.entries:
            yield from walk(child, (*path, key_text(key)))
    elif isinstance(node, SeqNode):
        for index, child in enumerate(node.items):
            yield from walk(child, (*path, index))
