"""Questions that every reference asks of a state, answered once for all of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.model.meshservices import generated_services
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import State


def services_named(state: State, name: str, namespace: str) -> Sequence[Resource]:
    """Return the Services of a name in a namespace, in file order."""
    return _by(state, ("Service",), _name_and_namespace).get((name, namespace), ())


def destinations_named(state: State, name: str, home: str) -> Sequence[Resource]:
    """Return the Services and MeshServices that are shown under a name in a namespace."""
    return _by(state, ("Service", "MeshService"), _shown_at_home).get((name, home), ())


def shown_as(state: State, kind: str, mesh: str, name: str) -> Sequence[Resource]:
    """Return the resources of a kind in a mesh that are shown under a name, in file order."""
    return _by(state, (kind,), _mesh_and_shown).get((mesh, name), ())


def services_to_come(state: State, release: str) -> tuple[Resource, ...]:
    """Return the MeshServices that a control plane of a release makes of what a state holds, and
    that the state does not: those of meshes in mode Disabled."""
    asked = ("to come", release)
    if asked not in state.known:
        state.known[asked] = generated_services(replace(state, release=release), switched=True)
    found: tuple[Resource, ...] = state.known[asked]
    return found


def zones_of(state: State, mesh: str) -> frozenset[str]:
    """Return the zones that resources of a mesh say they are of."""
    if "zones" not in state.known:
        found: dict[str, set[str]] = {}
        for resource in state.resources:
            if resource.zone:
                found.setdefault(resource.mesh, set()).add(resource.zone)
        state.known["zones"] = {name: frozenset(zones) for name, zones in found.items()}
    known: Mapping[str, frozenset[str]] = state.known["zones"]
    return known.get(mesh, frozenset())


def _name_and_namespace(service: Resource) -> tuple[str, str]:
    return service.name, service.namespace


def _shown_at_home(service: Resource) -> tuple[str, str]:
    return service.display_name, service.namespace or service.namespace_label


def _mesh_and_shown(resource: Resource) -> tuple[str, str]:
    return resource.mesh, resource.display_name


def _by(
    state: State, types: tuple[str, ...], key: Callable[[Resource], Hashable]
) -> Mapping[Any, Sequence[Resource]]:
    asked = ("by", types, key.__name__)
    if asked not in state.known:
        state.known[asked] = _grouped(state.of_type(*types), key)
    known: Mapping[Any, Sequence[Resource]] = state.known[asked]
    return known


def _grouped(
    resources: Iterable[Resource], key: Callable[[Resource], Hashable]
) -> Mapping[Any, Sequence[Resource]]:
    found: dict[Any, list[Resource]] = {}
    for resource in resources:
        found.setdefault(key(resource), []).append(resource)
    return found
