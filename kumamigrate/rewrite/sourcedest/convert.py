"""All conversions by the old kind they are for; TrafficRoute last, since others need it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kumamigrate.rewrite.sourcedest.conversion import Conversion
from kumamigrate.rewrite.sourcedest.external import (
    convert_external_service,
    report_virtual_outbound,
)
from kumamigrate.rewrite.sourcedest.faults import convert_fault_injection
from kumamigrate.rewrite.sourcedest.gatewayroute import convert_gateway_route
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.rewrite.sourcedest.limits import convert_rate_limit
from kumamigrate.rewrite.sourcedest.meshfields import (
    convert_mesh_locality,
    convert_mesh_logging,
    convert_mesh_metrics,
    convert_mesh_passthrough,
    convert_mesh_tracing,
    convert_policy_engine,
    report_constraints,
    report_mesh_mtls_mode,
)
from kumamigrate.rewrite.sourcedest.outbounds.outboundkinds import (
    convert_circuit_breaker,
    convert_health_check,
    convert_retry,
    convert_traffic_log,
)
from kumamigrate.rewrite.sourcedest.outbounds.timeouts import convert_timeout
from kumamigrate.rewrite.sourcedest.outbounds.trafficroute import convert_traffic_route
from kumamigrate.rewrite.sourcedest.trafficpermission import convert_traffic_permission
from kumamigrate.rewrite.sourcedest.wholeproxy import convert_proxy_template, convert_traffic_trace

CONVERTERS: Mapping[str, Callable[[KnownWorld], Conversion]] = {
    "TrafficPermission": convert_traffic_permission,
    "Timeout": convert_timeout,
    "Retry": convert_retry,
    "CircuitBreaker": convert_circuit_breaker,
    "HealthCheck": convert_health_check,
    "FaultInjection": convert_fault_injection,
    "RateLimit": convert_rate_limit,
    "TrafficLog": convert_traffic_log,
    "TrafficTrace": convert_traffic_trace,
    "ProxyTemplate": convert_proxy_template,
    "TrafficRoute": convert_traffic_route,
    "MeshGatewayRoute": convert_gateway_route,
    "ExternalService": convert_external_service,
    "VirtualOutbound": report_virtual_outbound,
    "Mesh.logging": convert_mesh_logging,
    "Mesh.tracing": convert_mesh_tracing,
    "Mesh.metrics": convert_mesh_metrics,
    "Mesh.mtls.mode": report_mesh_mtls_mode,
    "Mesh.networking.outbound.passthrough": convert_mesh_passthrough,
    "Mesh.routing.localityAwareLoadBalancing": convert_mesh_locality,
    "Mesh.constraints": report_constraints,
    "Mesh.policyEngine": convert_policy_engine,
}
