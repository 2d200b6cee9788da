"""Service tags and the services in their place that disagree on the protocol (product.md §5).

Inbounds give a tag its protocol, `appProtocol` that of a MeshService. Where they disagree, it
shows in everything an outbound reads once the service takes the tag's place, whatever policies
say. To see what policies say, the protocol of both counts as not known: then all is read that
any protocol reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kumamigrate.model.protocols import UNKNOWN_PROTOCOL
from kumamigrate.model.resource import mapping, mappings
from kumamigrate.targetref.route import RealResource, ServiceTag
from kumamigrate.universe.side import Side
from kumamigrate.universe.traffic import successors


def alike(before: Side, after: Side, services: Iterable[str]) -> tuple[Side, Side]:
    """Return two sides on which service tags agree with the services in their place."""
    odds = tuple(_at_odds(before, after, services))
    if not odds:
        return before, after
    tags = frozenset(tag for tag, _ in odds)
    real = frozenset(service.kri for _, service in odds)
    return before.not_knowing(tags, real), after.not_knowing(tags, real)


def as_spoken(before: Side, after: Side, services: Iterable[str]) -> Side:
    """Return the earlier side, tags that no proxy of Kubernetes has read as what they must mean.

    A policy may name a service plainly where tags are called `name_namespace_svc_port`. Whatever
    its tag speaks, it is the service in its place that the name is meant for.
    """
    spoken: dict[str, str] = {}
    for tag in services:
        places = successors(after, tag)
        plain = bool(places) and all(d.kri.namespace and d.kri.name == tag for d in places)
        if plain and before.protocol(ServiceTag(tag)) == UNKNOWN_PROTOCOL:
            protocols = {after.protocol(place) for place in places} - {UNKNOWN_PROTOCOL}
            if len(protocols) == 1:
                spoken[tag] = protocols.pop()
    return before.knowing(spoken) if spoken else before


def speaking_tcp(before: Side, services: Sequence[str]) -> Iterator[str]:
    """Yield what is taken for granted of service tags that a MeshTCPRoute is about and whose
    protocol nobody tells, on a side that is `as_spoken`.

    It makes a TCP listener, which by tag has the idle timeout of a MeshTimeout only where the
    service speaks TCP, and on the real resource always (asked of 2.14).
    """
    if before.state.complete or not any(before.state.of_type("MeshTimeout")):
        return
    for route in before.state.of_type("MeshTCPRoute"):
        for entry in mappings(route.spec.get("to")):
            name = str(mapping(entry.get("targetRef")).get("name") or "")
            if name in services and before.protocol(ServiceTag(name)) == UNKNOWN_PROTOCOL:
                yield f"{name}, which MeshTCPRoute {route.name} is about, speaks TCP"


def _at_odds(
    before: Side, after: Side, services: Iterable[str]
) -> Iterator[tuple[str, RealResource]]:
    """Yield who disagrees. What a change says itself of a service's ports is its own doing."""
    for tag in services:
        of_tag = before.protocol(ServiceTag(tag))
        for service in successors(after, tag):
            whole = service.kri.of_section("")
            was, now = before.real.get(whole), after.real[whole]
            same = was is not None and was.spec.get("ports") == now.spec.get("ports")
            if same and of_tag != after.protocol(service):
                yield tag, service
