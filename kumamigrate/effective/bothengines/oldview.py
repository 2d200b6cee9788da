"""One side of a mesh in which the old engine still has a say: both engines, asked together."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import Any

from kumamigrate.effective.bothengines.askedproxy import AskedProxy
from kumamigrate.effective.policies.patched import Checks
from kumamigrate.effective.proxyfacts import old_protocols, probed_services, probes_of
from kumamigrate.effective.routing import ROUTING, TCP_ROUTING, Routing, is_reached, routing_of
from kumamigrate.model.protocols import HTTP_LIKE, UNKNOWN_PROTOCOL
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.model.versions import version
from kumamigrate.sourcedest.order import Options, options_of
from kumamigrate.sourcedest.selector import ANY, Tags, matches, selectors_in, tags_of
from kumamigrate.sourcedest.targets import (
    UNKNOWN,
    live_targets,
    main_targets,
    route_targets,
    zone_egress,
)
from kumamigrate.sourcedest.winners import connection_winner, led_to
from kumamigrate.targetref.entry import Found
from kumamigrate.targetref.route import Destination, ServiceTag
from kumamigrate.universe.askedservices import backend_refs
from kumamigrate.universe.madeup import OTHER_SERVICE
from kumamigrate.universe.reach import Reach
from kumamigrate.universe.side import ROUTES, Side

MOST_CHOICES = 64
"""More outcomes of ties than this are not worked out: the answer is unknown."""

TAGGING = ("FaultInjection", "RateLimit", "MeshFaultInjection")
"""Kinds of which one in a mesh is enough for x-kuma-tags to stand on all HTTP outbounds."""
ALWAYS_TAGGED = (2, 9)
"""Up to this release the new engine writes the header anyway, whoever reads it."""

Made = tuple[bool, ...]
"""Whether the new engine makes an outbound, for each protocol it may have."""
Routes = Mapping[str, Resource | None]


class OldSide:
    """The old policies of one side, its matcher, and the protocols its services have.

    As long as a mesh holds a TrafficRoute, the old engine makes the outbounds that no route of the
    new kind takes over (legacy.md §2.9). Real outbounds are the new engine's alone: where it leaves
    a proxy to the old one, the proxy has none, in any mode.

    `assumed` is the protocol of those among `services` of which the state knows none. `made` is
    what outbounds were made of proxies (madeoutbounds.py).
    """

    def __init__(self, side: Side, assumed: str = UNKNOWN, services: Sequence[str] = ()) -> None:
        if assumed != UNKNOWN:
            known = old_protocols(side)
            side = side.knowing({service: assumed for service in services if service not in known})
        self.side = side
        self.matcher = side.matcher
        self.old = side.old
        self._assumed = assumed
        self._destined: dict[tuple[str, str], tuple[Resource, ...]] = {}
        self._led: dict[tuple[object, ...], frozenset[str]] = {}
        self._routings: dict[tuple[object, ...], Routing] = {}
        self.made: dict[tuple[object, ...], Any] = {}

    @cached_property
    def known(self) -> Mapping[str, str]:
        """The protocols of services, as far as Dataplanes and ExternalServices tell."""
        return old_protocols(self.side)

    @cached_property
    def listed(self) -> bool:
        """Whether the state has Dataplanes."""
        return any(True for _ in self.side.state.of_type("Dataplane"))

    @cached_property
    def external(self) -> tuple[Tags, ...]:
        """The tags of ExternalServices."""
        found = self.side.state.of_type("ExternalService")
        return tuple(tags_of(r.spec.get("tags")) for r in found)

    # -- who makes an outbound -----------------------------------------------------------------

    @property
    def routed(self) -> bool:
        """Whether the old engine makes outbounds at all (legacy.md fact 3)."""
        return self.old.routed

    def new(self, proxy: Resource, destination: Destination) -> Made:
        """Return whether the new engine makes an outbound of a proxy."""
        if not self.routed:
            return (True,)
        http, tcp = self.reaches(proxy, ROUTING), self.reaches(proxy, TCP_ROUTING)
        protocol = self.side.protocol(destination)
        if protocol == UNKNOWN_PROTOCOL:
            return (http or (tcp and self.names(proxy, TCP_ROUTING, destination)), tcp)
        if protocol in HTTP_LIKE:
            return (http or (tcp and self.names(proxy, TCP_ROUTING, destination)),)
        return (tcp,)

    def reaches(self, proxy: Resource, kind: str) -> bool:
        """Return whether a route of a kind reaches a proxy that says anything of outbounds."""
        return is_reached(self.side, proxy, kind)

    def names(self, proxy: Resource, kind: str, destination: Destination) -> bool:
        """Return whether a route of a kind that reaches a proxy is about a destination."""
        selection = self.side.selection(proxy, kind)
        return self.matcher.lookup(selection, destination) is not None

    @cached_property
    def tagging(self) -> str:
        """The kind of policy for which outbounds carry the tags of their proxy; "" for none."""
        there = {*self.old.by_kind, *self.side.types}
        return next((kind for kind in TAGGING if kind in there), "")

    @property
    def tags(self) -> bool:
        """Whether HTTP outbounds that the new engine makes carry the tags of their proxy."""
        return bool(self.tagging) or self.always_tags

    @property
    def always_tags(self) -> bool:
        """Whether outbounds carry the tags of their proxy whatever policies there are."""
        return version(self.side.release.name) <= ALWAYS_TAGGED

    # -- what it does ----------------------------------------------------------------------------

    @cached_property
    def _probed(self) -> frozenset[str]:
        """The services that a patch may probe; it takes long, and few ask (patched.py)."""
        return probed_services(self.side)

    def probes(self, asked: AskedProxy) -> Mapping[str, Checks]:
        """Return what patches set as health checks on clusters of a proxy, by service."""
        return probes_of(self.side, asked.dataplane, self._probed)

    def protocol(self, service: str) -> str:
        """Return the protocol of a service, an assumed one where nothing tells."""
        return self.known.get(service, self._assumed)

    @property
    def egress(self) -> bool:
        """Whether traffic to ExternalServices leaves through a zone egress."""
        return zone_egress(self.side.mesh_resource)

    def connection(self, kind: str, asked: AskedProxy, service: str) -> Options:
        """Return who may win a connection, whatever protocol is assumed."""
        key = (kind, service, asked.known_by)
        known = self.side.winners
        if key not in known:
            policies, sets = self._destined_for(kind, service), asked.proxy.tag_sets
            known[key] = options_of(connection_winner(policies, sets, service, self.old.ties))
        return known[key]

    def _destined_for(self, kind: str, service: str) -> tuple[Resource, ...]:
        """Return the policies of a kind for a service, in file order: the others cannot win."""
        if (kind, service) not in self._destined:
            goal = {SERVICE: service}
            self._destined[kind, service] = tuple(
                policy
                for policy in self.old.of(kind)
                if any(matches(s, goal) for s in selectors_in(policy, "destinations"))
            )
        return self._destined[kind, service]

    def scenarios(self, asked: AskedProxy) -> list[Routes]:
        """Return what TrafficRoutes may win for the services of a proxy; none: too many ways.

        Of TrafficRoutes that tie and lead to the same places one stands for all.
        """
        ways: list[list[Resource | None]] = []
        for service in asked.services:
            alike: dict[str, Resource | None] = {}
            for route in self.connection("TrafficRoute", asked, service):
                alike.setdefault(_route_key(route, service), route)
            ways.append(list(alike.values()))
        count = 1
        for way in ways:
            count *= len(way)
        if count > MOST_CHOICES:
            return []
        return [dict(zip(asked.services, chosen, strict=True)) for chosen in product(*ways)]

    def targets(self, routes: Routes) -> frozenset[str]:
        """Return the services under which Retry, CircuitBreaker, HealthCheck are looked up."""
        return frozenset(t for s, r in routes.items() for t in route_targets(r, s))

    def led_to(self, asked: AskedProxy) -> frozenset[str]:
        """Return the services at which traffic of a proxy may end, by routes of either engine."""
        found = led_to(self.old, asked.proxy) if asked.ordered else frozenset()
        return found | self._led_on(asked)

    def _led_on(self, asked: AskedProxy) -> frozenset[str]:
        """Return services and what new routes lead to; proxies that those reach alike share it."""
        types = ("MeshHTTPRoute", "MeshTCPRoute")
        chosen = (self.matcher.selection(asked.dataplane, t).key for t in types)
        key = (*chosen, asked.services)
        if key not in self._led:
            found = set(asked.services)
            for service in asked.services:
                for routes in (self.matcher.http_routes, self.matcher.tcp_routes):
                    for route in routes(asked.dataplane, ServiceTag(service)):
                        refs = (*(route.backend_refs or ()), *backend_refs(route.filters))
                        found |= {str(ref.get("name")) for ref in refs}
            self._led[key] = frozenset(found)
        return self._led[key]

    def routing(self, proxy: Resource, destination: Destination) -> Routing:
        """Return where routes of the new kind lead an outbound; proxies they reach alike share."""
        key = (destination, *(self.side.signature(proxy, kind) for kind in ROUTES))
        if key not in self._routings:
            self._routings[key] = routing_of(self.side, proxy, destination)
        return self._routings[key]

    def to(self, asked: AskedProxy, policy_type: str, service: str) -> Found | None:
        """Return what the new engine reads for a service-tag outbound."""
        if policy_type not in self.side.types:
            return None
        selection = self.matcher.selection(asked.dataplane, policy_type)
        return self.matcher.service(selection, service)


def services_named(reach: Reach, types: Collection[str]) -> set[str]:
    """Return the services that Dataplanes have, that old policies or new ones of some types name,
    or the routes that those are on, and one that nobody does."""
    side = reach.side
    found = {OTHER_SERVICE, *old_protocols(side)}
    for policy in (policy for listed in side.old.by_kind.values() for policy in listed):
        found |= {t.get(SERVICE, ANY) for t in selectors_in(policy, "destinations")}
    for route in side.old.of("TrafficRoute"):
        found |= {*route_targets(route, ANY), *(t[SERVICE] for t in live_targets(route, ANY))}
    found |= {tag for kind in types for known in reach.of(kind) for tag in known.tags}
    return found - {"", ANY}


def _route_key(route: Resource | None, service: str) -> str:
    if route is None:
        return ""
    key = ("leads", service)
    if key not in route.kept:
        conf = route.spec.get("conf")
        extra = [conf.get("http"), conf.get("loadBalancer")] if isinstance(conf, Mapping) else []
        targets = (main_targets(route, service), live_targets(route, service))
        route.kept[key] = repr((*targets, conf_split(conf), extra))
    found: str = route.kept[key]
    return found


def conf_split(conf: Any) -> Any:
    """Return the split of a TrafficRoute conf with its weights."""
    return (conf.get("split"), conf.get("destination")) if isinstance(conf, Mapping) else None
