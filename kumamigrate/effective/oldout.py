"""Outbounds of a mesh with old policies: what both engines together come to (legacy.md §3).

The old engine makes an outbound as long as the mesh has a TrafficRoute and no route of the new
kind takes the outbound over; on it the policies meet as the table of coexistence says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kumamigrate.effective import settings
from kumamigrate.effective.fields import only, rest
from kumamigrate.effective.oldroute import Table, new_table, old_table
from kumamigrate.effective.oldside import (
    Asked,
    OldSide,
    Options,
    Outcome,
    Place,
    Places,
    Routes,
    joined,
    mentioned,
    outcome,
)
from kumamigrate.effective.picture import Reader, routing_of, writes_defaults
from kumamigrate.model.resource import SERVICE, Resource, mapping
from kumamigrate.sourcedest.clients import clients_before
from kumamigrate.sourcedest.effects import (
    breakers_after,
    breakers_before,
    probes_after,
    probes_before,
    retries_after,
    retries_before,
)
from kumamigrate.sourcedest.goduration import ZERO, Duration, seconds
from kumamigrate.sourcedest.oldconf import OldConf, read_conf
from kumamigrate.sourcedest.patched import UNPROBED, Checks, patched
from kumamigrate.sourcedest.proxy import PASS_THROUGH
from kumamigrate.sourcedest.selector import Tags
from kumamigrate.sourcedest.sinks import logs_after, logs_before
from kumamigrate.sourcedest.targets import HTTP_FAMILY, common_protocol, main_targets
from kumamigrate.sourcedest.values import Effect, as_duration
from kumamigrate.sourcedest.winners import inbound_winner
from kumamigrate.targetref.entry import Found
from kumamigrate.targetref.route import ServiceTag
from kumamigrate.universe.side import may_be_transparent

_CONNECT, _HOUR, _STREAM = seconds(5), seconds(3600), seconds(300)
SHARED = "the order of outbounds"
PAST_PROTOCOL = "the protocol of the targets"
NOT_PROBED = "a protocol that no MeshHealthCheck probes"
CROSSED = (SHARED, PAST_PROTOCOL, NOT_PROBED)
"""Why a place is what it is where only a proxy's own outbounds tell."""
TREATED = "treated as"
"""Whether an outbound is an HTTP one; where that differs nothing else can be compared."""
EXTERNAL = "ExternalService"
DOWNSTREAM = "http.idleTimeout (downstream)"
"""The idle timeout of clients' HTTP connections: no targetRef policy sets it (notes C4)."""

NORMALIZED = "normalized paths"
"""Whether Envoy rewrites /a/../b before it looks for a route: the new engine always has it do so
where it makes the outbound, the old one never (notes C23)."""


def outbound_places(
    side: OldSide,
    asked: Asked,
    kinds: frozenset[str],
    routes: Sequence[Routes],
    kept: frozenset[str] | None = None,
) -> Places:
    """Return what the outbounds of a proxy come to if one of these sets of routes wins.

    With `kept`, of the outbounds to these services alone, and the clusters they lead to.
    """
    return joined([dict(_Outbounds(side, asked, one, kinds, kept).places()) for one in routes])


def log_of_passthrough(side: OldSide, asked: Asked) -> Places:
    """Return the log of traffic that passes through, which only a transparent proxy has."""
    if not may_be_transparent(asked.dataplane):
        return {}
    old = side.connection("TrafficLog", asked, PASS_THROUGH)
    return {("MeshAccessLog", "outbound", PASS_THROUGH): _log(side, asked, PASS_THROUGH, old)}


def _log(side: OldSide, asked: Asked, service: str, old: Options) -> Outcome:
    found = side.to(asked, "MeshAccessLog", service)
    new = logs_after(found.conf) if found is not None else ()
    effects: list[Effect] = [{"backends": (*logs_before(p, side.mesh), *new)} for p in old]
    return outcome(effects, old, found, _tied(old))


