"""What a control plane makes of Universal Dataplanes: a MeshService per service (world.md §2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kumamigrate.model.conf import canonical
from kumamigrate.model.kubernetes.kubeservices import MANAGED_BY, How, selector
from kumamigrate.model.resource import (
    DISPLAY_NAME,
    ENV,
    MESH,
    SERVICE,
    Form,
    Resource,
    mapping,
    mappings,
)
from kumamigrate.pattern import pattern

BY_UNIVERSAL = "meshservice-generator"
WORKLOAD = "kuma.io/workload"
_LABEL = pattern(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
"""A name as RFC 1035 has it; no other becomes a MeshService."""
SPOKEN = frozenset({"grpc", "http", "http2", "kafka", "mysql", "tcp", "tls"})
"""Protocols that Kuma knows; what a control plane generates speaks TCP for any other."""

Ports = list[dict[str, Any]]


def mesh_services(dataplanes: Iterable[Resource], how: How) -> Iterator[Resource]:
    """Yield the MeshServices that Dataplanes of one zone give; labels are yet to be completed.

    Where Dataplanes of one service disagree on its ports, the oldest decides. Where nothing tells
    which that is, nobody knows what the service is, and none is made.
    """
    found: dict[tuple[str, str], list[tuple[Resource, Ports]]] = {}
    for dataplane in dataplanes:
        if is_universal(dataplane):
            for name, ports in _services(dataplane, how):
                found.setdefault((dataplane.mesh, name), []).append((dataplane, ports))
    for (mesh, name), given in found.items():
        chosen = _chosen(given)
        if chosen is not None:
            yield _mesh_service(mesh, name, chosen, how)


def service_names(dataplanes: Iterable[Resource], how: How) -> set[tuple[str, str]]:
    """Return mesh and name of every MeshService that Dataplanes may give."""
    universal = (d for d in dataplanes if is_universal(d))
    return {(d.mesh, name) for d in universal for name, _ in _services(d, how)}


def is_generated(mesh_service: Resource) -> bool:
    """Say whether a control plane made a MeshService of Universal Dataplanes."""
    made = mesh_service.labels.get(MANAGED_BY) == BY_UNIVERSAL
    return mesh_service.type == "MeshService" and made


def is_universal(dataplane: Resource) -> bool:
    """Say whether a Dataplane runs on Universal: an export may show one of Kubernetes, too."""
    if dataplane.namespace or dataplane.namespace_label:
        return False
    return dataplane.labels.get(ENV, "universal") == "universal"


def _services(dataplane: Resource, how: How) -> Iterator[tuple[str, Ports]]:
    by_tag = how["universal"] == "tag"
    grouped: dict[str, Ports] = {}
    for inbound in mappings(mapping(dataplane.spec.get("networking")).get("inbound")):
        tags = mapping(inbound.get("tags"))
        name = str((tags.get(SERVICE) if by_tag else dataplane.labels.get(WORKLOAD)) or "")
        protocol = inbound.get("protocol") or (tags.get("kuma.io/protocol") if by_tag else None)
        if _LABEL.fullmatch(name):
            grouped.setdefault(name, []).append(_port(inbound, str(protocol or "tcp").lower()))
    yield from grouped.items()


def _port(inbound: Mapping[str, Any], protocol: str) -> dict[str, Any]:
    number = inbound.get("port")
    return {
        "name": str(inbound.get("name") or number),
        "port": number,
        "targetPort": number,
        "appProtocol": protocol if protocol in SPOKEN else "tcp",
    }


def _chosen(given: list[tuple[Resource, Ports]]) -> Ports | None:
    if len({canonical(ports) for _, ports in given}) == 1:
        return given[0][1]
    if not all(dataplane.created for dataplane, _ in given):
        return None
    return min(given, key=lambda one: (one[0].created, one[0].name))[1]


def _mesh_service(mesh: str, name: str, ports: Ports, how: How) -> Resource:
    wanted = {SERVICE if how["universal"] == "tag" else WORKLOAD: name}
    labels = {MESH: mesh, MANAGED_BY: BY_UNIVERSAL, ENV: "universal"}
    spec = {"selector": selector(wanted, how), "ports": ports}
    head = {"type": "MeshService", "mesh": mesh, "name": name}
    return Resource(
        type="MeshService",
        mesh=mesh,
        name=name,
        labels={**labels, DISPLAY_NAME: name},
        spec=spec,
        form=Form.UNIVERSAL,
        spec_path=("spec",),
        body={**head, "labels": labels, "spec": spec},
    )
