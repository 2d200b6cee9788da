"""Exports of a control plane as plain values: read whole or not at all, and fast.

An export is never edited, so no tree of nodes is built and nothing in it is a template. Ten
thousand Dataplanes are twenty megabytes: the limit for files of a repository does not apply here.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator

from kumamigrate.dataclass import dataclass
from kumamigrate.pattern import pattern
from kumamigrate.source.node import JSON, json_value
from kumamigrate.source.reading.load import document_spans, line_starts
from kumamigrate.source.reading.mask import Masked
from kumamigrate.source.reading.parse import parse_document
from kumamigrate.source.reading.quick import quick_value
from kumamigrate.source.reading.unparsable import UnparsableError

MAX_BYTES = 512 * 1024 * 1024
_MARKS = (b"\xff\xfe", b"\xfe\xff")
_ITEMS = pattern(r"(?m)^items:[ \t]*\r?$\n?")
_ITEM = pattern(r"(?m)^- ")
_KEY = pattern(r"(?m)^[^\s#-]")
_BETWEEN = pattern(r"\s*")


@dataclass(frozen=True, slots=True)
class ExportPart:
    """One document, or one item of a list: its value and the line it begins on."""

    value: JSON
    line: int


class BrokenError(Exception):
    """What is no complete YAML or JSON, at a line and column (from 1; 0 is the whole file)."""

    def __init__(self, detail: str, line: int = 0, column: int = 0) -> None:
        self.detail = detail
        self.line = line
        self.column = column
        super().__init__(detail)


def text_of(data: bytes) -> str:
    """Return the text of an export. Raises BrokenError where it is none."""
    if len(data) > MAX_BYTES:
        raise BrokenError(f"{len(data)} bytes; the limit is {MAX_BYTES}")
    if data.startswith(_MARKS):
        raise BrokenError("the file is UTF-16, not UTF-8; a shell wrote it so, write it anew")
    try:
        return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BrokenError(f"byte 0x{data[error.start]:02x} is not UTF-8", line, 1) from None


def parts_of(text: str) -> tuple[ExportPart, ...]:
    """Return all that stands in an export, in order; lists of kubectl item by item.

    Raises BrokenError for the first thing that cannot be read.
    """
    if text.lstrip()[:1] in ("{", "["):
        return tuple(_json_parts(text))
    starts = line_starts(text)
    found: list[ExportPart] = []
    for span in document_spans(text):
        chunk = text[span.start : span.end]
        line = bisect_right(starts, span.start)
        parts = _items(chunk, line)
        found.extend(parts if parts is not None else _document(text, span.start, span.end, starts))
    return tuple(found)


def _json_parts(text: str) -> Iterator[ExportPart]:
    """Yield the values of JSON texts that stand one behind the other."""
    decoder = json.JSONDecoder(parse_float=_number)
    match = _BETWEEN.match(text)
    at = match.end() if match is not None else 0
    while at < len(text):
        try:
            value, end = decoder.raw_decode(text, at)
        except RecursionError:
            raise BrokenError("it is nested too deeply") from None
        except json.JSONDecodeError as error:
            cut = not text[error.pos :].strip() or error.msg.startswith("Unterminated")
            said = "it ends in the middle: the export was cut off" if cut else error.msg
            raise BrokenError(f"not complete JSON: {said}", error.lineno, error.colno) from None
        yield ExportPart(value, text.count("\n", 0, at) + 1)
        match = _BETWEEN.match(text, end)
        at = match.end() if match is not None else end


def _number(text: str) -> JSON:
    number = float(text)
    return int(number) if number.is_integer() and abs(number) < 1e21 else number


def _items(chunk: str, line: int) -> list[ExportPart] | None:
    """Return the items of a list as kubectl prints it, each read alone; None for anything else.

    One document of ten thousand items takes much longer than ten thousand documents. What stands
    around the items comes first, with as many empty ones, so that its end is seen to be there.
    """
    head = _ITEMS.search(chunk)
    if head is None:
        return None
    tail = _KEY.search(chunk, head.end())
    end = tail.start() if tail is not None else len(chunk)
    around = quick_value(f"{chunk[: head.start()]}items: []\n{chunk[end:]}")
    places = [match.start() for match in _ITEM.finditer(chunk, head.end(), end)]
    if around is None or not places or chunk[head.end() : places[0]].strip():
        return None
    parts = [ExportPart({**around[0], "items": [{}] * len(places)}, line)]
    number, seen = line, 0
    for at, until in zip(places, (*places[1:], end), strict=True):
        read = quick_value(" " + chunk[at + 1 : until])
        if read is None:
            return None
        number, seen = number + chunk.count("\n", seen, at), at
        parts.append(ExportPart(read[0], number))
    return parts


def _document(text: str, start: int, end: int, starts: tuple[int, ...]) -> Iterator[ExportPart]:
    quick = quick_value(text[start:end])
    if quick is not None:
        yield ExportPart(quick[0], bisect_right(starts, start + quick[1]))
        return
    try:
        root = parse_document(text, Masked(text=text), start, end)
    except UnparsableError as problem:
        line = bisect_right(starts, problem.offset)
        column = problem.offset - starts[line - 1] + 1
        raise BrokenError(f"not complete YAML: {problem.detail}", line, column) from None
    if root is not None:
        yield ExportPart(json_value(root), bisect_right(starts, root.start))
