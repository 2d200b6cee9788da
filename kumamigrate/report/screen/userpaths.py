"""Paths as they are seen from where the user stands, whatever the root of the repository is."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from kumamigrate.pattern import pattern
from kumamigrate.report.styled import Line
from kumamigrate.world.estate import Estate

_WORD = pattern(r"[^\s(),;`'\"]+")
_PLACE = pattern(r"(.+?)((?::\d+){1,2})?[.:]?")


def seen(path: Path) -> str:
    """Return a path as it is called from here."""
    try:
        return os.path.relpath(path)
    except (OSError, ValueError):  # another drive, or no folder to stand in
        return str(path)


def from_here(lines: Iterable[Line], estate: Estate) -> list[Line]:
    """Return lines in which files of an estate are called as they are from where the user is."""
    told = list(lines)
    root = estate.whole.repository.root
    if estate.scope is None or not _related(root):
        return told
    files = {*estate.tree.files, *estate.whole.repository.files}
    files |= {refusal.path for refusal in estate.whole.repository.unread}
    called = _calling(files, root)
    return [tuple((called(text), style) for text, style in parts) for parts in told]


def _related(root: Path) -> bool:
    """Say whether the root is another folder above or below the user. From elsewhere the way to
    a file says nothing, and it is called by its place below the root."""
    try:
        here, there = Path.cwd().resolve(), root.resolve()
    except OSError:
        return False
    return here != there and (here.is_relative_to(there) or there.is_relative_to(here))


def _calling(files: Collection[str], root: Path) -> Callable[[str], str]:
    folders = {p.as_posix() for path in files for p in Path(path).parents if len(p.parts) > 1}

    def word(found: re.Match[str]) -> str:
        text = found[0]
        place = _PLACE.fullmatch(text)
        path = place[1] if place is not None else text
        if (path in files and ("/" in path or "." in path)) or path in folders:
            return seen(root / path) + text[len(path) :]
        return text

    return lambda text: _WORD.sub(word, text)
