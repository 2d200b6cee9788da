"""From what was exported to one file: whole, without secrets, each resource once, and stamped."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.errors import UsageError
from kumamigrate.inventory.exports import manifests_of
from kumamigrate.inventory.stamp import Stamp, stamp_of, time_text
from kumamigrate.model.conf import canonical
from kumamigrate.snapshot.configkinds import is_secret, is_wanted
from kumamigrate.snapshot.trim import place, trimmed
from kumamigrate.source.editing.dump import documents_text

STDIN = Path("-")


@dataclass(frozen=True, kw_only=True)
class TakenSnapshot:
    """What a snapshot is made of, when it was taken and where."""

    manifests: tuple[Mapping[str, Any], ...]
    taken: str
    source: str

    @property
    def stamp(self) -> Stamp:
        """Return what its first line says."""
        return Stamp(count=len(self.manifests), taken=self.taken, source=self.source)

    def text(self) -> str:
        """Return the file."""
        return f"{self.stamp.line()}\n{documents_text(self.manifests)}"


def from_manifests(found: Iterable[Mapping[str, Any]], source: str, now: datetime) -> TakenSnapshot:
    """Return a snapshot of manifests. Raises UsageError where there is none."""
    kept = {canonical(one): one for one in map(trimmed, filter(_belongs, found))}
    if not kept:
        raise UsageError(f"{source} has no resource that belongs in an inventory")
    listed = tuple(sorted(kept.values(), key=place))
    return TakenSnapshot(manifests=listed, taken=time_text(now), source=source)


def from_exports(exports: Iterable[tuple[str, bytes]], source: str, now: datetime) -> TakenSnapshot:
    """Return a snapshot of what was exported. Raises SourceError for what is no whole export."""
    found = [manifest for name, data in exports for manifest in manifests_of(data, name)]
    return from_manifests(found, source, now)


def from_files(paths: Iterable[Path], source: str) -> TakenSnapshot:
    """Return a snapshot of given files, `-` for what comes in, as old as the oldest of them."""
    read = [_read(path) for path in paths]
    stamps = [stamp for _, data, _ in read if (stamp := _stamp(data)) is not None]
    times = [time for _, data, time in read if _stamp(data) is None]
    oldest = min([time_text(time) for time in times] + [stamp.taken for stamp in stamps])
    told = source or ", ".join(dict.fromkeys(stamp.source for stamp in stamps))
    named = told or ", ".join(path.name for path, _, _ in read)
    taken = from_exports(((str(path), data) for path, data, _ in read), named, datetime.now(UTC))
    return TakenSnapshot(manifests=taken.manifests, taken=oldest, source=named)


def save(path: Path, text: str) -> None:
    """Write a file whole, or leave what was there. Raises UsageError where that cannot be done."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
                stream.write(text)
            Path(name).chmod(0o644 & ~_mask())
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error


def _belongs(manifest: Mapping[str, Any]) -> bool:
    kind = manifest.get("kind") if "apiVersion" in manifest else manifest.get("type")
    return not is_secret(manifest) and is_wanted(str(kind))


def _read(path: Path) -> tuple[Path, bytes, datetime]:
    if path == STDIN:
        return path, sys.stdin.buffer.read(), datetime.now(UTC)
    try:
        changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        return path, path.read_bytes(), changed
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error


def _stamp(data: bytes) -> Stamp | None:
    return stamp_of(data[:500].decode("utf-8", "replace"))


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
