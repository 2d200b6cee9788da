"""Outbounds of a mesh with old policies: what both engines together come to (legacy.md §3).

The old engine makes an outbound as long as the mesh has a TrafficRoute and no route of the new
kind takes the outbound over; on it the policies meet as the readings say (`beside`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.effective.bothengines.askedproxy import AskedProxy, mentioned
from kumamigrate.effective.bothengines.comeorgone import TAGS_HEADER
from kumamigrate.effective.bothengines.comparedroutes import Table
from kumamigrate.effective.bothengines.oldview import OldSide, Routes
from kumamigrate.effective.bothengines.requesttables import new_table, old_table
from kumamigrate.effective.fact import (
    NOT_PROBED,
    PAST_PROTOCOL,
    SHARED,
    Fact,
    Facts,
    Key,
    agreed,
    joined,
    one_of,
)
from kumamigrate.effective.outboundfacts import OutboundReader, writes_defaults
from kumamigrate.effective.policies.meshhealthcheck import UNPROBED, probed
from kumamigrate.effective.policies.meshtimeout import unheard
from kumamigrate.effective.policies.patched import Checks
from kumamigrate.effective.reading import At, SlotKind, Values
from kumamigrate.effective.readings import READINGS, both
from kumamigrate.model.protocols import HTTP_LIKE
from kumamigrate.model.resource import SERVICE
from kumamigrate.sourcedest.order import Options
from kumamigrate.sourcedest.selector import Tags
from kumamigrate.sourcedest.targets import UNKNOWN, family_of, treated_as
from kumamigrate.targetref.entry import Found
from kumamigrate.targetref.route import ServiceTag
from kumamigrate.universe.side import ROUTES

TREATED = "treated as"
"""Whether an outbound is an HTTP one; where that differs nothing else can be compared."""
_ON_LISTENERS = ("MeshTimeout", "MeshRetry", "MeshLoadBalancingStrategy", "MeshAccessLog")
_ON_CLUSTERS = (
    "MeshTimeout",
    "MeshCircuitBreaker",
    "MeshHealthCheck",
    "MeshLoadBalancingStrategy",
)
_BY_OUTBOUND = ("MeshTimeout", "MeshLoadBalancingStrategy")
"""Types whose old policies clusters have from the outbounds that lead there."""

NORMALIZED = "normalized paths"
"""Whether Envoy rewrites /a/../b before it looks for a route: the new engine always has it do so
where it makes the outbound, the old one never (notes C23)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOutbound:
    """An outbound as the engine has it that makes it, the `old` one or the new.

    `name` says its tags, `treated` is the protocol it has, `table` what becomes of requests.
    """

    name: str
    service: str
    old: bool
    treated: str
    table: Table


Led = Mapping[str, tuple[Tags, Sequence[EngineOutbound]]]
"""Clusters by what readers call them: their tags, and the outbounds that lead there."""


def engine_outbounds(side: OldSide, asked: AskedProxy, routes: Routes) -> Sequence[EngineOutbound]:
    """Return the outbounds of a proxy by service tags, in order, if these TrafficRoutes win."""
    return _made(side, asked, routes)[0]


def _made(side: OldSide, asked: AskedProxy, routes: Routes) -> tuple[Sequence[EngineOutbound], Led]:
    """Return these outbounds and their clusters; proxies that new routes reach alike share them."""
    reached = (side.side.signature(asked.dataplane, kind) for kind in ROUTES)
    key = (asked.named, *reached, *(id(routes.get(service)) for service in asked.services))
    if key not in side.made:
        made = tuple(_engine_outbounds(side, asked, routes))
        clusters: dict[str, tuple[Tags, list[EngineOutbound]]] = {}
        for outbound in made:
            for tags in outbound.table.clusters:
                clusters.setdefault(mentioned(tags), (tags, []))[1].append(outbound)
        side.made[key] = (made, clusters)
    found: tuple[Sequence[EngineOutbound], Led] = side.made[key]
    return found


