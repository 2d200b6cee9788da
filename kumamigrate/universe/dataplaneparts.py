"""What a Dataplane says of its networking: inbounds, their protocols, redirected traffic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumamigrate.model.resource import Resource, mapping, mappings
from kumamigrate.targetref.backendref import DEFAULT_PROTOCOL
from kumamigrate.universe.endpoints import PROTOCOL


def protocol_of(inbound: Mapping[str, Any]) -> str:
    """Return the protocol of an inbound: its field, else its tag, else TCP."""
    tags = inbound.get("tags")
    by_tag = tags.get(PROTOCOL) if isinstance(tags, Mapping) else None
    return str(inbound.get("protocol") or by_tag or DEFAULT_PROTOCOL)


def inbounds_of(dataplane: Resource) -> list[Mapping[str, Any]]:
    """Return the inbounds of a Dataplane, in order."""
    return mappings(networking(dataplane).get("inbound"))


def inbound_at(dataplane: Resource, place: str) -> Mapping[str, Any] | None:
    """Return the inbound of a Dataplane at `address:port`, None where none is."""
    own = networking(dataplane).get("address")
    return next(
        (
            inbound
            for inbound in inbounds_of(dataplane)
            if place == f"{inbound.get('address') or own}:{inbound.get('port')}"
        ),
        None,
    )


def networking(dataplane: Resource) -> Mapping[str, Any]:
    """Return the networking section of a Dataplane."""
    return mapping(dataplane.spec.get("networking"))


def may_be_transparent(proxy: Resource) -> bool:
    """Whether traffic may be redirected to a proxy: if its Dataplane says so, or is made up."""
    return proxy.made_up or bool(networking(proxy).get("transparentProxying"))
