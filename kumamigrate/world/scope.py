"""Which files are the world, and which of them may be written (world.md §4).

The whole repository is read: from the folder of the settings, or the top of the Git repository,
whichever is nearer above the paths. Where there is neither, the paths themselves are the world.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.errors import UsageError
from kumamigrate.source.reading.find import is_ignored
from kumamigrate.world.config import has_settings


class Extent(StrEnum):
    """What told where the world ends."""

    GIT = "git"
    SETTINGS = "settings"
    PATHS = "paths"
    NAMED = "named"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Where files are read and written. Paths are relative to the root.

    All below `read` counts, of which what lies below `given` may be written. `within` says that
    the root is a part of a Git repository, of which nothing else is read.
    """

    root: Path
    read: tuple[Path, ...]
    given: tuple[Path, ...]
    world: Extent
    within: bool = False

    @property
    def partial(self) -> bool:
        """Say whether more is read than may be written."""
        return self.read != self.given and Path() not in self.given

    @property
    def folders(self) -> bool:
        """Say whether what was given are folders alone, which have something in them."""
        return all((self.root / given).is_dir() for given in self.given)

    def allows(self, path: str) -> bool:
        """Say whether a file may be written."""
        return any(
            str(given) == "." or path == given.as_posix() or path.startswith(f"{given.as_posix()}/")
            for given in self.given
        )


def scope_of(paths: Sequence[Path]) -> Scope:
    """Return the scope of a run over some paths. Raises UsageError where there are none such."""
    _existing(paths)
    common = _common(paths)
    found = _top(common)
    if found is None and _is_bare(common):
        raise UsageError(
            f"{common} is a bare Git repository, which has no files; check them out and run there:"
            f" git -C {common} worktree add FOLDER REVISION"
        )
    if found is not None and not is_ignored(common.relative_to(found[0]), found[0]):
        root, world = found
        given = tuple(path.resolve().relative_to(root) for path in paths)
        within = world is Extent.SETTINGS and not (root / ".git").exists() and _in_git(root)
        return Scope(root=root, read=(Path(),), given=given, world=world, within=within)
    # What Git ignores is no part of the repository: it stands for itself.
    return replace(only(paths), world=Extent.PATHS)


def only(paths: Sequence[Path]) -> Scope:
    """Return the scope in which some paths are all there is."""
    here = _existing(paths)
    root = here if all(p.resolve().is_relative_to(here) for p in paths) else _common(paths)
    given = tuple(path.resolve().relative_to(root) for path in paths)
    return Scope(root=root, read=given, given=given, world=Extent.NAMED)


def _existing(paths: Sequence[Path]) -> Path:
    """Return the current folder, when all paths are there."""
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path}: no such file or folder")
    try:
        return Path.cwd().resolve()
    except FileNotFoundError as error:
        raise UsageError("the current folder does not exist any more") from error


def _common(paths: Sequence[Path]) -> Path:
    folders = [p.resolve() if p.is_dir() else p.resolve().parent for p in paths]
    root = folders[0]
    while not all(folder.is_relative_to(root) for folder in folders):
        root = root.parent
    return root


def _top(folder: Path) -> tuple[Path, Extent] | None:
    for place in (folder, *folder.parents):
        if has_settings(place):
            return place, Extent.SETTINGS
        if (place / ".git").exists():
            return place, Extent.GIT
    return None


def _in_git(folder: Path) -> bool:
    return any((place / ".git").exists() for place in folder.parents)


def _is_bare(folder: Path) -> bool:
    """Say whether a folder is a Git repository without files, or lies inside one."""
    return any(
        (place / "HEAD").is_file() and (place / "objects").is_dir() and (place / "refs").is_dir()
        for place in (folder, *folder.parents)
    )
