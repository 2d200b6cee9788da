"""`apply`: what was planned and reviewed is written, byte for byte, or nothing is."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from kumamigrate.choose.planfile import Planned, PlannedFile, hash_of, read_plan, rests_on
from kumamigrate.errors import KumamigrateError, SourceError
from kumamigrate.library import load, read
from kumamigrate.report.exit import Exit
from kumamigrate.report.styled import line, show
from kumamigrate.source.editing.write import recover, write_all
from kumamigrate.world.scope import scope_of

Given = Mapping[str, Any]
_MOST = 5


class MovedError(KumamigrateError):
    """Files are not what they were when the plan was made."""


def apply_plan(given: Given) -> Exit:
    """Write what a plan says. Raises MovedError where it was made for other files."""
    plan, path = read_plan(given["plan"]), given.get("path", Path())
    root = scope_of([path]).root.resolve()
    for one in plan.files:
        _check_path(root, one.path)
    recover(root)
    now = {one.path: _content(root, one.path) for one in plan.files}
    if all(now[one.path] == one.new for one in plan.files):
        return _told(given, plan, ())
    moved = [*_moved(plan, now), *_others_moved(plan, path, root)]
    if moved:
        said = "; ".join(moved[:_MOST])
        more = f"; and {len(moved) - _MOST} more" if len(moved) > _MOST else ""
        raise MovedError(
            f"nothing was written, because files moved since the plan was made: {said}{more}."
            f" Make a new one: kumamigrate run --plan {given['plan']}"
        )
    _make_folders(root, plan)
    write_all(root, {one.path: (now[one.path], one.new) for one in plan.files})
    return _told(given, plan, plan.files)


def _told(given: Given, plan: Planned, written: tuple[PlannedFile, ...]) -> Exit:
    if given["format"] == "json":
        paths = [one.path for one in written]
        data = {"schema": "kumamigrate.applied/1", "target": plan.target, "files": paths}
        sys.stdout.write(json.dumps(data, indent=1) + "\n")
        return Exit.CLEAN
    if not written:
        show([line(("Nothing to write", "good"), ": all of the plan is there already")])
        return Exit.CLEAN
    number = f"{len(written)} file{'' if len(written) == 1 else 's'}"
    show([line((f"Wrote {number}", "strong"), f" as planned for Kuma {plan.target}")])
    for one in written:
        show([line("  ", (one.path, "place"), "   removed" if one.new is None else "")])
    return Exit.CLEAN


def _check_path(root: Path, path: str) -> None:
    """Raise SourceError for a path that a plan may not name: a plan comes from anywhere."""
    parts = PurePosixPath(path).parts
    plain = bool(parts) and not path.startswith("/") and "\0" not in path and "\\" not in path
    if not plain or any(part in ("..", ".git") for part in parts):
        raise SourceError(path, "is no path that a plan may write; nothing was written")
    try:
        real = (root / path).resolve()
    except (OSError, ValueError, RuntimeError) as error:  # too long, no name, a link to itself
        raise SourceError(path, "is no path that can be written; nothing was written") from error
    if not real.is_relative_to(root) or ".git" in real.relative_to(root).parts or real == root:
        raise SourceError(path, "leads out of the repository; nothing was written")


def _content(root: Path, path: str) -> bytes | None:
    try:
        return (root / path).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise SourceError(path, error.strerror or str(error)) from error


def _moved(plan: Planned, now: Mapping[str, bytes | None]) -> Iterator[str]:
    """Yield the files to be written that are not what they were."""
    for one in plan.files:
        there = now[one.path]
        if (hash_of(there) if there is not None else "") != one.old:
            yield f"{one.path} {_how(one.old, there is not None)}"


def _others_moved(plan: Planned, path: Path, root: Path) -> Iterator[str]:
    """Yield the other files that the proof rests on and that are not what they were."""
    inventory = [root / name for name in plan.inventory]
    estate = read(load(path, inventory=inventory, baseline="none")).estate
    now, mine = rests_on(estate), {one.path for one in plan.files}
    for name in sorted((plan.rests.keys() | now.keys()) - mine):
        if plan.rests.get(name) != now.get(name):
            yield f"{name} {_how(plan.rests.get(name, ''), name in now)}"


def _how(old: str, there: bool) -> str:
    if not there:
        return "is gone"
    return "changed" if old else "is new"


def _make_folders(root: Path, plan: Planned) -> None:
    for one in plan.files:
        if one.new is not None and not one.old:
            try:
                (root / one.path).parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise SourceError(one.path, error.strerror or str(error)) from error
