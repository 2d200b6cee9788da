"""The files of a repository as they are or would be: some in memory, the others on the disk."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from kumamigrate.dataclass import dataclass, field, replace
from kumamigrate.source.reading.seen import digest_of

KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
"""What a kustomization may be called; two of them in one folder are an error."""
CHART = "Chart.yaml"
"""The file that makes a folder a chart."""
SHAPING = (*KUSTOMIZATIONS, CHART)
"""Files that say how others hang together."""


@dataclass(frozen=True, kw_only=True)
class Tree:
    """Files by path relative to a root, with `/`. What is in memory counts before the disk.

    `files` maps to None what is removed. Without a root there is nothing but `files`: a revision
    of Git. Nothing outside the root is ever read, whichever links lead there. `known` keeps what
    pure functions found out about all of it, by their own keys. `asked` is what the disk was asked
    beside `files`: what, where, and a digest of its answer; `ran` are the commands that were run;
    `changed` are the files that edits have changed.
    """

    files: Mapping[str, bytes | None]
    root: Path | None = None
    known: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)
    asked: list[tuple[str, str, str]] = field(default_factory=list, compare=False, repr=False)
    ran: set[tuple[str, ...]] = field(default_factory=set, compare=False, repr=False)
    changed: frozenset[str] = frozenset()

    def edited(self, edits: Mapping[str, bytes | None]) -> Tree:
        """Return the tree with some files changed (None removes one).

        What is known of how files hang together stays known where only contents change.
        """
        files = {**self.files, **edits}
        shapes = any(
            (data is None) is not (self.files.get(path) is None)
            or posixpath.basename(path) in SHAPING
            for path, data in edits.items()
        )
        known = {} if shapes else self.known
        changed = self.changed.union(edits)
        return replace(self, files=files, known=known, changed=changed)

    def note(self, what: str, where: str, answer: bytes | str | bool | None) -> None:
        """Write down what was asked beside the files, and what came of it."""
        told = answer if isinstance(answer, bytes) else repr(answer).encode(errors="replace")
        self.asked.append((what, where, f"{type(answer).__name__} {digest_of(told)}"))

    @cached_property
    def _folders(self) -> frozenset[str]:
        folders: set[str] = {""}
        for path, data in self.files.items():
            folder = posixpath.dirname(path) if data is not None else ""
            while folder and folder not in folders:
                folders.add(folder)
                folder = posixpath.dirname(folder)
        return frozenset(folders)

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file, None where there is none."""
        place = self.real(path)
        if place is None:
            return None
        if place in self.files:
            return self.files[place]
        if self.root is None:
            return None
        try:
            found = (self.root / place).read_bytes()
        except OSError:
            found = None
        self.note("file", path, found)
        return found

    def is_folder(self, path: str) -> bool:
        """Say whether a folder of that name is there."""
        place = self.real(path)
        if place is None:
            return False
        if place in self._folders or self.root is None:
            return place in self._folders
        there = (self.root / place).is_dir()
        self.note("folder", path, there)
        return there

    def folders(self) -> list[str]:
        """Return the folders that hold files in memory, and those above them, sorted."""
        return sorted(self._folders - {""})

    def real(self, path: str) -> str | None:
        """Return where a path leads when links are followed, None for outside the root."""
        if path == ".." or path.startswith(("../", "/")):
            return None
        if path in self.files or self.root is None:
            return path
        top = os.path.realpath(self.root)  # as links are resolved elsewhere
        real = os.path.realpath(os.path.join(top, path))  # noqa: PTH118
        inside = real == top or real.startswith(top.rstrip(os.sep) + os.sep)
        place = os.path.relpath(real, top).replace(os.sep, "/") if inside else None
        self.note("link", path, place)
        return "" if place == "." else place

    def below(self, folder: str) -> list[str]:
        """Return the files below a folder, sorted: those in memory and those on the disk."""
        start = f"{folder}/" if folder else ""
        found = {p for p, data in self.files.items() if p.startswith(start) and data is not None}
        if self.root is not None and (self.root / folder).is_dir():
            for at, folders, names in os.walk(self.root / folder):
                folders[:] = [name for name in folders if name != ".git"]
                inside = os.path.relpath(at, self.root).replace(os.sep, "/")
                prefix = "" if inside == "." else f"{inside}/"
                found |= {prefix + name for name in names if prefix + name not in self.files}
        if self.root is not None:
            self.note("below", folder, "\n".join(sorted(found)))
        return sorted(found)


def joined(folder: str, name: str) -> str:
    """Return where a name leads from a folder, `..` taken away; it may begin with `..`."""
    path = posixpath.normpath(posixpath.join(folder, name))
    return "" if path == "." else path
