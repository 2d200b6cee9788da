"""Writes all files of a run or none of them, whatever happens in between."""

# File descriptors and exact system calls matter here more than path objects.
# ruff: noqa: PTH101, PTH105, PTH108, PTH117, PTH118, PTH119, PTH120, PTH123

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from kumamigrate.dataclass import dataclass
from kumamigrate.errors import SourceError
from kumamigrate.source.reading.find import JOURNAL, interrupted

if sys.platform != "win32":
    import fcntl

_PREPARING, _SWAPPING = "preparing", "swapping"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Swap:
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


def write_all(root: Path, contents: Mapping[str, tuple[bytes | None, bytes | None]]) -> None:
    """Replace files below a root, given old and new bytes by path; all of them or none.

    Old bytes None means that the file must not exist yet, new bytes None removes it. Raises
    SourceError, nothing changed, if a file is read-only, lies outside the root, or no longer
    holds the old bytes, or if the disk is full. After a crash `recover` completes the run.
    """
    if not contents:
        return
    top = os.path.realpath(root)
    with _locked(top):
        _recover(top)
        swaps = [_swap(top, path, *contents[path]) for path in sorted(contents)]
        _check_distinct(swaps)
        try:
            _journal(top, _PREPARING, swaps)
            for swap in swaps:
                _prepare(swap)
            _journal(top, _SWAPPING, swaps)
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
        _tidy(os.path.realpath(root))
        return False
    with _locked(top):
        return _recover(top)


@contextlib.contextmanager
def _locked(top: str) -> Iterator[None]:
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


def _swap(top: str, path: str, old: bytes | None, new: bytes | None) -> _Swap:
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
    return _Swap(path=path, target=target, old=old, new=new, mode=mode)


def _check_distinct(swaps: Sequence[_Swap]) -> None:
    seen: dict[str, str] = {}
    for swap in swaps:
        if swap.target in seen:
            raise SourceError(swap.path, f"is the same file as {seen[swap.target]}")
        seen[swap.target] = swap.path


def _prepare(swap: _Swap) -> None:
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


def _swap_all(top: str, swaps: Sequence[_Swap]) -> None:
    done: list[_Swap] = []
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
    _sync_folders(swaps)
    # All is written: a journal that stays behind says nothing but that.
    with contextlib.suppress(OSError):
        os.unlink(os.path.join(top, JOURNAL))
    _sync(top)


def _put_all_back(top: str, done: Sequence[_Swap], cause: OSError) -> None:
    try:
        for swap in reversed(done):
            _put_back(swap)
    except OSError as error:
        detail = f"{error.strerror or error} while taking back a failed run ({cause.strerror})"
        advice = f"it is completed at the next start, as {JOURNAL} says"
        raise SourceError(os.path.relpath(done[0].target, top), f"{detail}; {advice}") from error


def _put_back(swap: _Swap) -> None:
    if swap.old is None:
        os.unlink(swap.target)
        return
    back = _Swap(path=swap.path, target=swap.target, old=swap.new, new=swap.old, mode=swap.mode)
    _prepare(back)
    os.replace(back.prepared, back.target)


def _discard(top: str, swaps: Sequence[_Swap]) -> None:
    for swap in swaps:
        with contextlib.suppress(OSError):
            os.unlink(swap.prepared)
    for name in (JOURNAL, f"{JOURNAL}.part"):
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(top, name))


def _told(top: str, swaps: Sequence[_Swap], error: OSError) -> SourceError:
    reason = error.strerror or str(error)
    names = {s.prepared: s.path for s in swaps} | {s.target: s.path for s in swaps}
    path = names.get(str(error.filename), "")
    if not path:
        path = os.path.relpath(str(error.filename), top) if error.filename else "."
    return SourceError(path, f"{reason}; nothing was written")


def _sync(folder: str) -> None:
    """Make a folder's changes durable where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _sync_folders(swaps: Sequence[_Swap]) -> None:
    for folder in sorted({os.path.dirname(swap.target) for swap in swaps}):
        _sync(folder)


def _digest(data: bytes | None) -> str | None:
    return None if data is None else hashlib.sha256(data).hexdigest()


def _journal(top: str, state: str, swaps: Sequence[_Swap]) -> None:
    """Write down, in one step, what is about to happen."""
    if state == _SWAPPING:
        _sync_folders(swaps)
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
    _sync(top)


def _tidy(top: str) -> None:
    """Remove a journal that was never finished; nothing had been done then."""
    part = os.path.join(top, f"{JOURNAL}.part")
    if os.path.lexists(part):
        with _locked(top), contextlib.suppress(FileNotFoundError):
            os.unlink(part)


def _recover(top: str) -> bool:
    journal = os.path.join(top, JOURNAL)
    try:
        with open(journal, encoding="utf-8") as file:
            record = json.load(file)
        swaps = [_checked(top, entry) for entry in record["swaps"]]
        swapping = record["state"] == _SWAPPING
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
    _sync(top)
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


def _content(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
