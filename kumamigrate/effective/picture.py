"""What one proxy's Envoy is configured with, as far as policies decide it (matcher-notes §3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kumamigrate.effective.admitted import without_old
from kumamigrate.effective.policies.meshtimeout import ALWAYS_SINCE
from kumamigrate.effective.reading import At, SlotKind, Values
from kumamigrate.effective.readings import READINGS
from kumamigrate.effective.split import Split, mirror_of, split_of
from kumamigrate.model.conf import canonical, merge
from kumamigrate.model.protocols import HTTP_LIKE, UNKNOWN_PROTOCOL
from kumamigrate.model.resource import Resource
from kumamigrate.model.versions import at_least
from kumamigrate.targetref.entry import Found
from kumamigrate.targetref.inbound import InboundPoint
from kumamigrate.targetref.permission import PERMISSION
from kumamigrate.targetref.route import Destination, EffectiveRoute, RealResource, ServiceTag
from kumamigrate.universe.backend import Cluster, own_cluster, written_outbounds
from kumamigrate.universe.side import (
    Side,
    inbounds_of,
    may_be_transparent,
    protocol_of,
)
from kumamigrate.universe.traffic import successors

Key = tuple[str, ...]
"""("route", match, n), ("listener",), ("cluster", key, name) or ("inbound",)."""

LISTENER: Key = ("listener",)
ON_OUTBOUNDS = (
    "MeshTimeout",
    "MeshRetry",
    "MeshLoadBalancingStrategy",
    "MeshAccessLog",
    "MeshCircuitBreaker",
    "MeshHealthCheck",
)
BY_ROUTE = ("MeshTimeout", "MeshRetry", "MeshLoadBalancingStrategy", "MeshAccessLog")
ROUTING = "MeshHTTPRoute"
TCP_ROUTING = "MeshTCPRoute"


@dataclass(frozen=True, slots=True)
class Fact:
    """Values at one place, and the look-up they were read from."""

    settings: Values
    found: Found | None = None
    route: EffectiveRoute | None = None


BACKENDS = "backendRefs"
FAILING, LISTENS, INSTEAD = "answered with 500", "listener", "or the oldest of"
"""What becomes of requests besides going to backends (split.py)."""

NOTHING = Fact({})
Facts = Mapping[Key, Fact]


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
    mirror = one.get("requestMirror") if isinstance(one, Mapping) else None
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


def outbound_facts(
    side: Side,
    proxy: Resource,
    policy_type: str,
    destination: Destination,
    routing: Routing,
    *,
    as_real: bool = False,
) -> dict[Key, Fact]:
    """Return what an outbound reads of one policy type, place by place.

    With `as_real`, a service-tag outbound that no timeout reaches counts as having Kuma's
    defaults, as a real one has (claim *carry*, matcher-notes §3 rule 4).
    """
    tag = isinstance(destination, ServiceTag) and not as_real
    return dict(Reader(side, proxy, policy_type, destination, routing, tag).facts())


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads one policy type at one outbound of one proxy."""

    side: Side
    proxy: Resource
    policy_type: str
    destination: Destination
    routing: Routing
    tag: bool

    def facts(self) -> Iterator[tuple[Key, Fact]]:
        """Yield every place with its settings."""
        if self.policy_type in BY_ROUTE:
            for key, route in self.routing.http or ():
                if self.routing.splits[key].failing != "all":
                    yield key, self.route(route)
            yield LISTENER, self._listener()
        if self.policy_type not in ("MeshRetry", "MeshAccessLog"):
            yield from self._clusters().items()

    def _clusters(self) -> dict[Key, Fact]:
        """Return what each cluster reads, at the place it is compared at.

        A service tag and the service that takes its place read different things on one release.
        Where both get traffic they become one cluster, and what they do not agree on is lost.
        """
        found: dict[Key, Fact] = {}
        for cluster in self.routing.clusters:
            place, fact = meant(self.side, cluster).place, self._shared_cluster(cluster)
            known = found.get(place)
            found[place] = fact if known is None else self._at_odds(known, fact)
        return found

    def _shared_cluster(self, cluster: Cluster) -> Fact:
        """Return what a cluster reads, by whatever it is referred to elsewhere as well.

        2.x makes one cluster of a port, however it is referred to, and a transparent proxy
        reaches it by name, too. Explicit outbounds all refer to it by number.
        """
        fact = self._cluster(cluster)
        destination = cluster.destination
        by_name = isinstance(destination, RealResource) and destination.number
        if not by_name or not self.side.release.subset_rules or destination == self.destination:
            return fact
        if not may_be_transparent(self.proxy):
            return fact
        assert isinstance(destination, RealResource)
        named = Cluster(destination=RealResource(destination.kri), tags=cluster.tags)
        return self._at_odds(self._cluster(named), fact)

    def _at_odds(self, first: Fact, second: Fact) -> Fact:
        """Return two facts as one, with a value that no single fact has wherever they differ.

        3.0 keeps what is referred to by name and by number apart.
        """
        fields = dict.fromkeys((*first.settings, *second.settings))
        pairs = {k: (first.settings.get(k), second.settings.get(k)) for k in fields}
        apart = not self.side.release.subset_rules
        both = {k: a if a == b else _pair(a, b, apart=apart) for k, (a, b) in pairs.items()}
        return replace(first, settings=both)

    def _look_up(
        self, destination: Destination, route: EffectiveRoute | None = None
    ) -> Found | None:
        if self.policy_type not in self.side.types:
            return None
        selection = self.side.selection(self.proxy, self.policy_type)
        return self.side.matcher.lookup(selection, destination, route)

    def own_of_routes(self) -> Values:
        """Return what routes read that differs from what the outbound says, by match."""
        said = self.route(None).settings
        read = ((key, self.route(route).settings) for key, route in self.routing.http or ())
        return {" ".join(key[1:]): settings for key, settings in read if settings != said}

    def route(self, route: EffectiveRoute | None) -> Fact:
        """Return what a route reads, or one of which nothing is said."""
        if self.policy_type == "MeshAccessLog":
            return NOTHING if route is None else self._direct(route)
        found = self._look_up(self.destination, route)
        return self._fact(SlotKind.ROUTE, found, self.routing.protocol, route)

    def _direct(self, route: EffectiveRoute) -> Fact:
        """Return what only the route's own entry says, on real resources (matcher.md (f))."""
        if route.kri is None or self.policy_type not in self.side.types:
            return NOTHING
        selection = self.side.selection(self.proxy, self.policy_type)
        found = self.side.matcher.lookup(selection, self.destination, route, direct_route=True)
        return self._fact(SlotKind.ROUTE, found, self.routing.protocol, route)

    def _listener(self) -> Fact:
        found = self._look_up(self.destination)
        return self._fact(SlotKind.LISTENER, found, self.routing.protocol)

    def _cluster(self, cluster: Cluster) -> Fact:
        found = self._look_up(cluster.destination)
        return self._fact(SlotKind.CLUSTER, found, self.side.protocol(cluster.destination))

    def _fact(
        self,
        part: SlotKind,
        found: Found | None,
        protocol: str,
        route: EffectiveRoute | None = None,
    ) -> Fact:
        at = At(
            part=part,
            protocol=protocol,
            tag=self.tag,
            tcp=self.routing.tcp is not None,
            always=writes_defaults(self.side),
            release=self.side.release.name,
            mesh=self.side.mesh_spec,
        )
        conf = None if found is None else found.conf
        return Fact(READINGS[self.policy_type].of_conf(conf, at), found, route)


