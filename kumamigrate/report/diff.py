"""The change as a unified diff, for the screen and as a patch file that `git apply` takes."""

from __future__ import annotations

from difflib import unified_diff

from kumamigrate.pipeline import Outcome
from kumamigrate.report.lines import Line

_NO_NEWLINE = "\\ No newline at end of file\n"


def patch_text(outcome: Outcome) -> str:
    """Return the patch of all files, in path order, line ends as in the files."""
    return "".join(_of_file(path, *change) for path, change in sorted(outcome.texts.items()))


def diff_lines(outcome: Outcome) -> list[Line]:
    """Return the patch as lines for the screen."""
    styles = {"+": "good", "-": "bad", "@": "dim"}
    found: list[Line] = []
    for text in patch_text(outcome).splitlines():
        header = text.startswith(("--- ", "+++ "))
        found.append(((text.rstrip("\r"), "strong" if header else styles.get(text[:1], "")),))
    return [*found, ()] if found else []


def _of_file(path: str, old: bytes, new: bytes | None) -> str:
    before = old.decode("utf-8").splitlines(keepends=True)
    after = [] if new is None else new.decode("utf-8").splitlines(keepends=True)
    goal = "/dev/null" if new is None else f"b/{path}"
    lines = []
    for text in unified_diff(before, after, fromfile=f"a/{path}", tofile=goal):
        lines.append(text if text.endswith("\n") else f"{text}\n{_NO_NEWLINE}")
    return "".join(lines)
