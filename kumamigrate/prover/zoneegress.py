"""What a ZoneEgress of 2.x has of what lies outside the mesh (asked of 2.14).

At the cluster of a MeshExternalService it reads breakers, probes and balancers of everybody's
policies, whomever they are for, in merge order. At the filter chain of an ExternalService it reads
`from` of permissions, limits and faults that are for kind Mesh or for its service tag; no other
tag of it counts, and a policy for Dataplanes is not for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kumamigrate.effective.compare import differences
from kumamigrate.effective.difference import Witness
from kumamigrate.effective.fact import Fact, Key
from kumamigrate.effective.inboundfacts import inbound_fact
from kumamigrate.effective.reading import At, SlotKind
from kumamigrate.effective.readings import READINGS
from kumamigrate.model.resource import SERVICE, texts
from kumamigrate.model.targetref import TargetRef
from kumamigrate.prover.slots.mesh import MeshComparison
from kumamigrate.sourcedest.targets import zone_egress
from kumamigrate.targetref.inbound import InboundPoint, InboundRule, from_rules
from kumamigrate.targetref.items import top_of
from kumamigrate.targetref.route import RealResource, ServiceTag
from kumamigrate.universe.backend import own_cluster
from kumamigrate.universe.side import Side
from kumamigrate.universe.traffic import real_destinations

EGRESS = "any ZoneEgress"
_ON_CLUSTERS = ("MeshCircuitBreaker", "MeshHealthCheck", "MeshLoadBalancingStrategy")
_ON_CHAINS = ("MeshTrafficPermission", "MeshRateLimit", "MeshFaultInjection")


def egress_witnesses(pair: MeshComparison) -> Iterator[Witness]:
    """Yield what differs at a ZoneEgress for a mesh; from 3.0 on there is none."""
    if not (pair.before.release.subset_rules and pair.after.release.subset_rules):
        return
    yield from _of_clusters(pair)
    yield from _of_chains(pair)


def _of_clusters(pair: MeshComparison) -> Iterator[Witness]:
    there = set(real_destinations(pair.before.state))
    outside = [
        one
        for one in dict.fromkeys(real_destinations(pair.after.state))
        if one.kri.type == "MeshExternalService" and one in there
    ]
    for policy_type in _asked(pair, _ON_CLUSTERS) if outside else ():
        for one in outside:
            was, now = (_at_cluster(side, policy_type, one) for side in (pair.before, pair.after))
            for found in differences(was, now, common=True):
                yield pair.witness(policy_type, "outbound", found, one)


def _at_cluster(side: Side, policy_type: str, destination: RealResource) -> Mapping[Key, Fact]:
    found = None
    if policy_type in side.types:
        found = side.matcher.of_everybody(policy_type, destination.looked_up)
    protocol = side.protocol(destination)
    at = At(part=SlotKind.CLUSTER, protocol=protocol, release=side.release.name)
    read = READINGS[policy_type].of_conf(None if found is None else found.conf, at)
    return {own_cluster(destination).place: Fact(read, found)}


def _of_chains(pair: MeshComparison) -> Iterator[Witness]:
    if not (zone_egress(pair.before.mesh_resource) and zone_egress(pair.after.mesh_resource)):
        return
    there = set(_services(pair.before))
    both = [service for service in _services(pair.after) if service in there]
    for policy_type in _asked(pair, _ON_CHAINS) if both else ():
        for service in both:
            was, now = (_at_chain(s, policy_type, service) for s in (pair.before, pair.after))
            for found in differences({("inbound",): was}, {("inbound",): now}, common=True):
                yield pair.witness(policy_type, "inbound", found, ServiceTag(service))


def _services(side: Side) -> Iterator[str]:
    """Yield the service tags of external services, each once."""
    tags = (texts(r.spec.get("tags")) for r in side.state.of_type("ExternalService"))
    yield from dict.fromkeys(one.get(SERVICE, "") for one in tags)


def _at_chain(side: Side, policy_type: str, service: str) -> Fact:
    kind = side.release.policy_types[policy_type]
    every = side.matcher.everybodys(policy_type)
    mine = [policy for policy in every if _is_for(top_of(policy, side.release), service)]
    read = from_rules(mine, kind, side.release)
    # Sidecars read `from` of limits as rules.
    limits = () if READINGS[policy_type].of_from is not None else read
    rules = tuple(InboundRule(match={}, conf=r.conf, entries=r.entries) for r in limits)
    return inbound_fact(side, policy_type, InboundPoint(rules=rules, from_rules=read))


def _is_for(top: TargetRef, service: str) -> bool:
    if top.kind in ("MeshService", "MeshServiceSubset") and top.name != service:
        return False
    if top.kind in ("MeshSubset", "MeshServiceSubset"):
        return all(key == SERVICE and value in ("*", service) for key, value in top.tags or ())
    return top.kind in ("Mesh", "MeshService")


def _asked(pair: MeshComparison, types: tuple[str, ...]) -> Iterator[str]:
    """Yield those types of which some policy is another, or reads other things."""
    for policy_type in types:
        known = all(policy_type in s.release.policy_types for s in (pair.before, pair.after))
        if not known or not pair.compares(policy_type):
            continue
        lists = [
            side.contents.of_list(side.matcher.everybodys(policy_type))
            for side in (pair.before, pair.after)
        ]
        if lists[0] != lists[1] or not pair.same_ground:
            yield policy_type
