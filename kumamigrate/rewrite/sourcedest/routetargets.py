"""Where TrafficRoutes send the outbounds of a class of proxies, as far as other kinds care."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from kumamigrate.dataclass import dataclass
from kumamigrate.model.conf import canonical
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.rewrite.sourcedest.classes import WinnerClass, dwellers
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.sourcedest.order import Latest
from kumamigrate.sourcedest.selector import ANY
from kumamigrate.sourcedest.targets import (
    family_of,
    live_targets,
    route_destinations,
    route_targets,
    treated_as,
)
from kumamigrate.sourcedest.winners import connection_winner

OTHER_SERVICE = "\x00any"
"""Stands for every service that no selector names."""


def self_routed(route: Resource) -> bool:
    """Say whether a route leads every service to itself, whatever subset it picks."""
    return all(tags.get(SERVICE) == ANY for tags in route_destinations(route))


def redirects(world: KnownWorld) -> tuple[Resource, ...]:
    """Return the TrafficRoutes that lead some service to another one."""
    return tuple(r for r in world.old.of("TrafficRoute") if not self_routed(r))


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteReach:
    """Where the outbounds of a class lead.

    `winners` are the TrafficRoutes by outbound. `top` are the services under which Retry,
    CircuitBreaker and HealthCheck are looked up; they hold OTHER_SERVICE when unnamed services
    lead to themselves. `http_only` are reached through `http[]` alone. `leaders` maps a service to
    the outbounds that lead to it, one group for each proxy (or for the class, if none is known)
    and cluster, in the order of its outbounds.
    """

    winners: Mapping[str, Latest | None]
    top: frozenset[str]
    http_only: frozenset[str]
    leaders: Mapping[str, tuple[tuple[str, ...], ...]]


def reach_of(
    item: WinnerClass, world: KnownWorld, all_classes: tuple[WinnerClass, ...]
) -> RouteReach:
    """Return where the outbounds of a class lead."""
    every = (*world.services, OTHER_SERVICE)
    listed = _listed(item, world, all_classes)
    old = world.old
    winners = {
        service: connection_winner(old.of("TrafficRoute"), (item.witness,), service, old.ties)
        for service in dict.fromkeys(chain(every, *listed))
    }
    routes = [(service, _policy(winner)) for service, winner in winners.items()]
    top = {target for service, route in routes for target in route_targets(route, service)}
    live = {service: live_targets(route, service) for service, route in routes}
    below = {tags[SERVICE] for targets in live.values() for tags in targets}
    leaders: dict[str, dict[tuple[str, ...], None]] = {}
    for order in listed or [every]:
        clusters: dict[str, tuple[str, list[str]]] = {}
        for service in order:
            for tags in live[service]:
                clusters.setdefault(canonical(tags), (tags[SERVICE], []))[1].append(service)
        for target, sources in clusters.values():
            leaders.setdefault(target, {})[tuple(sources)] = None
    return RouteReach(
        winners=winners,
        top=frozenset(top),
        http_only=frozenset(below - top),
        leaders={name: tuple(groups) for name, groups in leaders.items()},
    )


def _policy(winner: Latest | None) -> Resource | None:
    return None if winner is None else winner.policy


def _listed(
    item: WinnerClass, world: KnownWorld, all_classes: tuple[WinnerClass, ...]
) -> list[tuple[str, ...]]:
    """Return the outbounds of the listed proxies of a class, in their order."""
    return [
        tuple(dict.fromkeys(o.service for o in proxy.outbounds))
        for proxy in dwellers(item, all_classes, world.proxies)
        if proxy.outbounds
    ]


def outbound_family(service: str, reach: RouteReach, world: KnownWorld) -> str:
    """Return how the old engine treats an outbound: by the protocol of its targets (C3)."""
    route = _policy(reach.winners.get(service))
    return family_of(treated_as(route, service, world.protocol))