def _pair(first: Any, second: Any, *, apart: bool) -> Any:
    return {"by name": first, "by number": second} if apart else [first, second]


def writes_defaults(side: Side) -> bool:
    """Whether clusters and inbounds have MeshTimeout's defaults without any MeshTimeout.

    Since 2.10 they always do (notes C16).
    """
    return at_least(side.release.name, ALWAYS_SINCE)


def inbound_fact(
    side: Side,
    policy_type: str,
    point: InboundPoint | None,
    *,
    identified: bool | None = False,
    reached: bool = True,
    always: bool | None = None,
    transparent: bool = True,
) -> Fact:
    """Return what an inbound reads of one policy type; `point` is None where nothing reaches.

    `identified`: the proxy has its certificate from a MeshIdentity (None: it may have); `reached`:
    some policy of the type reaches the proxy.
    """
    reading = READINGS[policy_type]
    at = At(
        part=SlotKind.INBOUND,
        reached=reached,
        always=writes_defaults(side) if always is None else always,
        release=side.release.name,
        identified=identified,
        transparent=transparent,
        mesh_name=side.mesh,
        mesh=side.mesh_spec,
    )
    rules = [(r.match, _counted(side, policy_type, r.conf)) for r in point.rules] if point else []
    if reading.of_from is not None and not rules:
        return Fact(reading.of_from(_subsets(point), at), _all_from(point))
    assert reading.of_rules is not None
    found = _merged_inbound(side, policy_type, point)
    read = reading.of_rules(rules, None if found is None else found.conf, at)
    return Fact(read, found or _all_rules(point))