def _engine_outbounds(side: OldSide, asked: AskedProxy, routes: Routes) -> Iterator[EngineOutbound]:
    for tags in asked.outbounds:
        service, destination = tags[SERVICE], ServiceTag(tags[SERVICE])
        protocol, route = side.protocol(service), routes.get(service)
        # One of which nothing is known is TCP.
        old = not side.new(asked.dataplane, destination)[-1]
        if old:
            protocol = treated_as(route, service, side.protocol)
            table = old_table(route, tags, family_of(protocol))
        else:
            routing = side.routing(asked.dataplane, destination)
            http = protocol in HTTP_LIKE
            table = new_table(routing, tags, family_of(protocol), http=http)
        yield EngineOutbound(
            name=mentioned(tags), service=service, old=old, treated=protocol, table=table
        )


def outbound_places(
    side: OldSide,
    asked: AskedProxy,
    kinds: frozenset[str],
    routes: Sequence[Routes],
    kept: frozenset[str],
) -> Facts:
    """Return what the outbounds of a proxy come to if one of these sets of routes wins.

    Of the outbounds to `kept` services alone, and the clusters they lead to.
    """
    ways = (_Outbounds(side, asked, one, kinds) for one in routes)
    return joined([dict(way.places(kept)) for way in ways])


class _Outbounds:
    """What the outbounds of one proxy read when these TrafficRoutes win."""

    def __init__(
        self, side: OldSide, asked: AskedProxy, routes: Routes, kinds: frozenset[str]
    ) -> None:
        self.side, self.asked, self.routes, self.kinds = side, asked, routes, kinds
        self.targets = side.targets(routes)
        self.probes = side.probes(asked) if "MeshHealthCheck" in kinds else {}
        self.made, self.clusters = _made(side, asked, routes)

    def places(self, kept: frozenset[str]) -> Iterator[tuple[Key, Fact]]:
        """Yield every place with what it may come to."""
        for one in (one for one in self.made if one.service in kept):
            if "MeshHTTPRoute" in self.kinds:
                winner = self.routes.get(one.service)
                fact = one_of([{"routes": one.table}], [winner])
                yield ("MeshHTTPRoute", "outbound", one.name), fact
            if one.table.family:
                yield from self._listener(one)
        for name, (tags, led) in self.clusters.items():
            if any(outbound.service in kept for outbound in led):
                for kind in (kind for kind in _ON_CLUSTERS if kind in self.kinds):
                    yield (kind, "cluster", name), self._cluster(kind, tags, led)

    def _at(self, part: SlotKind, service: str, treated: str, *, made: bool) -> At:
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

    def _protocol(self, service: str) -> str:
        """Return the protocol by which new policies read a service: TCP if no Dataplane has it.

        Its cluster is there and has what policies say, although nothing answers yet.
        """
        return "tcp" if self._is_lone(service) else self.side.protocol(service)

    def _is_lone(self, service: str) -> bool:
        untold = service not in self.side.known and self.side.protocol(service) == UNKNOWN
        return self.side.listed and untold

    def _old(self, kind: str, service: str, *, decides: bool = True) -> Options:
        """Return the old policies of which one decides, in place of a new type; None: none does."""
        kind = READINGS[kind].old
        return self.side.connection(kind, self.asked, service) if decides else (None,)

    # -- listeners ---------------------------------------------------------------------------

    def _listener(self, one: EngineOutbound) -> Iterator[tuple[Key, Fact]]:
        if "MeshHTTPRoute" in self.kinds and one.table.family != "tcp":
            header = "present" if one.old or self.side.tags else None
            values = {NORMALIZED: not one.old, TAGS_HEADER: header}
            yield ("MeshHTTPRoute", "listener", one.name), one_of([values])
        for kind in (kind for kind in _ON_LISTENERS if kind in self.kinds):
            yield (kind, "outbound", one.name), self._at_listener(kind, one)

    def _at_listener(self, kind: str, one: EngineOutbound) -> Fact:
        """Return what an outbound and all its routes read of a policy type.

        Retries are looked up under the targets of its routes (§2.3); nothing of a TrafficRoute is
        read here but where it leads.
        """
        service, family = one.service, one.table.family
        found, tcp = self.side.to(self.asked, kind, service), family == "tcp"
        told = (one.treated in HTTP_LIKE) != tcp and kind != "MeshAccessLog"
        treated = one.treated if told else family  # a log is of HTTP or it is not
        at = self._at(SlotKind.LISTENER, service, treated, made=one.old)
        if kind == "MeshRetry" and self._is_lone(service):
            at = replace(at, tcp=False)  # of those without a protocol only a Retry is heard
        read = kind != "MeshLoadBalancingStrategy" and (
            kind != "MeshRetry" or service in self.targets
        )
        options = self._old(kind, service, decides=one.old and read)
        more: Values = {} if one.old else self._of_routes(kind, service)
        if kind in ("MeshTimeout", "MeshRetry"):
            more[TREATED] = "tcp" if tcp else "http"
        effects = [{**said, **more} for said in both(kind, options, found, at)]
        past = kind == "MeshTimeout" and found is not None and (at.protocol in HTTP_LIKE) == tcp
        return one_of(effects, options, found, _tied(options) or (PAST_PROTOCOL if past else ""))

    def _of_routes(self, policy_type: str, service: str) -> Values:
        """Return what routes of the new kind read by themselves."""
        if policy_type not in self.side.side.types:
            return {}
        proxy, destination = self.asked.dataplane, ServiceTag(service)
        routing = self.side.routing(proxy, destination)
        reader = OutboundReader(self.side.side, proxy, policy_type, destination, routing)
        own = reader.own_of_routes()
        return {"on routes": own} if own else {}

    # -- clusters ----------------------------------------------------------------------------

    def _cluster(self, kind: str, tags: Tags, led: Sequence[EngineOutbound]) -> Fact:
        """Return what a cluster reads of a policy type.

        A Timeout and the balancer of a TrafficRoute are those of the last outbound that leads there
        (notes C2b), the others those of the service, if TrafficRoutes lead to it. A service that
        only routes of other outbounds lead to has no outbound, by which new policies find all
        clusters but for MeshTimeout (notes C14).
        """
        service, by_outbound = tags[SERVICE], kind in _BY_OUTBOUND
        own = kind == "MeshTimeout" or service in self.asked.services
        found = self.side.to(self.asked, kind, service) if own else None
        reached = service in self.targets and any(outbound.old for outbound in led)
        effects: list[Values] = []
        policies: Options = ()
        said: list[Values] = []
        why = ""
        for leader in led if by_outbound and not self.asked.ordered else led[-1:]:
            if kind == "MeshLoadBalancingStrategy":
                options: Options = (self.routes.get(leader.service) if leader.old else None,)
            elif by_outbound:
                options = self._old(kind, leader.service, decides=leader.old)
            else:
                options = self._old(kind, service, decides=reached)
            at = self._at(SlotKind.CLUSTER, service, leader.table.family, made=leader.old)
            why, policies = why or _tied(options), (*policies, *options)
            if kind == "MeshHealthCheck":
                checks = (self.probes.get(service) or ()) if set(tags) == {SERVICE} else ()
                at, why = self._probing(found, at, service), why or _unprobed(found, at, checks)
                effects += [probed(checks, p, found.conf if found else None, at) for p in options]
            else:
                effects += both(kind, options, found, at)
            if kind == "MeshTimeout" and found is None:
                said += (unheard(policy, at) for policy in options)
        decided = kind == "MeshLoadBalancingStrategy" and found is not None
        why = why or (SHARED if by_outbound else "")
        fact = one_of(effects, () if decided else policies, found, why)
        return replace(fact, unheard=agreed(said)) if said else fact

    def _probing(self, found: Found | None, at: At, service: str) -> At:
        """Return the place of probes: without a protocol HTTP is asked for by HTTP."""
        section = found.conf.get("http") if found is not None else None
        by_http = isinstance(section, Mapping) and section.get("disabled") is not True
        return replace(at, protocol="http") if self._is_lone(service) and by_http else at


def _unprobed(found: Found | None, at: At, checks: Checks) -> str:
    return NOT_PROBED if found is not None and at.protocol in UNPROBED and not checks else ""


def _tied(options: Options) -> str:
    return "creation time" if len(options) > 1 else ""
