"""Lines and columns of a text, and which comment lines belong to what stands beside them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from kumamigrate.dataclass import dataclass, field
from kumamigrate.source.reading.comments import Comment


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """The geometry of one text. Columns count from 0."""

    text: str
    starts: Sequence[int]
    comments: Sequence[Comment]
    own: dict[int, Comment] = field(default_factory=dict)

    def start(self, offset: int) -> int:
        """Return where the line of an offset begins."""
        return self.starts[bisect_right(self.starts, offset) - 1]

    def next(self, offset: int) -> int:
        """Return where the line after that of an offset begins, or the end of the text."""
        index = bisect_right(self.starts, offset)
        return self.starts[index] if index < len(self.starts) else len(self.text)

    def previous(self, line_start: int) -> int | None:
        """Return where the line before one begins."""
        index = bisect_right(self.starts, line_start) - 2
        return self.starts[index] if index >= 0 else None

    def end(self, offset: int) -> int:
        """Return where the line of an offset ends, its line break left out."""
        following = self.next(offset)
        return following - len(self.line_break(following))

    def line_break(self, line_start: int) -> str:
        """Return the line break that stands before an offset, if one does."""
        before = self.text[max(0, line_start - 2) : line_start]
        if before == "\r\n":
            return before
        return before[-1:] if before[-1:] in ("\n", "\r") else ""

    def column(self, offset: int) -> int:
        """Return the column of an offset."""
        return offset - self.start(offset)

    def first_on_line(self, offset: int) -> bool:
        """Say whether only blanks stand before an offset on its line."""
        return not self.text[self.start(offset) : offset].strip()

    def blank(self, line_start: int) -> bool:
        """Say whether a line holds nothing."""
        return (
            line_start < len(self.text) and not self.text[line_start : self.end(line_start)].strip()
        )

    def own_comment(self, line_start: int) -> Comment | None:
        """Return the comment that has a line for itself."""
        return self.own.get(line_start)

    def head(self, offset: int) -> int:
        """Return where the comment lines begin that stand directly above an entry.

        Lines indented deeper than the entry belong to what stands above them.
        """
        column = self.column(offset)
        line = self.start(offset)
        while (above := self.previous(line)) is not None:
            comment = self.own_comment(above)
            if comment is None or comment.start - above > column:
                break
            line = above
        return line

    def tail(self, end: int, column: int) -> int:
        """Return where the lines of an entry end, deeper comment lines right behind included."""
        line = self.next(end)
        while line < len(self.text):
            comment = self.own_comment(line)
            if comment is None or comment.start - line <= column:
                break
            line = self.next(line)
        return line

    def trailing(self, end: int) -> Comment | None:
        """Return the comment behind an offset on the same line, if only blanks stand between."""
        index = bisect_right(self.comments, end - 1, key=lambda c: c.start)
        if index < len(self.comments):
            comment = self.comments[index]
            if comment.start < self.next(end) and not self.text[end : comment.start].strip():
                return comment
        return None

    def within(self, start: int, end: int) -> Sequence[Comment]:
        """Return the comments that begin inside a span."""
        first = bisect_right(self.comments, start - 1, key=lambda c: c.start)
        last = bisect_right(self.comments, end - 1, key=lambda c: c.start)
        return self.comments[first:last]


def lines_of(text: str, starts: Sequence[int], comments: Sequence[Comment]) -> Lines:
    """Return the geometry of a text."""
    bare = Lines(text=text, starts=starts, comments=comments)
    own = {bare.start(c.start): c for c in comments if c.own_line}
    return Lines(text=text, starts=starts, comments=comments, own=own)


def newline_of(text: str) -> str:
    """Return the line break that a text uses most."""
    pairs = text.count("\r\n")
    singles = text.count("\n") - pairs
    if pairs > singles:
        return "\r\n"
    return "\r" if not singles and not pairs and "\r" in text else "\n"