def _counted(side: Side, policy_type: str, conf: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what of a rule some client can meet."""
    return without_old(conf, side.state, side.mesh) if policy_type == PERMISSION else conf


def _merged_inbound(side: Side, policy_type: str, point: InboundPoint | None) -> Found | None:
    """Return the merge of the rules for every client; before 2.10, of the `from` items."""
    if point is None:
        return None
    kind = side.release.policy_types[policy_type]
    if "rules" not in kind.sections:
        whole = [rule for rule in point.from_rules if not rule.subset]
        if not whole:
            return None
        return Found(confs=(whole[0].conf,), entries=whole[0].entries, level="mesh")
    base = [rule for rule in point.rules if not rule.match]
    if not base:
        return None
    confs = merge([rule.conf for rule in base], kind.conf("rules"))
    entries = tuple(entry for rule in base for entry in rule.entries)
    return Found(confs=confs, entries=entries, level="mesh")


def _subsets(point: InboundPoint | None) -> list[tuple[Any, Mapping[str, Any]]]:
    if point is None:
        return []
    return [
        (sorted([t.key, t.value, t.negated] for t in rule.subset), rule.conf)
        for rule in point.from_rules
    ]


def _all_rules(point: InboundPoint | None) -> Found | None:
    if point is None or not point.rules:
        return None
    entries = tuple(entry for rule in point.rules for entry in rule.entries)
    return Found(confs=(point.rules[0].conf,), entries=entries, level="mesh")


def _all_from(point: InboundPoint | None) -> Found | None:
    if point is None or not point.from_rules:
        return None
    entries = tuple(dict.fromkeys(e for rule in point.from_rules for e in rule.entries))
    return Found(confs=(point.from_rules[0].conf,), entries=entries, level="mesh")


def single_fact(side: Side, proxy: Resource, policy_type: str) -> Fact:
    """Return what a proxy reads of a single-item policy type."""
    there = policy_type in side.types
    found = side.matcher.single(side.selection(proxy, policy_type)) if there else None
    at = At(
        part=SlotKind.PROXY,
        http=has_http(side, proxy),
        transparent=may_be_transparent(proxy),
        mesh=side.mesh_spec,
    )
    return Fact(READINGS[policy_type].of_conf(None if found is None else found.conf, at), found)


def has_http(side: Side, proxy: Resource) -> bool:
    """Whether some listener of a proxy is, or may be, an HTTP one."""
    written = written_outbounds(side, proxy)
    if written is None or not side.release.subset_rules:
        return True
    protocols = [protocol_of(inbound) for inbound in inbounds_of(proxy)]
    protocols += [side.protocol(cluster.destination) for cluster in written.values()]
    return any(p in (*HTTP_LIKE, UNKNOWN_PROTOCOL) for p in protocols)
