"""How each class of proxies has its outbounds routed by TrafficRoutes (§1.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumamigrate.dataclass import dataclass, field
from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.sourcedest.classes import Classes, WinnerClass, connected, prune
from kumamigrate.rewrite.sourcedest.confnotes import Notes
from kumamigrate.rewrite.sourcedest.conversion import Json, Manual
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.rewrite.sourcedest.outbounds.balancerconf import ROUND_ROBIN, load_balancer
from kumamigrate.rewrite.sourcedest.outbounds.routerules import (
    connection_refs,
    goes_home,
    http_rules,
)
from kumamigrate.rewrite.sourcedest.routetargets import OTHER_SERVICE, outbound_family, reach_of
from kumamigrate.sourcedest.oldconf import read_conf
from kumamigrate.sourcedest.order import CreationTie


@dataclass(frozen=True, slots=True)
class RoutedOutbound:
    """How one outbound of a class is routed: by which type, with which rules and balancer."""

    type: str
    rules: tuple[Any, ...]
    balancer: Any
    winner: Resource

    @property
    def said(self) -> tuple[Any, ...]:
        """What it does, whoever says it."""
        return (self.type, self.rules, self.balancer)


RouteRow = dict[str, RoutedOutbound]


@dataclass(slots=True)
class RouteRun:
    world: KnownWorld
    classes: Classes
    ties: list[CreationTie] = field(default_factory=list)
    manual: list[Manual] = field(default_factory=list)
    dead: bool = False

    def note(self, policy: Resource, message: str, *, blocking: bool = True) -> None:
        """Keep a decision to take about a route."""
        self.manual.append(
            Manual(
                resource=policy,
                message=message,
                action="change the TrafficRoute, or write the route by hand",
                blocking=blocking,
            )
        )


def route_row(run: RouteRun, item: WinnerClass) -> RouteRow:
    """Return how each outbound of a class is routed; those that no TrafficRoute is for are not."""
    world = run.world
    reach = reach_of(item, world, run.classes.classes)
    row: RouteRow = {}
    for service in (OTHER_SERVICE, *world.services):
        found = reach.winners[service]
        reached = connected(item, run.classes.classes, world, service, world.services)
        if found is None:
            run.dead = run.dead or reached
            continue
        old = outbound_family(service, reach, world)
        row[service] = _route(run, found.policy, service, old, reached=reached)
        if found.tie is not None and reached:
            same = row[service].said
            others = (_route(run, p, service, old, reached=False) for p in found.tie.policies)
            if any(other.said != same for other in others):
                run.ties.append(found.tie)
    return row


def _route(
    run: RouteRun, policy: Resource, service: str, old_family: str, *, reached: bool
) -> RoutedOutbound:
    """Return how an outbound is routed; `reached` says whether a proxy can have it, so that what
    is lost there matters."""
    conf = read_conf("TrafficRoute", policy.spec)
    notes = Notes()
    family = run.world.family(service)
    if old_family == "tcp":
        refs = connection_refs(conf.value, service)
        home = goes_home(refs, service) and (family == "tcp" or not conf.get("http"))
        home = home and (family == "tcp" or service == OTHER_SERVICE)
        rules: list[Json] = [] if home else [{"default": {"backendRefs": refs}}]
        type_ = "MeshTCPRoute"
    else:
        rules = http_rules(conf, service, notes)
        type_ = "MeshHTTPRoute"
        if reached and family == "tcp" and rules and service != OTHER_SERVICE:
            run.note(
                policy,
                f"{service} does not say that it is HTTP, but the route sends it to services that"
                " are; a MeshHTTPRoute would not apply",
            )
    balancer = load_balancer(conf, notes)
    for note in notes.items if reached else ():
        run.manual.append(
            note.manual(policy, "change the TrafficRoute, or write the route by hand")
        )
    if (rules or balancer != ROUND_ROBIN) and service == OTHER_SERVICE:
        run.note(
            policy,
            "it is for any service; routes name services, so it is written out for those known"
            " now, and a new service will not have it",
            blocking=False,
        )
    return RoutedOutbound(type_, tuple(rules), balancer, policy)


def without_repeats(table: Mapping[WinnerClass, RouteRow]) -> dict[WinnerClass, RouteRow]:
    """Return a table without the classes that are routed as the broader ones around them."""
    said = {item: {s: r.said for s, r in row.items()} for item, row in table.items()}
    return {item: table[item] for item in prune(said)}
