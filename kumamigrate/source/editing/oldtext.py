"""What of old text can be used in another place: values, and the comments that travel with them."""

from __future__ import annotations

from collections.abc import Sequence

from kumamigrate.dataclass import dataclass
from kumamigrate.source.editing.edits import Edit, apply
from kumamigrate.source.editing.sheet import RefusedError, Sheet
from kumamigrate.source.editing.sources import Source, SourcePlace, place_of, tied
from kumamigrate.source.node import Node, ScalarNode, Style
from kumamigrate.source.text import Reason
from kumamigrate.source.value import Moved


@dataclass(frozen=True, slots=True, kw_only=True)
class OldText:
    """The text that a resource has, from which values are moved.

    `base` is the node that `Moved` paths start from. `elsewhere` says that the text goes into
    another document, where anchors of this one do not count.
    """

    sheet: Sheet
    base: Node
    base_place: SourcePlace
    newline: str
    elsewhere: bool = False

    def locate(self, moved: Moved) -> Source:
        """Return what a moved value refers to."""
        return place_of(self.sheet, self.base, moved.path, self.base_place)

    def whole(self, source: Source) -> bool:
        """Say whether a node's text may be used; refuse where only its value could be."""
        if source.own and not tied(self.sheet, source.node):
            return True
        if self.elsewhere:
            return False
        detail = "an anchor, alias or merge stands in what would have to be moved"
        raise RefusedError(Reason.ALIAS, source.node.start, detail)

    def head_comments(self, source: Source, column: int) -> str:
        """Return the comment lines above an entry, if they travel with it."""
        lines, place = self.sheet.lines, source.place
        if place.root or place.flow or not lines.first_on_line(place.at):
            return ""
        taken = [
            self.sheet.comment_text(comment)
            for comment in lines.within(lines.head(place.at), lines.start(place.at))
            if self.sheet.take(comment, copying=True)
        ]
        return "".join(f"{' ' * max(column, 0)}{c}{self.newline}" for c in taken)

    def side_comment(self, source: Source, offset: int) -> str:
        """Return the comment on the rest of a line with the blanks before it, if it travels."""
        node = source.node
        block = isinstance(node, ScalarNode) and node.style in (Style.LITERAL, Style.FOLDED)
        if source.place.flow or block:
            return ""
        comment = self.sheet.lines.trailing(offset)
        if comment is None or not self.sheet.take(comment, copying=True):
            return ""
        blanks = self.sheet.text[offset : comment.start] or " "
        return blanks + self.sheet.comment_text(comment)

    def edited(self, edits: Sequence[Edit], start: int, end: int) -> tuple[str, str]:
        """Return a span of old text with edits applied: comments for above, and the text.

        Comments that stay where they are, are left out.
        """
        above = "".join(e.text for e in edits if e.end <= start and e.start < start)
        inner = [Edit(max(e.start, start), e.end, e.text) for e in edits if e.end > start]
        inner += [e for e in edits if e.start == e.end == start]
        inner += self._left_out(start, end, inner)
        inner.sort(key=lambda e: (e.start, e.end))
        return above, apply(self.sheet.text, inner, start, end)

    def _left_out(self, start: int, end: int, edits: Sequence[Edit]) -> list[Edit]:
        """Return the edits that remove comments which do not travel."""
        removed: list[Edit] = []
        lines = self.sheet.lines
        for comment in lines.within(start, end):
            if any(e.start <= comment.start < e.end for e in edits):
                continue
            if self.sheet.take(comment, copying=True):
                continue
            if comment.own_line:
                begin = max(start, lines.start(comment.start))
                following = lines.next(comment.start)
                limit = min((e.start for e in edits if e.start >= following), default=end)
                while lines.blank(following) and lines.next(following) <= limit:
                    following = lines.next(following)
                removed.append(Edit(begin, following, ""))
            else:
                before = self.sheet.text[start : comment.start]
                begin = start + len(before.rstrip(" \t"))
                removed.append(Edit(begin, comment.end, ""))
        return removed
