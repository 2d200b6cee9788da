"""What stands in a proxy as a whole: what is about no traffic, or about such as is for nobody."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kumamigrate.dataclass import replace
from kumamigrate.effective.fact import NOTHING, Fact, one_of
from kumamigrate.effective.policies.meshproxypatch import CHANGES
from kumamigrate.effective.policies.patched import PATCH, Checks, plain_services, split
from kumamigrate.effective.reading import At, SlotKind
from kumamigrate.effective.readings import READINGS, both
from kumamigrate.effective.routing import ROUTING, is_reached
from kumamigrate.model.protocols import HTTP_LIKE, UNKNOWN_PROTOCOL
from kumamigrate.model.resource import SERVICE, Resource, mapping
from kumamigrate.model.state import mesh_services_mode
from kumamigrate.model.versions import at_least
from kumamigrate.sourcedest.order import Options, options_of
from kumamigrate.sourcedest.proxy import PASS_THROUGH, proxy_of
from kumamigrate.sourcedest.selector import tags_of
from kumamigrate.sourcedest.targets import service_protocols
from kumamigrate.sourcedest.winners import connection_winner, proxy_winner
from kumamigrate.targetref.entry import Found
from kumamigrate.targetref.resolve import EXTERNAL
from kumamigrate.targetref.route import Destination, RealResource
from kumamigrate.universe.backend import written_outbounds
from kumamigrate.universe.dataplaneparts import inbounds_of, may_be_transparent, protocol_of
from kumamigrate.universe.side import Side
from kumamigrate.universe.traffic import Outbound, is_given, kind_of, real_destinations

LOG, _LOG = "MeshAccessLog", "TrafficLog"
_MAY_BE_HTTP = (*HTTP_LIKE, UNKNOWN_PROTOCOL)
_REAL_TRACED_SINCE = "2.10"


def single_fact(
    side: Side, proxy: Resource, policy_type: str, probed: Collection[str] = ()
) -> Fact:
    """Return what a proxy reads of a single-item policy type, of either engine.

    The probes that patches set for the services `probed` stand at their clusters.
    """
    there = policy_type in side.types
    found = side.matcher.single(side.selection(proxy, policy_type)) if there else None
    if found is not None and policy_type == PATCH and probed:
        found = _without_probes(found, probed)
    calls, partly = _traced(side, proxy)
    at = At(
        part=SlotKind.PROXY,
        http=has_http(side, proxy),
        calls=calls,
        partly=partly,
        made=side.old.routed and not is_reached(side, proxy, ROUTING),
        transparent=may_be_transparent(proxy),
        others=other_services(proxy),
        release=side.release.name,
        mesh=side.mesh_spec,
    )
    options = old_of_proxy(side, proxy, policy_type)
    return one_of(both(policy_type, options, found, at), options, found, "creation time")


def old_of_proxy(side: Side, proxy: Resource, policy_type: str) -> Options:
    """Return the old policies of which one decides beside those of a single-item type."""
    policies = side.old.of(READINGS[policy_type].old)
    if not policies:
        return (None,)
    sets = proxy_of(proxy, side.state.environment.zone).tag_sets
    return options_of(proxy_winner(policies, sets, side.old.ties))


def probed_services(side: Side) -> frozenset[str]:
    """Return the services whose probes patches may set (patched.py); it takes long."""
    if not side.release.subset_rules:
        return frozenset()
    zone = side.state.environment.zone
    proxies = [proxy_of(dataplane, zone) for dataplane in side.state.of_type("Dataplane")]
    return plain_services(side.state, side.old, proxies, old_protocols(side))


def probes_of(side: Side, proxy: Resource, services: Collection[str]) -> Mapping[str, Checks]:
    """Return what patches of a proxy set as health checks for some services."""
    if PATCH not in side.types:
        return {}
    found = side.matcher.single(side.selection(proxy, PATCH))
    return split(found.conf.get(CHANGES) or (), services)[0] if found is not None else {}


def old_protocols(side: Side) -> dict[str, str]:
    """Return the protocols of service tags as the old engine knows them."""
    zone = side.state.environment.zone
    proxies = [proxy_of(dataplane, zone) for dataplane in side.state.of_type("Dataplane")]
    external = (tags_of(r.spec.get("tags")) for r in side.state.of_type("ExternalService"))
    return service_protocols(proxies, external)


def passthrough_fact(side: Side, proxy: Resource) -> Fact:
    """Return the log of traffic that passes through, of either engine; both log it (§3).

    Only a transparent proxy has such traffic. It goes by no outbound, routes or none.
    """
    if not may_be_transparent(proxy):
        return NOTHING
    sets = proxy_of(proxy, side.state.environment.zone).tag_sets
    winner = connection_winner(side.old.of(_LOG), sets, PASS_THROUGH, side.old.ties)
    options = options_of(winner)
    there = LOG in side.types
    found = side.matcher.service(side.selection(proxy, LOG), PASS_THROUGH) if there else None
    at = At(part=SlotKind.LISTENER, mesh=side.mesh_spec)
    return one_of(both(LOG, options, found, at), options, found, "creation time")


def _without_probes(found: Found, services: Collection[str]) -> Found:
    changes = found.conf.get(CHANGES)
    return replace(found, confs=({CHANGES: split(changes, services)[1]},)) if changes else found


def has_http(side: Side, proxy: Resource) -> bool:
    """Whether some listener of a proxy is, or may be, an HTTP one."""
    protocols = [protocol_of(inbound) for inbound in inbounds_of(proxy)]
    return calls_http(side, proxy) or any(p in _MAY_BE_HTTP for p in protocols)


def _traced(side: Side, proxy: Resource) -> tuple[bool, bool]:
    """Return whether a MeshTrace reaches outbounds of HTTP, and whether it leaves some out: before
    2.10 those to real resources (asked of 2.9)."""
    if at_least(side.release.name, _REAL_TRACED_SINCE):
        return calls_http(side, proxy), False
    written = written_outbounds(side, proxy)
    if written is not None:
        there = [one.destination for one in written.values() if not _is_outside(one.destination)]
        spoken = [(kind_of(one), side.protocol(one)) for one in there]
        http = {kind for kind, protocol in spoken if protocol in _MAY_BE_HTTP}
        return Outbound.SERVICE_TAG in http, Outbound.REAL in http
    mode = mesh_services_mode(side.state, side.mesh)
    real = (d for d in real_destinations(side.state) if not _is_outside(d))
    given = (d for d in real if is_given(d, mode, side.state))
    return mode != "Exclusive", any(side.protocol(d) in _MAY_BE_HTTP for d in given)


def _is_outside(destination: Destination) -> bool:
    """Whether a destination is a MeshExternalService, whose outbounds get no spans anyway."""
    return isinstance(destination, RealResource) and destination.kri.type == EXTERNAL


def other_services(proxy: Resource) -> tuple[str, ...]:
    """Return the services of HTTP inbounds but for the one that a proxy is known by: of all its
    services the first by name."""
    inbounds = [
        (inbound, mapping(inbound.get("tags")).get(SERVICE)) for inbound in inbounds_of(proxy)
    ]
    known_by = min((str(service) for _, service in inbounds if service), default="")
    heard = (service for one, service in inbounds if protocol_of(one) in _MAY_BE_HTTP)
    return tuple(dict.fromkeys(str(one) for one in heard if one and str(one) != known_by))


def calls_http(side: Side, proxy: Resource) -> bool:
    """Whether some outbound of a proxy is, or may be, an HTTP one."""
    written = written_outbounds(side, proxy)
    if written is None or not side.release.subset_rules:
        return True
    protocols = (side.protocol(cluster.destination) for cluster in written.values())
    return any(p in _MAY_BE_HTTP for p in protocols)
