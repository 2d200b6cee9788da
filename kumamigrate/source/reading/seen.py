"""What can be seen of a document that could not be read: its kind and its mesh (world.md §5)."""

from __future__ import annotations

import re
from bisect import bisect_right

from kumamigrate.dataclass import replace
from kumamigrate.pattern import pattern
from kumamigrate.source.text import Document, Refusal, SourceFile

_MESH = pattern(r"""^[ \t]*+["']?(?:kuma\.io/mesh|mesh)["']?[ \t]*+:([^#\r\n]*+)""", re.MULTILINE)
_KIND = pattern(r"""^(?:kind|type)[ \t]*+:([^#\r\n]*+)""", re.MULTILINE)
_NAME = pattern(r"""(["']?)([a-z0-9]([-.a-z0-9]*[a-z0-9])?)\1""")
_WORD = pattern(r"""(["']?)([A-Za-z0-9]+)\1""")


def seen_of(refusal: Refusal, file: SourceFile, data: bytes) -> Refusal:
    """Return a refusal with what its document shows: which mesh, which kind, and which text.

    `data` are the bytes of the file, for what concerns all of it.
    """
    document = _document_at(refusal, file)
    if document is None:
        return replace(refusal, digest=digest_of(data))
    text = file.text[document.span.start : document.span.end]
    digest = digest_of(text.encode("utf-8", "surrogatepass"))
    if document.root is not None:
        return replace(refusal, digest=digest)
    kind = refusal.kind or _kind_named(text)
    return replace(refusal, digest=digest, kind=kind, mesh=refusal.mesh or _mesh_named(text))


def digest_of(*parts: bytes) -> str:
    """Return a short word that tells texts apart."""
    from hashlib import blake2b

    whole = blake2b(digest_size=8)
    for part in parts:
        whole.update(blake2b(part, digest_size=8).digest())
    return whole.hexdigest()


def _document_at(refusal: Refusal, file: SourceFile) -> Document | None:
    if not refusal.line or not file.documents:
        return None
    offset = file.line_starts[refusal.line - 1] + refusal.column - 1
    at = bisect_right(file.documents, offset, key=lambda document: document.span.start)
    near = file.documents[max(0, at - 2) : at]
    found = [document for document in near if offset <= document.span.end]
    # An error at the end of one document stands where the next begins.
    refused = [document for document in found if document.root is None]
    return next(iter(refused or found), None)


def _mesh_named(text: str) -> str:
    """Return the one mesh that a text names in plain words, else nothing."""
    said = [_NAME.fullmatch(match[1].strip()) for match in _MESH.finditer(text)]
    names = {match[2] if match is not None else "" for match in said}
    return names.pop() if len(names) == 1 else ""


def _kind_named(text: str) -> str:
    """Return the one kind that a text names at its root in plain words, else nothing."""
    said = [_WORD.fullmatch(match[1].strip()) for match in _KIND.finditer(text)]
    names = {match[2] if match is not None else "" for match in said}
    kind = names.pop() if len(names) == 1 else ""
    return "" if kind.endswith("List") else kind
