"""Claim *carry*: what service-tag outbounds read before, real-resource outbounds read after.

Compared service by service and route match by route match. Names of routes, inbounds and access
logs do not count, and a service-tag outbound without any timeout counts as having the defaults
(matcher-notes §3, README of the goldens). Where a release ends the outbounds by tag (`ends`), logs
and what nobody says count as well: the release itself changes them (legacy-notes C16).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.effective.compare import Difference, differences
from kumamigrate.effective.difference import Witness, each_once
from kumamigrate.effective.fact import Fact, Key
from kumamigrate.effective.outboundfacts import BY_OUTBOUND, facts_by_meaning, outbound_facts
from kumamigrate.effective.routing import BACKENDS, ROUTING, TCP_ROUTING, Routing, routing_facts
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import mesh_services_mode
from kumamigrate.prover.claims.clustersreplaced import clusters_replaced
from kumamigrate.prover.claims.tagsreplaced import services_of, targets_of
from kumamigrate.prover.slots.mesh import MeshComparison
from kumamigrate.targetref.route import Destination, ServiceTag
from kumamigrate.universe.backend import written_outbounds
from kumamigrate.universe.network import Network
from kumamigrate.universe.traffic import Outbound

CARRIED = (
    "MeshTimeout",
    "MeshRetry",
    "MeshLoadBalancingStrategy",
    "MeshCircuitBreaker",
    "MeshHealthCheck",
)
LOGGED = (*CARRIED, "MeshAccessLog")
"""What the real resource has to read that takes the place of an outbound which ends."""
UNSET = ("MeshTimeout",)
"""What a real resource has though no policy says it, and an outbound by tag has not."""
Own = frozenset[str] | None


def carry_witnesses(
    pair: MeshComparison,
    was: Resource,
    now: Resource,
    couples: Network,
    *,
    ends: bool = False,
) -> tuple[Witness, ...]:
    """Return what of a proxy's service-tag outbounds is not carried over, of policies and routes.

    `couples` are those of a transparent proxy; `ends`: a release ends the outbounds.
    """
    asked = (ROUTING, *(LOGGED if ends else CARRIED))
    if written_outbounds(pair.before, was) is None:
        every = (carry_all(pair, was, now, kind, couples, ends=ends) for kind in asked)
        return tuple(w for found in every for w in found)
    found: list[Witness] = []
    for service in services_of(pair, was):
        for destination in targets_of(pair, now, service):
            for kind in asked:
                found += carry_one(
                    pair, was, now, kind, ServiceTag(service), destination, ends=ends
                )
    return tuple(found)


def as_tags(found: Iterable[Witness]) -> tuple[Witness, ...]:
    """Return witnesses as differences of service-tag outbounds that are there."""
    return tuple(replace(w, outbound=Outbound.SERVICE_TAG) for w in found)


def carry_all(
    pair: MeshComparison,
    was: Resource,
    now: Resource,
    policy_type: str,
    couples: Network,
    *,
    ends: bool,
) -> tuple[Witness, ...]:
    """Return what of one policy type, or of the routes, is not carried over for some services."""
    key = ("carry", ends, couples, *_inputs(pair, was, now, policy_type))
    if key not in pair.kept:
        is_named = partial(pair.is_named, was, now, policy_type)
        check = partial(carry_one, pair, was, now, policy_type, ends=ends)
        pair.kept[key] = couples.differing(is_named, check)
    return pair.kept[key]


def carry_one(
    pair: MeshComparison,
    was: Resource,
    now: Resource,
    policy_type: str,
    old: Destination,
    new: Destination,
    *,
    ends: bool,
) -> tuple[Witness, ...]:
    """Return what of one policy type, or of the routes, is not carried over."""
    unset = unset_types(pair) if ends else ()
    there = pair.before.types | pair.after.types | {ROUTING, *unset}
    if not pair.compares(policy_type) or policy_type not in there:
        return ()
    inputs = _inputs(pair, was, now, policy_type)
    own = inputs[0]
    key = ("carry", ends, old, new, inputs)
    if key not in pair.kept:
        left, right = pair.routing(pair.before, was, old), pair.routing(pair.after, now, new)
        clusters, wrong = clusters_replaced(pair, left, right, old, new)
        if policy_type == ROUTING:
            found = [*_routes(pair, left, right), *wrong]
            pair.kept[key] = pair.routing_witnesses(found, new)
        else:
            facts = partial(outbound_facts, as_real=policy_type not in unset)
            before = facts(pair.before, was, policy_type, old, left, own=own[0])
            after = facts(pair.after, now, policy_type, new, right, own=own[1])
            before, after = facts_by_meaning(_renamed(before, clusters)), facts_by_meaning(after)
            listed = differences(before, after, common=True)
            told = (pair.witness(policy_type, "outbound", one, new) for one in listed)
            pair.kept[key] = each_once(told)
    return pair.kept[key]


def unset_types(pair: MeshComparison) -> tuple[str, ...]:
    """Return the types of which a real resource has something though no policy says it.

    Where nobody says which mode a mesh is in, nobody knows that it has outbounds by tag: what they
    would have is announced, and no difference (announced.py).
    """
    said = mesh_services_mode(pair.before.state, pair.before.mesh) is not None
    return UNSET if said else ()


def _inputs(
    pair: MeshComparison, was: Resource, now: Resource, policy_type: str
) -> tuple[tuple[Own, Own], Any, Any, str]:
    """Return all that outbounds' differences in a type depend on."""
    kinds = dict.fromkeys((ROUTING, TCP_ROUTING, policy_type))
    return (
        _own(pair, was, now) if policy_type in BY_OUTBOUND else (None, None),
        tuple(pair.before.signature(was, kind) for kind in kinds),
        tuple(pair.after.signature(now, kind) for kind in kinds),
        policy_type,
    )


def _own(pair: MeshComparison, was: Resource, now: Resource) -> tuple[Own, Own]:
    """Return the services that a proxy has outbounds to by their tags, before and after.

    None: to every one. Afterwards these are the ones that its Dataplane still lists so, and in
    mode Exclusive none for a transparent proxy.
    """
    left = written_outbounds(pair.after, now)
    still = (one.destination for one in (left or {}).values())
    after = frozenset(one.service for one in still if isinstance(one, ServiceTag))
    every = left is None and mesh_services_mode(pair.after.state, pair.after.mesh) != "Exclusive"
    transparent = written_outbounds(pair.before, was) is None
    before = None if transparent else frozenset(services_of(pair, was))
    return before, None if every else after


def _routes(pair: MeshComparison, left: Routing, right: Routing) -> list[Difference]:
    """Return differences in which routes there are and what else they do; not in where they go."""
    before = _without_backends(routing_facts(pair.before, left))
    after = _without_backends(routing_facts(pair.after, right))
    return list(differences(before, after))


def _without_backends(facts: dict[Key, Fact]) -> dict[Key, Fact]:
    return {
        key: replace(f, settings={**f.settings, BACKENDS: "…"}) if f.route else f
        for key, f in facts.items()
    }


def _renamed(facts: dict[Key, Fact], clusters: dict[Key, Key]) -> dict[Key, Fact]:
    return {clusters.get(key, key): fact for key, fact in facts.items()}
