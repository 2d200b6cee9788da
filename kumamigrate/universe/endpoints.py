"""What endpoints say of their service: the protocol that outbounds by tag speak.

An outbound goes by those endpoints alone that get traffic. Up to 2.14 it goes by their tag; the
field `protocol` of an inbound tells that inbound what it hears, and nobody else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any

from kumamigrate.model.protocols import UNKNOWN_PROTOCOL
from kumamigrate.model.release import Release
from kumamigrate.model.resource import SERVICE, mapping
from kumamigrate.targetref.backendref import DEFAULT_PROTOCOL

PROTOCOL = "kuma.io/protocol"
_OUT = "Ignored"
_AT_TIMES = "NotReady"


def endpoint_protocols(
    endpoints: Iterable[Mapping[str, Any]], release: Release
) -> dict[str, set[str]]:
    """Return the protocols of service tags, by inbounds and ExternalServices.

    An inbound that is ready at times only has its say at times: where it would make the service
    another one, nobody knows which protocol that has.
    """
    always: dict[str, set[str]] = {}
    at_times: dict[str, set[str]] = {}
    for endpoint in endpoints:
        tags = mapping(endpoint.get("tags"))
        if tags.get(SERVICE) and endpoint.get("state") != _OUT:
            found = at_times if _comes_and_goes(endpoint) else always
            by_field = None if release.subset_rules else endpoint.get("protocol")
            protocol = str(by_field or tags.get(PROTOCOL) or DEFAULT_PROTOCOL)
            found.setdefault(str(tags[SERVICE]), set()).add(protocol)
    out = dict(always)
    for tag, protocols in at_times.items():
        sure = always.get(tag, set())
        spoken = {common_protocol(found) for found in _with_some(sure, protocols - sure)}
        out[tag] = spoken if len(spoken) == 1 else {UNKNOWN_PROTOCOL}
    return out


def gets_traffic(inbound: Mapping[str, Any]) -> bool:
    """Whether an inbound gets traffic, as its Dataplane stands."""
    ready = mapping(inbound.get("health")).get("ready")
    return inbound.get("state") not in (_OUT, _AT_TIMES) and ready is not False


def common_protocol(found: set[str]) -> str:
    """Return the protocol that endpoints of several have in common: gRPC is HTTP/2, too."""
    if len(found) == 1:
        return next(iter(found))
    return "http2" if found == {"grpc", "http2"} else DEFAULT_PROTOCOL


def _comes_and_goes(endpoint: Mapping[str, Any]) -> bool:
    """Whether an inbound gets traffic only while something says that it is ready."""
    ready = mapping(endpoint.get("health")).get("ready")
    return endpoint.get("state") == _AT_TIMES or "serviceProbe" in endpoint or ready is False


def _with_some(sure: set[str], more: set[str]) -> Iterator[set[str]]:
    """Yield what there may be at a time; where nothing is ready, nothing gets traffic."""
    for size in range(len(more) + 1):
        for some in combinations(sorted(more), size):
            if sure or some:
                yield {*sure, *some}
