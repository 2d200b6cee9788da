"""Outbounds of a Universal Dataplane name a real service and its port."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.model.resource import SERVICE
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.dataplanes import DNS_LABEL, services_of
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import Json, change, finding, items, put
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import at_path
from kumamigrate.sourcedest.winners import old_policies

_BY_TAG = ("TrafficRoute", "Timeout", "Retry", "CircuitBreaker", "HealthCheck", "TrafficLog")
"""Old kinds that decide by the service tag of an outbound: without it they decide nothing."""


@dataclass(frozen=True, slots=True)
class _Known:
    kind: str
    ports: tuple[int, ...]


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield a change for each Dataplane whose destinations are known with one port each."""
    waiting = {mesh: _by_tag(view, mesh) for mesh in view.state.meshes()}
    for dataplane in view.of_type("Dataplane"):
        body: Json = dataplane.body
        settled = []
        at = (*dataplane.spec_path, "networking", "outbound")
        for index, outbound in enumerate(items(dataplane.body, at)):
            if not isinstance(outbound, Mapping) or "backendRef" in outbound:
                continue
            tags = outbound.get("tags")
            if not isinstance(tags, Mapping):
                continue
            path = (*at, index)
            found = waiting.get(dataplane.mesh) or _reference(view, dataplane.mesh, tags)
            if isinstance(found, str):
                yield finding(view, dataplane, path, reason=found)
                continue
            kept = {key: value for key, value in outbound.items() if key != "tags"}
            body = put(body, path, {**kept, "backendRef": found})
            settled.append(finding(view, dataplane, path, pending=True))
        if settled:
            yield change(view, dataplane, [body], settled)


def _by_tag(view: View, mesh: str) -> str:
    """Return what has to be decided before any outbound of a mesh changes, "" if nothing."""
    old = old_policies(view.state.mesh(mesh), mesh)
    left = [kind for kind in _BY_TAG if old.of(kind)]
    if not left:
        return ""
    return f"The {', '.join(left)} policies of the mesh go by this tag. Convert them first."


def _reference(view: View, mesh: str, tags: Mapping[str, Any]) -> dict[str, Any] | str:
    """Return the backendRef for some tags, or what has to be decided."""
    service = str(tags.get(SERVICE, ""))
    others = sorted(key for key in tags if key != SERVICE)
    if others:
        return (
            f"The destination is the part of {service} with {', '.join(others)}. Write a"
            " MeshService that selects just that part and refer to it."
        )
    known = _known(view, mesh, service)
    if known is None:
        return f"Nothing says which ports {service} has. Refer to its MeshService and a port of it."
    if len(known.ports) != 1:
        ports = ", ".join(map(str, known.ports))
        return f"{service} has the ports {ports}. Choose one."
    return {"kind": known.kind, "name": service, "port": known.ports[0]}


def _known(view: View, mesh: str, service: str) -> _Known | None:
    for resource in view.state.of_type("MeshService", "MeshExternalService"):
        if resource.mesh == mesh and resource.display_name == service and not resource.namespace:
            ports = [port.get("port") for port in items(resource.spec, ("ports",))]
            single = at_path(resource.spec, ("match", "port"))
            found = tuple(sorted({p for p in [*ports, single] if isinstance(p, int)}))
            return _Known(resource.type, found)
    ports_of: set[int] = set()
    for dataplane in view.state.of_type("Dataplane"):
        if dataplane.mesh == mesh and services_of(dataplane) == (service,):
            inbounds = items(dataplane.spec, ("networking", "inbound"))
            ports_of |= {p for p in (at_path(i, ("port",)) for i in inbounds) if isinstance(p, int)}
    if ports_of and DNS_LABEL.fullmatch(service):
        return _Known("MeshService", tuple(sorted(ports_of)))
    return None
