"""Answers on disk, one file each, in the user's folder for what may be thrown away.

An entry is JSON under a seal: a digest that only who holds the user's own key can make. The key
lies in another folder, so an entry that came along with a cache from elsewhere, or that somebody
else could write, opens nothing. What is damaged, too large or of other hands is not there; what
cannot be written is not kept. Nothing here ever fails a run.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from kumamigrate.dataclass import dataclass

MOST_ENTRIES = 64
MOST_BYTES = 64 * 1024 * 1024
_KEY_BYTES = 32
_HEAD = b"kumamigrate.answer/1 "
_ENDING = ".answer"
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


@dataclass(frozen=True, slots=True)
class Shelf:
    """The folder with the entries, and the key that seals them."""

    folder: Path
    key: bytes

    def find(self, word: str) -> object:
        """Return what is kept under a word, None where nothing is that can be trusted."""
        data = _own_bytes(self.folder / f"{word}{_ENDING}", MOST_BYTES)
        head, _, body = (data or b"").partition(b"\n")
        if head != self._head(word, body):
            return None
        try:
            found: object = json.loads(body)
        except (ValueError, RecursionError):
            return None
        return found

    def keep(self, word: str, value: Mapping[str, Any]) -> None:
        """Keep a value under a word, whole or not at all; the oldest entries go."""
        try:
            body = json.dumps(value).encode()
            data = self._head(word, body) + b"\n" + body
            if len(data) <= MOST_BYTES:
                self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                _written(self.folder / f"{word}{_ENDING}", data)
                _tidied(self.folder)
        except (OSError, ValueError, TypeError, RecursionError):
            return

    def _head(self, word: str, body: bytes) -> bytes:
        """Return the first line of an entry. The word is sealed too: an entry of one check that
        lies under the name of another opens nothing."""
        seal = blake2b(word.encode() + b"\n" + body, key=self.key, digest_size=32)
        return _HEAD + seal.hexdigest().encode()


def shelf() -> Shelf | None:
    """Return the user's shelf, None where there is no place for one."""
    entries, state = _place("XDG_CACHE_HOME", ".cache"), _place("XDG_STATE_HOME", ".local/state")
    if entries is None or state is None:
        return None
    key = _key(state / "cache-key")
    return None if key is None else Shelf(entries / "checks", key)


def _place(variable: str, below_home: str) -> Path | None:
    """Return a folder as the XDG base directories say; one that is not absolute is ignored."""
    said = os.environ.get(variable, "")
    if Path(said).is_absolute():
        return Path(said) / "kumamigrate"
    try:
        return Path.home() / below_home / "kumamigrate"
    except RuntimeError:
        return None


def _key(file: Path) -> bytes | None:
    """Return the user's key, made where there is none; None where it could be somebody else's."""
    try:
        if not os.path.lexists(file):
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _written(file, os.urandom(_KEY_BYTES), anew=True)
    except OSError:
        return None
    found = _own_bytes(file, _KEY_BYTES)
    return found if found is not None and len(found) == _KEY_BYTES else None


def _own_bytes(file: Path, most: int) -> bytes | None:
    """Return the bytes of a plain file that nobody but the user can write, None for any other."""
    try:
        handle = os.open(file, os.O_RDONLY | _NO_LINK | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    try:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode) or state.st_size > most:
            return None
        if hasattr(os, "geteuid") and (state.st_uid != os.geteuid() or state.st_mode & 0o077):
            return None
        with os.fdopen(handle, "rb", closefd=False) as stream:
            return stream.read(most + 1)
    except OSError:
        return None
    finally:
        os.close(handle)


def _written(file: Path, data: bytes, *, anew: bool = False) -> None:
    """Write a file beside its place and move it there; `anew` leaves one that is there."""
    part = file.with_name(f".{file.name}.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o600)
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        if anew:
            os.link(part, file)
        else:
            part.replace(file)
    except FileExistsError:
        if not anew:
            raise
    finally:
        part.unlink(missing_ok=True)


def _tidied(folder: Path) -> None:
    """Take away all but the newest entries, and what a run that was killed left."""
    with os.scandir(folder) as found:
        files = sorted(found, key=lambda one: -one.stat(follow_symlinks=False).st_mtime)
    for one in files[MOST_ENTRIES:]:
        Path(one.path).unlink(missing_ok=True)
