"""What the `.gitignore` files of a tree leave out, as Git reads them."""

# pathlib triples the time of a walk over ten thousand files.
# ruff: noqa: PTH118, PTH119, PTH120

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from kumamigrate.dataclass import dataclass, field

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


@dataclass(slots=True, kw_only=True)
class Ignored:
    """The `.gitignore` files of a tree, read as the walk comes by."""

    root: str
    specs: dict[str, tuple[GitIgnoreSpec, re.Pattern[str] | None] | None] = field(
        default_factory=dict
    )
    above: list[tuple[str, GitIgnoreSpec, re.Pattern[str] | None]] = field(default_factory=list)

    def enter(self, folder: str) -> None:
        """Read the ignore file of a folder and of those above it."""
        if folder in self.specs:
            return
        if folder:
            self.enter(folder.rpartition("/")[0])
        else:
            self.above = self._above()
        lines = self._lines(os.path.join(self.root, folder))
        self.specs[folder] = _compiled(lines) if lines else None

    def _above(self) -> list[tuple[str, GitIgnoreSpec, re.Pattern[str] | None]]:
        """Read the ignore files between the root and the top of its Git repository.

        Empty where they ignore the root itself: whoever asks for it wants it read.
        """
        found: list[tuple[str, GitIgnoreSpec, re.Pattern[str] | None]] = []
        folder, prefix = self.root, ""
        while not os.path.lexists(os.path.join(folder, ".git")):
            parent = os.path.dirname(folder)
            if parent == folder:
                return []  # no Git repository
            prefix = f"{os.path.basename(folder)}/{prefix}"
            folder = parent
            if lines := self._lines(folder):
                found.append((prefix, *_compiled(lines)))
        for prefix, spec, _ in found:
            verdict = spec.check_file(prefix).include
            if verdict is not None:
                return [] if verdict else found
        return found

    def _lines(self, folder: str) -> list[str]:
        lines = self._read(os.path.join(folder, ".gitignore"))
        return self._read(os.path.join(folder, ".git", "info", "exclude")) + lines

    def _read(self, path: str) -> list[str]:
        try:
            with open(path, encoding="utf-8", errors="replace", opener=_plain_file) as file:
                return file.read().splitlines()
        except OSError:
            return []

    def test(self, folder: str) -> Any:
        """Return a function that says whether a path inside a folder is ignored, None for never."""
        self.enter(folder)
        chain: list[tuple[int | str, GitIgnoreSpec, re.Pattern[str] | None]] = []
        here: str | None = folder
        while here is not None:
            if spec := self.specs[here]:
                chain.append((len(here) + 1 if here else 0, *spec))
            here = here.rpartition("/")[0] if here else None
        chain.extend(self.above)
        if not chain:
            return None

        def ignored(path: str) -> bool:
            for skip, spec, quick in chain:
                inner = skip + path if isinstance(skip, str) else path[skip:]
                if quick is not None and not quick.match(inner):
                    continue
                verdict = spec.check_file(inner).include
                if verdict is not None:
                    return verdict
            return False

        return ignored


def _plain_file(path: str, flags: int) -> int:
    """Open a file as Git reads ignore files: no links; and without waiting at pipes."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def _compiled(lines: list[str]) -> tuple[GitIgnoreSpec, re.Pattern[str] | None]:
    """Return the patterns, and one expression that matches whatever any of them may match."""
    from pathspec import GitIgnoreSpec  # not needed, and slow to load, without ignore files

    spec = GitIgnoreSpec.from_lines(lines)
    sources = [
        re.sub(r"\(\?P<\w+>", "(?:", p.regex.pattern) for p in spec.patterns if p.regex is not None
    ]
    try:
        return spec, re.compile("|".join(f"(?:{s})" for s in sources) or r"(?!)")
    except re.error:
        return spec, None
