"""The files of a Git revision, for `prove --against REF`."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from kumamigrate.dataclass import replace
from kumamigrate.errors import UsageError
from kumamigrate.source.reading.embedded import embeds
from kumamigrate.source.reading.find import chosen
from kumamigrate.source.text import Reason, Refusal


def contents_of_revision(
    revision: str, paths: Sequence[Path], root: Path
) -> tuple[dict[str, bytes], list[Refusal], dict[str, bytes]]:
    """Return the files of a revision below some paths, without touching the working tree: what is
    read, what cannot be, and what is of other languages.

    Raises UsageError when there is no Git, no repository or no such revision.
    """
    top = _top(root)
    commit = _commit(top, revision)
    blobs, refusals = _blobs_of(top, commit)
    prefix = _below(top, root)
    prefix = "" if prefix == "." else f"{prefix}/"
    mine = {path[len(prefix) :]: path for path in blobs if path.startswith(prefix)}
    for path in paths:
        _below(top, root / path)
    others = frozenset(chosen(mine, paths, root=root, beside=True))
    wanted = {path: blobs[mine[path]] for path in (*chosen(mine, paths, root=root), *others)}
    contents: dict[str, bytes] = {}
    for module in {module for module, _ in wanted.values()}:
        names = sorted({blob for owner, blob in wanted.values() if owner == module})
        read = dict(zip(names, _read(module, names), strict=True))
        contents |= {path: read[b] for path, (owner, b) in wanted.items() if owner == module}
    beside = {path: contents.pop(path) for path in others}
    return {p: data for p, data in contents.items() if not embeds(p, data)}, refusals, beside


def committed(root: Path, path: str) -> bytes | None:
    """Return a file as the newest commit has it, empty where it has none; None without Git."""
    try:
        _git(root, "rev-parse", "--verify", "--quiet", "HEAD")
    except UsageError:
        return None
    try:
        return _git(root, "show", f"HEAD:./{path}")
    except UsageError:
        return b""


def uncommitted(root: Path) -> frozenset[str]:
    """Return the files that Git tracks and that differ from the last commit, from the root.

    Where there is no Git or no commit nothing is known of any.
    """
    # A monitor that the repository's settings name would be run.
    quiet = ("-c", "core.fsmonitor=false", "--no-optional-locks")
    words = ("status", "--porcelain", "-z", "--untracked-files=no", "--no-renames", "--", ".")
    try:
        top = _top(root)
        prefix = _below(top, root)
        listed = _git(root, *quiet, *words).decode("utf-8", "surrogateescape")
    except UsageError:
        return frozenset()
    start = "" if prefix == "." else f"{prefix}/"
    return frozenset(one[3:].removeprefix(start) for one in listed.split("\0") if one)


def _top(root: Path) -> Path:
    try:
        return Path(os.fsdecode(_git(root, "rev-parse", "--show-toplevel").removesuffix(b"\n")))
    except UsageError as error:
        if "must be run in a work tree" in str(error):
            raise UsageError(
                f"{root} is a bare Git repository, which has no files to compare with; check them"
                f" out and run there: git -C {root} worktree add FOLDER REVISION"
            ) from error
        if "not a git repository" not in str(error):
            raise
        raise UsageError(
            f"{root} is not inside a Git repository, which --against needs; compare two folders"
            " instead: kumamigrate prove BEFORE AFTER"
        ) from error


def _known(top: Path, revision: str) -> bool:
    try:
        return bool(_git(top, "rev-parse", *_verified(revision)))
    except UsageError:
        return False


def _verified(revision: str) -> tuple[str, ...]:
    return ("--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")


def _commit(top: Path, revision: str) -> str:
    try:
        return _git(top, "rev-parse", *_verified(revision)).decode().strip()
    except UsageError as error:
        there = f"origin/{revision}"
        if _known(top, there):
            raise UsageError(f"{revision} is no branch of this clone, but --against {there}"
                             " is known") from error  # fmt: skip
        shallow = _git(top, "rev-parse", "--is-shallow-repository").strip() == b"true"
        why = "this clone is shallow: " if shallow else ""
        raise UsageError(
            f"{revision} is not in this clone; {why}in CI fetch with depth 0"
            " (GitHub: fetch-depth: 0; GitLab: GIT_DEPTH: 0), else git fetch it by its name"
        ) from error


def _blobs_of(top: Path, commit: str) -> tuple[dict[str, tuple[Path, str]], list[Refusal]]:
    """Return the blobs of a commit by path, each with the repository that holds it.

    Submodules count, as they do in the working tree; one whose commit is not here is refused.
    """
    blobs: dict[str, tuple[Path, str]] = {}
    refusals: list[Refusal] = []
    listing = _git(top, "ls-tree", "-r", "-z", "--full-tree", commit)
    for entry in listing.decode("utf-8", "surrogateescape").split("\0"):
        if not entry:
            continue
        meta, path = entry.split("\t", 1)
        mode, kind, name = meta.split(" ")
        if kind == "blob" and mode != "120000":
            blobs[path] = (top, name)
        elif kind == "commit" and (top / path / ".git").exists():
            try:
                inner, more = _blobs_of(top / path, name)
            except UsageError as error:
                refusals.append(_missing(path, str(error)))
                continue
            blobs |= {f"{path}/{below}": blob for below, blob in inner.items()}
            refusals.extend(replace(one, path=f"{path}/{one.path}") for one in more)
    return blobs, refusals


def _missing(path: str, detail: str) -> Refusal:
    return Refusal(
        path=path,
        line=0,
        column=0,
        reason=Reason.UNREADABLE,
        detail=f"the submodule cannot be read at its old commit: {detail}",
        advice="fetch it",
        hides=True,
        digest=f"not in this clone: {path}",
    )


def _below(top: Path, path: Path) -> str:
    try:
        return path.resolve().relative_to(top.resolve()).as_posix()
    except ValueError as error:
        raise UsageError(f"{path}: not inside the Git repository {top}") from error


def _read(top: Path, names: Sequence[str]) -> list[bytes]:
    out = _git(top, "cat-file", "--batch", given="".join(f"{n}\n" for n in names).encode())
    contents: list[bytes] = []
    at = 0
    for name in names:
        end = out.index(b"\n", at)
        header = out[at:end].split(b" ")
        if len(header) != 3:
            raise UsageError(f"git: object {name} is not in this clone; fetch it")
        size = int(header[2])
        contents.append(out[end + 1 : end + 1 + size])
        at = end + 1 + size + 1
    return contents


def _git(folder: Path, *arguments: str, given: bytes | None = None) -> bytes:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            input=given,
            capture_output=True,
            check=True,
            # A partial clone would fetch what it lacks.
            env={**os.environ, "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"},
        )
    except FileNotFoundError as error:
        raise UsageError("git is not installed; --against needs it") from error
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode("utf-8", "replace").strip().splitlines()
        raise UsageError(f"git: {said[0] if said else 'failed'}") from error
    return done.stdout
