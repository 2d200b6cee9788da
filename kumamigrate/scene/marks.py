"""Comments that speak to this tool: `# kumamigrate: ignore[rule] until=2027-01-31 why`.

A mark stands on a line of what it is about, or above one; `ignore-document[…]` and
`ignore-file[…]` may stand anywhere in theirs. What looks like a mark and is none is told.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import date
from enum import StrEnum

from kumamigrate.dataclass import dataclass
from kumamigrate.pattern import pattern
from kumamigrate.source.reading.comments import leaves
from kumamigrate.source.text import SourceFile

_ADDRESSED = pattern(r"#[ \t]*+kumamigrate\b[ \t]*+(:?)[ \t]*+([A-Za-z-]*+)")
_BRACKET = pattern(r"\[([^\]\[#\r\n]*+)\]")
_UNTIL = pattern(r"[ \t]*+until=(\S*+)")
_WAYS = ("ignore", "disable", "suppress", "skip")
HOW = "write `# kumamigrate: ignore[rule] why`, ignore-document[rule] or ignore-file[rule]"


class MarkReach(StrEnum):
    """How much a mark is about."""

    NODE = "ignore"
    DOCUMENT = "ignore-document"
    FILE = "ignore-file"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One comment that asks for rules to be left alone.

    It covers its own line or, standing alone, the next that has more than a comment. `above`
    says that nothing stands before it on its line.
    """

    file: str
    line: int
    column: int
    reach: MarkReach
    rules: tuple[str, ...]
    covers: int
    document: int
    above: bool
    until: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Misspelt:
    """A comment that looks like a mark, and what is wrong with it."""

    file: str
    line: int
    column: int
    message: str


def marks_in(file: SourceFile) -> tuple[Mark | Misspelt, ...]:
    """Return what a file says to this tool, in text order."""
    if "kumamigrate" not in file.text:
        return ()
    inside = _MarkInside(file)
    content = _next_content(file)
    return tuple(
        _read(file, found, content)
        for found in _ADDRESSED.finditer(file.text)
        if (found[1] or found[2].lower().startswith(_WAYS)) and not inside.scalar(found.start())
    )


def _read(file: SourceFile, found: re.Match[str], content: Sequence[int]) -> Mark | Misspelt:
    line, column = file.position(found.start())
    start = file.line_starts[line - 1]
    above = file.text[start : found.start()].strip() in ("", "---")
    problem, until = "", None
    rules: tuple[str, ...] = ()
    bracket = _BRACKET.match(file.text, found.end())
    if not found[1]:
        problem = "a colon is missing behind kumamigrate"
    elif found[2] not in tuple(MarkReach):
        problem = f"`{found[2]}` says nothing to kumamigrate" if found[2] else "it says nothing"
    elif bracket is None:
        problem = f"the rules are missing behind {found[2]}, in square brackets"
    else:
        rules = tuple(rule.strip() for rule in bracket[1].split(",") if rule.strip())
        problem = "" if rules else f"no rule stands behind {found[2]}"
        until, unread = _until(file.text, bracket.end())
        problem = problem or unread
    if problem:
        message = f"this comment ignores nothing: {problem}"
        return Misspelt(file=file.path, line=line, column=column, message=message)
    return Mark(
        file=file.path,
        line=line,
        column=column,
        reach=MarkReach(found[2]),
        rules=rules,
        covers=content[line - 1] if above else line,
        document=_document(file, found.start()),
        above=above,
        until=until,
    )


def _until(text: str, at: int) -> tuple[date | None, str]:
    """Return the date up to which a mark counts, and what is wrong with it."""
    found = _UNTIL.match(text, at)
    if found is None:
        return None, ""
    try:
        return date.fromisoformat(found[1]), ""
    except ValueError:
        return None, f"until={found[1][:20]} is no date such as 2027-01-31"


def _document(file: SourceFile, offset: int) -> int:
    """Return the index of the document that an offset lies in, or of the next one."""
    for document in file.documents:
        if offset < document.span.end:
            return document.index
    return file.documents[-1].index if file.documents else 0


def _next_content(file: SourceFile) -> list[int]:
    """Return for each line the number of the first one from there on with more than a comment
    or the mark between two documents."""
    starts = file.line_starts
    lines = [file.text[a:b] for a, b in zip(starts, (*starts[1:], None), strict=True)]
    found = [0] * len(lines)
    number = len(lines) + 1
    for at in range(len(lines) - 1, -1, -1):
        text = lines[at].partition(" #")[0].strip()
        if text[:1] not in ("#", "") and text != "---":
            number = at + 1
        found[at] = number
    return found


class _MarkInside:
    """Which places of a file lie inside a value: a `#` there begins no comment."""

    def __init__(self, file: SourceFile) -> None:
        spans = sorted(self._spans(file))
        self._starts = [start for start, _ in spans]
        self._ends = [end for _, end in spans]

    @staticmethod
    def _spans(file: SourceFile) -> Iterator[tuple[int, int]]:
        for document in file.documents:
            if document.root is not None:
                yield from leaves(document.root, file.text)

    def scalar(self, offset: int) -> bool:
        """Say whether a place lies inside a value."""
        at = bisect_right(self._starts, offset) - 1
        return at >= 0 and offset < self._ends[at]
