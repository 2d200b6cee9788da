"""A Git revision as a repository, for `prove --against REF`."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from kumamigrate.errors import UsageError
from kumamigrate.model.resource import Resource
from kumamigrate.repository import Repository, repository_of


def load_revision(
    revision: str, paths: Sequence[Path], root: Path, *, inventory: Sequence[Resource] = ()
) -> Repository:
    """Read the files of a revision below some paths, without touching the working tree.

    Raises UsageError when there is no Git, no repository or no such revision.
    """
    top = Path(_git(root, "rev-parse", "--show-toplevel").decode().strip())
    commit = _git(top, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
    name = commit.decode().strip()
    inside = [_below(top, root / path) for path in paths]
    listing = _git(top, "ls-tree", "-r", "-z", "--full-tree", name, "--", *inside)
    blobs: dict[str, str] = {}
    for entry in listing.decode("utf-8", "surrogateescape").split("\0"):
        if entry:
            meta, path = entry.split("\t", 1)
            mode, kind, blob = meta.split(" ")
            if kind == "blob" and mode != "120000":
                blobs[path] = blob
    contents = _blobs(top, sorted(set(blobs.values())))
    prefix = _below(top, root)
    return repository_of(
        {_relative(path, prefix): contents[blob] for path, blob in blobs.items()},
        root=root,
        inventory=inventory,
    )


def _below(top: Path, path: Path) -> str:
    try:
        return path.resolve().relative_to(top.resolve()).as_posix()
    except ValueError as error:
        raise UsageError(f"{path}: not inside the Git repository {top}") from error


def _relative(path: str, prefix: str) -> str:
    return path if prefix == "." else path.removeprefix(prefix + "/")


def _blobs(top: Path, names: Sequence[str]) -> dict[str, bytes]:
    out = _git(top, "cat-file", "--batch", given="".join(f"{n}\n" for n in names).encode())
    contents: dict[str, bytes] = {}
    at = 0
    for name in names:
        end = out.index(b"\n", at)
        size = int(out[at:end].split(b" ")[2])
        contents[name] = out[end + 1 : end + 1 + size]
        at = end + 1 + size + 1
    return contents


def _git(folder: Path, *arguments: str, given: bytes | None = None) -> bytes:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],  # noqa: S607
            input=given,
            capture_output=True,
            check=True,
        )
    except FileNotFoundError as error:
        raise UsageError("git is not installed; --against needs it") from error
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode("utf-8", "replace").strip().splitlines()
        raise UsageError(f"git: {said[0] if said else 'failed'}") from error
    return done.stdout
