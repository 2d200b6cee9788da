"""Markdown that says what it was given: names from files can neither format, link nor ping.

What stands in files is hostile until shown otherwise. It is put into code spans, or, where it
holds what would end one, into `<code>` with every character that means anything written by its
number. Sentences of ours, which may quote a file, have theirs escaped one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from kumamigrate.pattern import pattern
from kumamigrate.report.styled import safe

MOST_CHARACTERS = 160
"""A cell is a glance; what is longer is cut and marked."""
_PLAIN_CODE = pattern(r"[^`|\\]+")
_NEEDS_NUMBER = pattern(r"[^A-Za-z0-9 /,-]")
_MEANT = pattern(r"[\\`*_\[\]<>|~&$]")
_JOINS = pattern(r"(?<![\w.])([@#])(?=\w)|(?<=\w)(:)(?=//)|\b(www)(?=\.)", re.IGNORECASE)
_APART = "\u200b"
"""A space of no width: it keeps a code host from making a link or a mention."""


def short(text: str, most: int = MOST_CHARACTERS) -> str:
    """Return text on one line, cut where it is long."""
    told = " ".join(safe(text.replace("\n", " ")).split())
    return told if len(told) <= most else f"{told[: most - 1]}…"


def code(text: str, most: int = MOST_CHARACTERS) -> str:
    """Return text as code, in a table and outside; empty text is empty."""
    told = short(text, most)
    if not told:
        return ""
    if _PLAIN_CODE.fullmatch(told):
        return f"`{told}`"
    return f"<code>{_NEEDS_NUMBER.sub(lambda m: f'&#{ord(m[0])};', told)}</code>"


def prose(text: str, most: int = 4 * MOST_CHARACTERS) -> str:
    """Return a sentence with nothing in it that Markdown would take for its own."""
    told = _JOINS.sub(lambda m: f"{m[0]}{_APART}", short(text, most))
    told = _MEANT.sub(lambda m: f"&#{ord(m[0])};" if m[0] in "|<>&" else f"\\{m[0]}", told)
    # At the start of a line these would make a list or a heading.
    return re.sub(r"^(\d*)([-=+#.)])", r"\1\\\2", told)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a table; cells are Markdown already."""
    return [_row(head), _row(["---"] * len(head)), *map(_row, rows)]


def fold(summary: str, lines: Sequence[str]) -> list[str]:
    """Return lines that are shown on a click. The summary is ours and plain."""
    return ["<details>", f"<summary>{summary}</summary>", "", *lines, "", "</details>"]


def shell(command: str) -> list[str]:
    """Return a command as a block, whatever it holds."""
    told = safe(command)
    longest = max((len(run) for run in re.findall(r"`+", told)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}sh", told, fence]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
