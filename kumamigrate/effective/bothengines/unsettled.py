"""Outbounds of which nobody can say here which engine makes them.

Beside TrafficRoutes a MeshHTTPRoute takes over the outbound that it names whatever protocol the
service has, as an HTTP one, unless a MeshTCPRoute reaches the proxy; and one of whose routes 2.x
leaves out all leaves the outbound to the old engine. Neither is modelled.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kumamigrate.effective.bothengines.askedproxy import AskedProxy
from kumamigrate.effective.bothengines.oldview import OldSide
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.effective.routing import ROUTING, TCP_ROUTING
from kumamigrate.effective.split import split_of
from kumamigrate.model.protocols import HTTP_LIKE, UNKNOWN_PROTOCOL
from kumamigrate.targetref.route import ServiceTag
from kumamigrate.universe.backend import called

_FORCED = (
    "a MeshHTTPRoute is about {service}, which does not speak HTTP, beside TrafficRoutes; what it"
    " makes of the outbound is not modelled: use a MeshTCPRoute"
)
_EMPTY = (
    "no service to which the MeshHTTPRoute for {service} leads is known to speak HTTP, and without"
    " any the outbound is left to TrafficRoutes, which is not modelled; use a MeshTCPRoute"
)
_UNSURE = (
    "a MeshHTTPRoute for {service} leads to {led}, of which no Dataplane says that it speaks HTTP;"
    " without that the route is not there"
)


def unsettled(side: OldSide, asked: AskedProxy, kept: Collection[str]) -> Iterator[Doubt]:
    """Yield what is not known of the outbounds of a proxy; `kept` are those to services for which
    the old engine makes them on some side."""
    proxy = asked.dataplane
    if not side.routed or not side.reaches(proxy, ROUTING):
        return
    tcp = side.reaches(proxy, TCP_ROUTING)
    for service in asked.services:
        if not side.names(proxy, ROUTING, ServiceTag(service)):
            continue
        if side.protocol(service) in HTTP_LIKE:
            yield from _led(side, asked, service, whole=service in kept)
        elif not tcp:
            yield _doubt(_FORCED, service)


def _led(side: OldSide, asked: AskedProxy, service: str, *, whole: bool) -> Iterator[Doubt]:
    destination = ServiceTag(service)
    routes = side.matcher.http_routes(asked.dataplane, destination)
    splits = [split_of(side.side, route, destination, http=True) for route in routes]
    led = [b.cluster.destination for split in splits if not split.gone for b in split.backends]
    if splits and not any(side.side.protocol(one) in HTTP_LIKE for one in led):
        yield _doubt(_EMPTY, service)
        return
    if whole:
        unsure = (one for one in led if side.side.protocol(one) == UNKNOWN_PROTOCOL)
        for one in dict.fromkeys(map(called, unsure)):
            yield _doubt(_UNSURE, service, led=one)


def _doubt(words: str, service: str, led: str = "") -> Doubt:
    said = words.format(service=service, led=led)
    return Doubt(DoubtKind.NOT_MODELLED, said, concerns=ROUTING)
