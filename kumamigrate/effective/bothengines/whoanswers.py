"""Who answers where both engines stand: source/destination policies and those with a targetRef.

The table of legacy.md §3, place by place:

* on an outbound the engine that makes it (oldview.py), and there, policy type by policy type, what
  `beside` of the type's reading says (policies/);
* at an inbound, client by client, clientfacts.py;
* in a proxy as a whole, `beside` again (proxyfacts.py).

Where creation time, a protocol that nobody knows or the order of outbounds decides, a fact holds
all values that may stand there (fact.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from kumamigrate.model.packed import packed
from kumamigrate.universe.side import ROUTES, Side

OUTBOUND = (
    "MeshTimeout",
    "MeshRetry",
    "MeshCircuitBreaker",
    "MeshHealthCheck",
    "MeshAccessLog",
    "MeshLoadBalancingStrategy",
    *ROUTES,
)
BY_CLIENT = ("MeshTrafficPermission", "MeshFaultInjection", "MeshRateLimit")
"""Types of inbounds of which both engines choose clients, each by means of its own."""
WHOLE = ("MeshTrace", "MeshProxyPatch")
BESIDE = {"MeshHealthCheck": ("MeshProxyPatch",)}
"""Types that set what another one cannot, so that both decide who reads what."""


@cache
def successors() -> Mapping[str, Sequence[str]]:
    """Return the new types that take the place of each old kind."""
    found: Mapping[str, Sequence[str]] = packed("effective", "engines.json")
    return found


def kinds_of(policy_type: str) -> tuple[str, ...]:
    """Return the old kinds whose place a new type takes."""
    return tuple(kind for kind, new in successors().items() if policy_type in new)


def covered_types(before: Side, after: Side, changed: frozenset[str]) -> frozenset[str]:
    """Return the new types that are compared together with the old kinds whose place they take.

    Where TrafficRoutes make outbounds, all that is written on them is: their clusters are not
    those that the new routes name.
    """
    there = {kind for side in (before, after) for kind in side.old.by_kind}
    found: set[str] = set()
    for kind in there:
        new = successors().get(kind, ())
        if changed & {kind, *new}:
            found.update(new)
    if "TrafficRoute" in there:
        found.update(OUTBOUND if changed & {"TrafficRoute", *ROUTES} else changed & set(OUTBOUND))
    if "MeshHealthCheck" in found and "MeshProxyPatch" in changed:
        found.add("MeshProxyPatch")  # it sets probes that no MeshHealthCheck can
    return frozenset(found)
