"""Markdown as a sheet of YAML of as many lines, and what was edited there put back.

All that is no block of YAML is a blank line of the sheet, the fences are separators of documents:
places are the same in both, and the edits need not know of Markdown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from kumamigrate.dataclass import dataclass
from kumamigrate.pattern import pattern
from kumamigrate.source.reading.embedded import Block, content_of, fenced_blocks

_LINES = pattern(r"[^\n]*\n|[^\n]+")
_MARK = pattern(r"--- # fence \d+\r?\n?\Z")


@dataclass(frozen=True, slots=True)
class FencedSheet:
    """The lines of a Markdown text, and as many of YAML. `blocks` are numbers of blocks in it."""

    lines: tuple[str, ...]
    yaml: tuple[str, ...]
    indents: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return the YAML."""
        return "".join(self.yaml)


def count_of(text: str) -> int:
    """Return how many blocks with both their fences a Markdown text has."""
    return sum(1 for _ in _closed(text))


def sheet_of(text: str, only: int | None = None) -> FencedSheet:
    """Return the sheet of a Markdown text, of one of its blocks alone with `only`."""
    lines = _LINES.findall(text)
    yaml = [_ending(line) for line in lines]
    indents = []
    for number, block in enumerate(_closed(text)):
        if only is not None and number != only:
            continue
        first = text.count("\n", 0, block.start)
        inner = _LINES.findall(content_of(text, block))
        last = first + len(inner)
        yaml[first - 1] = f"--- # fence {2 * number}{_ending(lines[first - 1])}"
        yaml[first:last] = inner
        yaml[last] = f"--- # fence {2 * number + 1}{_ending(lines[last])}"
        indents.append(_indent(text, block))
    return FencedSheet(lines=tuple(lines), yaml=tuple(yaml), indents=tuple(indents))


def put_back(sheet: FencedSheet, edited: str) -> str | None:
    """Return the Markdown text with the blocks as they were edited; None where that is not clear.

    Lines that stayed are as they were, new ones get the indent of their block. What stands outside
    the blocks must not have changed.
    """
    old, new = _LINES.findall(sheet.text), _LINES.findall(edited)
    marks = [[line for line in lines if _MARK.match(line)] for lines in (old, new)]
    if marks[0] != marks[1]:
        return None
    out: list[str] = []
    at = 0
    for number, (before, after) in enumerate(zip(_parts(old), _parts(new), strict=True)):
        raw = sheet.lines[at : at + len(before)]
        if number % 2 == 1:
            out += _merged(raw, before, after, sheet.indents[number // 2])
        elif before == after:
            out += raw
        else:
            return None
        at += len(before)
        out += sheet.lines[at : at + 1]  # the fence, or a last line that nothing ends
        at += 1
    return "".join(out)


def _closed(text: str) -> Iterator[Block]:
    return (block for block in fenced_blocks(text) if block.end < len(text))


def _indent(text: str, block: Block) -> str:
    """Return what stands before every line of a block."""
    if block.indent.strip():
        return block.indent
    lines = [line for line in text[block.start : block.end].splitlines() if line.strip()]
    shared = min((len(line) - len(line.lstrip(" \t")) for line in lines), default=0)
    return lines[0][:shared] if lines else block.indent


def _ending(line: str) -> str:
    return "\r\n" if line.endswith("\r\n") else "\n" if line.endswith("\n") else ""


def _parts(lines: Sequence[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for line in lines:
        if _MARK.match(line):
            parts.append([])
        else:
            parts[-1].append(line)
    return parts


def _merged(
    raw: Sequence[str], before: Sequence[str], after: Sequence[str], indent: str
) -> Iterator[str]:
    matcher = SequenceMatcher(a=before, b=after, autojunk=False)
    for tag, first, last, start, end in matcher.get_opcodes():
        if tag == "equal":
            yield from raw[first:last]
        else:
            yield from (indent + line if line.strip() else line for line in after[start:end])
