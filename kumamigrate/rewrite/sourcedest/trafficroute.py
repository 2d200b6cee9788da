"""TrafficRoute → MeshHTTPRoute, MeshTCPRoute, MeshLoadBalancingStrategy (§1.2, §2.9).

Deleting the last TrafficRoute hands every outbound to the new engine, so the whole kind goes at
once, after all other outbound kinds. A route that leads everything to itself needs no successor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kumamigrate.dataclass import dataclass, field
from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.sourcedest.classes import (
    Classes,
    WinnerClass,
    classes_of,
    connected,
    directly_around,
)
from kumamigrate.rewrite.sourcedest.confs import Notes
from kumamigrate.rewrite.sourcedest.conversion import (
    Conversion,
    Dropped,
    Json,
    Manual,
    NewPolicy,
    distinct,
)
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.rewrite.sourcedest.newpolicies import PolicyDraft, emit
from kumamigrate.rewrite.sourcedest.notconverted import never_wins, templated, wildcard_notes
from kumamigrate.rewrite.sourcedest.outboundkinds import still_off
from kumamigrate.rewrite.sourcedest.routerules import (
    REGEX_ROOT,
    ROOT,
    ROUND_ROBIN,
    connection_refs,
    goes_home,
    http_rules,
    load_balancer,
)
from kumamigrate.rewrite.sourcedest.routetargets import OTHER_SERVICE, outbound_family, reach_of
from kumamigrate.rewrite.sourcedest.trafficpermission import clients_of, guards
from kumamigrate.sourcedest.oldconf import read_conf
from kumamigrate.sourcedest.order import CreationTie, merge_ties
from kumamigrate.sourcedest.selector import selectors_of

_ROUTING = ("MeshHTTPRoute", "MeshTCPRoute", "MeshLoadBalancingStrategy")
OUTBOUND_KINDS = ("Timeout", "Retry", "CircuitBreaker", "HealthCheck", "TrafficLog")


@dataclass(frozen=True, slots=True)
class _Route:
    """How one outbound of a class is routed: by which type, with which rules and balancer."""

    type: str
    rules: tuple[Any, ...]
    balancer: Any
    winner: Resource

    @property
    def said(self) -> tuple[Any, ...]:
        """What it does, whoever says it."""
        return (self.type, self.rules, self.balancer)


Row = dict[str, _Route]


@dataclass(slots=True)
class _RouteRun:
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
    classes = classes_of(
        (tags for p in policies for tags in selectors_of(p.spec, "sources")), world
    )
    run = _RouteRun(world=world, classes=classes)
    table = {item: _row(run, item) for item in classes.classes}
    kept = _pruned(table)
    policies_new = (
        *_routes(run, kept, "MeshHTTPRoute"),
        *_routes(run, kept, "MeshTCPRoute"),
        *_balancers(run, kept),
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


_ROUTES_FIRST = "apply the routes and load balancing strategies"
_FIRST = dict.fromkeys(_ROUTING, _ROUTES_FIRST) | {
    "MeshTimeout": "apply the MeshTimeout that keeps off what is off, before a TrafficRoute goes"
}
_STOCK = ", which Kuma made with it"
_DEAD = (
    "some outbounds are reached by no TrafficRoute and lead nowhere today; without TrafficRoutes"
    " they would come alive"
)


def _row(run: _RouteRun, item: WinnerClass) -> Row:
    world = run.world
    reach = reach_of(item, world, run.classes.classes)
    row: Row = {}
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
    run: _RouteRun, policy: Resource, service: str, old_family: str, *, reached: bool
) -> _Route:
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
    return _Route(type_, tuple(rules), balancer, policy)


def _pruned(table: Mapping[WinnerClass, Row]) -> dict[WinnerClass, Row]:
    kept: dict[WinnerClass, Row] = {}
    for item, row in table.items():
        direct = directly_around(item, kept)
        if not direct or any(_same(row, kept[c]) is False for c in direct):
            kept[item] = row
    return kept


def _same(one: Row, two: Row) -> bool:
    return {s: r.said for s, r in one.items()} == {s: r.said for s, r in two.items()}


def _routes(run: _RouteRun, kept: Mapping[WinnerClass, Row], type_: str) -> tuple[Any, ...]:
    written: dict[WinnerClass, dict[str, list[Json]]] = {}
    drafts: list[PolicyDraft] = []
    for item, row in kept.items():
        entries: dict[str, list[Json]] = {}
        winners: list[Resource] = []
        for service, route in row.items():
            if service == OTHER_SERVICE:
                continue
            below = _below(item, service, written)
            own = list(route.rules) if route.type == type_ else []
            if not own and not below:
                continue
            rules = _restated(run, own, below, route, service, type_)
            if rules:
                entries[service] = rules
                winners.append(route.winner)
        written[item] = entries
        if entries:
            to = [
                {
                    "targetRef": {"kind": "MeshService", "name": service},
                    "rules": rules,
                }
                for service, rules in entries.items()
            ]
            drafts.append(PolicyDraft(item=item, winners=distinct(winners), to=to))
    return emit(run.world, type_, drafts, sources_of=lambda r: selectors_of(r.spec, "sources"))


def _below(
    item: WinnerClass, service: str, written: Mapping[WinnerClass, Mapping[str, list[Json]]]
) -> list[Json]:
    return [
        rule
        for other, entries in written.items()
        if other != item and item.within(other)
        for rule in entries.get(service, ())
    ]


def _restated(
    run: _RouteRun, own: list[Json], below: list[Json], route: _Route, service: str, type_: str
) -> list[Json]:
    """Return rules that also take every match of a broader policy: rules of policies unite."""
    if type_ == "MeshTCPRoute":
        if own or route.type != type_:
            return own
        return [{"default": {"backendRefs": _home(service)}}]
    rules = own or [{"matches": [ROOT], "default": {"backendRefs": _home(service)}}]
    roots = ([ROOT], [REGEX_ROOT])
    outer = next((r["default"] for r in rules if r["matches"] in roots), None)
    taken = [match for rule in rules for match in rule["matches"]]
    extra = [m for rule in below for m in rule["matches"] if m not in taken]
    if extra and (outer is None or len(rules) > 1):
        run.note(
            route.winner,
            f"for {service} it would inherit rules of a broader route that it does not have",
        )
    kept = {repr(m): m for m in extra}
    if kept and outer is not None:
        rules = [{"matches": list(kept.values()), "default": outer}, *rules]
    filtered = any("filters" in rule["default"] for rule in below)
    if filtered and any("filters" not in rule["default"] for rule in rules):
        run.note(route.winner, f"for {service} it would inherit filters of a broader route")
    return rules


def _home(service: str) -> list[Json]:
    return [{"kind": "MeshService", "name": service, "weight": 1}]


def _balancers(run: _RouteRun, kept: Mapping[WinnerClass, Row]) -> tuple[Any, ...]:
    aware = locality_aware(run.world.mesh_resource)
    written: dict[WinnerClass, dict[str, Json]] = {}
    drafts: list[PolicyDraft] = []
    for item, row in kept.items():
        entries: dict[str, Json] = {}
        winners: list[Resource] = []
        other = row.get(OTHER_SERVICE)
        for service, route in row.items():
            below = any(
                s in confs
                for o, confs in written.items()
                if o != item and item.within(o)
                for s in (service, OTHER_SERVICE)
            )
            covered = OTHER_SERVICE in entries and other and route.balancer == other.balancer
            needed = route.balancer != ROUND_ROBIN or below or OTHER_SERVICE in entries
            if covered or not needed:
                continue
            entries[service] = {
                "loadBalancer": route.balancer,
                "localityAwareness": {"disabled": not aware},
            }
            winners.append(route.winner)
        written[item] = entries
        if entries:
            to = [
                {
                    "targetRef": {"kind": "Mesh"}
                    if service == OTHER_SERVICE
                    else {"kind": "MeshService", "name": service},
                    "default": conf,
                }
                for service, conf in entries.items()
            ]
            drafts.append(PolicyDraft(item=item, winners=distinct(winners), to=to))
    return emit(
        run.world,
        "MeshLoadBalancingStrategy",
        drafts,
        sources_of=lambda r: selectors_of(r.spec, "sources"),
    )


def locality_aware(mesh: Resource | None) -> bool:
    """Return `routing.localityAwareLoadBalancing` of a Mesh."""
    routing = mesh.spec.get("routing") if mesh is not None else None
    return isinstance(routing, Mapping) and routing.get("localityAwareLoadBalancing") is True


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


def _assumptions(world: KnownWorld, kept: Mapping[WinnerClass, Row]) -> tuple[str, ...]:
    found = []
    routed = any(route.rules for row in kept.values() for route in row.values())
    unknown = [s for s in world.services if s not in world.protocols]
    if routed and unknown and not world.state.complete:
        found.append(f"{', '.join(unknown)}: not in the state, taken as TCP")
    if routed:
        found.append("outbounds of proxies that are not listed have no tag but kuma.io/service")
    return tuple(found)
