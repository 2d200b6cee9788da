"""The kinds of resources Kuma knows besides targetRef policies, and the scope of each."""

from __future__ import annotations

OLD_POLICIES = frozenset(
    {
        "CircuitBreaker",
        "FaultInjection",
        "HealthCheck",
        "ProxyTemplate",
        "RateLimit",
        "Retry",
        "Timeout",
        "TrafficLog",
        "TrafficPermission",
        "TrafficRoute",
        "TrafficTrace",
        "VirtualOutbound",
    }
)
"""Source/destination policies of the old engine."""

MESH_SCOPED = OLD_POLICIES | {
    "Dataplane",
    "DataplaneInsight",
    "ExternalService",
    "MeshExternalService",
    "MeshGateway",
    "MeshGatewayInstance",
    "MeshGatewayRoute",
    "MeshIdentity",
    "MeshMultiZoneService",
    "MeshOpenTelemetryBackend",
    "MeshService",
    "MeshTrust",
    "MeshZoneAddress",
    "Secret",
    "ServiceInsight",
    "Workload",
}
"""Kinds that belong to one mesh, targetRef policies aside."""

GLOBAL_SCOPED = frozenset(
    {
        "Config",
        "ContainerPatch",
        "GlobalSecret",
        "HostnameGenerator",
        "Mesh",
        "MeshGatewayConfig",
        "MeshInsight",
        "Zone",
        "ZoneEgress",
        "ZoneIngress",
        "ZoneInsight",
    }
)
"""Kinds that belong to no mesh."""

WORKLOADS = frozenset(
    {"CronJob", "DaemonSet", "Deployment", "Job", "Pod", "ReplicaSet", "StatefulSet"}
)
"""Kubernetes kinds that carry a Pod template (or are one)."""

KUBERNETES = WORKLOADS | {"Namespace", "Service", "ServiceAccount"}
"""Plain Kubernetes kinds that rules and the prover read."""
