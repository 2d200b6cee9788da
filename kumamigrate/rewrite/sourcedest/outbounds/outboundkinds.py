"""Retry, CircuitBreaker, HealthCheck and TrafficLog, each as one outbound kind (legacy.md §1)."""

from __future__ import annotations

from kumamigrate.dataclass import replace
from kumamigrate.effective.policies.meshhealthcheck import UNPROBED
from kumamigrate.rewrite.sourcedest.backends import access_log_backends
from kumamigrate.rewrite.sourcedest.confnotes import Notes
from kumamigrate.rewrite.sourcedest.conversion import Conversion, Json
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.rewrite.sourcedest.notconverted import unrouted
from kumamigrate.rewrite.sourcedest.outbounds.breakerconf import mesh_circuit_breaker
from kumamigrate.rewrite.sourcedest.outbounds.convertoutbound import convert_outbound
from kumamigrate.rewrite.sourcedest.outbounds.probeconf import (
    mesh_health_check,
    mesh_health_check_unprobed,
)
from kumamigrate.rewrite.sourcedest.outbounds.probes import patches, why_unpatched, with_lasting
from kumamigrate.rewrite.sourcedest.outbounds.retryconf import mesh_retry
from kumamigrate.rewrite.sourcedest.outbounds.winnertable import Cell, OutboundKind
from kumamigrate.sourcedest.oldconf import read_conf
from kumamigrate.sourcedest.proxy import PASS_THROUGH
from kumamigrate.sourcedest.targets import UNKNOWN


def convert_retry(world: KnownWorld) -> Conversion:
    """Return the MeshRetries for the Retries of a mesh."""
    return convert_outbound(world, _RETRY)


def _retry_conf(cell: Cell, notes: Notes) -> Json:
    conf = read_conf("Retry", cell.policy.spec)
    protocol = cell.world.protocols.get(cell.service)
    if conf.get("tcp") is not None and protocol in ("kafka", UNKNOWN):
        notes.warn(f"{cell.service} is {protocol}: MeshRetry only retries tcp connections", "tcp")
    return mesh_retry(conf, notes)


_RETRY = OutboundKind(
    old="Retry",
    new="MeshRetry",
    value=_retry_conf,
    looked_up="own",
    with_endpoints=True,
)


def convert_circuit_breaker(world: KnownWorld) -> Conversion:
    """Return the MeshCircuitBreakers for the CircuitBreakers of a mesh."""
    return convert_outbound(world, _CIRCUIT_BREAKER)


def _circuit_breaker_conf(cell: Cell, notes: Notes) -> Json:
    return mesh_circuit_breaker(read_conf("CircuitBreaker", cell.policy.spec), notes)


_CIRCUIT_BREAKER = OutboundKind(
    old="CircuitBreaker",
    new="MeshCircuitBreaker",
    value=_circuit_breaker_conf,
    looked_up="target",
)


def convert_health_check(world: KnownWorld) -> Conversion:
    """Return the MeshHealthChecks for the HealthChecks of a mesh, and patches for the rest."""
    return with_lasting(convert_outbound(world, _HEALTH_CHECK), world)


def _health_check_conf(cell: Cell, notes: Notes) -> Json:
    conf = read_conf("HealthCheck", cell.policy.spec)
    protocol = cell.world.protocols.get(cell.service)
    if conf.get("http") is None and protocol in UNPROBED:
        _patch_possible(cell, protocol, notes)
        return mesh_health_check_unprobed(conf, notes)
    if conf.get("http") is not None and protocol not in (None, "http", "http2") and cell.reached:
        notes.lost(
            f"{cell.service} is {protocol}: a MeshHealthCheck probes HTTP only on http and http2",
            "http",
        )
    return mesh_health_check(conf, notes)


def _patch_possible(cell: Cell, protocol: str, notes: Notes) -> None:
    """Note what keeps a MeshProxyPatch from setting a probe that a proxy has today."""
    why = why_unpatched(cell.world, cell.service) if cell.reached else ""
    if why:
        notes.lost(
            f"{cell.service} says protocol {protocol}, which a MeshHealthCheck does not probe, and"
            f" no MeshProxyPatch can set the probe: {why}; say kuma.io/protocol: tcp on its"
            " inbounds if that is what it speaks"
        )


_HEALTH_CHECK = OutboundKind(
    old="HealthCheck",
    new="MeshHealthCheck",
    value=_health_check_conf,
    looked_up="target",
    apart=True,
    patches=patches,
)


def convert_traffic_log(world: KnownWorld) -> Conversion:
    """Return the MeshAccessLogs for the TrafficLogs of a mesh (§1.9)."""
    settled = world.old.routed or world.no_defaults("TrafficRoute")
    policies = world.old.of("TrafficLog")
    if policies and not settled:
        return unrouted(world, "TrafficLog", policies)
    return convert_outbound(world, _TRAFFIC_LOG if world.old.routed else _PASSED_THROUGH)


def _traffic_log_conf(cell: Cell, notes: Notes) -> Json:
    return access_log_backends(cell.world.mesh_resource, cell.policy, notes)


_TRAFFIC_LOG = OutboundKind(
    old="TrafficLog",
    new="MeshAccessLog",
    value=_traffic_log_conf,
    routed=False,
    apart=True,
)
_PASSED_THROUGH = replace(_TRAFFIC_LOG, only=PASS_THROUGH)
"""Without a TrafficRoute the old engine still logs what passes through (fact 3)."""
