"""The kinds of resources Kuma knows besides targetRef policies, and the scope of each."""

from __future__ import annotations

ENTERPRISE_GLOBAL = frozenset({"AccessAudit", "AccessRole", "AccessRoleBinding"})
"""Kinds of Kong Mesh that belong to no mesh. None of its kinds is modelled."""

ENTERPRISE_ENDING = frozenset({"GlobalRateLimit", "MeshGlobalRateLimit", "OPAPolicy"})
"""Kinds of Kong Mesh that 3.0 does not have."""

ENTERPRISE = ENTERPRISE_GLOBAL | ENTERPRISE_ENDING | {"MeshOPA"}
"""Kinds of Kong Mesh, which lays its own on Kuma's."""

ENTERPRISE_TOP = ("MeshOPA",)
"""Kinds of Kong Mesh that 3.0 keeps and that choose proxies by a top-level targetRef."""

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

CLUSTER_SCOPED = (
    OLD_POLICIES
    | ENTERPRISE_GLOBAL
    | {
        "ExternalService",
        "GatewayClass",
        "Mesh",
        "MeshGateway",
        "MeshGatewayConfig",
        "MeshGatewayRoute",
        "MeshInsight",
        "Namespace",
        "OPAPolicy",
        "ServiceInsight",
        "Zone",
        "ZoneInsight",
    }
)
"""Kinds that belong to no namespace on Kubernetes: one that a manifest says is dropped there."""

WORKLOADS = frozenset(
    {"CronJob", "DaemonSet", "Deployment", "Job", "Pod", "ReplicaSet", "StatefulSet"}
)
"""Kubernetes kinds that carry a Pod template (or are one)."""

KUBERNETES = WORKLOADS | {"Namespace", "Service", "ServiceAccount"}
"""Plain Kubernetes kinds that rules and the prover read."""

HELM_VALUES = "HelmValues"
"""What a file with values for Kuma's Helm chart is called."""

HELM_KEYS = frozenset(
    {
        "admissionServerPort",
        "defaults",
        "envVars",
        "injectorFailurePolicy",
        "kdsGlobalAddress",
        "globalZoneSyncService",
        "mode",
        "supportGatewaySecretsInAllNamespaces",
        "zone",
    }
)
"""Keys below `controlPlane` that tell the values of Kuma's chart from those of others."""

CONTROL_PLANE_CONFIG = "ControlPlaneConfig"
"""What a configuration file of the control plane is called."""

CONTROL_PLANE_KEYS = frozenset(
    {"bootstrapServer", "dpServer", "interCp", "monitoringAssignmentServer", "xdsServer"}
)
"""Keys at the top that only such a file has."""
