"""The load balancer of a TrafficRoute as that of a MeshLoadBalancingStrategy (§1.2)."""

from __future__ import annotations

from kumamigrate.rewrite.sourcedest.confnotes import Notes
from kumamigrate.rewrite.sourcedest.conversion import Json
from kumamigrate.sourcedest.oldconf import OldConf

_BALANCERS = {
    "roundRobin": "RoundRobin", "leastRequest": "LeastRequest", "ringHash": "RingHash",
    "random": "Random", "maglev": "Maglev",
}  # fmt: skip
_HASHES = {"XX_HASH": "XXHash", "MURMUR_HASH_2": "MurmurHash2"}
ROUND_ROBIN: Json = {"type": "RoundRobin"}


def load_balancer(conf: OldConf, notes: Notes) -> Json:
    """Return `loadBalancer` of a MeshLoadBalancingStrategy; unset is round robin in both."""
    old = conf.get("loadBalancer") or {}
    name = next((n for n in _BALANCERS if n in old), "roundRobin")
    result: Json = {"type": _BALANCERS[name]}
    if name == "leastRequest":
        count = old[name].get("choiceCount") or 2
        result["leastRequest"] = {"choiceCount": count}
    if name == "ringHash":
        ring: Json = {"hashFunction": _HASHES[old[name]["hashFunction"]]}
        for size in ("minRingSize", "maxRingSize"):
            value = old[name].get(size)
            if value:
                ring[size] = value
            else:
                notes.warn(
                    f"{size} unset was sent to Envoy as 0, now Envoy's default applies",
                    "loadBalancer",
                    "ringHash",
                )
        result["ringHash"] = ring
    return result
