"""Which outbounds and services there are, and which real resource replaces which service tag."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any

from kumamigrate.model.kri import kri_of, section_of
from kumamigrate.model.kubernetes.kubeservices import is_made
from kumamigrate.model.release import release
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.model.state import State, mesh_services_mode
from kumamigrate.targetref.backendref import ports_of
from kumamigrate.targetref.resolve import REAL, index_of, sections
from kumamigrate.targetref.route import Destination, RealResource, ServiceTag
from kumamigrate.universe.dataplaneparts import inbounds_of
from kumamigrate.universe.side import Side
from kumamigrate.universe.successors import service_parts
from kumamigrate.universe.tagprotocols import tags_of


class Outbound(StrEnum):
    """The two kinds of outbound (product.md §1 law 1)."""

    SERVICE_TAG = "service-tag"
    REAL = "real-resource"


MODES: Mapping[str, frozenset[Outbound]] = {
    "Disabled": frozenset({Outbound.SERVICE_TAG}),
    "Everywhere": frozenset({Outbound.SERVICE_TAG, Outbound.REAL}),
    "ReachableBackends": frozenset({Outbound.SERVICE_TAG, Outbound.REAL}),
    "Exclusive": frozenset({Outbound.REAL}),
}
"""Which outbounds each mode of Mesh.meshServices gives (product.md §1 law 1)."""


def outbounds_of(state: State, mesh: str) -> frozenset[Outbound]:
    """Return the kinds of outbounds of a mesh, both where its mode is not known.

    A release that knows real resources only has no other, whatever mode a Mesh names.
    """
    if not release(state.release).subset_rules:
        return frozenset({Outbound.REAL})
    mode = mesh_services_mode(state, mesh) or ""
    kinds = MODES.get(mode, frozenset(Outbound))
    held = (r for r in state.of_type(*REAL) if r.mesh == mesh)
    return kinds | {Outbound.REAL} if any(map(_stays, held)) else kinds


def is_given(destination: Destination, mode: str | None, state: State) -> bool:
    """Say whether a transparent proxy has an outbound in a mode; None where that is not known.

    Mode Disabled generates no MeshService. Those that somebody wrote have outbounds all the same,
    as has what no mode generates (asked of 2.14).
    """
    if mode is None or kind_of(destination) in MODES.get(mode, frozenset(Outbound)):
        return True
    if not isinstance(destination, RealResource):
        return False  # only mode Disabled lacks any of the others
    return any(map(_stays, index_of(state).by_kri.get(destination.kri.of_section(""), ())))


def _stays(resource: Resource) -> bool:
    """Say whether mode Disabled has a real resource."""
    return resource.type != "MeshService" or not resource.made_up


def kind_of(destination: Destination) -> Outbound:
    """Return the kind of outbound a destination is reached through."""
    return Outbound.SERVICE_TAG if isinstance(destination, ServiceTag) else Outbound.REAL


def service_tags(state: State) -> Iterator[str]:
    """Yield the services that Dataplanes, ExternalServices and MeshServices name.

    A MeshService that comes from a Kubernetes Service stands for a tag per port, as long as there
    are outbounds by tags: which a policy of mode Exclusive never meant by a plain name.
    """
    for dataplane in state.of_type("Dataplane"):
        yield from _tags(i.get("tags") for i in inbounds_of(dataplane))
    for external in state.of_type("ExternalService"):
        yield from _tags([external.spec.get("tags")])
    for service in state.of_type("MeshService"):
        if service.labels.get(SERVICE):
            yield service.labels[SERVICE]
        elif is_made(service) and mesh_services_mode(state, service.mesh) != "Exclusive":
            for section in sections(service):
                yield from (tag for tag, _ in tags_of(service, section))
        selector = service.spec.get("selector")
        if isinstance(selector, Mapping):
            yield from _tags([selector.get("dataplaneTags")])


def real_destinations(state: State) -> Iterator[RealResource]:
    """Yield every real resource of a state, port by port."""
    for resource in state.of_type(*REAL):
        for section in sections(resource) or ("",):
            yield RealResource(kri_of(resource, section))


def by_number(state: State, destination: RealResource) -> Iterator[RealResource]:
    """Yield a port with a name as outbounds refer to it that call it by its number."""
    for resource in index_of(state).by_kri.get(destination.kri.of_section(""), ()):
        for port in ports_of(resource.spec):
            number = str(port.get("port", ""))
            if port.get("name") == destination.kri.section != number:
                yield RealResource(destination.kri, number)


def successors(side: Side, service: str) -> tuple[RealResource, ...]:
    """Return the ports of the MeshServices that replace a service tag.

    By label `kuma.io/service`, by the name `name_namespace_svc_port`, or by display name where
    there is no namespace. Of several ports the tag means those whose number it names, else
    those that lead to inbounds with the tag; all of them where no inbound is known.
    """
    found = side.successors.of(service)
    return found if len(found) < 2 else _on_port(side, service, found) or found


def _on_port(side: Side, service: str, found: tuple[RealResource, ...]) -> tuple[RealResource, ...]:
    number = service_parts(service)[2]
    inbounds = {
        str(inbound.get("port"))
        for dataplane in side.state.of_type("Dataplane")
        for inbound in inbounds_of(dataplane)
        if (inbound.get("tags") or {}).get(SERVICE) == service
    }
    kept = []
    for one in found:
        resource = side.real.get(one.kri.of_section(""))
        for port in ports_of(resource.spec) if resource is not None else ():
            name, own = section_of(port), str(port.get("port"))
            inner = str(port.get("targetPort", port.get("port")))
            if name == one.kri.section and (own == number if number else inner in inbounds):
                kept.append(one)
    return tuple(kept)


def _tags(found: Iterable[Any]) -> Iterator[str]:
    for tags in found:
        if isinstance(tags, Mapping) and tags.get(SERVICE):
            yield str(tags[SERVICE])
