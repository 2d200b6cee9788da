"""What becomes of the traffic of one route: its backends, what is answered with an error, or none.

A backendRef gets no traffic where its weight is 0, its resource or port is not there, or its
protocol is none that the route carries. 2.x leaves such a reference out, and a route whose
references are all left out is not there at all: its requests meet the next route. 3.0 answers
its share of the requests with 500, and all of them where no reference is left. Both take the
destination itself where a route names no backend (2.x also where labels mean nothing at all).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.model.protocols import UNKNOWN_PROTOCOL
from kumamigrate.model.resource import Resource
from kumamigrate.targetref.backendref import HTTP_PROTOCOLS, tcp_protocols
from kumamigrate.targetref.route import Destination, EffectiveRoute, RealResource
from kumamigrate.universe.backend import Cluster, Referred, own_cluster, referred_to, tag_cluster
from kumamigrate.universe.side import Side


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """One of the clusters of a route, and its weight."""

    cluster: Cluster
    weight: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Where a route sends requests.

    `failing` is the weight that is answered with 500, "all" for every request. `gone`: there is
    no such route (HTTP), or no listener at all (TCP). `instead` are clusters that a reference
    may mean as well, as nothing says which of several services is the oldest.
    """

    backends: tuple[Backend, ...] = ()
    failing: Any = 0
    gone: bool = False
    instead: tuple[Cluster, ...] = ()

    @property
    def clusters(self) -> Iterator[Cluster]:
        """Every cluster that may get traffic."""
        yield from (backend.cluster for backend in self.backends)
        yield from self.instead


def split_of(side: Side, route: EffectiveRoute, destination: Destination, *, http: bool) -> Split:
    """Return what becomes of the traffic of a route at an outbound."""
    own = Split(backends=(Backend(cluster=own_cluster(destination), weight=1),))
    if not route.backend_refs:
        return own
    policy = None if route.entry is None else route.entry.policy
    pairs = [(ref, referred_to(side, ref, policy)) for ref in route.backend_refs]
    resolved = [(ref, found) for ref, found in pairs if found.cluster is not None]
    kept = [pair for pair in resolved if _may_get_traffic(side, *pair, http=http)]
    found = Split(
        backends=tuple(
            Backend(cluster=meant.cluster, weight=ref.get("weight", 1))
            for ref, meant in kept
            if meant.cluster is not None
        ),
        instead=tuple(one for _, meant in kept for one in meant.instead),
    )
    if side.release.subset_rules:
        if not resolved:
            return own if http else Split(gone=True)
        return replace(_plain(found), gone=http and not kept)
    if not http:
        return replace(_plain(found), gone=not resolved)
    if _redirects(route):
        return _plain(found)
    lost = [ref for ref, meant in pairs if not any(ref is one for one, _ in kept)]
    weights = [ref.get("weight", 1) for ref in lost]
    known = all(isinstance(weight, int) for weight in weights)
    failing = sum(weights) if known else ", ".join(map(str, weights))
    return replace(found, failing=failing) if failing and kept else _plain_or_all(found)


def _plain(split: Split) -> Split:
    """Return a split as Envoy has it: what goes to one cluster only has no weight."""
    if len(split.backends) != 1:
        return split
    return replace(split, backends=(replace(split.backends[0], weight=1),))


def _plain_or_all(split: Split) -> Split:
    return _plain(split) if split.backends else replace(split, failing="all")


def _may_get_traffic(side: Side, ref: Mapping[str, Any], found: Referred, *, http: bool) -> bool:
    """Whether a reference gets traffic, whichever of the services that it may mean is the oldest.

    Where one of them gets some, the route is there as far as anything tells.
    """
    others = (Referred(cluster=cluster) for cluster in found.instead)
    return any(_gets_traffic(side, ref, one, http=http) for one in (found, *others))


def _gets_traffic(side: Side, ref: Mapping[str, Any], found: Referred, *, http: bool) -> bool:
    assert found.cluster is not None
    if ref.get("weight", 1) == 0 or found.lacks_port:
        return False
    destination = found.cluster.destination
    protocol = side.protocol(destination)
    if protocol == UNKNOWN_PROTOCOL:
        return _may_carry(side, destination, http=http)
    return protocol in (HTTP_PROTOCOLS if http else tcp_protocols(side.release))


def _may_carry(side: Side, destination: Destination, *, http: bool) -> bool:
    """Whether a destination of which nothing tells the protocol gets traffic.

    What a state may lack counts as there and as fitting. Where it lacks nothing, Kuma takes a
    service tag that no Dataplane has for one of no protocol, and so that of no name always.
    """
    if isinstance(destination, RealResource):
        return not side.state.complete or destination.kri.of_section("") in side.real
    return not http or (bool(destination.service) and not side.state.complete)


NO_CONFIGURATION = "none: 2.x makes no configuration for the proxy"
"""What a mirror leads to where 2.x finds no HTTP service for it: it gives up on the whole proxy."""


def mirror_of(
    side: Side, ref: Mapping[str, Any], policy: Resource | None
) -> tuple[Cluster, ...] | str:
    """Return the clusters that requests may be copied to; none where 3.0 leaves the mirror out.

    There are several where nothing says which service is the oldest. 2.x takes the name of every
    mirror for a service tag, with a port as well as without one.
    """
    if not side.release.subset_rules:
        found = referred_to(side, ref, policy)
        if found.cluster is None or not _may_get_traffic(side, ref, found, http=True):
            return ()
        return (found.cluster, *found.instead)
    cluster = tag_cluster(ref)
    protocol = side.protocol(cluster.destination)
    if protocol == UNKNOWN_PROTOCOL:
        return (cluster,) if _may_be_tag(side, ref, policy) else NO_CONFIGURATION
    return (cluster,) if protocol in HTTP_PROTOCOLS else NO_CONFIGURATION


def _may_be_tag(side: Side, ref: Mapping[str, Any], policy: Resource | None) -> bool:
    """Whether some Dataplane may have the service tag; on Kubernetes tags end in `_svc_port`."""
    name = str(ref.get("name") or "")
    if not name or side.state.complete:
        return False
    return "_svc" in name or policy is None or not policy.namespace_label


def _redirects(route: EffectiveRoute) -> bool:
    """Whether a filter answers by itself, so that no backend is asked."""
    filters = route.filters or ()
    return any(isinstance(one, Mapping) and one.get("requestRedirect") for one in filters)
