"""The files of a repository as they are or would be: some in memory, the others on the disk."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from kumamigrate.dataclass import dataclass, field

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
    pure functions found out about all of it, by their own keys.
    """

    files: Mapping[str, bytes | None]
    root: Path | None = None
    known: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

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
        return Tree(files=files, root=self.root, known={} if shapes else self.known)

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
            return (self.root / place).read_bytes()
        except OSError:
            return None

    def is_folder(self, path: str) -> bool:
        """Say whether a folder of that name is there."""
        place = self.real(path)
        if place is None:
            return False
        return place in self._folders or (self.root is not None and (self.root / place).is_dir())

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
        if not inside:
            return None
        place = os.path.relpath(real, top).replace(os.sep, "/")
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
        return sorted(found)


def joined(folder: str, name: str) -> str:
    """Return where a name leads from a folder, `..` taken away; it may begin with `..`."""
    path = posixpath.normpath(posixpath.join(folder, name))
    return "" if path == "." else path
