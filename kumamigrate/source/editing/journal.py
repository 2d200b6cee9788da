"""The journal of a run: what is about to be swapped, and how a run that was killed is taken up."""

# File descriptors and exact system calls matter here more than path objects.
# ruff: noqa: PTH105, PTH108, PTH118, PTH119, PTH120, PTH123

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence

from kumamigrate.dataclass import dataclass
from kumamigrate.errors import SourceError
from kumamigrate.source.reading.find import JOURNAL

if sys.platform != "win32":
    import fcntl

PREPARING, SWAPPING = "preparing", "swapping"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSwap:
    """One file to be replaced, created (`old` None) or removed (`new` None)."""

    path: str
    target: str
    old: bytes | None
    new: bytes | None
    mode: int | None

    @property
    def prepared(self) -> str:
        folder, name = os.path.split(self.target)
        return os.path.join(folder, f".{name}.kumamigrate-new")


def note_down(top: str, state: str, swaps: Sequence[FileSwap]) -> None:
    """Write down, in one step, what is about to happen."""
    if state == SWAPPING:
        sync_folders_of(swaps)
    entries = [
        {
            "target": os.path.relpath(swap.target, top),
            "prepared": os.path.relpath(swap.prepared, top),
            "old": _digest(swap.old),
            "new": _digest(swap.new),
        }
        for swap in swaps
    ]
    journal = os.path.join(top, JOURNAL)
    with open(f"{journal}.part", "w", encoding="utf-8") as file:
        json.dump({"state": state, "swaps": entries}, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(f"{journal}.part", journal)
    sync_folder(top)


def tidy(top: str) -> None:
    """Remove a journal that was never finished; nothing had been done then."""
    part = os.path.join(top, f"{JOURNAL}.part")
    if os.path.lexists(part):
        with locked(top), contextlib.suppress(FileNotFoundError):
            os.unlink(part)


def take_up(top: str) -> bool:
    journal = os.path.join(top, JOURNAL)
    try:
        with open(journal, encoding="utf-8") as file:
            record = json.load(file)
        swaps = [_checked(top, entry) for entry in record["swaps"]]
        swapping = record["state"] == SWAPPING
    except FileNotFoundError:
        return False
    except (OSError, ValueError, KeyError, TypeError) as error:
        detail = "is no journal this tool wrote; remove it if no run was interrupted"
        raise SourceError(JOURNAL, detail) from error
    if swapping:
        _complete(swaps)
    else:
        for _, prepared, _, _ in swaps:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(prepared)
    os.unlink(journal)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(f"{journal}.part")
    sync_folder(top)
    return True


def _checked(top: str, entry: Mapping[str, str | None]) -> tuple[str, str, str | None, str | None]:
    """Return absolute paths and digests of a journal entry. Raises ValueError if it lies.

    A journal may come from anywhere, so it can name nothing outside the root.
    """
    target = os.path.join(top, str(entry["target"]))
    prepared = os.path.join(top, str(entry["prepared"]))
    inside = os.path.realpath(target) == target and target.startswith(top.rstrip(os.sep) + os.sep)
    beside = os.path.dirname(prepared) == os.path.dirname(target)
    name = os.path.basename(prepared)
    if not inside or not beside or name != f".{os.path.basename(target)}.kumamigrate-new":
        raise ValueError("not a swap")
    return target, prepared, entry["old"], entry["new"]


def _complete(swaps: Sequence[tuple[str, str, str | None, str | None]]) -> None:
    """Finish the swaps, unless a file is neither what it was nor what it was to become."""
    pending: list[tuple[str, str, str | None]] = []
    for target, prepared, old, new in swaps:
        now = _digest(_content(target))
        if now == new:
            continue
        ready = new is None or _digest(_content(prepared)) == new
        if now != old or not ready:
            detail = f"an interrupted run left {JOURNAL}, and this file was changed since; compare"
            raise SourceError(os.path.basename(target), f"{detail} it with {prepared}")
        pending.append((target, prepared, new))
    for target, prepared, new in pending:
        if new is None:
            os.unlink(target)
        else:
            os.replace(prepared, target)
    for _, prepared, _, _ in swaps:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(prepared)


@contextlib.contextmanager
def locked(top: str) -> Iterator[None]:
    """Keep a second run out. The lock vanishes with the process."""
    if sys.platform == "win32":  # no advisory locks of this kind there
        yield
        return
    try:
        handle = os.open(top, os.O_RDONLY)
    except OSError as error:
        raise SourceError(".", error.strerror or str(error)) from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EACCES):
                raise SourceError(".", "another run is writing here; try again") from error
        yield
    finally:
        os.close(handle)


def sync_folder(folder: str) -> None:
    """Make a folder's changes durable where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def sync_folders_of(swaps: Sequence[FileSwap]) -> None:
    for folder in sorted({os.path.dirname(swap.target) for swap in swaps}):
        sync_folder(folder)


def _digest(data: bytes | None) -> str | None:
    return None if data is None else hashlib.sha256(data).hexdigest()


def _content(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
