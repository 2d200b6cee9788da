"""What all edits of one file share: its text, its comments and who took them."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable

from kumamigrate.dataclass import dataclass, field
from kumamigrate.source.node import AliasNode, Node, walk
from kumamigrate.source.reading.comments import Comment, comments_of
from kumamigrate.source.reading.lines import Lines, lines_of, newline_of
from kumamigrate.source.reading.load import has_no_content
from kumamigrate.source.reading.mask import Masked, mask_templates
from kumamigrate.source.text import Document, Reason, SourceFile


class RefusedError(Exception):
    """An edit that will not be made, at an offset of the old text. Never leaves `patch`."""

    def __init__(self, reason: Reason, offset: int, detail: str) -> None:
        self.reason = reason
        self.offset = offset
        self.detail = detail
        super().__init__(detail)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """One file to be edited.

    `cuts` are the spans whose content vanishes from its place; `claimed` the offsets of
    comments that have found a new one, `dropped` of those that shall vanish. They grow while
    edits are drafted.
    """

    text: str
    masked: Masked
    lines: Lines
    used: dict[int, list[AliasNode]]
    newline: str = "\n"
    cuts: list[tuple[int, int]] = field(default_factory=list)
    claimed: set[int] = field(default_factory=set)
    dropped: set[int] = field(default_factory=set)

    def drop(self, start: int, end: int) -> None:
        """Let the comments of a span vanish for good."""
        offsets = [comment.start for comment in self.lines.within(start, end)]
        self.dropped.update(offsets)
        self.claimed.update(offsets)

    def is_cut(self, offset: int) -> bool:
        """Say whether what stands at an offset vanishes from there."""
        return any(start <= offset < end for start, end in self.cuts)

    def take(self, comment: Comment, *, copying: bool) -> bool:
        """Claim a comment for a new place. A copy gets only comments whose old place vanishes."""
        if comment.start in self.claimed or (copying and not self.is_cut(comment.start)):
            return False
        self.claimed.add(comment.start)
        return True

    def comment_text(self, comment: Comment) -> str:
        """Return a comment without line break or blanks around it."""
        return self.text[comment.start : comment.end].rstrip()

    def in_use(self, node: Node) -> bool:
        """Say whether aliases refer to a node."""
        return id(node) in self.used

    def same_branch(self, first: int, second: int) -> bool:
        """Say whether two places stand in the same branch of the template."""
        return self.masked.branch_at(first) == self.masked.branch_at(second)

    def check_cut(self, node: Node) -> None:
        """Refuse to remove a node that aliases standing elsewhere refer to."""
        for _, inner in walk(node):
            for alias in self.used.get(id(inner), ()):
                if not node.start <= alias.start < node.end:
                    line = bisect_right(self.lines.starts, alias.start)
                    detail = f"it is anchored, and *{alias.name} on line {line} refers to it"
                    raise RefusedError(Reason.ALIAS, node.start, detail)


def sheet_of(file: SourceFile) -> Sheet:
    """Return the sheet of a file as it was read."""
    masked = mask_templates(file.text, file.path)
    refused = frozenset(d.index for d in file.documents if is_refused(d, file.text))
    comments = comments_of(masked, file.documents, refused)
    return Sheet(
        text=file.text,
        masked=masked,
        lines=lines_of(file.text, file.line_starts, comments),
        newline=newline_of(file.text),
        used=_uses(d.root for d in file.documents if d.root is not None),
    )


def is_refused(document: Document, text: str) -> bool:
    """Say whether a document without root has content: then it was refused, else it is empty."""
    body = text[document.span.start : document.span.end]
    return document.root is None and not has_no_content(body.removeprefix("---"))


def _uses(roots: Iterable[Node]) -> dict[int, list[AliasNode]]:
    used: dict[int, list[AliasNode]] = defaultdict(list)
    for root in roots:
        for _, node in walk(root):
            if isinstance(node, AliasNode):
                used[id(node.target)].append(node)
    return dict(used)
