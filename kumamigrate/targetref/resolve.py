"""Which real resources a to-target means (matcher.md (f), matcher-notes §1.7 and §1.8)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kumamigrate.dataclass import dataclass
from kumamigrate.model.kri import Kri, kri_of, mesh_kri
from kumamigrate.model.release import Release
from kumamigrate.model.resource import DISPLAY_NAME, NAMESPACE, Resource, mappings
from kumamigrate.model.state import State
from kumamigrate.model.targetref import TargetRef

EXTERNAL = "MeshExternalService"
REAL = ("MeshService", EXTERNAL, "MeshMultiZoneService")
WHOLE_ONLY = (EXTERNAL, "MeshHTTPRoute", "Mesh")
_LEGACY_PORT = "49151"


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """The resources a to-target can mean, by (type, mesh); `by_kri` by identifier.

    `meshes` are the meshes that exist; None when the state may lack their Mesh.
    """

    by_type: Mapping[tuple[str, str], tuple[Resource, ...]]
    by_kri: Mapping[Kri, tuple[Resource, ...]]
    by_label: Mapping[tuple[str, str, str, str], tuple[Resource, ...]]
    meshes: frozenset[str] | None

    def having(
        self, kind: str, mesh: str, labels: Sequence[tuple[str, str]]
    ) -> tuple[Resource, ...]:
        """Return the resources with all the labels, in file order; no labels = all."""
        if not labels:
            return self.by_type.get((kind, mesh), ())
        found = (self.by_label.get((kind, mesh, *pair), ()) for pair in labels)
        first = min(found, key=len)
        return tuple(r for r in first if all(r.labels.get(k) == v for k, v in labels))


def index_of(state: State) -> Index:
    """Return the index of a state, made once."""
    if "index" not in state.known:
        state.known["index"] = _index_of(state)
    index: Index = state.known["index"]
    return index


def keep_index(state: State, index: Index) -> None:
    """Note the index of a state that has the same real resources, routes and meshes as another."""
    state.known["index"] = index


def _index_of(state: State) -> Index:
    types: dict[tuple[str, str], list[Resource]] = {}
    kris: dict[Kri, list[Resource]] = {}
    labels: dict[tuple[str, str, str, str], list[Resource]] = {}
    for resource in state.of_type(*REAL, "MeshHTTPRoute"):
        types.setdefault((resource.type, resource.mesh), []).append(resource)
        kris.setdefault(kri_of(resource), []).append(resource)
        for key, value in resource.labels.items():
            labels.setdefault((resource.type, resource.mesh, key, value), []).append(resource)
    meshes = frozenset(m.name for m in state.of_type("Mesh")) if state.complete else None
    return Index(
        {k: tuple(v) for k, v in types.items()},
        {k: tuple(v) for k, v in kris.items()},
        {k: tuple(v) for k, v in labels.items()},
        meshes,
    )


def resolve(policy: Resource, target: TargetRef, index: Index, release: Release) -> tuple[Kri, ...]:
    """Return the identifiers, with section, of all that a to-target means."""
    if target.kind == "Mesh":
        there = index.meshes is None or policy.mesh in index.meshes
        return (mesh_kri(policy.mesh),) if there else ()
    if target.kind == "MeshHTTPRoute" and not release.route_keys:
        return ()
    if target.kind not in (*REAL, "MeshHTTPRoute"):
        return ()
    return tuple(dict.fromkeys(_real(policy, target, index, release)))


def _real(policy: Resource, target: TargetRef, index: Index, release: Release) -> Iterator[Kri]:
    section = target.section_name or ""
    if target.labels or "name" not in release.reference_by:
        found = index.having(target.kind, policy.mesh, target.labels or ())
    else:
        legacy = _legacy(target, release) if not section else None
        if legacy is not None:
            labels, port = legacy
            for resource in index.having("MeshService", policy.mesh, labels):
                yield from _legacy_section(resource, port, release)
            return
        wanted = Kri(
            type=target.kind,
            mesh=policy.mesh,
            zone=policy.zone,
            namespace=target.namespace or policy.namespace_label,
            name=target.name or "",
        )
        found = index.by_kri.get(wanted, ())
    for resource in found:
        if not section or target.kind in WHOLE_ONLY:
            yield kri_of(resource)
        elif release.section_check == "none" or section in sections(resource):
            yield kri_of(resource, section)


def _legacy(target: TargetRef, release: Release) -> tuple[list[tuple[str, str]], str] | None:
    """Return the labels and port behind a name like `web_shop_svc_80`, or None."""
    if target.kind != "MeshService" or release.legacy_names == "none":
        return None
    parts = (target.name or "").split("_")
    if len(parts) not in (3, 4):
        return None
    port = parts[3] if len(parts) == 4 else ""
    if not port and release.legacy_names == "port-or-default":
        port = _LEGACY_PORT
    return [(DISPLAY_NAME, parts[0]), (NAMESPACE, parts[1])], port


def _legacy_section(resource: Resource, port: str, release: Release) -> Iterator[Kri]:
    if not port:
        yield kri_of(resource)
        return
    name = next((name for name, number in _ports(resource) if number == port), None)
    if name is not None:
        yield kri_of(resource, name)
    elif release.legacy_names == "port-or-default":
        yield kri_of(resource)


def sections(resource: Resource) -> tuple[str, ...]:
    """Return the port names of a real resource; an unnamed port is called by its number."""
    if resource.type == EXTERNAL:
        return ()
    return tuple(name for name, _ in _ports(resource))


def _ports(resource: Resource) -> list[tuple[str, str]]:
    return [
        (str(p.get("name") or p.get("port", "")), str(p.get("port", "")))
        for p in mappings(resource.spec.get("ports"))
    ]
