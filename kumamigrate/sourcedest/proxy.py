"""A proxy as the old engine sees it: inbounds, outbounds and the tags sources are matched with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.model.resource import SERVICE, ZONE, Resource, mapping, mappings
from kumamigrate.sourcedest.selector import Tags, tags_of

PASS_THROUGH = "pass_through"
"""The service under which the old engine looks up traffic to destinations it does not know."""

PROTOCOL = "kuma.io/protocol"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbound:
    """One inbound. `name` is `address:port:servicePort`, as the inspect API has it."""

    name: str
    tags: Tags

    @property
    def service(self) -> str:
        """The service tag, empty when there is none."""
        return self.tags.get(SERVICE, "")

    @property
    def protocol(self) -> str:
        """The protocol tag; without one the old engine takes tcp."""
        return self.tags.get(PROTOCOL, "tcp")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggedOutbound:
    """One service-tag outbound. `name` is `address:port`."""

    name: str
    tags: Tags

    @property
    def service(self) -> str:
        """The service tag, empty when there is none."""
        return self.tags.get(SERVICE, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggedProxy:
    """What the old engine reads of one Dataplane, zone tag included."""

    name: str
    inbounds: tuple[Inbound, ...] = ()
    outbounds: tuple[TaggedOutbound, ...] = ()
    gateway: Tags | None = None

    @property
    def tag_sets(self) -> tuple[Tags, ...]:
        """The tag sets of which a source or a selector must match one (§2.1)."""
        sets = tuple(inbound.tags for inbound in self.inbounds)
        return sets if self.gateway is None else (self.gateway, *sets)


def proxy_of(dataplane: Resource, zone: str) -> TaggedProxy:
    """Return the old engine's view of a Dataplane.

    The control plane of a zone adds `kuma.io/zone` to every inbound and to the gateway's tags
    where it is absent (legacy-notes.md G2). `zone` is that control plane's; the Dataplane's own
    zone label goes before it.
    """
    zone = dataplane.zone or zone
    networking = mapping(dataplane.spec.get("networking"))
    address = str(networking.get("address") or "")
    gateway = networking.get("gateway")
    return TaggedProxy(
        name=dataplane.name,
        inbounds=tuple(_inbound(i, address, zone) for i in mappings(networking.get("inbound"))),
        outbounds=tuple(_outbound(o) for o in mappings(networking.get("outbound"))),
        gateway=_with_zone(mapping(gateway).get("tags"), zone) if gateway is not None else None,
    )


def _inbound(inbound: Mapping[str, Any], address: str, zone: str) -> Inbound:
    port = inbound.get("port")
    own_address = inbound.get("address") or address
    service_port = inbound.get("servicePort") or port
    return Inbound(
        name=f"{own_address}:{port}:{service_port}", tags=_with_zone(inbound.get("tags"), zone)
    )


def _outbound(outbound: Mapping[str, Any]) -> TaggedOutbound:
    address = outbound.get("address") or "127.0.0.1"
    tags = tags_of(outbound.get("tags"))
    if SERVICE not in tags and outbound.get("service"):
        tags[SERVICE] = str(outbound["service"])
    return TaggedOutbound(name=f"{address}:{outbound.get('port')}", tags=tags)


def _with_zone(tags: Any, zone: str) -> dict[str, str]:
    own = tags_of(tags)
    return own if ZONE in own or not zone else {**own, ZONE: zone}
