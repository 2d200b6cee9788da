"""Which destination a backendRef means, and whether it has the port (matcher.md (f))."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.model.kri import Kri, section_of
from kumamigrate.model.release import Release
from kumamigrate.model.resource import DISPLAY_NAME, NAMESPACE, Resource, mapping, mappings
from kumamigrate.targetref.route import Destination, RealResource, ServiceTag

DEFAULT_PROTOCOL = "tcp"
HTTP_PROTOCOLS = ("http", "http2", "grpc")
"""The protocols of backends that an HTTP route carries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """What references can mean: the real resources of a mesh, by identifier."""

    release: Release
    mesh: str
    real: Mapping[Kri, Resource]


@dataclass(frozen=True, slots=True, kw_only=True)
class Meant:
    """What a reference means.

    `destination` is None where it means nothing at all; `tags` are those of a service tag besides
    the service. `lacks_port`: the resource is there and has no such port, or not the one port
    that a reference without any means. `instead` are the other resources with the same labels,
    one of which may be the oldest: Kuma takes that.
    """

    destination: Destination | None
    tags: tuple[tuple[str, str], ...] = ()
    lacks_port: bool = False
    instead: tuple[RealResource, ...] = ()


NOTHING_MEANT = Meant(destination=None)


def meant_by(places: Places, ref: Mapping[str, Any], policy: Resource | None) -> Meant:
    """Return what a backendRef means.

    A MeshService is a real resource only with a port or sectionName (in 3.0 always); else its
    name is a service tag. Labels mean the oldest resource that has them all.
    """
    kind = str(ref.get("kind") or "MeshService")
    port = port_said(ref)
    by_tags = kind == "MeshServiceSubset" or (kind == "MeshService" and not port)
    if by_tags and places.release.subset_rules:
        return tagged(ref)
    labels = ref.get("labels") or _named(places, ref, kind)
    if isinstance(labels, Mapping) and labels:
        found = _having(places, kind, _placed(places, labels, policy))
        if not found:
            return NOTHING_MEANT
        first, *others = (_at_port(places, kri, port) for kri in found)
        listed = tuple(m.destination for m in others if isinstance(m.destination, RealResource))
        return Meant(destination=first.destination, lacks_port=first.lacks_port, instead=listed)
    if not ref.get("name"):
        return NOTHING_MEANT
    namespace = str(ref.get("namespace") or (policy.namespace_label if policy else ""))
    zone = policy.zone if policy is not None else ""
    name = str(ref["name"])
    kri = Kri(type=kind, mesh=places.mesh, zone=zone, namespace=namespace, name=name)
    return _at_port(places, kri, port)


def _named(places: Places, ref: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """Return the labels that a name is for 3.0, whichever zone the resource is of."""
    name, namespace = str(ref.get("name") or ""), ref.get("namespace")
    if places.release.subset_rules or not name:
        return {}
    legacy = name.split("_")
    if kind == "MeshService" and not namespace and len(legacy) == 4 and legacy[2] == "svc":
        name, namespace = legacy[:2]
    return {DISPLAY_NAME: name, **({NAMESPACE: namespace} if namespace else {})}


def called_by_number(places: Places, dataplane: Resource) -> dict[Kri, str]:
    """Return the ports with a name that the outbounds of a Dataplane call by their number."""
    found: dict[Kri, str] = {}
    for outbound in mappings(mapping(dataplane.spec.get("networking")).get("outbound")):
        ref = outbound.get("backendRef")
        meant = meant_by(places, ref, dataplane) if isinstance(ref, Mapping) else NOTHING_MEANT
        if isinstance(meant.destination, RealResource) and meant.destination.number:
            found[meant.destination.kri] = meant.destination.number
    return found


def port_said(ref: Mapping[str, Any]) -> str:
    """Return the port that a reference names, by name or by number; "" where it names none."""
    return str(ref.get("sectionName") or ref.get("port") or "")


def tagged(ref: Mapping[str, Any]) -> Meant:
    """Return the service tag that a reference names, with its other tags."""
    tags = mapping(ref.get("tags"))
    extra = tuple(sorted((str(k), str(v)) for k, v in tags.items()))
    return Meant(destination=ServiceTag(str(ref.get("name") or "")), tags=extra)


def protocols_at(resource: Resource, section: str) -> frozenset[str]:
    """Return the protocols of a port of a real resource, of all its ports without a section."""
    if resource.type == "MeshExternalService":
        protocol = mapping(resource.spec.get("match")).get("protocol")
        return frozenset({str(protocol or DEFAULT_PROTOCOL)})
    return frozenset(
        str(port.get("appProtocol") or DEFAULT_PROTOCOL)
        for port in ports_of(resource.spec)
        if not section or section_of(port) == section
    )


def tcp_protocols(release: Release) -> tuple[str, ...]:
    """Return the protocols of backends that a TCP route carries."""
    return ("tcp", *HTTP_PROTOCOLS, *(("kafka",) if release.subset_rules else ()))


def ports_of(spec: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the ports of a MeshService or MeshMultiZoneService."""
    return mappings(spec.get("ports"))


def _placed(
    places: Places, labels: Mapping[str, Any], policy: Resource | None
) -> Mapping[str, Any]:
    """Return labels with the namespace of the policy, which 3.0 adds to a name without one."""
    if places.release.subset_rules or policy is None or not policy.namespace_label:
        return labels
    if not labels.get(DISPLAY_NAME) or labels.get(NAMESPACE):
        return labels
    return {**labels, NAMESPACE: policy.namespace_label}


def _having(places: Places, kind: str, labels: Mapping[str, Any]) -> list[Kri]:
    """Return the resources with all the labels; those made up only where there are no others.

    Where all creation times are known, that is the oldest.
    """
    found = [(k, r) for k, r in places.real.items() if r.type == kind and _has(r, labels)]
    listed = [(k, r) for k, r in found if not r.made_up] or found[:1]
    if all(r.created for _, r in listed):
        oldest = min(listed, key=lambda pair: pair[1].created, default=None)
        return [oldest[0]] if oldest is not None else []
    return [k for k, _ in listed]


def _has(resource: Resource, labels: Mapping[str, Any]) -> bool:
    return all(resource.labels.get(str(k)) == str(v) for k, v in labels.items())


def _at_port(places: Places, kri: Kri, port: str) -> Meant:
    """Return a port of a resource, found by name or by number as Kuma does."""
    resource = places.real.get(kri)
    if kri.type == "MeshExternalService":  # It has one port, and any number finds it.
        apart = places.release.external_by_port == "mesh"
        return Meant(destination=RealResource(kri, port if apart else ""))
    if resource is None:
        return Meant(destination=RealResource(kri.of_section(port)))
    for name, number in _ports(places, resource, port):
        if port in (name, number, ""):
            by_number = port if port == number and name not in ("", number) else ""
            return Meant(destination=RealResource(kri.of_section(name or number), by_number))
    at = RealResource(kri.of_section(port))
    return Meant(destination=at, lacks_port=not resource.made_up)


def _ports(places: Places, resource: Resource, port: str) -> list[tuple[str, str]]:
    """Return name and number of the ports that a reference can mean.

    One that names none means the only port on 3.0, and one without a name on 2.x.
    """
    listed = [(str(p.get("name") or ""), str(p.get("port", ""))) for p in ports_of(resource.spec)]
    if port:
        return listed
    if places.release.subset_rules:
        return [pair for pair in listed if not pair[0]]
    return listed if len(listed) == 1 else []
