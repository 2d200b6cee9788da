"""Outbounds of a mesh with old policies: what both engines together come to (legacy.md §3).

The old engine makes an outbound as long as the mesh has a TrafficRoute and no route of the new
kind takes the outbound over; on it the policies meet as the readings say (`beside`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kumamigrate.effective.bothengines.comparedroutes import Table
from kumamigrate.effective.bothengines.makers import TAGS_HEADER
from kumamigrate.effective.bothengines.oldview import (
    AskedProxy,
    OldSide,
    Options,
    Routes,
    mentioned,
)
from kumamigrate.effective.bothengines.requesttables import new_table, old_table
from kumamigrate.effective.fact import SHARED, Fact, Facts, Key, joined, one_of
from kumamigrate.effective.outboundfacts import OutboundReader, writes_defaults
from kumamigrate.effective.policies.meshhealthcheck import UNPROBED, probed
from kumamigrate.effective.policies.patched import Checks
from kumamigrate.effective.reading import At, SlotKind, Values
from kumamigrate.effective.readings import READINGS, both
from kumamigrate.model.protocols import HTTP_LIKE
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.sourcedest.selector import Tags
from kumamigrate.sourcedest.targets import common_protocol, main_targets
from kumamigrate.targetref.entry import Found
from kumamigrate.targetref.route import ServiceTag

PAST_PROTOCOL = "the protocol of the targets"
NOT_PROBED = "a protocol that no MeshHealthCheck probes"
CROSSED = (SHARED, PAST_PROTOCOL, NOT_PROBED)
"""Why a place is what it is where only a proxy's own outbounds tell."""
TREATED = "treated as"
"""Whether an outbound is an HTTP one; where that differs nothing else can be compared."""
_ON_LISTENERS = ("MeshTimeout", "MeshRetry", "MeshLoadBalancingStrategy", "MeshAccessLog")
_ON_CLUSTERS = (
    "MeshTimeout",
    "MeshCircuitBreaker",
    "MeshHealthCheck",
    "MeshLoadBalancingStrategy",
)

NORMALIZED = "normalized paths"
"""Whether Envoy rewrites /a/../b before it looks for a route: the new engine always has it do so
where it makes the outbound, the old one never (notes C23)."""


def outbound_places(
    side: OldSide,
    asked: AskedProxy,
    kinds: frozenset[str],
    routes: Sequence[Routes],
    kept: frozenset[str] | None = None,
) -> Facts:
    """Return what the outbounds of a proxy come to if one of these sets of routes wins.

    With `kept`, of the outbounds to these services alone, and the clusters they lead to.
    """
    return joined([dict(_Outbounds(side, asked, one, kinds, kept).places()) for one in routes])


