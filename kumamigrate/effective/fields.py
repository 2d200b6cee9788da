"""How each leaf of a conf is read where old policies stand beside new ones (legacy.md §3).

`READ` names, by policy type and direction, the leaves that an old policy can say as well: for them
`legacy` brings both engines to one form. Every other leaf has no counterpart in an old policy and
stands in the effect as it is (`rest`), so that no leaf of a schema can be left out. A type and
direction that is not in the table is compared as the new engine reads it, by nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumamigrate.effective.settings import flat

Slot = tuple[str, str]
"""A policy type and a direction: "outbound", "inbound" or "proxy"."""

_RETRIES = ("numRetries", "perTryTimeout", "backOff.baseInterval", "backOff.maxInterval", "retryOn")
_TIMEOUTS = (
    "connectionTimeout",
    "idleTimeout",
    "http.requestTimeout",
    "http.streamIdleTimeout",
    "http.maxStreamDuration",
)
_OUTLIERS = (
    "disabled",
    "interval",
    "baseEjectionTime",
    "maxEjectionPercent",
    "splitExternalAndLocalErrors",
    "detectors",
)
_LIMITS = ("maxConnections", "maxPendingRequests", "maxRequests", "maxRetries")

READ: Mapping[Slot, tuple[str, ...]] = {
    ("MeshTimeout", "outbound"): _TIMEOUTS,
    ("MeshTimeout", "inbound"): _TIMEOUTS,
    ("MeshRetry", "outbound"): (
        "tcp.maxConnectAttempt",
        *(f"{block}.{leaf}" for block in ("http", "grpc") for leaf in _RETRIES),
    ),
    ("MeshCircuitBreaker", "outbound"): (
        *(f"connectionLimits.{leaf}" for leaf in _LIMITS),
        *(f"outlierDetection.{leaf}" for leaf in _OUTLIERS),
    ),
    ("MeshHealthCheck", "outbound"): (
        "interval",
        "timeout",
        "unhealthyThreshold",
        "healthyThreshold",
        "initialJitter",
        "intervalJitter",
        "intervalJitterPercent",
        "healthyPanicThreshold",
        "failTrafficOnPanic",
        "eventLogPath",
        "alwaysLogHealthCheckFailures",
        "noTrafficInterval",
        "reuseConnection",
        "tcp",
        "http",
        "grpc",
    ),
    ("MeshAccessLog", "outbound"): ("backends",),
    ("MeshLoadBalancingStrategy", "outbound"): (
        "loadBalancer",
        "localityAwareness",
        "hashPolicies",
    ),
    ("MeshHTTPRoute", "outbound"): ("hostnames", "rules"),
    ("MeshTCPRoute", "outbound"): ("default",),
    ("MeshTrafficPermission", "inbound"): ("action", "deny", "allow", "allowWithShadowDeny"),
    ("MeshFaultInjection", "inbound"): ("http",),
    ("MeshRateLimit", "inbound"): ("local.http",),
    ("MeshTrace", "proxy"): ("backends", "sampling.overall"),
    ("MeshProxyPatch", "proxy"): ("appendModifications",),
}
"""A path stands for all that is below it."""

_SILENT: Mapping[str, Any] = {
    "http.maxConnectionDuration": "0s",
    "http.requestHeadersTimeout": "0s",
}
"""Values that say no more than a field that is not there."""


def rest(policy_type: str, direction: str, conf: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the leaves of a conf that no old policy can say, as they stand, by dotted path."""
    read = READ[policy_type, direction]
    below = tuple(f"{path}." for path in read)
    return {
        path: value
        for path, value in flat(conf).items()
        if path not in read and not path.startswith(below) and _SILENT.get(path) != value
    }


def only(prefix: str, leaves: Mapping[str, Any]) -> dict[str, Any]:
    """Return the leaves below a path."""
    return {path: value for path, value in leaves.items() if path.startswith(f"{prefix}.")}
