"""Claim *carry*: what service-tag outbounds read before, real-resource outbounds read after.

Compared service by service and route match by route match. Names of routes, inbounds and access
logs do not count, and a service-tag outbound without any timeout counts as having the defaults
(matcher-notes §3, README of the goldens).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from kumamigrate.match.route import Destination, RealResource, ServiceTag
from kumamigrate.model.resource import Resource
from kumamigrate.prove.backend import Cluster, backends_of, place_of, written_outbounds
from kumamigrate.prove.compare import Difference, differences
from kumamigrate.prove.mesh import MeshComparison
from kumamigrate.prove.picture import (
    NOTHING,
    ROUTING,
    TCP_ROUTING,
    Fact,
    Key,
    Routing,
    outbound_facts,
    routing_facts,
)
from kumamigrate.prove.proof import Witness
from kumamigrate.prove.traffic import service_tags, successors

CARRIED = (
    "MeshTimeout",
    "MeshRetry",
    "MeshLoadBalancingStrategy",
    "MeshCircuitBreaker",
    "MeshHealthCheck",
)


def carry_witnesses(pair: MeshComparison, was: Resource, now: Resource) -> tuple[Witness, ...]:
    """Return what of a proxy's service-tag outbounds is not carried over."""
    found: list[Witness] = []
    for service in services_of(pair, was):
        for destination in targets_of(pair, now, service):
            found += _pair(pair, was, now, ServiceTag(service), destination)
    return tuple(found)


def services_of(pair: MeshComparison, was: Resource) -> tuple[str, ...]:
    """Return the services that a proxy reaches through service-tag outbounds."""
    written = written_outbounds(pair.before, was)
    if written is None:
        return tuple(dict.fromkeys(service_tags(pair.before.state)))
    tags = (c.destination for c in written.values())
    return tuple(dict.fromkeys(t.service for t in tags if isinstance(t, ServiceTag)))


def targets_of(pair: MeshComparison, now: Resource, service: str) -> tuple[RealResource, ...]:
    """Return the real destinations that replace a service for a proxy."""
    all_of_them = successors(pair.after, service)
    written = written_outbounds(pair.after, now)
    mine = [c.destination for c in (written or {}).values() if c.destination in all_of_them]
    return tuple(d for d in dict.fromkeys(mine) if isinstance(d, RealResource)) or all_of_them


def _pair(
    pair: MeshComparison,
    was: Resource,
    now: Resource,
    old: ServiceTag,
    new: RealResource,
) -> Iterator[Witness]:
    key = ("carry", old, new, *_inputs(pair, was, now))
    known = pair.kept.get(key)
    if known is None:
        known = pair.kept[key] = tuple(_compare(pair, was, now, old, new))
    yield from known


def _inputs(pair: MeshComparison, was: Resource, now: Resource) -> tuple[Any, ...]:
    kinds = (ROUTING, TCP_ROUTING, *CARRIED)
    return (
        tuple(pair.before.signature(was, kind) for kind in kinds),
        tuple(pair.after.signature(now, kind) for kind in kinds),
    )


def _compare(
    pair: MeshComparison,
    was: Resource,
    now: Resource,
    old: ServiceTag,
    new: RealResource,
) -> Iterator[Witness]:
    left, right = pair.routing(pair.before, was, old), pair.routing(pair.after, now, new)
    clusters, wrong = _clusters(pair, left, right, old, new)
    yield from pair.routing_witnesses([*_routes(pair, left, right, old, new), *wrong], new)
    for policy_type in CARRIED:
        before = outbound_facts(pair.before, was, policy_type, old, left, as_real=True)
        after = outbound_facts(pair.after, now, policy_type, new, right)
        seen: dict[Any, Witness] = {}
        for difference in differences(_renamed(before, clusters), after, common=True):
            witness = pair.witness(policy_type, "outbound", difference, new)
            seen.setdefault(witness.key, witness)
        yield from seen.values()


def _routes(
    pair: MeshComparison, left: Routing, right: Routing, old: Destination, new: Destination
) -> Iterator[Difference]:
    """Yield differences in which routes there are and what else they do; not in where they go."""
    before = _without_backends(routing_facts(pair.before, left, old))
    after = _without_backends(routing_facts(pair.after, right, new))
    yield from differences(before, after)


def _without_backends(facts: dict[Key, Fact]) -> dict[Key, Fact]:
    return {
        key: replace(f, settings={**f.settings, "backendRefs": "…"}) if f.route else f
        for key, f in facts.items()
    }


def _clusters(
    pair: MeshComparison,
    left: Routing,
    right: Routing,
    old: Destination,
    new: Destination,
) -> tuple[dict[str, str], list[Difference]]:
    """Return which cluster takes the place of which, and the routes where none does."""
    renamed = {place_of(old): place_of(new)}
    wrong: list[Difference] = []
    for key, before, after in _route_pairs(left, right):
        was = backends_of(pair.before, before, old)
        now = backends_of(pair.after, after, new)
        fits = len(was) == len(now) and all(
            b.weight == a.weight and _replaces(pair, b.cluster, a.cluster, old, new)
            for b, a in zip(was, now, strict=False)
        )
        if fits:
            renamed.update({b.cluster.key: a.cluster.key for b, a in zip(was, now, strict=True)})
        else:
            wrong.append(
                Difference(
                    key=key,
                    field="backendRefs",
                    before=[[b.cluster.key, b.weight] for b in was],
                    after=[[a.cluster.key, a.weight] for a in now],
                    was=Fact({}, None, before),
                    now=Fact({}, None, after),
                )
            )
    return renamed, wrong


def _route_pairs(left: Routing, right: Routing) -> Iterator[tuple[Key, Any, Any]]:
    after = dict(right.http or ())
    for key, route in left.http or ():
        if key in after:
            yield key, route, after[key]
    for at, (old, new) in enumerate(zip(left.tcp or (), right.tcp or (), strict=False)):
        yield ("tcp", str(at)), old, new


def _replaces(
    pair: MeshComparison, old: Cluster, new: Cluster, source: Destination, target: Destination
) -> bool:
    if old.tags or new.tags:
        return False
    if old.destination == source:
        # The very destination of the outbound: any port of its successor will do.
        return new.destination == target or new.destination in _of(pair, old)
    return old.destination == new.destination or new.destination in _of(pair, old)


def _of(pair: MeshComparison, cluster: Cluster) -> tuple[RealResource, ...]:
    if not isinstance(cluster.destination, ServiceTag):
        return ()
    return successors(pair.after, cluster.destination.service)


def _renamed(facts: dict[Key, Fact], clusters: dict[str, str]) -> dict[Key, Fact]:
    return {
        ("cluster", clusters.get(key[1], key[1])) if key[0] == "cluster" else key: fact
        for key, fact in facts.items()
    }


__all__ = ["CARRIED", "NOTHING", "carry_witnesses", "services_of", "targets_of"]
