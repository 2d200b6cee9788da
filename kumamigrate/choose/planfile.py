"""A plan as a file: the new bytes of each file, and the hashes of all that the proof rests on.

What is proven is proven of the files that were read. So a plan names them all, edited or not: one
that changed since, or came, may be what makes the proof wrong.
"""

from __future__ import annotations

import base64
import hashlib
import json
import posixpath
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kumamigrate import __version__
from kumamigrate.dataclass import dataclass, field
from kumamigrate.deployment.tree import SHAPING
from kumamigrate.errors import UsageError
from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.world.config import settings_file
from kumamigrate.world.estate import Estate

SCHEMA = "kumamigrate.plan/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedFile:
    """What one file shall become: its new bytes (None: it goes), and the hash of the old ones
    (empty: it is not there yet)."""

    path: str
    old: str
    new: bytes | None


@dataclass(frozen=True, kw_only=True)
class Planned:
    """All files that a run would write, and the hash of each file that it rests on, by path.

    `inventory` are files in the repository that were read as such, and are no manifests.
    """

    target: str
    verdict: str
    files: tuple[PlannedFile, ...]
    rests: Mapping[str, str] = field(default_factory=dict)
    inventory: tuple[str, ...] = ()


def planned(outcome: Outcome) -> Planned:
    """Return what an outcome would write."""
    root = outcome.before.repository.root.resolve()
    real = (path.resolve() for path in outcome.options.inventory)
    return Planned(
        target=outcome.before.target,
        verdict=outcome.whole.value,
        files=tuple(
            PlannedFile(path=path, old="" if old is None else hash_of(old), new=new)
            for path, (old, new) in sorted(outcome.texts.items())
        ),
        rests=rests_on(outcome.began, without=outcome.adopted),
        inventory=tuple(
            sorted(p.relative_to(root).as_posix() for p in real if p.is_relative_to(root))
        ),
    )


def rests_on(estate: Estate, without: frozenset[str] = frozenset()) -> dict[str, str]:
    """Return the hash of each file that what is proven of an estate rests on."""
    paths = set(estate.whole.repository.files)
    paths |= {p for site in estate.sites for p in site.rendering.sources}
    paths |= {p for p in estate.tree.files if posixpath.basename(p) in SHAPING}
    read = {path: estate.tree.read(path) for path in sorted(paths - without)}
    found = {path: hash_of(data) for path, data in read.items() if data is not None}
    root = estate.whole.repository.root
    file, _ = settings_file(root)
    if file.is_file():
        found[file.relative_to(root).as_posix()] = hash_of(file.read_bytes())
    return found


def hash_of(data: bytes) -> str:
    """Return the hash by which a content is known."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def plan_text(plan: Planned) -> str:
    """Return a plan as text."""
    data = {
        "schema": SCHEMA,
        "version": __version__,
        "target": plan.target,
        "whole": plan.verdict,
        "files": [_file_json(one) for one in plan.files],
        "rests": dict(sorted(plan.rests.items())),
        "inventory": list(plan.inventory),
    }
    # Names of files need not be UTF-8; as escapes they are text all the same.
    return json.dumps(data, indent=1) + "\n"


def _file_json(one: PlannedFile) -> dict[str, Any]:
    told: dict[str, Any] = {"path": one.path, "old": one.old or None}
    if one.new is None:
        return {**told, "new": None}
    told["new"] = hash_of(one.new)
    try:
        return {**told, "text": one.new.decode("utf-8")}
    except UnicodeDecodeError:
        return {**told, "base64": base64.b64encode(one.new).decode()}


def read_plan(file: Path) -> Planned:
    """Read a plan. Raises UsageError for what is none, or was changed by hand."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        if data["schema"] != SCHEMA:
            raise ValueError
        return Planned(
            target=str(data["target"]),
            verdict=str(data["whole"]),
            files=tuple(_read_file(file, one) for one in data["files"]),
            rests={str(path): str(hash_) for path, hash_ in data["rests"].items()},
            inventory=tuple(str(path) for path in data["inventory"]),
        )
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        detail = "is no plan that this version knows; `kumamigrate run --plan` makes one"
        raise UsageError(f"{file}: {detail}") from error


def _read_file(file: Path, data: Mapping[str, Any]) -> PlannedFile:
    path = str(data["path"])
    new: bytes | None = None
    if data["new"] is not None:
        text, packed = data.get("text"), data.get("base64")
        new = base64.b64decode(str(packed), validate=True) if text is None else text.encode("utf-8")
        if hash_of(new) != data["new"]:
            raise UsageError(f"{file}: what it holds for {path} was changed; make a new plan")
    return PlannedFile(path=path, old=str(data["old"] or ""), new=new)
