"""Inventories: what a control plane holds beside the repository, read from exported files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from kumamigrate.errors import UsageError
from kumamigrate.model.read import read_resources
from kumamigrate.model.resource import Resource
from kumamigrate.source.load import read_file

_ENDINGS = (".yaml", ".yml", ".json")


def load_inventory(paths: Iterable[Path]) -> tuple[Resource, ...]:
    """Return the resources of exported files, or of all YAML and JSON files of a folder.

    An inventory must be readable whole: what is missing from it would be taken as not there.
    Raises UsageError, naming file, line and column, for anything that cannot be read.
    """
    resources: list[Resource] = []
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path}: no such inventory")
        files = (
            sorted(p for p in path.rglob("*") if p.suffix in _ENDINGS) if path.is_dir() else [path]
        )
        for file in files:
            resources.extend(_read(file))
    return tuple(resources)


def _read(path: Path) -> list[Resource]:
    try:
        file = read_file(path.as_posix(), path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    for refusal in file.refusals:
        if refusal.hides:
            raise UsageError(f"{path}:{refusal.line}:{refusal.column}: {refusal.detail}")
    return [
        replace(r, where=replace(r.where, path=path.as_posix()))
        for r in read_resources(file)
        if r.where
    ]
