"""TrafficRoute → MeshHTTPRoute, MeshTCPRoute, MeshLoadBalancingStrategy (§1.2, §2.9).

Deleting the last TrafficRoute hands every outbound to the new engine, so the whole kind goes at
once, after all other outbound kinds. A route that leads everything to itself needs no successor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.sourcedest.classes import WinnerClass, classes_by
from kumamigrate.rewrite.sourcedest.conversion import (
    Conversion,
    Dropped,
    Manual,
    NewPolicy,
    distinct,
)
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.rewrite.sourcedest.notconverted import templated
from kumamigrate.rewrite.sourcedest.outbounds.routedrafts import balancer_policies, route_policies
from kumamigrate.rewrite.sourcedest.outbounds.routetable import (
    RouteRow,
    RouteRun,
    route_row,
    without_repeats,
)
from kumamigrate.rewrite.sourcedest.outbounds.timeouts import still_off
from kumamigrate.rewrite.sourcedest.trafficpermission import clients_of, guards
from kumamigrate.rewrite.sourcedest.wildcards import never_wins, wildcard_notes
from kumamigrate.sourcedest.order import merge_ties

_ROUTING = ("MeshHTTPRoute", "MeshTCPRoute", "MeshLoadBalancingStrategy")
OUTBOUND_KINDS = ("Timeout", "Retry", "CircuitBreaker", "HealthCheck", "TrafficLog")
_ROUTES_FIRST = "apply the routes and load balancing strategies"
_FIRST = dict.fromkeys(_ROUTING, _ROUTES_FIRST) | {
    "MeshTimeout": "apply the MeshTimeout that keeps off what is off, before a TrafficRoute goes"
}
_STOCK = ", which Kuma made with it"
_DEAD = (
    "some outbounds are reached by no TrafficRoute and lead nowhere today; without TrafficRoutes"
    " they would come alive"
)


def convert_traffic_route(world: KnownWorld, *, alone: bool = False) -> Conversion:
    """Return what replaces the TrafficRoutes of a mesh.

    `alone` leaves out of account that other outbound kinds stop working with the last
    TrafficRoute: for a caller that converts them in the same go.
    """
    policies = world.old.of("TrafficRoute")
    if not policies:
        return Conversion(kind="TrafficRoute", mesh=world.mesh, target=world.target)
    masked = templated(policies)
    if masked:
        return Conversion(kind="TrafficRoute", mesh=world.mesh, target=world.target, manual=masked)
    classes = classes_by("sources", policies, world)
    run = RouteRun(world=world, classes=classes)
    table = {item: route_row(run, item) for item in classes.classes}
    kept = without_repeats(table)
    policies_new = (
        *route_policies(run, kept, "MeshHTTPRoute"),
        *route_policies(run, kept, "MeshTCPRoute"),
        *balancer_policies(run, kept),
        *still_off(world, policies[0]),
    )
    if run.dead:
        run.note(policies[0], _DEAD)
    run.manual += [*_before(world, policies, alone), *_external(world, policies)]
    run.manual += _existing(world, policies, policies_new)
    carried = [r for p in policies_new for r in (*p.sources, p.home)]
    won = [route.winner for row in table.values() for route in row.values()]
    dropped = tuple(_dropped(p, won, world) for p in policies if p not in carried)
    same = [d.resource for d in dropped if d.reason == _SAME]
    return Conversion(
        kind="TrafficRoute",
        mesh=world.mesh,
        target=world.target,
        policies=policies_new,
        dropped=dropped,
        manual=distinct([*wildcard_notes(classes, policies, "sources", same), *run.manual]),
        ties=merge_ties(run.ties),
        assumptions=_assumptions(world, kept),
        steps=(
            *dict.fromkeys(_FIRST[p.type] for p in policies_new),
            "delete the TrafficRoutes last, route-all at the very end: every outbound changes"
            " over to the new engine with the last one",
        ),
    )


def _before(world: KnownWorld, policies: tuple[Resource, ...], alone: bool) -> list[Manual]:
    left = [kind for kind in OUTBOUND_KINDS if world.old.of(kind)]
    if alone or not left:
        return []
    stock = all(r.where is None for kind in left for r in world.old.of(kind))
    return [
        Manual(
            resource=policy,
            message=f"the mesh still has {', '.join(left)} policies{_STOCK if stock else ''},"
            " which stop working with the last TrafficRoute",
            action="have them in Git (--adopt-initial-policies DIR), and they are converted too"
            if stock
            else "convert those first",
        )
        for policy in policies
        if policy.where is not None or len(policies) == 1
    ]


def _existing(
    world: KnownWorld, policies: tuple[Resource, ...], new: Iterable[NewPolicy]
) -> list[Manual]:
    """Return what to ask where routes of both kinds stand; who leads, both rank in one order.

    Routes that lead everything to itself write nothing, so there is no order to look at.
    """
    present = [r.name for type_ in _ROUTING for r in world.existing(type_)]
    if not present or not any(policy.type in _ROUTING for policy in new):
        return []
    return [
        Manual(
            resource=policies[0],
            message=f"the mesh has routes of the new kind already ({', '.join(sorted(present))})",
            action="check that they say what is left of the TrafficRoutes, then delete those",
        )
    ]


def _external(world: KnownWorld, policies: tuple[Resource, ...]) -> list[Manual]:
    """Return what removing the last TrafficRoute opens: ExternalServices to everybody (§2.7)."""
    closed: dict[str, bool] = {}
    for name, found in guards(world):
        let_in = clients_of(found.policy) if found is not None and found.tie is None else ()
        if () not in let_in:
            used = world.led_to(name, [dict(tags) for tags in let_in])
            closed[name] = used or closed.get(name, False)
    return [
        Manual(
            resource=policies[0],
            message=f"without TrafficRoutes every proxy reaches ExternalService"
            f" {', '.join(sorted(names))}, {limited}",
            action="turn on zone egress and permit there, or use MeshExternalService, or accept it",
            blocking=used,
        )
        for used, limited in (
            (True, "which TrafficPermissions limit today"),
            (False, "where none of the known ones has an outbound that is shut today"),
        )
        if (names := {name for name, one in closed.items() if one is used})
    ]


_SAME = "it leads every service to itself, which is what happens without a route"


def _dropped(policy: Resource, won: Iterable[Resource], world: KnownWorld) -> Dropped:
    if any(w is policy for w in won):
        return Dropped(resource=policy, reason=_SAME)
    return Dropped(resource=policy, reason=never_wins(policy, world, "sources"))


def _assumptions(world: KnownWorld, kept: Mapping[WinnerClass, RouteRow]) -> tuple[str, ...]:
    found = []
    routed = any(route.rules for row in kept.values() for route in row.values())
    unknown = [s for s in world.services if s not in world.protocols]
    if routed and unknown and not world.state.complete:
        found.append(f"{', '.join(unknown)}: not in the state, taken as TCP")
    if routed:
        found.append("outbounds of proxies that are not listed have no tag but kuma.io/service")
    return tuple(found)
