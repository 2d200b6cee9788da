"""Where TrafficRoutes send the outbounds of a class of proxies, as far as other kinds care."""

from __future__ import annotations

from collections.abc import Mapping

from kumamigrate.dataclass import dataclass
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.rewrite.sourcedest.classes import WinnerClass, dwellers
from kumamigrate.rewrite.sourcedest.known import KnownWorld, route_destinations
from kumamigrate.sourcedest.selector import ANY
from kumamigrate.sourcedest.targets import common_protocol, live_targets, main_targets
from kumamigrate.sourcedest.winners import connection_winner, route_targets

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

    `top` are the services under which Retry, CircuitBreaker and HealthCheck are looked up; they
    hold OTHER_SERVICE when unnamed services lead to themselves. `http_only` are reached through
    `http[]` alone. `leaders` maps a service to the outbounds that lead to it, one group for each
    proxy (or for the class, if none is known) and cluster, in the order of its outbounds.
    """

    top: frozenset[str]
    http_only: frozenset[str]
    leaders: Mapping[str, tuple[tuple[str, ...], ...]]
    protocols: Mapping[str, tuple[str, ...]]


def reach_of(
    item: WinnerClass, world: KnownWorld, all_classes: tuple[WinnerClass, ...]
) -> RouteReach:
    """Return where the outbounds of a class lead."""
    every = (*world.services, OTHER_SERVICE)
    listed = _listed(item, world, all_classes)
    top: set[str] = set()
    below: set[str] = set()
    leaders: dict[str, list[tuple[str, ...]]] = {}
    protocols: dict[str, tuple[str, ...]] = {}
    for order in (every, *listed):
        clusters: dict[tuple[str, tuple[tuple[str, str], ...]], list[str]] = {}
        for service in order:
            found = connection_winner(
                world.old.of("TrafficRoute"), (item.witness,), service, world.old.ties
            )
            route = found.policy if found else None
            top.update(route_targets(route, service))
            targets = live_targets(route, service)
            below.update(tags[SERVICE] for tags in targets)
            protocols[service] = tuple(tags[SERVICE] for tags in main_targets(route, service))
            for tags in targets:
                clusters.setdefault((tags[SERVICE], tuple(sorted(tags.items()))), []).append(
                    service
                )
        if order is every and listed:
            continue  # who leads to a cluster is known of those listed
        for (target, _), sources in clusters.items():
            leaders.setdefault(target, []).append(tuple(sources))
    return RouteReach(
        top=frozenset(top),
        http_only=frozenset(below - top),
        leaders={name: tuple(dict.fromkeys(groups)) for name, groups in leaders.items()},
        protocols=protocols,
    )


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
    targets = reach.protocols.get(service, (service,)) or (service,)
    protocol = common_protocol(world.protocol(t) for t in targets)
    if protocol == "grpc":
        return "grpc"
    return "http" if protocol in ("http", "http2") else "tcp"
