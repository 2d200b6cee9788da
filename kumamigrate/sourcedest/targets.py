"""Where a TrafficRoute sends an outbound, and how the old engine treats it then (notes C3, G4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce
from types import MappingProxyType
from typing import Any

from kumamigrate.model.protocols import HTTP_LIKE
from kumamigrate.model.resource import SERVICE, Resource, mapping, mappings, sequence
from kumamigrate.sourcedest.proxy import PROTOCOL, TaggedProxy
from kumamigrate.sourcedest.selector import ANY, Tags, tags_of

UNKNOWN = "unknown"
"""The protocol of a service without endpoints, or whose inbounds carry no protocol tag."""

_STACKS = {
    "grpc": ("http2", "tcp"),
    "http2": ("http2", "tcp"),
    "http": ("tcp",),
    "kafka": ("tcp",),
    "tcp": ("tcp",),
}
"""What a protocol may have in common with another one, the most first."""


def zone_egress(mesh: Resource | None) -> bool:
    """Say whether traffic to ExternalServices leaves a mesh through a zone egress (§2.7)."""
    routing = mesh.spec.get("routing") if mesh is not None else None
    return isinstance(routing, Mapping) and routing.get("zoneEgress") is True


def common_protocol(protocols: Iterable[str]) -> str:
    """Return what several endpoints have in common: http and kafka are tcp (notes C3, C8)."""
    return reduce(_common, protocols)


def _common(one: str, two: str) -> str:
    if one == two:
        return one
    if one not in _STACKS or two not in _STACKS:
        return UNKNOWN
    return next(name for name in _STACKS[one] if name in _STACKS[two])


def service_protocols(proxies: Iterable[TaggedProxy], external: Iterable[Tags]) -> dict[str, str]:
    """Return the protocol of each service with endpoints; `external` are ExternalServices' tags."""
    found: dict[str, list[str]] = {}
    for proxy in proxies:
        for inbound in proxy.inbounds:
            found.setdefault(inbound.service, []).append(inbound.tags.get(PROTOCOL, UNKNOWN))
    for tags in external:
        found.setdefault(tags.get(SERVICE, ""), []).append(tags.get(PROTOCOL, "tcp"))
    return {service: common_protocol(names) for service, names in found.items() if service}


def family_of(protocol: str) -> str:
    """Return "http", "grpc" or "tcp": how an outbound of a protocol is treated."""
    if protocol == "grpc":
        return "grpc"
    return "http" if protocol in HTTP_LIKE else "tcp"


def treated_as(route: Resource | None, service: str, protocol: Callable[[str], str]) -> str:
    """Return the protocol that the old engine gives an outbound: that of its targets (C3)."""
    targets = main_services(route, service)
    return common_protocol(map(protocol, targets or (service,)))


def main_services(route: Resource | None, service: str) -> tuple[str, ...]:
    """Return the services of these destinations, read once of a route."""
    if route is None:
        return (service,)
    key = ("main services", service)
    if key not in route.kept:
        route.kept[key] = tuple(tags[SERVICE] for tags in main_targets(route, service))
    found: tuple[str, ...] = route.kept[key]
    return found


def main_targets(route: Resource | None, service: str) -> list[dict[str, str]]:
    """Return the destinations whose common protocol an outbound has: weight 0 left out (C3)."""
    conf = route.spec.get("conf") if route is not None else None
    if not isinstance(conf, Mapping):
        return [{SERVICE: service}] if route is None else []
    return _filled(_weighted(conf), service)


def live_targets(
    route: Resource | None, service: str, own: Tags = MappingProxyType({})
) -> list[dict[str, str]]:
    """Return the destinations of all clusters of an outbound, `http[]` included.

    `own` are the outbound's own tags, of which each destination has those it does not say (§1.2).
    """
    conf = route.spec.get("conf") if route is not None else None
    if not isinstance(conf, Mapping):
        return [{**own, SERVICE: service}] if route is None else []
    nodes = [conf, *sequence(conf.get("http"))]
    return _filled([tags for node in nodes for tags in _weighted(node)], service, own)


def route_targets(route: Resource | None, service: str) -> tuple[str, ...]:
    """Return the services that Retry, CircuitBreaker and HealthCheck are looked up under.

    Top-level `destination` and `split` alone, entries of weight 0 too, not `http` (notes G4);
    without a route the outbound's own service (G3).
    """
    if route is None:
        return (service,)
    key = ("looked up under", service)
    if key not in route.kept:
        named = (tags.get(SERVICE) for tags, _ in _entries(route.spec.get("conf")))
        told = (service if name == ANY else name for name in named if name)
        route.kept[key] = tuple(dict.fromkeys(told))
    found: tuple[str, ...] = route.kept[key]
    return found


def route_destinations(route: Resource) -> tuple[Tags, ...]:
    """Return all destinations of a TrafficRoute as it says them: top level, splits and `http`."""
    conf = mapping(route.spec.get("conf"))
    nodes = (conf, *sequence(conf.get("http")))
    return tuple(tags for node in nodes for tags, _ in _entries(node) if tags)


def _entries(node: Any) -> Iterator[tuple[Tags, Any]]:
    """Yield the destinations of a conf, or of a rule of its `http`, each with its weight."""
    node = mapping(node)
    if node.get("destination"):
        yield tags_of(node["destination"]), 1
    for entry in mappings(node.get("split")):
        yield tags_of(entry.get("destination")), entry.get("weight")


def _weighted(node: Any) -> list[Tags]:
    return [tags for tags, weight in _entries(node) if weight not in (0, "0", None)]


def _filled(
    targets: list[Tags], service: str, own: Tags = MappingProxyType({})
) -> list[dict[str, str]]:
    return [filled(tags, service, own) for tags in targets if SERVICE in tags]


def filled(tags: Tags, service: str, own: Tags) -> dict[str, str]:
    """Return a destination with what it leaves to the outbound: `'*'`, and tags it lacks (§1.2)."""
    said = {k: v for k, v in tags.items() if v != ANY}
    named = tags.get(SERVICE, ANY)
    return {**own, **said, SERVICE: service if named == ANY else named}
