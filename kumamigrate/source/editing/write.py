"""Writes all files of a run or none of them, whatever happens in between (journal.py)."""

# File descriptors and exact system calls matter here more than path objects.
# ruff: noqa: PTH101, PTH105, PTH108, PTH117, PTH118, PTH123

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from kumamigrate.errors import SourceError
from kumamigrate.source.editing.journal import (
    PREPARING,
    SWAPPING,
    FileSwap,
    locked,
    note_down,
    sync_folder,
    sync_folders_of,
    take_up,
    tidy,
)
from kumamigrate.source.reading.find import JOURNAL, interrupted


def write_all(root: Path, contents: Mapping[str, tuple[bytes | None, bytes | None]]) -> None:
    """Replace files below a root, given old and new bytes by path; all of them or none.

    Old bytes None means that the file must not exist yet, new bytes None removes it. Raises
    SourceError, nothing changed, if a file is read-only, lies outside the root, or no longer
    holds the old bytes, or if the disk is full. After a crash `recover` completes the run.
    """
    if not contents:
        return
    top = os.path.realpath(root)
    with locked(top):
        take_up(top)
        swaps = [_swap(top, path, *contents[path]) for path in sorted(contents)]
        _check_distinct(swaps)
        try:
            note_down(top, PREPARING, swaps)
            for swap in swaps:
                _prepare(swap)
            note_down(top, SWAPPING, swaps)
        except OSError as error:
            _discard(top, swaps)
            raise _told(top, swaps, error) from error
        _swap_all(top, swaps)


def recover(root: Path) -> bool:
    """Complete or take back a run that was interrupted in a root or above; say whether one was.

    If all new files had been prepared, the swaps are completed; else what was prepared is
    removed. Raises SourceError if files were changed since, so that neither can be done.
    """
    top = interrupted(root)
    if top is None:
        tidy(os.path.realpath(root))
        return False
    with locked(top):
        return take_up(top)


def _swap(top: str, path: str, old: bytes | None, new: bytes | None) -> FileSwap:
    target = os.path.realpath(os.path.join(top, path))
    if os.path.isabs(path) or not target.startswith(top.rstrip(os.sep) + os.sep):
        raise SourceError(path, "lies outside the root; nothing was written")
    try:
        with open(target, "rb") as file:
            current: bytes | None = file.read()
            status = os.fstat(file.fileno())
            mode: int | None = stat.S_IMODE(status.st_mode)
    except FileNotFoundError:
        current, mode = None, None
    except OSError as error:
        raise SourceError(path, error.strerror or str(error)) from error
    if current != old:
        raise SourceError(path, "was changed while the run was reading; nothing was written")
    if mode is not None and not (mode & 0o222 and os.access(target, os.W_OK)):
        raise SourceError(path, "is read-only; nothing was written")
    return FileSwap(path=path, target=target, old=old, new=new, mode=mode)


def _check_distinct(swaps: Sequence[FileSwap]) -> None:
    seen: dict[str, str] = {}
    for swap in swaps:
        if swap.target in seen:
            raise SourceError(swap.path, f"is the same file as {seen[swap.target]}")
        seen[swap.target] = swap.path


def _prepare(swap: FileSwap) -> None:
    if swap.new is None:
        return
    with contextlib.suppress(FileNotFoundError):
        os.unlink(swap.prepared)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    handle = os.open(swap.prepared, flags, 0o666)
    with open(handle, "wb") as file:
        file.write(swap.new)
        file.flush()
        if swap.mode is not None:
            os.chmod(swap.prepared, swap.mode)
        os.fsync(file.fileno())


def _swap_all(top: str, swaps: Sequence[FileSwap]) -> None:
    done: list[FileSwap] = []
    try:
        for swap in swaps:
            if swap.new is None:
                os.unlink(swap.target)
            else:
                os.replace(swap.prepared, swap.target)
            done.append(swap)
    except OSError as error:
        _put_all_back(top, done, error)
        _discard(top, swaps)
        raise _told(top, swaps, error) from error
    sync_folders_of(swaps)
    # All is written: a journal that stays behind says nothing but that.
    with contextlib.suppress(OSError):
        os.unlink(os.path.join(top, JOURNAL))
    sync_folder(top)


def _put_all_back(top: str, done: Sequence[FileSwap], cause: OSError) -> None:
    try:
        for swap in reversed(done):
            _put_back(swap)
    except OSError as error:
        detail = f"{error.strerror or error} while taking back a failed run ({cause.strerror})"
        advice = f"it is completed at the next start, as {JOURNAL} says"
        raise SourceError(os.path.relpath(done[0].target, top), f"{detail}; {advice}") from error


def _put_back(swap: FileSwap) -> None:
    if swap.old is None:
        os.unlink(swap.target)
        return
    back = FileSwap(path=swap.path, target=swap.target, old=swap.new, new=swap.old, mode=swap.mode)
    _prepare(back)
    os.replace(back.prepared, back.target)


def _discard(top: str, swaps: Sequence[FileSwap]) -> None:
    for swap in swaps:
        with contextlib.suppress(OSError):
            os.unlink(swap.prepared)
    for name in (JOURNAL, f"{JOURNAL}.part"):
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(top, name))


def _told(top: str, swaps: Sequence[FileSwap], error: OSError) -> SourceError:
    reason = error.strerror or str(error)
    names = {s.prepared: s.path for s in swaps} | {s.target: s.path for s in swaps}
    path = names.get(str(error.filename), "")
    if not path:
        path = os.path.relpath(str(error.filename), top) if error.filename else "."
    return SourceError(path, f"{reason}; nothing was written")
