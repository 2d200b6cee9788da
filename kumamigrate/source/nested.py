"""Kuma-looking content below the root of a document: mentioned, never read nor edited."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from kumamigrate.source.find import universal_type_pattern
from kumamigrate.source.node import AliasNode, MapNode, Node, ScalarNode, SeqNode
from kumamigrate.source.text import Document, Span

_IDENTITY = ("mesh", "spec", "networking", "conf", "metadata")


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    types = universal_type_pattern()
    hint = re.compile(rf"""kuma\.io/v1alpha1|type["']?\s*:\s*["']?(?:{types})(?![A-Za-z0-9-])""")
    inside = re.compile(
        r"""(?m)^[ \t]*+["{]*+apiVersion["']?\s*+:\s*+["']?kuma\.io/"""
        rf"""|^[ \t]*+["{{]*+type["']?\s*+:\s*+["']?(?:{types})["']?[ \t]*+,?[ \t\r]*+$"""
    )
    return hint, inside, re.compile(types)


def mentions_kuma(text: str, span: Span) -> bool:
    """Say whether a document may hold Kuma's content, at its root or below."""
    return _patterns()[0].search(text, span.start, span.end) is not None


def nested_places(document: Document, text: str) -> list[int]:
    """Return where Kuma-looking content stands that is no resource of its own.

    Items of a `kind: List` and what stands inside a Kuma resource do not count.
    """
    root = document.root
    if root is None or not mentions_kuma(text, document.span) or _is_kuma(root):
        return []
    found: list[int] = []
    for node in _below(root):
        found.extend(_search(node))
    return found


def _below(root: Node) -> Iterator[Node]:
    """Yield the values below the root, the Kuma resources of a list left out."""
    children = (
        [(key.text, child) for key, child in root.entries]
        if isinstance(root, MapNode)
        else [("", root)]
    )
    for key, child in children:
        if key == "items" and isinstance(child, SeqNode):
            yield from (item for item in child.items if not _is_kuma(item))
        else:
            yield child


def _search(node: Node) -> Iterator[int]:
    _, inside, _ = _patterns()
    if isinstance(node, AliasNode):
        return
    if isinstance(node, ScalarNode):
        if len(node.text) > 20 and inside.search(node.text):
            yield node.start
    elif _is_kuma(node):
        yield node.start
    elif isinstance(node, MapNode):
        for _, child in node.entries:
            yield from _search(child)
    else:
        for child in node.items:
            yield from _search(child)


def _is_kuma(node: Node) -> bool:
    if not isinstance(node, MapNode):
        return False
    if _text(node, "apiVersion").startswith("kuma.io/") and node.get("kind") is not None:
        return True
    _, _, types = _patterns()
    kind = _text(node, "type")
    if not kind or not types.fullmatch(kind) or node.get("name") is None:
        return False
    return kind == "Mesh" or any(node.get(key) is not None for key in _IDENTITY)


def _text(node: MapNode, key: str) -> str:
    found = node.get(key)
    return found.text if isinstance(found, ScalarNode) else ""
