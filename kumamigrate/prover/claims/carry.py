"""Claim *carry*: what service-tag outbounds read before, real-resource outbounds read after.

Compared service by service and route match by route match. Names of routes, inbounds and access
logs do not count, and a service-tag outbound without any timeout counts as having the defaults
(matcher-notes §3, README of the goldens). Where a release ends the outbounds by tag (`ends`), logs
and what nobody says count as well: the release itself changes them (legacy-notes C16).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.effective.compare import Difference, differences
from kumamigrate.effective.difference import Witness, each_once
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.effective.fact import Fact, Key
from kumamigrate.effective.outboundfacts import BY_OUTBOUND, facts_by_meaning, outbound_facts
from kumamigrate.effective.reading import Values
from kumamigrate.effective.routing import (
    BACKENDS,
    FAILING,
    ROUTING,
    TCP_ROUTING,
    Routing,
    meant,
    routing_facts,
)
from kumamigrate.effective.split import Backend
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.model.state import mesh_services_mode
from kumamigrate.prover.slots.mesh import MeshComparison
from kumamigrate.targetref.backendref import ports_of
from kumamigrate.targetref.route import Destination, RealResource, ServiceTag
from kumamigrate.universe.backend import Cluster, own_cluster, written_outbounds
from kumamigrate.universe.network import Network
from kumamigrate.universe.traffic import Outbound, successors

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


def couples_of(pair: MeshComparison, services: Sequence[str]) -> Network:
    """Return services with the real destinations that replace them."""
    couples = [(ServiceTag(s), d) for s in services for d in successors(pair.after, s)]
    return Network(pair.before, pair.after, couples)


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


def takes_over(pair: MeshComparison, old: Cluster, new: Cluster) -> bool:
    """Say whether an outbound afterwards leads to what takes the place of a service tag, which
    nobody can tell where nothing does (`carry_doubts`)."""
    if not isinstance(old.destination, ServiceTag):
        return False
    if old.tags:
        return meant(pair.after, new).stands_for == old
    every = successors(pair.after, old.destination.service)
    return not every or _is_among(new.destination, every)


def as_tags(found: Iterable[Witness]) -> tuple[Witness, ...]:
    """Return witnesses as differences of service-tag outbounds that are there."""
    return tuple(replace(w, outbound=Outbound.SERVICE_TAG) for w in found)


def carry_doubts(pair: MeshComparison, was: Resource, alone: Sequence[str]) -> tuple[Doubt, ...]:
    """Return the services of a proxy of which nothing says what replaces them.

    `alone` are those of a transparent proxy.
    """
    if written_outbounds(pair.before, was) is not None:
        alone = unreplaced(pair, services_of(pair, was))
    return tuple(
        Doubt(
            DoubtKind.MISSING,
            f"nothing says which real resource takes the place of service {service}; add its"
            " MeshService, or an inventory that has it",
        )
        for service in alone
    )


def unreplaced(pair: MeshComparison, services: Iterable[str]) -> tuple[str, ...]:
    """Return the services that nothing replaces."""
    return tuple(service for service in services if not successors(pair.after, service))


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
        clusters, wrong = _clusters(pair, left, right, old, new)
        if policy_type == ROUTING:
            found = [*_routes(pair, left, right), *wrong]
            pair.kept[key] = pair.routing_witnesses(found, new)
        else:
            before = outbound_facts(
                pair.before,
                was,
                policy_type,
                old,
                left,
                as_real=policy_type not in unset,
                own=own[0],
            )
            after = outbound_facts(pair.after, now, policy_type, new, right, own=own[1])
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


def services_of(pair: MeshComparison, was: Resource) -> tuple[str, ...]:
    """Return the services that a proxy reaches through service-tag outbounds.

    A proxy that has real outbounds only (the mode was switched already) counts with the service
    tags that they replaced.
    """
    written = written_outbounds(pair.before, was)
    reached = [c.destination for c in (written or {}).values()]
    tags = [d.service for d in reached if isinstance(d, ServiceTag)]
    if not tags:
        tags = [t for d in reached if isinstance(d, RealResource) for t in _replaced(pair, d)]
    return tuple(dict.fromkeys(tags))


def _replaced(pair: MeshComparison, destination: RealResource) -> list[str]:
    """Return the service tag that a real destination takes the place of."""
    resource = pair.before.real.get(destination.kri.of_section(""))
    if resource is None or resource.type != "MeshService":
        return []
    kri = destination.kri
    names = [resource.labels.get(SERVICE), kri.name]
    for port in ports_of(resource.spec):
        if str(port.get("name") or port.get("port", "")) == kri.section:
            names.append(f"{kri.name}_{kri.namespace}_svc_{port.get('port')}")
    return [n for n in names if n and _is_among(destination, successors(pair.before, n))][:1]


def _is_among(destination: Destination, found: Sequence[RealResource]) -> bool:
    """Whether a destination is one of some, by name or by number."""
    return isinstance(destination, RealResource) and destination.kri in {d.kri for d in found}


def targets_of(pair: MeshComparison, now: Resource, service: str) -> tuple[RealResource, ...]:
    """Return the real destinations that replace a service for a proxy."""
    all_of_them = successors(pair.after, service)
    written = written_outbounds(pair.after, now)
    mine = dict.fromkeys(c.destination for c in (written or {}).values())
    among = (d for d in mine if isinstance(d, RealResource) and _is_among(d, all_of_them))
    return tuple(among) or all_of_them


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


def _routes(pair: MeshComparison, left: Routing, right: Routing) -> Iterator[Difference]:
    """Yield differences in which routes there are and what else they do; not in where they go."""
    before = _without_backends(routing_facts(pair.before, left))
    after = _without_backends(routing_facts(pair.after, right))
    yield from differences(before, after)


def _without_backends(facts: dict[Key, Fact]) -> dict[Key, Fact]:
    return {
        key: replace(f, settings={**f.settings, BACKENDS: "…"}) if f.route else f
        for key, f in facts.items()
    }


def _clusters(
    pair: MeshComparison,
    left: Routing,
    right: Routing,
    old: Destination,
    new: Destination,
) -> tuple[dict[Key, Key], list[Difference]]:
    """Return which cluster takes the place of which, and the routes where none does."""
    renamed = {_place(pair, own_cluster(old)): own_cluster(new).place}
    wrong: list[Difference] = []
    for key, before, after in _route_pairs(left, right):
        was = left.splits[key].backends
        then = right.splits[key]
        now = tuple(replace(b, cluster=meant(pair.after, b.cluster)) for b in then.backends)
        fits = len(was) == len(now) and all(
            b.weight == a.weight and _replaces(pair, b.cluster, a.cluster, old, new)
            for b, a in zip(was, now, strict=False)
        )
        if fits and not then.failing:
            renamed.update(
                {_place(pair, b.cluster): a.cluster.place for b, a in zip(was, now, strict=True)}
            )
            continue
        said = (_sent(was, left.splits[key].failing), _sent(now, then.failing))
        facts = (Fact(said[0], None, before), Fact(said[1], None, after))
        wrong += [
            Difference(
                key=key,
                field=field,
                before=said[0].get(field),
                after=said[1].get(field),
                was=facts[0],
                now=facts[1],
            )
            for field in (BACKENDS, FAILING)
            if (then.failing if field == FAILING else not fits)
        ]
    return renamed, wrong


def _sent(backends: Sequence[Backend], failing: Any) -> Values:
    """Return where a route sends requests, and how many of them are answered with an error."""
    found: Values = {BACKENDS: [[one.cluster.key, one.weight] for one in backends]}
    return {**found, FAILING: failing} if failing else found


def _place(pair: MeshComparison, cluster: Cluster) -> Key:
    return meant(pair.before, cluster).place


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
    if old.tags or new.tags or new.stands_for is not None:
        return new.stands_for == old
    if old.destination == source:
        # The very destination of the outbound: any port of its successor will do.
        return new.key == own_cluster(target).key or _is_among(new.destination, _of(pair, old))
    return old.key == new.key or _is_among(new.destination, _of(pair, old))


def _of(pair: MeshComparison, cluster: Cluster) -> tuple[RealResource, ...]:
    if not isinstance(cluster.destination, ServiceTag):
        return ()
    return successors(pair.after, cluster.destination.service)


def _renamed(facts: dict[Key, Fact], clusters: dict[Key, Key]) -> dict[Key, Fact]:
    return {clusters.get(key, key): fact for key, fact in facts.items()}
