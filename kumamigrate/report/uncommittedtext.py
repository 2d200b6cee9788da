"""Edits that are not committed, which are part of what a command compares or changes."""

from __future__ import annotations

from collections.abc import Collection

from kumamigrate.report.styled import Line, line

MOST = 3


def compared_lines(uncommitted: Collection[str]) -> list[Line]:
    """Say that a comparison counts what is not committed."""
    if not uncommitted:
        return []
    said = f"uncommitted edits are compared, too: {_listed(uncommitted)}"
    return [line((said, "dim"))]


def mixed_lines(uncommitted: Collection[str], written: Collection[str]) -> list[Line]:
    """Say that what was written stands beside edits that were not committed before."""
    mixed = sorted(set(uncommitted) & set(written))
    if not mixed:
        return []
    said = f": git diff shows both, {_listed(mixed)}; git add before a run keeps them apart"
    return [(), line(("Uncommitted edits stood in files that were changed", "warn"), said)]


def _listed(files: Collection[str]) -> str:
    more = f" and {len(files) - MOST} more" if len(files) > MOST else ""
    return ", ".join(sorted(files)[:MOST]) + more
