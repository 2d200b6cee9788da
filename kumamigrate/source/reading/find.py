"""Which files of a repository are read, by their names and where they stand."""

# pathlib triples the time of a walk over ten thousand files.
# ruff: noqa: PTH100, PTH110, PTH112, PTH113, PTH118, PTH120

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from kumamigrate.dataclass import dataclass, field
from kumamigrate.source.reading.ignorefiles import Ignored
from kumamigrate.source.reading.sift import words
from kumamigrate.source.text import Reason, Refusal

JOURNAL = ".kumamigrate-journal"
"""The file in which a run notes what it is about to write; gone when all is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundText:
    """Files below some paths, relative to the root, sorted, each once.

    `embedding` are those of other languages that may hold YAML inside, and scripts.
    """

    files: tuple[str, ...]
    refusals: tuple[Refusal, ...]
    embedding: tuple[str, ...]


def find_all(paths: Sequence[Path], *, root: Path) -> FoundText:
    """Return the files to read below some paths, and those that may hold YAML inside.

    A path that names a file is taken whatever its name. Folders are walked: `.gitignore` files
    between the root and a folder count, and so does `.git/info/exclude`. Links are followed to
    targets inside the paths, since what is found may be written, and reported under the
    target's own path.
    """
    top = os.path.realpath(root)
    places = [path if path.is_absolute() else root / path for path in paths]
    given = tuple(real for real in map(os.path.realpath, places) if _inside(real, top))
    walk = _Walk(root=top, given=given, ignored=Ignored(root=top))
    for full in places:
        real = os.path.realpath(full)
        shown = os.path.relpath(os.path.abspath(full), top).replace(os.sep, "/")
        if not _inside(real, top):
            walk.refuse(shown, Reason.OUTSIDE_ROOT, f"leads outside {root}")
        elif os.path.isdir(real):
            walk.folder(os.path.relpath(real, top))
        elif os.path.isfile(real):
            walk.found.add(os.path.relpath(real, top).replace(os.sep, "/"))
        elif os.path.exists(real):
            walk.refuse(shown, Reason.UNREADABLE, _SPECIAL)
        else:
            walk.refuse(shown, Reason.UNREADABLE, "no such file or folder")
    return FoundText(
        files=tuple(sorted(walk.found)),
        refusals=tuple(sorted(walk.refusals, key=lambda r: r.path)),
        embedding=tuple(sorted(walk.embedding)),
    )


def chosen(
    names: Iterable[str], paths: Sequence[Path], *, root: Path, beside: bool = False
) -> list[str]:
    """Return those of some files, given relative to a root, that `find_all` would find.

    With `beside` these are the ones of other languages.

    The files themselves need not exist; the ignore files are those of today.
    """
    skipped, ignored = _skipped(), Ignored(root=os.path.realpath(root))
    given = sorted({path.as_posix() for path in paths}, key=len)
    closed: dict[str, bool] = {path if path != "." else "": False for path in given}

    def open_folder(folder: str) -> bool:
        if folder not in closed:
            above, _, name = folder.rpartition("/")
            rule = ignored.test(above) if open_folder(above) and name not in skipped else None
            shut = not open_folder(above) or name in skipped
            closed[folder] = shut or bool(rule and rule(folder + "/"))
        return not closed[folder]

    found = []
    for path in names:
        if path in given:
            found += [] if beside else [path]
            continue
        if not any(one == "." or path.startswith(one + "/") for one in given):
            continue
        folder, _, name = path.rpartition("/")
        ours = _is_read(name)
        wanted = not ours and name.endswith(_embedding()) if beside else ours
        if wanted and open_folder(folder):
            rule = ignored.test(folder)
            if not (rule and rule(path)):
                found.append(path)
    return found


def is_ignored(path: Path, root: Path) -> bool:
    """Say whether ignore files of a tree leave out a folder of it, or one above that."""
    ignored = Ignored(root=os.path.realpath(root))
    skipped = _skipped()
    above = ""
    for name in path.parts:
        rule = ignored.test(above)
        above = f"{above}/{name}" if above else name
        if name in skipped or (rule and rule(above + "/")):
            return True
    return False


def interrupted(root: Path) -> str | None:
    """Return the folder of a journal that an interrupted run left, None if there is none.

    It is the root or one above it, up to the top of its Git repository. Journals of other
    users count only in the root itself.
    """
    top = folder = os.path.realpath(root)
    while True:
        try:
            owner = os.lstat(os.path.join(folder, JOURNAL)).st_uid
        except OSError:
            owner = None
        if owner is not None and (folder == top or owner == _user()):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder or os.path.lexists(os.path.join(folder, ".git")):
            return None
        folder = parent


def _user() -> int:
    return os.geteuid() if hasattr(os, "geteuid") else 0


_SPECIAL = "neither a file nor a folder"


def _inside(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


@cache
def _names() -> tuple[tuple[str, ...], re.Pattern[str], tuple[str, ...]]:
    inner = re.compile("|".join(re.escape(x) for x in words()["inner_extensions"]))
    return tuple(words()["extensions"]), inner, tuple(words()["never"])


def _is_read(name: str) -> bool:
    """Say whether a file is one to read by its name."""
    extensions, inner, never = _names()
    lower = name.lower()
    return bool(lower.endswith(extensions) or inner.search(name)) and not lower.endswith(never)


@cache
def _skipped() -> frozenset[str]:
    """Return the names of folders that nobody walks into."""
    return frozenset(words()["skipped_folders"])


def is_script(path: str) -> bool:
    """Say whether a file is a script by its name."""
    return path.endswith(tuple(words()["scripts"]))


def generates(path: str) -> bool:
    """Say whether a file is of a language that manifests are made with, which is not run here."""
    return path.endswith(tuple(words()["generators"]))


@cache
def _embedding() -> tuple[str, ...]:
    return (*words()["embedding"], *words()["scripts"], *words()["generators"])


@dataclass(slots=True, kw_only=True)
class _Walk:
    root: str
    given: tuple[str, ...]
    ignored: Ignored
    found: set[str] = field(default_factory=set)
    embedding: set[str] = field(default_factory=set)
    refusals: list[Refusal] = field(default_factory=list)
    visited: set[str] = field(default_factory=set)

    def refuse(self, path: str, reason: Reason, detail: str, *, hides: bool = True) -> None:
        self.refusals.append(
            Refusal(path=path, line=0, column=0, reason=reason, detail=detail, hides=hides)
        )

    def folder(self, start: str) -> None:
        """Collect the files below a folder given relative to the root."""
        pending = ["" if start == "." else start.replace(os.sep, "/")]
        while pending:
            folder = pending.pop()
            if folder in self.visited:
                continue
            self.visited.add(folder)
            full = os.path.join(self.root, folder) if folder else self.root
            try:
                with os.scandir(full) as entries:
                    pending.extend(self.entries(folder, list(entries)))
            except OSError as error:
                self.refuse(folder or ".", Reason.UNREADABLE, error.strerror or str(error))

    def entries(self, folder: str, entries: list[os.DirEntry[str]]) -> Iterator[str]:
        prefix = f"{folder}/" if folder else ""
        self.ignored.enter(folder)
        ignored = self.ignored.test(folder)
        for entry in entries:
            name = entry.name
            path = prefix + name
            if entry.is_symlink():
                yield from self.link(path, entry)
            elif entry.is_dir(follow_symlinks=False):
                if name not in _skipped() and not (ignored and ignored(path + "/")):
                    yield path
            elif _is_read(name) and not (ignored and ignored(path)):
                if entry.is_file(follow_symlinks=False):
                    self.found.add(path)
                else:
                    self.refuse(path, Reason.UNREADABLE, _SPECIAL)
            elif name.endswith(_embedding()) and not (ignored and ignored(path)):
                if entry.is_file(follow_symlinks=False):
                    self.embedding.add(path)
            elif name == JOURNAL and folder:
                detail = "an interrupted run left it; `kumamigrate run` in its folder completes it"
                self.refuse(path, Reason.UNREADABLE, detail)

    def link(self, path: str, entry: os.DirEntry[str]) -> Iterator[str]:
        ignored = self.ignored.test(path.rpartition("/")[0])
        if entry.name in _skipped() or (ignored and (ignored(path) or ignored(path + "/"))):
            return
        real = os.path.realpath(entry.path)
        folder = os.path.isdir(real)
        named = _is_read(entry.name)
        if not os.path.exists(real):
            if named:
                detail = "a symbolic link that leads nowhere"
                self.refuse(path, Reason.UNREADABLE, detail, hides=False)
        elif not any(_inside(real, given) for given in self.given):
            if folder or named:
                self.refuse(path, Reason.OUTSIDE_ROOT, "a symbolic link that leads outside")
        else:
            target = os.path.relpath(real, self.root).replace(os.sep, "/")
            if folder:
                yield "" if target == "." else target
            elif named and os.path.isfile(real):
                self.found.add(target)
            elif named:
                self.refuse(path, Reason.UNREADABLE, _SPECIAL)
