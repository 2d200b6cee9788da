"""All conversions by the old kind they are for; TrafficRoute last, since others need it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kumamigrate.rewrite.legacy.conversion import Conversion
from kumamigrate.rewrite.legacy.faults import convert_fault_injection
from kumamigrate.rewrite.legacy.kinds import (
    convert_circuit_breaker,
    convert_health_check,
    convert_retry,
    convert_timeout,
    convert_traffic_log,
)
from kumamigrate.rewrite.legacy.limits import convert_rate_limit
from kumamigrate.rewrite.legacy.permission import convert_traffic_permission
from kumamigrate.rewrite.legacy.trafficroute import convert_traffic_route
from kumamigrate.rewrite.legacy.whole import convert_proxy_template, convert_traffic_trace
from kumamigrate.rewrite.legacy.world import World

CONVERTERS: Mapping[str, Callable[[World], Conversion]] = {
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
}
