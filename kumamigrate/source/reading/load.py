"""From the bytes of a file to its documents, or to the reasons why not."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache

from kumamigrate.errors import REPORT_IT, fault
from kumamigrate.pattern import pattern
from kumamigrate.source.node import JSON, json_value
from kumamigrate.source.reading.directives import directives
from kumamigrate.source.reading.locks import LockPlace, lock_of, overlay_of, sealed
from kumamigrate.source.reading.mask import Masked, mask_templates
from kumamigrate.source.reading.nested import Nested, is_kuma, mentions_kuma, nested_places
from kumamigrate.source.reading.parse import parse_document
from kumamigrate.source.reading.quick import quick_start, quick_value
from kumamigrate.source.reading.sift import Kind, classify
from kumamigrate.source.reading.unparsable import UnparsableError
from kumamigrate.source.text import Document, FieldPath, Later, Reason, Refusal, SourceFile, Span

__all__ = ["json_value", "read_file"]

MAX_BYTES = 10 * 1024 * 1024
KEPT_BYTES = 100_000
"""A larger file is read anew each time: trees take many times as much memory as text."""
_BOM = b"\xef\xbb\xbf"
_LINE_BREAK = pattern(r"\r\n|\n|\r")
_MARKER = pattern(r"(?:\A|(?<=[\n\r]))(---|\.\.\.)(?=[ \t\r\n]|\Z)")
_NO_CONTENT = pattern(r"(?:\s|#[^\r\n]*+|(?:\A|(?<=[\n\r]))%[^\r\n]*+)*+\Z")
"""Possessive throughout: a banner of `#` could else be taken apart in exponentially many ways."""

_ADVICE = {
    Reason.UNPARSABLE: "correct the YAML, or leave the file out with .gitignore",
    Reason.DUPLICATE_KEY: "remove one of the two",
    Reason.TEMPLATE: "render the template and run on the result, or edit it by hand",
    Reason.TOO_DEEP: "flatten the document",
    Reason.TOO_LARGE: "split the file",
    Reason.ALIAS: "write the value out",
    Reason.UNDECODABLE: "convert the file to UTF-8",
}
_TAB_ADVICE = "indent with spaces: neither Kuma's reader nor this tool accepts tabs there"


def read_file(path: str, data: bytes) -> SourceFile:
    """Return the file with every document that could be read, and refusals for the others.

    What was read last is kept, with the trees that were built of it: an edited text is read for
    the check of the edit, for the trial of the change, and once more where the change holds.
    """
    return _read_last(path, data) if len(data) <= KEPT_BYTES else _read(path, data)


@lru_cache(maxsize=64)
def _read_last(path: str, data: bytes) -> SourceFile:
    return _read(path, data)


def _read(path: str, data: bytes) -> SourceFile:
    if len(data) > MAX_BYTES:
        detail = f"{len(data)} bytes; the limit is {MAX_BYTES}"
        return _refused(path, Reason.TOO_LARGE, detail)
    bom = data.startswith(_BOM)
    body = data[3:] if bom else data
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        return _undecodable(path, body, error.start)
    starts = line_starts(text)
    masked = mask_templates(text, path)
    ruling = tuple(directives(text))
    behind = 0
    documents: list[Document] = []
    refusals: list[Refusal] = []
    for span in document_spans(masked.text):
        index = len(documents)
        plain = not masked.masks and (not ruling or not mentions_kuma(text, span))
        quick = quick_value(text[span.start : span.end]) if plain else None
        if quick is not None and (is_kuma(quick[0]) or not mentions_kuma(text, span)):
            documents.append(_quick(path, index, span, masked, *quick))
            continue
        root = None
        try:
            root = parse_document(text, masked, span.start, span.end)
        except UnparsableError as problem:
            refusals.append(_refusal(path, index, problem, text, masked, starts, span))
        except Exception as error:  # a fault of ours costs its own document only
            refusals.append(_fault(path, index, span, starts, fault(error)))
        place = LockPlace(behind, span, root)
        behind = place.content.end
        if overlay := overlay_of(place, ruling):
            refusals.append(_overlay(path, index, overlay.start, starts))
            root = None
        lock = lock_of(place, masked, ruling)
        document = Document(path=path, index=index, span=span, parsed=root, lock=lock)
        documents.append(document)
        refusals.extend(_nested(document, nested_places(document, text), starts))
    return SourceFile(
        path=path,
        text=text,
        bom=bom,
        documents=tuple(documents),
        refusals=tuple(refusals),
        line_starts=starts,
    )


def _fault(path: str, index: int, span: Span, starts: tuple[int, ...], why: str) -> Refusal:
    return Refusal(
        path=path,
        line=bisect_right(starts, span.start),
        column=1,
        reason=Reason.UNPARSABLE,
        detail=f"document {index + 1}: {why}",
        advice=REPORT_IT,
        hides=True,
    )


def _quick(path: str, index: int, span: Span, masked: Masked, value: JSON, start: int) -> Document:
    def near(field: FieldPath) -> int:
        return span.start + quick_start(masked.text[span.start : span.end], field)

    tree = Later(lambda: parse_document(masked.text, masked, span.start, span.end), near)
    quick = (value, span.start + start)
    lock = sealed(value, quick[1])
    return Document(path=path, index=index, span=span, parsed=tree, quick=quick, lock=lock)


def _overlay(path: str, index: int, offset: int, starts: tuple[int, ...]) -> Refusal:
    line = bisect_right(starts, offset)
    return Refusal(
        path=path,
        line=line,
        column=offset - starts[line - 1] + 1,
        reason=Reason.TEMPLATE,
        detail=f"document {index + 1}: an overlay of ytt, which changes other manifests",
        advice="render it with them and run on the result",
        hides=True,
    )


def line_starts(text: str) -> tuple[int, ...]:
    """Return the offset of each line's first character."""
    return (0, *(m.end() for m in _LINE_BREAK.finditer(text)))


