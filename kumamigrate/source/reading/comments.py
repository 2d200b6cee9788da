"""Where the comments of a file stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kumamigrate.dataclass import dataclass
from kumamigrate.pattern import pattern
from kumamigrate.source.node import AliasNode, MapNode, Node, ScalarNode, SeqNode, Style
from kumamigrate.source.reading.mask import Masked
from kumamigrate.source.text import Document

_TOKEN = pattern(r"[&!][^\s,\[\]{}]+|#[^\r\n]*")


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment, from `#` to the end of its line. `own_line`: nothing stands before it."""

    start: int
    end: int
    own_line: bool


def comments_of(
    masked: Masked, documents: Sequence[Document], refused: frozenset[int] = frozenset()
) -> tuple[Comment, ...]:
    """Return all comments in text order, those inside refused documents left out.

    `refused` holds the indexes of documents whose content is unknown.
    """
    found: list[Comment] = []
    last = 0
    for document in documents:
        if document.index in refused:
            found.extend(_gap(masked, last, document.span.start))
            last = document.span.end
        elif document.root is not None:
            for start, end in leaves(document.root, masked.text):
                found.extend(_gap(masked, last, start))
                last = end
    found.extend(_gap(masked, last, len(masked.text)))
    return tuple(found)


def leaves(node: Node, text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of all scalars, in text order; headers of block scalars are left out."""
    if isinstance(node, ScalarNode):
        start = node.start
        if node.style in (Style.LITERAL, Style.FOLDED):
            start = _header_end(text, start, node.end)
        yield start, node.end
    elif isinstance(node, AliasNode):
        yield node.start, node.end
    elif isinstance(node, MapNode):
        for key, child in node.entries:
            yield key.start, key.end
            yield from leaves(child, text)
    elif isinstance(node, SeqNode):
        for child in node.items:
            yield from leaves(child, text)


def _header_end(text: str, start: int, end: int) -> int:
    while start < end and text[start] not in "\r\n":
        start += 1
    return start


def _gap(masked: Masked, start: int, end: int) -> Iterator[Comment]:
    for match in _TOKEN.finditer(masked.text, start, end):
        if match[0][0] != "#":
            continue
        at = match.start()
        yield Comment(at, match.end(), _first_on_line(masked.text, at))


def _first_on_line(text: str, at: int) -> bool:
    while at and text[at - 1].isspace():
        at -= 1
        if text[at] in "\r\n":
            return True
    return not at
