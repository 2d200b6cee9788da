"""Reading inventories: all of every export, or an error that says what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.errors import SourceError, UsageError
from kumamigrate.inventory import Inventory
from kumamigrate.inventory.complete import fault_of, fault_of_text
from kumamigrate.inventory.stamp import Export, Stamp, stamp_of
from kumamigrate.model.conf import canonical
from kumamigrate.model.read import manifests, read_manifest
from kumamigrate.model.resource import Identity, Resource, Where
from kumamigrate.source.reading.export import BrokenError, ExportPart, parts_of, text_of

_ENDINGS = (".yaml", ".yml", ".json")


def inventory_of(paths: Iterable[Path]) -> Inventory:
    """Return what exported files hold (`load_inventory`)."""
    resources: list[Resource] = []
    exports: list[Export] = []
    for path in paths:
        files = files_of(path)
        found = [(file, *_read(file)) for file in files]
        if not any(read for _, read, _ in found):
            said = "holds no resource of Kuma or Kubernetes; is it of the right control plane?"
            raise UsageError(f"{path}: the inventory {said}")
        for _, read, export in found:
            resources.extend(read)
            exports.append(export)
    return Inventory(resources=_once(resources), exports=tuple(exports))


def files_of(path: Path) -> list[Path]:
    """Return the files of an inventory. Raises UsageError where there is none such."""
    if not path.exists():
        raise UsageError(f"{path}: no such inventory")
    if path.is_dir():
        return sorted(p for p in path.rglob("*") if p.suffix in _ENDINGS and p.is_file())
    return [path]


def _read(path: Path) -> tuple[list[Resource], Export]:
    try:
        return resources_of(path.read_bytes(), path.as_posix())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error


def resources_of(data: bytes, name: str) -> tuple[list[Resource], Export]:
    """Return the resources of one export and what it says of itself. Raises SourceError."""
    found, stamp = _whole(data, name)
    read = (read_manifest(manifest, where) for manifest, where in found)
    resources = [replace(resource, stored=True) for resource in read if resource is not None]
    taken, source = (stamp.taken, stamp.source) if stamp is not None else ("", "")
    return resources, Export(path=name, resources=len(resources), taken=taken, source=source)


def manifests_of(data: bytes, name: str) -> list[Mapping[str, Any]]:
    """Return the manifests of one export as they stand there. Raises SourceError."""
    return [manifest for manifest, _ in _whole(data, name)[0]]


def _whole(data: bytes, name: str) -> tuple[list[tuple[Mapping[str, Any], Where]], Stamp | None]:
    try:
        text = text_of(data)
        if fault := fault_of_text(text):
            raise SourceError(name, fault)
        parts = parts_of(text)
    except BrokenError as error:
        raise SourceError(name, error.detail, line=error.line, column=error.column) from error
    if not parts:
        raise SourceError(name, "the file holds nothing but comments")
    stamp, found = stamp_of(text), list(_manifests(parts, name))
    if stamp is not None and stamp.count != len(found):
        said = f"it says that it holds {stamp.count} resources, and holds {len(found)}"
        raise SourceError(name, f"the snapshot was cut off or edited: {said}", line=1, column=1)
    return found, stamp


def _manifests(parts: Iterable[ExportPart], name: str) -> Iterator[tuple[Mapping[str, Any], Where]]:
    """Yield every manifest and where it stands; the first thing that is none is an error."""
    for index, part in enumerate(parts):
        values = part.value if isinstance(part.value, list) else [part.value]
        for at, value in enumerate(values):
            if fault := fault_of(value):
                raise SourceError(name, fault, line=part.line, column=1)
            if not isinstance(value, dict):
                continue
            for item, manifest in manifests(value):
                place = (at, *item) if len(values) > 1 else item
                where = Where(path=name, document=index, item=place, line=part.line)
                if manifest:
                    yield manifest, where


def _once(resources: Iterable[Resource]) -> tuple[Resource, ...]:
    """Return each resource once; exports of one control plane may overlap, and have to agree.

    Zones may hold resources of one name: these are several.
    """
    seen: dict[tuple[Identity, str], Resource] = {}
    for resource in resources:
        first = seen.setdefault((resource.identity, resource.zone), resource)
        if first is resource or canonical(first.spec) == canonical(resource.spec):
            continue
        one, two = (f"{r.where.path}:{r.where.line}" for r in (first, resource) if r.where)
        raise UsageError(
            f"{two}: {resource.type} {resource.name} is in the inventory twice, and not the same as"
            f" at {one}; give the exports of one control plane, taken at one time"
        )
    return tuple(seen.values())