class _Outbounds:
    """The outbounds of one proxy when these TrafficRoutes win."""

    def __init__(
        self,
        side: OldSide,
        asked: Asked,
        routes: Routes,
        kinds: frozenset[str],
        kept: frozenset[str] | None,
    ) -> None:
        self.side, self.asked, self.routes, self.kinds = side, asked, routes, kinds
        self.kept = kept
        self.targets = side.targets(routes)
        self.http_new = side.has_to(asked, "MeshHTTPRoute")
        self.tcp_new = side.has_to(asked, "MeshTCPRoute")
        self.own = {mentioned(tags): tags for tags in asked.outbounds}
        self.old_made = {s: self._old_makes(s) for s in asked.services}
        self.patched = side.patched(asked)[0] if "MeshHealthCheck" in kinds else {}
        self.treated = {s: self._treated(s) for s in asked.services}
        self.tables = {name: self._table(tags) for name, tags in self.own.items()}
        self.clusters: dict[str, tuple[Mapping[str, str], list[str]]] = {}
        for outbound, table in self.tables.items():
            for tags in table.clusters:
                name = mentioned(tags)
                self.clusters.setdefault(name, (tags, []))[1].append(outbound)

    def places(self) -> Iterator[tuple[Place, Outcome]]:
        """Yield every place with what it may come to."""
        for name, table in self.tables.items():
            service = self.own[name][SERVICE]
            if not self._is_kept(service):
                continue
            if "MeshHTTPRoute" in self.kinds:
                winner = self.routes.get(service) if self.side.routed else None
                yield ("MeshHTTPRoute", "outbound", name), outcome([{"routes": table}], [winner])
            if table.family:
                yield from self._listener(name, service, table)
        for name, (tags, led) in self.clusters.items():
            if any(self._is_kept(self.own[outbound][SERVICE]) for outbound in led):
                yield from self._cluster(name, tags, led)

    def _is_kept(self, service: str) -> bool:
        return self.kept is None or service in self.kept

    def _old_makes(self, service: str) -> bool:
        if not self.side.routed:
            return False
        if self.side.protocol(service) in HTTP_FAMILY:
            named = self.tcp_new and self.side.to(self.asked, "MeshTCPRoute", service) is not None
            return not (self.http_new or named)
        return not self.tcp_new

    def _treated(self, service: str) -> str:
        """Return the protocol an outbound has: by its targets, or in the new engine its own."""
        targets = main_targets(self.routes.get(service), service)
        if not self.old_made[service] or not targets:
            return self.side.protocol(service)
        return common_protocol(self.side.protocol(t[SERVICE]) for t in targets)

    def _table(self, own: Tags) -> Table:
        service = own[SERVICE]
        if self.old_made[service]:
            return old_table(self.routes.get(service), own, _family(self.treated[service]))
        protocol = self.side.protocol(service)
        destination = ServiceTag(service)
        proxy, matcher = self.asked.dataplane, self.side.matcher
        tcp = matcher.tcp_routes(proxy, destination) if self.tcp_new else ()
        http = None
        if protocol in HTTP_FAMILY:
            named = self.http_new and self.side.to(self.asked, "MeshHTTPRoute", service) is not None
            http = None if tcp and not named else matcher.http_routes(proxy, destination)
        return new_table(http, tcp, own, _family(protocol))

    # -- listeners ---------------------------------------------------------------------------

    def _listener(self, name: str, service: str, table: Table) -> Iterator[tuple[Place, Outcome]]:
        if "MeshHTTPRoute" in self.kinds and table.family != "tcp":
            made = self.old_made[service]
            yield ("MeshHTTPRoute", "listener", name), outcome([{NORMALIZED: not made}])
        if "MeshTimeout" in self.kinds:
            yield ("MeshTimeout", "outbound", name), self._timeout(service, table)
        if "MeshRetry" in self.kinds:
            yield ("MeshRetry", "outbound", name), self._retry(service, table)
        if "MeshLoadBalancingStrategy" in self.kinds:
            found = self.side.to(self.asked, "MeshLoadBalancingStrategy", service)
            hashed = settings.balancer_route(None if found is None else found.conf)
            hashed |= self._of_routes("MeshLoadBalancingStrategy", service)
            yield ("MeshLoadBalancingStrategy", "outbound", name), outcome([hashed], (), found)
        if "MeshAccessLog" in self.kinds:
            old = self._old("TrafficLog", service) if self.old_made[service] else (None,)
            logged = _log(self.side, self.asked, service, old)
            yield ("MeshAccessLog", "outbound", name), logged

    def _old(self, kind: str, service: str) -> Options:
        return self.side.connection(kind, self.asked, service)

    def _timeout(self, service: str, table: Table) -> Outcome:
        found = self.side.to(self.asked, "MeshTimeout", service)
        made = self.old_made[service]
        own = self._old("Timeout", service) if made else (None,)
        family = _family(self.side.protocol(service))
        fits = (family == "tcp") == (table.family == "tcp")
        effects: list[Effect] = []
        for policy in own:
            if found is None:
                effects.append(_old_listener(_conf("Timeout", policy), table.family, made=made))
            elif not fits:
                # It goes by the service's own protocol: what is made stays as made (C3, C21).
                effects.append(_old_listener(OldConf(), table.family, made=made))
            else:
                effects.append(_new_listener(found.conf, table.family))
        more = _rest("MeshTimeout", found)
        if table.family != "tcp":
            effects = [{**effect, **_listeners(more)} for effect in effects]
        on_routes = self._of_routes("MeshTimeout", service)
        effects = [
            {TREATED: _treated_as(table.family), **effect, **on_routes} for effect in effects
        ]
        crossed = PAST_PROTOCOL if found is not None and not fits else ""
        return outcome(effects, own, found, _tied(own) or crossed)

    def _retry(self, service: str, table: Table) -> Outcome:
        found = self.side.to(self.asked, "MeshRetry", service)
        made = self.old_made[service] and service in self.targets
        old = self._old("Retry", service) if made else (None,)
        protocol, treated = self._protocol(service), self.treated[service]
        new: Effect = {}
        if found is not None and (_family(protocol) == "tcp") == (table.family == "tcp"):
            new = retries_after(found.conf, protocol)
        if new:
            new = {**new, **only(protocol, _rest("MeshRetry", found))}
        on_routes = self._of_routes("MeshRetry", service)
        effects: list[Effect] = []
        for policy in old:
            own = new or (retries_before(policy, treated) if policy else {})
            effects.append({TREATED: _treated_as(table.family), **own, **on_routes})
        return outcome(effects, old, found, _tied(old))

    def _of_routes(self, policy_type: str, service: str) -> Effect:
        """Return what routes of the new kind read by themselves, where they make the outbound."""
        if self.old_made[service] or policy_type not in self.side.side.types:
            return {}
        proxy, destination = self.asked.dataplane, ServiceTag(service)
        routing = routing_of(self.side.side, proxy, destination)
        reader = Reader(self.side.side, proxy, policy_type, destination, routing, tag=True)
        own = reader.own_of_routes()
        return {"on routes": own} if own else {}

    # -- clusters ----------------------------------------------------------------------------

    def _cluster(
        self, name: str, tags: Mapping[str, str], led: Sequence[str]
    ) -> Iterator[tuple[Place, Outcome]]:
        service = tags[SERVICE]
        made = [o for o in led if self.old_made[self.own[o][SERVICE]]]
        if "MeshTimeout" in self.kinds:
            yield ("MeshTimeout", "cluster", name), self._cluster_timeout(name, service, led)
        if "MeshCircuitBreaker" in self.kinds:
            yield ("MeshCircuitBreaker", "cluster", name), self._breaker(service, made)
        if "MeshHealthCheck" in self.kinds:
            checks = self.patched.get(name) if set(tags) == {SERVICE} else None
            yield ("MeshHealthCheck", "cluster", name), self._probe(service, made, checks)
        if "MeshLoadBalancingStrategy" in self.kinds:
            yield ("MeshLoadBalancingStrategy", "cluster", name), self._balancer(service, led)

    def _protocol(self, service: str) -> str:
        """Return the protocol by which new policies read a service: TCP if no Dataplane has it.

        Its cluster is there and has what policies say, although nothing answers yet.
        """
        lone = bool(self.side.known) and service not in self.side.known
        return "tcp" if lone else self.side.protocol(service)

    def _leading(self, led: Sequence[str]) -> tuple[str, ...]:
        """Return whose settings a cluster has: the last outbound that leads there (notes C2b)."""
        return (led[-1],) if self.asked.ordered else tuple(led)

    def _cluster_timeout(self, name: str, service: str, led: Sequence[str]) -> Outcome:
        found = self.side.to(self.asked, "MeshTimeout", service)
        effects: list[Effect] = []
        policies: list[Resource | None] = []
        crossed = SHARED if list(led) != [service] or name != service else ""
        why = ""
        for leader in self._leading(led):
            made = self.old_made[self.own[leader][SERVICE]]
            options = self._old("Timeout", self.own[leader][SERVICE]) if made else (None,)
            why = why or _tied(options)
            policies += options
            family = self.tables[leader].family
            for policy in options:
                conf = _conf("Timeout", policy)
                old = _old_cluster(conf, family, made=made)
                if found is not None:
                    old = _new_cluster(found.conf, family, self.side.protocol(service), old)
                more = _rest("MeshTimeout", found)
                effects.append({**old, **{k: v for k, v in more.items() if k not in _LISTENERS}})
        return outcome(effects, policies, found, why or crossed or SHARED)

    def _of_cluster(self, policy_type: str, service: str) -> Found | None:
        """Return what a policy says of a service's clusters, found by the outbounds of a proxy.

        A service that only routes of other outbounds lead to has none of its own, and nothing of
        it (notes C14); MeshTimeout alone goes through the clusters themselves.
        """
        own = service in self.asked.services
        return self.side.to(self.asked, policy_type, service) if own else None

    def _breaker(self, service: str, made: Sequence[str]) -> Outcome:
        found = self._of_cluster("MeshCircuitBreaker", service)
        reached = bool(made) and service in self.targets
        old = self._old("CircuitBreaker", service) if reached else (None,)
        conf = found.conf if found is not None else {}
        new, given = breakers_after(conf), mapping(conf.get("connectionLimits"))
        more = rest("MeshCircuitBreaker", "outbound", settings.in_force(conf))
        effects = []
        for policy in old:
            own = breakers_before(policy)
            limits = new["limits"] if given else own["limits"]
            if given and writes_defaults(self.side.side):  # since 2.14 field by field (§3)
                limits = {**own["limits"], **{k: given[k] for k in own["limits"] if k in given}}
            ejection = new["ejection"] or own["ejection"]
            effects.append({"limits": limits, "ejection": ejection, **more})
        return outcome(effects, old, found, _tied(old))

    def _probe(self, service: str, made: Sequence[str], checks: Checks | None) -> Outcome:
        """Return the probes of a cluster; `checks` of a patch replace all others."""
        found = self._of_cluster("MeshHealthCheck", service)
        reached = bool(made) and service in self.targets
        old = self._old("HealthCheck", service) if reached else (None,)
        protocol = self._protocol(service)
        conf = found.conf if found else None
        if protocol != self.side.protocol(service) and _asks_by_http(conf):
            protocol = "http"
        new = probes_after(conf, protocol)
        effects: list[Effect] = []
        for policy in old:
            probes = tuple(p for p in (probes_before(policy), new) if p)
            probes = probes if checks is None else patched(checks, policy, conf)
            alone = _panic(conf) if not new and checks is None else {}
            effects.append({"probes": probes, **alone})
        unprobed = NOT_PROBED if found is not None and protocol in UNPROBED and not checks else ""
        return outcome(effects, old, found, _tied(old) or unprobed)

    def _balancer(self, service: str, led: Sequence[str]) -> Outcome:
        found = self._of_cluster("MeshLoadBalancingStrategy", service)
        if found is not None:
            read = settings.balancer_cluster(found.conf)
            aware = not read.pop("localityAwareness.disabled", False)
            return outcome([{**read, "locality aware": aware}], (), found)
        routing = mapping(self.side.mesh.spec.get("routing")) if self.side.mesh else {}
        aware = routing.get("localityAwareLoadBalancing") is True
        effects: list[Effect] = []
        policies: list[Resource | None] = []
        for leader in self._leading(led):
            own = self.own[leader][SERVICE]
            route = self.routes.get(own) if self.old_made[own] else None
            policies.append(route)
            effects.append({**_old_balancer(route), "locality aware": aware})
        return outcome(effects, policies, None, SHARED)


