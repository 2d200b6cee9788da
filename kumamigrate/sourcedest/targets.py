"""Where a TrafficRoute sends an outbound, and how the old engine treats it then (notes C3, G4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from types import MappingProxyType
from typing import Any

from kumamigrate.model.resource import SERVICE, Resource, mappings, sequence
from kumamigrate.sourcedest.proxy import PROTOCOL, TaggedProxy
from kumamigrate.sourcedest.selector import ANY, Tags, tags_of

UNKNOWN = "unknown"
"""The protocol of a service without endpoints, or whose inbounds carry no protocol tag."""

HTTP_FAMILY = ("http", "http2", "grpc")
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


def _weighted(node: Any) -> list[Tags]:
    if not isinstance(node, Mapping):
        return []
    found: list[Tags] = [tags_of(node["destination"])] if node.get("destination") else []
    for entry in mappings(node.get("split")):
        if entry.get("weight") not in (0, "0", None):
            found.append(tags_of(entry.get("destination")))
    return found


def _filled(
    targets: list[Tags], service: str, own: Tags = MappingProxyType({})
) -> list[dict[str, str]]:
    return [filled(tags, service, own) for tags in targets if SERVICE in tags]


def filled(tags: Tags, service: str, own: Tags) -> dict[str, str]:
    """Return a destination with what it leaves to the outbound: `'*'`, and tags it lacks (§1.2)."""
    said = {k: v for k, v in tags.items() if v != ANY and k != SERVICE}
    named = tags.get(SERVICE, ANY)
    return {**own, **said, SERVICE: service if named == ANY else named}
