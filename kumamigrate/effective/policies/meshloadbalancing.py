"""MeshLoadBalancingStrategy, and the balancer of a TrafficRoute (legacy.md §1.2, notes §3.7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumamigrate.effective.policies.meshsections import locality_aware
from kumamigrate.effective.reading import At, Conf, SlotKind, TypeReading, Values, flat, leaf, said
from kumamigrate.model.resource import Resource, mapping
from kumamigrate.sourcedest.oldconf import conf_of

LOCALITY = "localityAwareness.disabled"
HASHES = "hashPolicies"
FIELDS = {
    "localityAwareness": leaf(SlotKind.CLUSTER),
    "loadBalancer": leaf(SlotKind.CLUSTER, SlotKind.ROUTE),
    HASHES: leaf(SlotKind.ROUTE, SlotKind.LISTENER),
}
_DEFAULTS: Mapping[str, Any] = {
    "leastRequest.choiceCount": 2,
    "ringHash.hashFunction": "XXHash",
    "ringHash.minRingSize": 1024,
    "ringHash.maxRingSize": 8 * 1024 * 1024,
    "maglev.tableSize": 65537,
}
_OLD_BALANCERS = {
    "leastRequest": "LeastRequest", "ringHash": "RingHash", "random": "Random", "maglev": "Maglev",
}  # fmt: skip
_OLD_HASHES = {"XX_HASH": "XXHash", "MURMUR_HASH_2": "MurmurHash2"}


def of_conf(conf: Conf | None, at: At) -> Values:
    """Return the hash policies of a route, or how a cluster balances.

    A listener without HTTP has no route to hash at (features 93 and 94).
    """
    if at.part is SlotKind.CLUSTER:
        return _cluster(conf, at)
    return _hashes(conf) if conf and at.part is SlotKind.ROUTE else {}


def _hashes(conf: Conf) -> Values:
    """Return hash policies: those at the root win over those of the chosen balancer."""
    found = conf.get(HASHES)
    if found is None:
        found = _chosen(conf)[1].get(HASHES)
    return {} if found is None else {HASHES: [_hashing(policy) for policy in found]}


def _hashing(policy: Any) -> Any:
    """Give the old type SourceIP its name since 2.10, where it hashes by just that."""
    if not isinstance(policy, Mapping) or policy.get("type") != "SourceIP":
        return policy
    by_address = policy.get("connection") == {"sourceIP": True}
    return {**policy, "type": "Connection"} if by_address else policy


def _cluster(conf: Conf | None, at: At) -> Values:
    """Return how a cluster balances: by the chosen balancer, round robin being what is anyway.

    Any conf switches locality awareness on unless it says otherwise. Without one the cluster of a
    service tag has what the Mesh says, and that of a real resource is aware of zones.
    """
    if conf is None:
        return {LOCALITY: at.tag and not locality_aware(at.mesh)}
    chosen, options = _chosen(conf)
    found = {LOCALITY: False, **flat(conf.get("localityAwareness"), "localityAwareness")}
    return {**found, **_balancer(chosen, options)}


def _chosen(conf: Conf) -> tuple[str, Mapping[str, Any]]:
    chosen = str(said(conf, "loadBalancer.type") or "")
    return chosen, mapping(said(conf, f"loadBalancer.{_lower(chosen)}"))


def _balancer(chosen: str, options: Mapping[str, Any]) -> Values:
    if chosen in ("", "RoundRobin"):
        return {}
    name = _lower(chosen)
    own = {k: v for k, v in flat(options).items() if k.split(".")[0] != HASHES}
    above = f"{name}."
    own = {**{k[len(above) :]: v for k, v in _DEFAULTS.items() if k.startswith(above)}, **own}
    return {"loadBalancer.type": chosen, **{f"loadBalancer.{name}.{k}": v for k, v in own.items()}}


def _lower(name: str) -> str:
    return name[:1].lower() + name[1:]


def of_old(policy: Resource | None, at: At) -> Values:
    """Return how the balancer of a TrafficRoute balances; zero sizes are none (§1.2)."""
    if at.part is not SlotKind.CLUSTER:
        return {}
    found = mapping(conf_of(policy).get("loadBalancer"))
    name = next((n for n in _OLD_BALANCERS if n in found), "")
    own = {k: _OLD_HASHES.get(v, v) for k, v in mapping(found.get(name)).items() if v}
    locality = {LOCALITY: not locality_aware(at.mesh)}
    return {**locality, **_balancer(_OLD_BALANCERS.get(name, ""), own)}


def beside(_policy: Resource | None, conf: Conf, at: At) -> Values:
    """Return what both come to: a conf takes it all, also at the routes of a TrafficRoute, which
    stand at its listener."""
    return of_conf(conf, at) if at.part is SlotKind.CLUSTER else _hashes(conf)


READING = TypeReading(
    policy_type="MeshLoadBalancingStrategy",
    fields=FIELDS,
    of_conf=of_conf,
    old="TrafficRoute",
    old_parts=(SlotKind.CLUSTER,),
    of_old=of_old,
    beside=beside,
    of_mesh=("routing.localityAwareLoadBalancing",),
)
