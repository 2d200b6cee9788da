"""Kuma's resources below the root of a document: named, never read nor edited.

What holds them (values of a HelmRelease, an inline source, the data of a ConfigMap, a Crossplane
object) may well apply them, so they are there as far as a proof is concerned.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from kumamigrate.dataclass import dataclass
from kumamigrate.pattern import pattern
from kumamigrate.source.node import JSON, AliasNode, MapNode, Node, ScalarNode, SeqNode
from kumamigrate.source.reading.sift import universal_type_pattern
from kumamigrate.source.text import Document, Span

_MESH_LABEL = "kuma.io/mesh"
_MESH_IN_TEXT = pattern(
    r"""(?m)^[ \t]*+["']?(?:kuma\.io/mesh|mesh)["']?[ \t]*+:[ \t]*+["']?([a-z0-9][-.a-z0-9]*)"""
)
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


@dataclass(frozen=True, slots=True)
class Nested:
    """A resource of Kuma's inside of something else: where it begins, and what can be seen of it.

    An empty `mesh` means that it may be any, and so does an empty `kind`.
    """

    start: int
    what: str
    mesh: str
    kind: str = ""


def mentions_kuma(text: str, span: Span) -> bool:
    """Say whether a document may hold Kuma's content, at its root or below."""
    return _patterns()[0].search(text, span.start, span.end) is not None


def nested_places(document: Document, text: str) -> list[Nested]:
    """Return the resources of Kuma's that are no documents of their own.

    Items of a `kind: List` and what stands inside a Kuma resource do not count.
    """
    root = document.root
    if root is None or not mentions_kuma(text, document.span) or _is_kuma(root):
        return []
    found: list[Nested] = []
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


def _search(node: Node) -> Iterator[Nested]:
    _, inside, _ = _patterns()
    if isinstance(node, AliasNode):
        return
    if isinstance(node, ScalarNode):
        if len(node.text) > 20 and inside.search(node.text):
            meshes = set(_MESH_IN_TEXT.findall(node.text))
            yield Nested(
                node.start, "resources in a string", meshes.pop() if len(meshes) == 1 else ""
            )
    elif isinstance(node, MapNode) and _is_kuma(node):
        yield _nested(node)
    elif isinstance(node, MapNode):
        for _, child in node.entries:
            yield from _search(child)
    else:
        for child in node.items:
            yield from _search(child)


def _nested(node: MapNode) -> Nested:
    """Return what can be seen of a resource. Where it says no mesh, it is the default one."""
    metadata = node.get("metadata")
    places = [node, *([metadata] if isinstance(metadata, MapNode) else [])]
    for key in ("labels", "annotations"):
        inner = metadata.get(key) if isinstance(metadata, MapNode) else None
        places += [inner] if isinstance(inner, MapNode) else []
    said = [p.get(key) for p in places for key in (_MESH_LABEL, "mesh") if p.get(key) is not None]
    kind = _text(node, "kind") or _text(node, "type")
    name = _text(node, "name") or (_text(metadata, "name") if isinstance(metadata, MapNode) else "")
    mesh = "default"
    if kind == "Mesh":
        mesh = "" if node.templated else name
    elif said:
        known = isinstance(said[0], ScalarNode) and not said[0].templated
        mesh = said[0].text if known and isinstance(said[0], ScalarNode) else ""
    seen = "" if _is_templated(node, "kind", "type") else kind
    return Nested(node.start, f"{kind} {name}".strip(), mesh, seen)


def _is_templated(node: MapNode, *keys: str) -> bool:
    found = (node.get(key) for key in keys)
    return any(one is not None and one.templated for one in found)


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


def is_kuma(value: JSON) -> bool:
    """Say of a value what `_is_kuma` says of a tree: it is a resource of Kuma's by itself."""
    if not isinstance(value, dict):
        return False
    api, kind = value.get("apiVersion"), value.get("type")
    if isinstance(api, str) and api.startswith("kuma.io/") and "kind" in value:
        return True
    _, _, types = _patterns()
    if not isinstance(kind, str) or not types.fullmatch(kind) or "name" not in value:
        return False
    return kind == "Mesh" or any(key in value for key in _IDENTITY)


def _text(node: MapNode, key: str) -> str:
    found = node.get(key)
    return found.text if isinstance(found, ScalarNode) else ""
