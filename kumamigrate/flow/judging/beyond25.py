"""Where policies up to 2.5 have no say: meshes that have left their engine behind.

In mode Exclusive a proxy has no service-tag outbounds, and of old policies real ones read nothing:
a TrafficRoute takes them away from proxies that no route of the new kind reaches, and leaves the
others as they are (legacy.md §2.9, prover.md §6 C). Inbounds get MeshTimeout's values whatever an
old Timeout says since 2.14 (fact 6), and permissions are no matter of timeouts and retries.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from kumamigrate.model.conf import canonical
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.resource import EFFECT, ROLE, Resource, mapping
from kumamigrate.model.state import State, mesh_services_mode
from kumamigrate.model.versions import at_least

_OUTBOUND = {
    "MeshAccessLog",
    "MeshCircuitBreaker",
    "MeshHTTPRoute",
    "MeshHealthCheck",
    "MeshLoadBalancingStrategy",
    "MeshMetric",
    "MeshPassthrough",
    "MeshRetry",
    "MeshTLS",
    "MeshTimeout",
    "MeshTrace",
}
"""Types whose settings no policy up to 2.5 decides in such a mesh."""
_OTHERS = OLD_POLICIES | {"ExternalService", "MeshGateway", "MeshGatewayRoute", "MeshTCPRoute"}
"""Types beside which it is not so plain: what old policies do there is asked of the prover."""
_SINCE = "2.14"


def is_beyond(before: State, after: State, mesh: str, touched: Set[str]) -> bool:
    """Say whether policies up to 2.5 change nothing about what differs between two states."""
    sides = (before.mesh(mesh), after.mesh(mesh))
    return (
        touched <= _OUTBOUND
        and all(at_least(side.release, _SINCE) for side in sides)
        and all(mesh_services_mode(side, mesh) == "Exclusive" for side in sides)
        and not any(any(side.of_type(*_OTHERS)) or any(_tagged(side)) for side in sides)
        and _routed(sides[0]) == _routed(sides[1])
        and _inbound(sides[0]) == _inbound(sides[1])
    )


def _tagged(state: State) -> Iterator[Resource]:
    """Yield the Dataplanes with an outbound of their own that is chosen by tags."""
    for dataplane in state.of_type("Dataplane"):
        listed = mapping(dataplane.spec.get("networking")).get("outbound")
        if any("backendRef" not in mapping(one) for one in listed or ()):
            yield dataplane


def _routed(state: State) -> set[str]:
    """Return which proxies have routes: the selectors of all, and what says whom they count for."""
    return {
        canonical(
            [
                route.spec.get("targetRef") or {"kind": "Mesh"},
                route.namespace,
                *(route.labels.get(key) for key in (ROLE, EFFECT)),
            ]
        )
        for route in state.of_type("MeshHTTPRoute")
    }


def _inbound(state: State) -> set[str]:
    """Return the timeouts with a say on inbounds, each as it stands."""
    return {
        canonical([timeout.display_name, timeout.namespace, dict(timeout.spec)])
        for timeout in state.of_type("MeshTimeout")
        if timeout.spec.get("from") or timeout.spec.get("rules")
    }
