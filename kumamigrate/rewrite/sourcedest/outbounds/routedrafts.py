"""Routes and load balancing strategies that say what a table of TrafficRoutes says (§2.9)."""

from __future__ import annotations

from collections.abc import Mapping

from kumamigrate.effective.policies.meshsections import locality_aware
from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.sourcedest.classes import WinnerClass
from kumamigrate.rewrite.sourcedest.conversion import Json, NewPolicy, distinct
from kumamigrate.rewrite.sourcedest.newpolicies import PolicyDraft, emit
from kumamigrate.rewrite.sourcedest.outbounds.balancerconf import ROUND_ROBIN
from kumamigrate.rewrite.sourcedest.outbounds.matchorder import REGEX_ROOT, ROOT
from kumamigrate.rewrite.sourcedest.outbounds.routetable import RoutedOutbound, RouteRow, RouteRun
from kumamigrate.rewrite.sourcedest.routetargets import OTHER_SERVICE


def route_policies(
    run: RouteRun, kept: Mapping[WinnerClass, RouteRow], type_: str
) -> tuple[NewPolicy, ...]:
    """Return the routes of one type that lead each class where TrafficRoutes do."""
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
    return emit(run.world, type_, drafts, chosen_by="sources")


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
    run: RouteRun,
    own: list[Json],
    below: list[Json],
    route: RoutedOutbound,
    service: str,
    type_: str,
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


def balancer_policies(run: RouteRun, kept: Mapping[WinnerClass, RouteRow]) -> tuple[NewPolicy, ...]:
    """Return the load balancing strategies that balance as TrafficRoutes do."""
    mesh = run.world.mesh_resource
    aware = mesh is not None and locality_aware(mesh.spec)
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
        chosen_by="sources",
    )