_LISTENERS = ("http.requestHeadersTimeout",)
"""Leaves of MeshTimeout without an old counterpart that a listener reads; clusters the others."""


def _listeners(leaves: Mapping[str, Any]) -> dict[str, Any]:
    return {path: leaves[path] for path in _LISTENERS if path in leaves}


def _rest(policy_type: str, found: Found | None) -> dict[str, Any]:
    return {} if found is None else rest(policy_type, "outbound", found.conf)


def _panic(conf: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the panic settings of a MeshHealthCheck, which count where it probes nothing, too."""
    names = ("healthyPanicThreshold", "failTrafficOnPanic")
    return {name: conf[name] for name in names if conf is not None and name in conf}


def _asks_by_http(conf: Mapping[str, Any] | None) -> bool:
    section = (conf or {}).get("http")
    return isinstance(section, Mapping) and section.get("disabled") is not True


def _family(protocol: str) -> str:
    if protocol == "grpc":
        return "grpc"
    return "http" if protocol in HTTP_FAMILY else "tcp"


def _treated_as(family: str) -> str:
    return "tcp" if family == "tcp" else "http"


def _conf(kind: str, policy: Resource | None) -> OldConf:
    return OldConf() if policy is None else read_conf(kind, policy.spec)


def _tied(options: Options) -> str:
    return "creation time" if len(options) > 1 else ""


def _twin(conf: OldConf, name: str, family: str) -> Duration:
    value = conf.get("http", name)
    if not value and family == "grpc":
        value = conf.get("grpc", name)
    return value if isinstance(value, Duration) else ZERO


def _old_listener(conf: OldConf, family: str, *, made: bool) -> Effect:
    """Return a listener's timeouts without a MeshTimeout; `made` by the old engine or the new."""
    if family == "tcp":
        return {"idleTimeout": (conf.get("tcp", "idleTimeout") or ZERO) if made else _HOUR}
    if not made:
        return {
            "http.requestTimeout": ZERO,
            "http.streamIdleTimeout": _STREAM,
            DOWNSTREAM: _HOUR,
        }
    return {
        "http.requestTimeout": conf.get("http", "requestTimeout") or ZERO,
        "http.streamIdleTimeout": _twin(conf, "streamIdleTimeout", family),
        DOWNSTREAM: conf.get("http", "idleTimeout") or ZERO,
    }


def _new_listener(conf: Mapping[str, Any], family: str) -> Effect:
    values = mapping(conf.get("http"))
    if family == "tcp":
        return {"idleTimeout": _read(conf, "idleTimeout", _HOUR)}
    return {
        "http.requestTimeout": _read(values, "requestTimeout", seconds(15)),
        "http.streamIdleTimeout": _read(values, "streamIdleTimeout", seconds(1800)),
        DOWNSTREAM: ZERO,
    }


def _old_cluster(conf: OldConf, family: str, *, made: bool) -> Effect:
    connect = conf.get("connectTimeout")
    result: dict[str, Any] = {"connectionTimeout": _CONNECT if connect is None else connect}
    if family == "tcp":
        return result
    if not made:
        return {**result, "idleTimeout": _HOUR, "http.maxStreamDuration": ZERO}
    return {
        **result,
        "idleTimeout": conf.get("http", "idleTimeout") or ZERO,
        "http.maxStreamDuration": _twin(conf, "maxStreamDuration", family),
    }


def _new_cluster(conf: Mapping[str, Any], family: str, protocol: str, old: Effect) -> Effect:
    """Return a cluster's timeouts with a MeshTimeout; gRPC keeps what it has (§1.3 (c), §3)."""
    result: dict[str, Any] = {"connectionTimeout": _read(conf, "connectionTimeout", _CONNECT)}
    if family == "tcp":
        return result
    if protocol not in ("http", "http2"):
        return {**old, **result}
    return {
        **result,
        "idleTimeout": _read(conf, "idleTimeout", _HOUR),
        "http.maxStreamDuration": _read(mapping(conf.get("http")), "maxStreamDuration", ZERO),
    }


def _read(conf: Mapping[str, Any], name: str, default: Duration) -> Duration:
    if conf.get(name) is None:
        return default
    return as_duration(conf.get(name)) or ZERO


_BALANCERS = {
    "leastRequest": "LeastRequest", "ringHash": "RingHash", "random": "Random", "maglev": "Maglev",
}  # fmt: skip
_HASHES = {"XX_HASH": "XXHash", "MURMUR_HASH_2": "MurmurHash2"}


def _old_balancer(route: Resource | None) -> dict[str, Any]:
    """Return the load balancer of a TrafficRoute as a MeshLoadBalancingStrategy would say it."""
    found = mapping(_conf("TrafficRoute", route).get("loadBalancer")) if route else {}
    name = next((n for n in _BALANCERS if n in found), "")
    if not name:
        return {}
    result: dict[str, Any] = {"loadBalancer.type": _BALANCERS[name]}
    own = mapping(found[name])
    if name == "leastRequest":
        result["loadBalancer.leastRequest.choiceCount"] = own.get("choiceCount") or 2
    if name == "ringHash":
        result["loadBalancer.ringHash.hashFunction"] = _HASHES.get(str(own.get("hashFunction")))
        for size in ("minRingSize", "maxRingSize"):
            result |= {f"loadBalancer.ringHash.{size}": own[size]} if own.get(size) else {}
    return result


def external_access(side: OldSide, asked: Asked, led_to: frozenset[str]) -> Places:
    """Return which ExternalServices a proxy may use without zone egress (§2.7).

    Asked of those only to which its traffic is led, before or after: `led_to`.
    """
    found: Places = {}
    filtered = side.routed and not side.has_to(asked, "MeshHTTPRoute")
    filtered = filtered and not side.has_to(asked, "MeshTCPRoute")
    for tags in (tags for tags in side.external if tags.get(SERVICE) in led_to):
        place = (EXTERNAL, "outbound", mentioned(tags))
        if side.egress or not filtered:
            found[place] = outcome([{"reached": True}])
            continue
        options = side.options(
            inbound_winner(side.old.of("TrafficPermission"), tags, side.old.ties)
        )
        effects: list[Effect] = []
        for policy in options:
            clients = clients_before(policy)
            reached = any(
                set(needed) <= set(own.items())
                for needed in clients
                for own in asked.proxy.tag_sets
            )
            effects.append({"reached": reached})
        found[place] = outcome(effects, options, None, "creation time")
    return found
