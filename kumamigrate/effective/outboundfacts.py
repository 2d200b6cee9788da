"""What the targetRef engine has at an outbound: by route, at its listener, at each cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.effective.fact import LISTENER, NOTHING, Fact, Key
from kumamigrate.effective.policies.meshtimeout import ALWAYS_SINCE, by_meaning
from kumamigrate.effective.reading import At, SlotKind, Values
from kumamigrate.effective.readings import READINGS
from kumamigrate.effective.routing import Routing, meant
from kumamigrate.model.resource import Resource
from kumamigrate.model.versions import at_least
from kumamigrate.targetref.entry import Found
from kumamigrate.targetref.resolve import EXTERNAL
from kumamigrate.targetref.route import Destination, EffectiveRoute, RealResource, ServiceTag
from kumamigrate.universe.backend import Cluster, own_cluster
from kumamigrate.universe.dataplaneparts import may_be_transparent
from kumamigrate.universe.side import Side

ON_OUTBOUNDS = (
    "MeshTimeout",
    "MeshRetry",
    "MeshLoadBalancingStrategy",
    "MeshAccessLog",
    "MeshCircuitBreaker",
    "MeshHealthCheck",
)
BY_ROUTE = ("MeshTimeout", "MeshRetry", "MeshLoadBalancingStrategy", "MeshAccessLog")

ON_CLUSTERS = ("MeshTimeout", "MeshLoadBalancingStrategy", "MeshCircuitBreaker", "MeshHealthCheck")

_OUTSIDE_SINCE = {
    "MeshLoadBalancingStrategy": "2.12",
    "MeshCircuitBreaker": "2.14",
    "MeshHealthCheck": "2.14",
}
"""Since when a proxy reads types of what lies outside the mesh, which only its egress did before
(asked of 2.9 and 2.14, read of those between)."""

BY_OUTBOUND = ("MeshLoadBalancingStrategy", "MeshCircuitBreaker", "MeshHealthCheck")
"""Types that find the clusters of service tags by the outbounds of the proxy (legacy-notes C14)."""


def outbound_facts(
    side: Side,
    proxy: Resource,
    policy_type: str,
    destination: Destination,
    routing: Routing,
    *,
    as_real: bool = False,
    own: Set[str] | None = None,
) -> dict[Key, Fact]:
    """Return what an outbound reads of one policy type, place by place.

    With `as_real`, what no policy reaches of service tags counts as having the defaults of real
    resources (claim *carry*, matcher-notes §3 rule 4). `own` are the services that the proxy has
    outbounds to, None where that is to every one.
    """
    asked = (side, proxy, policy_type, destination, routing)
    return dict(OutboundReader(*asked, as_real=as_real, own=own).facts())


def leaving_facts(
    side: Side, proxy: Resource, policy_type: str, destination: Destination, routing: Routing
) -> dict[Key, Fact]:
    """Return what the cluster of a destination reads where it has one without any outbound, as a
    zone egress has of what lies outside the mesh."""
    reader = OutboundReader(side, proxy, policy_type, destination, routing)
    cluster = own_cluster(destination)
    return {cluster.place: reader.cluster(cluster)}


def facts_by_meaning(facts: Mapping[Key, Fact]) -> dict[Key, Fact]:
    """Return facts, told by what they mean and not by whether anybody wrote them down.

    Who switches or upgrades configures Envoy anew in any case.
    """
    return {key: replace(fact, settings=by_meaning(fact.settings)) for key, fact in facts.items()}


@dataclass(frozen=True, slots=True)
class OutboundReader:
    """Reads one policy type at one outbound of one proxy.

    Of clusters of services that are none of its `own`, but routes lead there, it reads timeouts
    alone.
    """

    side: Side
    proxy: Resource
    policy_type: str
    destination: Destination
    routing: Routing
    as_real: bool = False
    own: Set[str] | None = None

    def facts(self) -> Iterator[tuple[Key, Fact]]:
        """Yield every place with its settings."""
        if self.policy_type in BY_ROUTE:
            for key, route in self.routing.http or ():
                if self.routing.splits[key].failing != "all":
                    yield key, self.route(route)
            yield LISTENER, self._listener()
        if self.policy_type in ON_CLUSTERS:
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
        fact = self.cluster(cluster)
        destination = cluster.destination
        by_name = isinstance(destination, RealResource) and destination.number
        if not by_name or not self.side.release.subset_rules or destination == self.destination:
            return fact
        if not may_be_transparent(self.proxy):
            return fact
        assert isinstance(destination, RealResource)
        named = Cluster(destination=RealResource(destination.kri), tags=cluster.tags)
        return self._at_odds(self.cluster(named), fact)

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
        if self.policy_type not in self.side.types or self._is_left_to_egress(destination):
            return None
        selection = self.side.selection(self.proxy, self.policy_type)
        return self.side.matcher.lookup(selection, destination, route)

    def _is_left_to_egress(self, destination: Destination) -> bool:
        since = _OUTSIDE_SINCE.get(self.policy_type)
        if since is None or not isinstance(destination, RealResource):
            return False
        return destination.kri.type == EXTERNAL and not at_least(self.side.release.name, since)

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
        return self._fact(SlotKind.ROUTE, found, self.destination, route)

    def _direct(self, route: EffectiveRoute) -> Fact:
        """Return what only the route's own entry says, on real resources (matcher.md (f))."""
        if route.kri is None or self.policy_type not in self.side.types:
            return NOTHING
        selection = self.side.selection(self.proxy, self.policy_type)
        found = self.side.matcher.lookup(selection, self.destination, route, direct_route=True)
        return self._fact(SlotKind.ROUTE, found, self.destination, route)

    def _listener(self) -> Fact:
        found = self._look_up(self.destination)
        return self._fact(SlotKind.LISTENER, found, self.destination)

    def cluster(self, cluster: Cluster) -> Fact:
        """Return what a cluster reads."""
        destination = cluster.destination
        led_to = isinstance(destination, ServiceTag) and (
            self.own is not None and destination.service not in self.own
        )
        unread = led_to and self.policy_type in BY_OUTBOUND
        found = None if unread else self._look_up(destination)
        return self._fact(SlotKind.CLUSTER, found, destination)

    def _fact(
        self,
        part: SlotKind,
        found: Found | None,
        asked: Destination,
        route: EffectiveRoute | None = None,
    ) -> Fact:
        of_cluster = part is SlotKind.CLUSTER
        at = At(
            part=part,
            protocol=self.side.protocol(asked) if of_cluster else self.routing.protocol,
            tag=isinstance(asked, ServiceTag) and not self.as_real,
            by_protocol=isinstance(self.destination, ServiceTag),
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