def document_spans(text: str) -> tuple[Span, ...]:
    """Return where each document stands, its `---` line included, the next one's left out.

    A marker at the start of a line ends a document whatever stands around it, so one document
    that cannot be parsed hides no other. Comments before the first `---` are no document.
    """
    spans: list[Span] = []
    start = 0
    explicit = False
    for marker in _MARKER.finditer(text):
        end = marker.start()
        content = explicit or not has_no_content(text[start:end])
        if marker[1] == "---":
            if content:
                spans.append(Span(start, end))
                start = end
            elif _has_directive(text[start:end]):
                pass  # directives must be parsed together with the marker that ends them
            else:
                start = end
            explicit = True
        else:
            if content:
                spans.append(Span(start, end))
            start = marker.end()
            explicit = False
    if explicit or not has_no_content(text[start:]):
        spans.append(Span(start, len(text)))
    return tuple(spans)


def has_no_content(text: str) -> bool:
    """Say whether a text is made of blanks, comments and directives only."""
    first = text.lstrip()[:1]
    return (not first or first in "#%") and _NO_CONTENT.match(text) is not None


def _has_directive(text: str) -> bool:
    return re.search(r"(?:\A|(?<=[\n\r]))%", text) is not None


def _nested(
    document: Document, places: Sequence[Nested], starts: tuple[int, ...]
) -> Iterator[Refusal]:
    """Yield what is said of each resource inside of something else; of many alike once."""
    known: dict[tuple[str, str, str], list[Nested]] = {}
    for place in places:
        known.setdefault((place.mesh, place.what, place.kind), []).append(place)
    for (mesh, what, kind), alike in known.items():
        line = bisect_right(starts, alike[0].start)
        more = f", and {len(alike) - 1} more" if len(alike) > 1 else ""
        yield Refusal(
            path=document.path,
            line=line,
            column=alike[0].start - starts[line - 1] + 1,
            reason=Reason.NOT_AT_ROOT,
            detail=f"document {document.index + 1}: Kuma's {what} inside of another object{more}",
            advice="make it a document of its own to have it read, or render what holds it",
            hides=True,
            mesh=mesh,
            kind=kind,
        )


def _refused(path: str, reason: Reason, detail: str, line: int = 0, column: int = 0) -> SourceFile:
    refusal = Refusal(
        path=path,
        line=line,
        column=column,
        reason=reason,
        detail=detail,
        advice=_ADVICE[reason],
        hides=True,
    )
    return SourceFile(path=path, text="", refusals=(refusal,))


def _undecodable(path: str, data: bytes, offset: int) -> SourceFile:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return _refused(path, Reason.UNDECODABLE, "the file is UTF-16, not UTF-8", 1, 1)
    line_start = max(data.rfind(b"\n", 0, offset), data.rfind(b"\r", 0, offset)) + 1
    line = len(re.findall(rb"\r\n|\n|\r", data[:line_start])) + 1
    column = len(data[line_start:offset].decode("utf-8", "replace")) + 1
    detail = f"byte 0x{data[offset]:02x} is not UTF-8"
    return _refused(path, Reason.UNDECODABLE, detail, line, column)


def _refusal(
    path: str,
    index: int,
    problem: UnparsableError,
    text: str,
    masked: Masked,
    starts: tuple[int, ...],
    span: Span,
) -> Refusal:
    line = bisect_right(starts, problem.offset)
    line_start = starts[line - 1]
    reason, detail, advice = problem.reason, problem.detail, _ADVICE[problem.reason]
    if problem.other is not None:
        first = bisect_right(starts, problem.other)
        detail = f"{detail}, on lines {first} and {line}"
    templates = masked.overlapping(span.start, span.end)
    if templates and reason in (Reason.UNPARSABLE, Reason.DUPLICATE_KEY):
        reason, advice = Reason.TEMPLATE, _ADVICE[Reason.TEMPLATE]
        detail = f"without its template expressions this is not YAML: {detail}"
    elif reason is Reason.UNPARSABLE and "\t" in text[line_start : problem.offset + 1]:
        advice = _TAB_ADVICE
    body = text[span.start : span.end].encode()
    return Refusal(
        path=path,
        line=line,
        column=problem.offset - line_start + 1,
        reason=reason,
        detail=f"document {index + 1}: {detail}",
        advice=advice,
        hides=bool(templates) or classify(body) is not Kind.NONE,
    )
