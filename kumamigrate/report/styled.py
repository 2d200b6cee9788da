"""Lines of text for people: words with a style that may be dropped, safe against escape codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TextIO

Segment = tuple[str, str]
"""Text and a style word: "", "good", "bad", "warn", "dim", "strong", "place"."""
Line = tuple[Segment, ...]

_STYLES = {
    "good": "green",
    "bad": "red",
    "warn": "yellow",
    "dim": "bright_black",
    "strong": "bold",
    "place": "cyan",
}


def line(*parts: str | Segment) -> Line:
    """Make one line of plain strings and styled segments."""
    return tuple((part, "") if isinstance(part, str) else part for part in parts)


def safe(text: str) -> str:
    """Return text in which control and direction characters are shown, not obeyed."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def plain(lines: Iterable[Line]) -> str:
    """Return lines as text without styles, each safe to print."""
    return "".join("".join(safe(text) for text, _ in parts).rstrip() + "\n" for parts in lines)


def show(lines: Iterable[Line], stream: TextIO | None = None) -> None:
    """Print lines, in colour only where somebody sees it and did not ask otherwise."""
    out = stream or sys.stdout
    if not out.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        encoding = getattr(out, "encoding", None) or "utf-8"
        out.write(plain(lines).encode(encoding, "backslashreplace").decode(encoding))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=out, highlight=False, markup=False, soft_wrap=True)
    for parts in lines:
        text = Text()
        for words, style in parts:
            text.append(safe(words), style=_STYLES.get(style, ""))
        console.print(text)