class _Outbounds:
    """The outbounds of one proxy when these TrafficRoutes win."""

    def __init__(
        self,
        side: OldSide,
        asked: AskedProxy,
        routes: Routes,
        kinds: frozenset[str],
        kept: frozenset[str] | None,
    ) -> None:
        self.side, self.asked, self.routes, self.kinds = side, asked, routes, kinds
        self.kept = kept
        self.targets = side.targets(routes)
        self.own = {mentioned(tags): tags for tags in asked.outbounds}
        self.old_made = {s: self._old_makes(s) for s in asked.services}
        self.probes = side.probes(asked) if "MeshHealthCheck" in kinds else {}
        self.treated = {s: self._treated(s) for s in asked.services}
        self.tables = {name: self._table(tags) for name, tags in self.own.items()}
        self.clusters: dict[str, tuple[Mapping[str, str], list[str]]] = {}
        for outbound, table in self.tables.items():
            for tags in table.clusters:
                name = mentioned(tags)
                self.clusters.setdefault(name, (tags, []))[1].append(outbound)

    def places(self) -> Iterator[tuple[Key, Fact]]:
        """Yield every place with what it may come to."""
        for name, table in self.tables.items():
            service = self.own[name][SERVICE]
            if not self._is_kept(service):
                continue
            if "MeshHTTPRoute" in self.kinds:
                winner = self.routes.get(service) if self.side.routed else None
                yield ("MeshHTTPRoute", "outbound", name), one_of([{"routes": table}], [winner])
            if table.family:
                yield from self._listener(name, service, table)
        for name, (tags, led) in self.clusters.items():
            if any(self._is_kept(self.own[outbound][SERVICE]) for outbound in led):
                yield from self._cluster(name, tags, led)

    def _is_kept(self, service: str) -> bool:
        return self.kept is None or service in self.kept

    def _old_makes(self, service: str) -> bool:
        """Whether the old engine makes an outbound; one of which nothing is known is TCP."""
        return not self.side.new(self.asked.dataplane, ServiceTag(service))[-1]

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
        routing = self.side.routing(self.asked, service)
        protocol = self.side.protocol(service)
        return new_table(routing, own, _family(protocol), http=protocol in HTTP_LIKE)

    # -- listeners ---------------------------------------------------------------------------

    def _listener(self, name: str, service: str, table: Table) -> Iterator[tuple[Key, Fact]]:
        if "MeshHTTPRoute" in self.kinds and table.family != "tcp":
            made = self.old_made[service]
            header = "present" if made or self.side.tags else None
            values = {NORMALIZED: not made, TAGS_HEADER: header}
            yield ("MeshHTTPRoute", "listener", name), one_of([values])
        for kind in _ON_LISTENERS:
            if kind in self.kinds:
                yield (kind, "outbound", name), self._at_listener(kind, service, table)

    def _at_listener(self, kind: str, service: str, table: Table) -> Fact:
        """Return what an outbound and all its routes read of a policy type."""
        found = self.side.to(self.asked, kind, service)
        tcp = table.family == "tcp"
        treated = self.treated[service]
        treated = treated if (treated in HTTP_LIKE) != tcp else table.family
        at = self._at(SlotKind.LISTENER, service, treated=treated, made=self.old_made[service])
        if kind == "MeshRetry" and self._is_lone(service):
            at = replace(at, tcp=False)  # of those without a protocol only a Retry is heard
        options = self._decided_by(kind, service)
        more: Values = self._of_routes(kind, service)
        if kind in ("MeshTimeout", "MeshRetry"):
            more[TREATED] = "tcp" if tcp else "http"
        effects = [{**one, **more} for one in both(kind, options, found, at)]
        past = kind == "MeshTimeout" and found is not None and (at.protocol in HTTP_LIKE) == tcp
        return one_of(effects, options, found, _tied(options) or (PAST_PROTOCOL if past else ""))

    def _decided_by(self, kind: str, service: str) -> Options:
        """Return the old policies of which one decides on an outbound that the old engine makes.

        Retries are looked up under the targets of its routes (§2.3).
        """
        looked_up = kind != "MeshRetry" or service in self.targets
        if kind == "MeshLoadBalancingStrategy" or not (looked_up and self.old_made[service]):
            return (None,)
        return self._old(READINGS[kind].old, service)

    def _at(self, part: SlotKind, service: str, *, treated: str = "", made: bool = True) -> At:
        return At(
            part=part,
            protocol=self._protocol(service),
            treated=treated,
            made=made,
            tag=True,
            always=writes_defaults(self.side.side),
            release=self.side.side.release.name,
            mesh=self.side.side.mesh_spec,
        )

    def _old(self, kind: str, service: str) -> Options:
        return self.side.connection(kind, self.asked, service)

    def _of_routes(self, policy_type: str, service: str) -> Values:
        """Return what routes of the new kind read by themselves, where they make the outbound."""
        if self.old_made[service] or policy_type not in self.side.side.types:
            return {}
        proxy, destination = self.asked.dataplane, ServiceTag(service)
        routing = self.side.routing(self.asked, service)
        reader = OutboundReader(self.side.side, proxy, policy_type, destination, routing, tag=True)
        own = reader.own_of_routes()
        return {"on routes": own} if own else {}

    # -- clusters ----------------------------------------------------------------------------

    def _cluster(
        self, name: str, tags: Mapping[str, str], led: Sequence[str]
    ) -> Iterator[tuple[Key, Fact]]:
        service = tags[SERVICE]
        readers = {
            "MeshTimeout": lambda: self._cluster_timeout(name, service, led),
            "MeshCircuitBreaker": lambda: self._breaker(service, led),
            "MeshHealthCheck": lambda: self._probe(
                service, led, self.probes.get(name) if set(tags) == {SERVICE} else None
            ),
            "MeshLoadBalancingStrategy": lambda: self._balancer(service, led),
        }
        for kind in _ON_CLUSTERS:
            if kind in self.kinds:
                yield (kind, "cluster", name), readers[kind]()

    def _protocol(self, service: str) -> str:
        """Return the protocol by which new policies read a service: TCP if no Dataplane has it.

        Its cluster is there and has what policies say, although nothing answers yet.
        """
        return "tcp" if self._is_lone(service) else self.side.protocol(service)

    def _is_lone(self, service: str) -> bool:
        return self.side.listed and service not in self.side.known

    def _leading(self, led: Sequence[str]) -> tuple[str, ...]:
        """Return whose settings a cluster has: the last outbound that leads there (notes C2b)."""
        return (led[-1],) if self.asked.ordered else tuple(led)

    def _made(self, outbound: str) -> bool:
        return self.old_made[self.own[outbound][SERVICE]]

    def _cluster_timeout(self, name: str, service: str, led: Sequence[str]) -> Fact:
        found = self.side.to(self.asked, "MeshTimeout", service)
        effects: list[Values] = []
        policies: list[Resource | None] = []
        crossed = SHARED if list(led) != [service] or name != service else ""
        why = ""
        for leader in self._leading(led):
            options = self._decided_by("MeshTimeout", self.own[leader][SERVICE])
            why = why or _tied(options)
            policies += options
            family, made = self.tables[leader].family, self._made(leader)
            at = self._at(SlotKind.CLUSTER, service, treated=family, made=made)
            effects += both("MeshTimeout", options, found, at)
        return one_of(effects, policies, found, why or crossed or SHARED)

    def _of_cluster(self, policy_type: str, service: str) -> Found | None:
        """Return what a policy says of a service's clusters, found by the outbounds of a proxy.

        A service that only routes of other outbounds lead to has none of its own, and nothing of
        it (notes C14); MeshTimeout alone goes through the clusters themselves.
        """
        own = service in self.asked.services
        return self.side.to(self.asked, policy_type, service) if own else None

    def _reaching(self, kind: str, service: str, led: Sequence[str]) -> Options:
        """Return the old policies of which one decides on a cluster that old routes lead to."""
        reached = service in self.targets and any(map(self._made, led))
        return self._old(kind, service) if reached else (None,)

    def _breaker(self, service: str, led: Sequence[str]) -> Fact:
        found = self._of_cluster("MeshCircuitBreaker", service)
        old = self._reaching("CircuitBreaker", service, led)
        effects = both("MeshCircuitBreaker", old, found, self._at(SlotKind.CLUSTER, service))
        return one_of(effects, old, found, _tied(old))

    def _probe(self, service: str, led: Sequence[str], checks: Checks | None) -> Fact:
        """Return the probes of a cluster; `checks` of a patch replace all others."""
        found = self._of_cluster("MeshHealthCheck", service)
        old = self._reaching("HealthCheck", service, led)
        at = self._at(SlotKind.CLUSTER, service)
        conf = found.conf if found else None
        if at.protocol != self.side.protocol(service) and _asks_by_http(conf):
            at = replace(at, protocol="http")
        effects = [probed(checks or (), policy, conf, at) for policy in old]
        unprobed = found is not None and at.protocol in UNPROBED and not checks
        return one_of(effects, old, found, _tied(old) or (NOT_PROBED if unprobed else ""))

    def _balancer(self, service: str, led: Sequence[str]) -> Fact:
        found = self._of_cluster("MeshLoadBalancingStrategy", service)
        own = [self.own[leader][SERVICE] for leader in self._leading(led)]
        routes = [self.routes.get(s) if self.old_made[s] else None for s in own]
        at = self._at(SlotKind.CLUSTER, service)
        effects = both("MeshLoadBalancingStrategy", routes, found, at)
        return one_of(effects, () if found else routes, found, SHARED)


def _asks_by_http(conf: Mapping[str, Any] | None) -> bool:
    section = (conf or {}).get("http")
    return isinstance(section, Mapping) and section.get("disabled") is not True


def _family(protocol: str) -> str:
    if protocol == "grpc":
        return "grpc"
    return "http" if protocol in HTTP_LIKE else "tcp"


def _tied(options: Options) -> str:
    return "creation time" if len(options) > 1 else ""
