"""Edits drafted in two steps: first where, then, when all places are known, what."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kumamigrate.dataclass import dataclass, field
from kumamigrate.source.editing.sheet import RefusedError, Sheet
from kumamigrate.source.text import Reason

NO_TEXT: tuple[str, str] = ("", "")


class OverlapError(Exception):
    """Two edits touch the same place. Never leaves `patch`."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A span of the old text and what stands there instead."""

    start: int
    end: int
    text: str


@dataclass(slots=True, kw_only=True)
class EditRun:
    """A span to be replaced by what `render` returns: comment lines for `above`, and the text.

    `above` is the line start where comments go that lose their place; None puts them in front
    of the text. They are indented by `column`. `whole` says that the span consists of whole
    lines.
    """

    start: int
    end: int
    render: Callable[[], tuple[str, str]] = lambda: NO_TEXT
    above: int | None = None
    column: int = 0
    whole: bool = False
    rendered: tuple[str, str] = field(default=NO_TEXT)


def finish(runs: Sequence[EditRun], sheet: Sheet, *, copying: bool) -> list[Edit]:
    """Return the edits in text order. What moves takes its comments before the rest is left."""
    for run in runs:
        run.rendered = run.render()
    edits: list[Edit] = []
    for run in runs:
        above, text = run.rendered
        lost = _orphans(run, sheet, copying=copying)
        if run.above is None:
            text = above + lost + text
        elif above or lost:
            edits.append(Edit(run.above, run.above, above + lost))
        edits.append(_settled(run, text, runs, sheet))
    return sorted((e for e in edits if e.text or e.start != e.end), key=lambda e: (e.start, e.end))


def _orphans(run: EditRun, sheet: Sheet, *, copying: bool) -> str:
    """Return the comments of a span as lines of their own."""
    lost: list[str] = []
    newline = sheet.newline
    for comment in sheet.lines.within(run.start, run.end):
        if not sheet.take(comment, copying=copying):
            continue
        column = sheet.lines.column(comment.start)
        indent = min(run.column, column) if comment.own_line else run.column
        lost.append(" " * indent + sheet.comment_text(comment) + newline)
    return "".join(lost)


def _settled(run: EditRun, text: str, runs: Sequence[EditRun], sheet: Sheet) -> Edit:
    """Keep blank lines from piling up where whole lines vanish."""
    if not run.whole or text or run.start == run.end:
        return Edit(run.start, run.end, text)
    return Edit(*_without_gap(run.start, run.end, runs, sheet), "")


def _without_gap(start: int, end: int, runs: Sequence[EditRun], sheet: Sheet) -> tuple[int, int]:
    lines = sheet.lines
    above = lines.previous(start)
    if above is not None and not lines.blank(above):
        return start, end
    wider = end
    while lines.blank(wider):
        wider = lines.next(wider)
    if any(end <= run.start <= wider for run in runs if run.start >= end):
        return start, end
    if wider != end:
        return start, wider
    at_end = end == len(sheet.text) or sheet.text[end : end + 3] in ("---", "...")
    while at_end and above is not None and lines.blank(above):
        if any(above <= run.end <= start and run.end < start for run in runs):
            break
        start, above = above, lines.previous(above)
    return start, end


def apply(text: str, edits: Sequence[Edit], start: int = 0, end: int | None = None) -> str:
    """Return a span of the text with edits made. Raises OverlapError."""
    pieces: list[str] = []
    last = start
    for edit in edits:
        if edit.start < last:
            raise OverlapError(f"edits overlap at {edit.start}")
        pieces.append(text[last : edit.start])
        pieces.append(edit.text)
        last = edit.end
    pieces.append(text[last : len(text) if end is None else end])
    return "".join(pieces)


def check_masks(edits: Sequence[Edit], sheet: Sheet) -> None:
    """Refuse edits that would touch a template expression."""
    for edit in edits:
        for mask in sheet.masked.overlapping(edit.start, max(edit.end, edit.start + 1)):
            inside = mask.start < edit.start < mask.end
            if inside or (mask.start < edit.end and edit.start < mask.end):
                detail = "a template expression stands where the edit would be"
                raise RefusedError(Reason.TEMPLATE, mask.start, detail)
