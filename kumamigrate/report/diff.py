"""The change as a unified diff, for the screen and as a patch file that `git apply` takes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.report.styled import Line

_NO_NEWLINE = "\\ No newline at end of file\n"
Texts = Mapping[str, tuple[bytes | None, bytes | None]]
"""Old and new bytes of files by path, None for one that is not there."""


def patch_text(outcome: Outcome) -> str:
    """Return the patch of all files, in path order, line ends as in the files."""
    return patch_of(outcome.texts)


def patch_of(texts: Texts) -> str:
    """Return the patch of some files, in path order, line ends as in the files."""
    return "".join(_of_file(path, *change) for path, change in sorted(texts.items()))


def diff_lines(outcome: Outcome) -> list[Line]:
    """Return the patch as lines for the screen."""
    return lines_of_patch(outcome.texts)


def lines_of_patch(texts: Texts) -> list[Line]:
    """Return the patch of some files as lines for the screen."""
    styles = {"+": "good", "-": "bad", "@": "dim"}
    found: list[Line] = []
    for text in patch_of(texts).split("\n")[:-1]:
        header = text.startswith(("--- ", "+++ "))
        found.append(((text.rstrip("\r"), "strong" if header else styles.get(text[:1], "")),))
    return [*found, ()] if found else []


def _of_file(path: str, old: bytes | None, new: bytes | None) -> str:
    before = [] if old is None else _lines(old)
    start = "/dev/null" if old is None else _quoted(f"a/{path}")
    after = [] if new is None else _lines(new)
    goal = "/dev/null" if new is None else _quoted(f"b/{path}")
    lines = []
    from difflib import unified_diff

    for text in unified_diff(before, after, fromfile=start, tofile=goal):
        lines.append(text if text.endswith("\n") else f"{text}\n{_NO_NEWLINE}")
    return "".join(lines)


def _lines(data: bytes) -> list[str]:
    """Split as Git does: at line feeds only."""
    return re.findall(r"[^\n]*\n|[^\n]+", data.decode("utf-8"))


def _quoted(name: str) -> str:
    """Return a name as Git writes and reads it: in quotes if it holds control characters."""
    if not re.search(r'[\x00-\x1f\x7f"\\]', name):
        return name
    return '"' + re.sub(r'[\x00-\x1f\x7f"\\]', lambda m: f"\\{ord(m[0]):03o}", name) + '"'
