"""What a run changes in each file, as replacements that another program can make."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any

from kumamigrate.flow.runoutcome import Outcome


def replacements(outcome: Outcome) -> dict[str, list[dict[str, Any]]]:
    """Return by file what to take out, in characters from the start, and what to put there.

    Files that come or go are left out: what a code host can do is to edit one.
    """
    return {
        path: list(_replaced(old.decode("utf-8"), new.decode("utf-8")))
        for path, (old, new) in sorted(outcome.texts.items())
        if old is not None and new is not None
    }


def _replaced(old: str, new: str) -> Iterator[dict[str, Any]]:
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    starts = [0]
    for line in before:
        starts.append(starts[-1] + len(line))
    for word, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if word != "equal":
            text = "".join(after[c:d])
            yield {"at": starts[a], "length": starts[b] - starts[a], "text": text}
