"""Where the traffic of an outbound goes: its routes in Envoy's order, and all their clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.effective.fact import LISTENER, Fact, Key
from kumamigrate.effective.reading import Values
from kumamigrate.effective.split import Split, mirror_of, split_of
from kumamigrate.model.conf import canonical
from kumamigrate.model.protocols import HTTP_LIKE, UNKNOWN_PROTOCOL
from kumamigrate.model.resource import Resource, mapping
from kumamigrate.targetref.route import Destination, EffectiveRoute, RealResource, ServiceTag
from kumamigrate.universe.backend import Cluster, own_cluster
from kumamigrate.universe.side import Side
from kumamigrate.universe.traffic import successors

ROUTING = "MeshHTTPRoute"
TCP_ROUTING = "MeshTCPRoute"
BACKENDS = "backendRefs"
FAILING, LISTENS, INSTEAD = "answered with 500", "listener", "or the oldest of"
"""What becomes of requests besides going to backends (split.py)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """Where the traffic of one outbound goes: routes in Envoy's order, and all clusters.

    `http` is None where the outbound is certainly no HTTP outbound, `tcp` None where it is
    certainly one. Of an unknown protocol both stand. `splits` says of each route what becomes of
    its requests.
    """

    protocol: str
    http: tuple[tuple[Key, EffectiveRoute], ...] | None
    tcp: tuple[EffectiveRoute, ...] | None
    splits: Mapping[Key, Split]
    clusters: tuple[Cluster, ...]


def is_reached(side: Side, proxy: Resource, kind: str) -> bool:
    """Whether a route of a kind reaches a proxy that says anything of outbounds."""
    if kind not in side.types:
        return False
    return any(policy.spec.get("to") for policy in side.selection(proxy, kind).policies)


def routing_of(side: Side, proxy: Resource, destination: Destination) -> Routing:
    """Return the routing of an outbound.

    On an HTTP outbound HTTP routes go before TCP routes; other outbounds have TCP routes only.
    """
    protocol = side.protocol(destination)
    http: Sequence[EffectiveRoute] | None = side.matcher.http_routes(proxy, destination)
    tcp: tuple[EffectiveRoute, ...] | None = side.matcher.tcp_routes(proxy, destination)
    if protocol in HTTP_LIKE:
        if tcp and not _has_http_route(side, proxy, destination):
            http = None
        else:
            tcp = None
    elif protocol != UNKNOWN_PROTOCOL:
        http = None
    splits: dict[Key, Split] = {}
    keyed = None
    if http is not None:
        found = [(r, split_of(side, r, destination, http=True)) for r in http]
        there = [(route, split) for route, split in found if not split.gone]
        keyed = _keyed([route for route, _ in there])
        splits.update({key: s for (key, _), (_, s) in zip(keyed, there, strict=True)})
    for at, route in enumerate(tcp or ()):
        splits[("tcp", str(at))] = split_of(side, route, destination, http=False)
    led = (cluster for split in splits.values() for cluster in split.clusters)
    clusters = dict.fromkeys((own_cluster(destination), *led))
    return Routing(protocol=protocol, http=keyed, tcp=tcp, splits=splits, clusters=tuple(clusters))


def _has_http_route(side: Side, proxy: Resource, destination: Destination) -> bool:
    selection = side.selection(proxy, ROUTING)
    return side.matcher.lookup(selection, destination) is not None


def _keyed(routes: Sequence[EffectiveRoute]) -> tuple[tuple[Key, EffectiveRoute], ...]:
    seen: dict[str, int] = {}
    out: list[tuple[Key, EffectiveRoute]] = []
    for route in routes:
        rest = {k: v for k, v in route.match.items() if k != "path"}
        text = canonical([route.path, rest])
        seen[text] = seen.get(text, -1) + 1
        out.append((("route", text, str(seen[text])), route))
    return tuple(out)


def routing_facts(side: Side, routing: Routing) -> dict[Key, Fact]:
    """Return where each route sends its traffic, what it changes, and the order of routes."""
    facts: dict[Key, Fact] = {("protocol",): Fact({"protocol": routing.protocol})}
    if routing.http is not None:
        facts[LISTENER] = Fact({"matches": [list(key) for key, _ in routing.http]})
        for key, route in routing.http:
            facts[key] = Fact(_route_settings(side, route, routing.splits[key]), None, route)
    if routing.tcp is not None:
        for at, route in enumerate(routing.tcp):
            key = ("tcp", str(at))
            facts[key] = Fact(_traffic(side, routing.splits[key]), None, route)
    return facts


def _route_settings(side: Side, route: EffectiveRoute, split: Split) -> Values:
    found = _traffic(side, split)
    if route.filters:
        policy = None if route.entry is None else route.entry.policy
        found["filters"] = [_filter(side, one, policy) for one in route.filters]
    return found


def _filter(side: Side, one: Any, policy: Resource | None) -> Any:
    """Return a filter of a route, a mirror with the clusters its reference may mean."""
    mirror = mapping(one).get("requestMirror")
    if not isinstance(mirror, Mapping) or not isinstance(mirror.get("backendRef"), Mapping):
        return one
    ref: Mapping[str, Any] = mirror["backendRef"]
    found = mirror_of(side, ref, policy)
    clusters = found if isinstance(found, str) else [meant(side, one).key for one in found]
    return {**one, "requestMirror": {**mirror, "backendRef": clusters}}


def _traffic(side: Side, split: Split) -> Values:
    """Return where requests go; what is answered with an error, where something is."""
    found: Values = {BACKENDS: [[meant(side, b.cluster).key, b.weight] for b in split.backends]}
    if split.failing:
        found[FAILING] = split.failing
    if split.gone:
        found[LISTENS] = False
    if split.instead:
        found[INSTEAD] = sorted(meant(side, cluster).key for cluster in split.instead)
    return found


def meant(side: Side, cluster: Cluster) -> Cluster:
    """Return a cluster, that of a service tag as the service which takes its place in 3.0.

    That of a service for a share by tags stands for the share.
    """
    tag = cluster.destination
    if side.tags_mean_services and isinstance(tag, ServiceTag) and not cluster.tags:
        every = successors(side, tag.service)
        listed = [d for d in every if not side.real[d.kri.of_section("")].made_up]
        found = listed or every
        if len(found) == 1:
            return own_cluster(found[0])
    if isinstance(tag, RealResource) and tag.kri in side.shares:
        return replace(cluster, stands_for=side.shares[tag.kri])
    return cluster


def names_of(routing: Routing) -> dict[Key, str]:
    """Return the names of the HTTP routes of an outbound."""
    return {key: route.name for key, route in routing.http or ()}
