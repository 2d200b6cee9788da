"""The conf of a CircuitBreaker as that of a MeshCircuitBreaker (legacy.md §1.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumamigrate.rewrite.sourcedest.confnotes import Notes
from kumamigrate.rewrite.sourcedest.conversion import Json
from kumamigrate.rewrite.sourcedest.intorstring import int_or_text
from kumamigrate.sourcedest.goduration import ZERO
from kumamigrate.sourcedest.oldconf import OldConf

LIMITS: Json = {
    "maxConnections": 1024,
    "maxPendingRequests": 1024,
    "maxRequests": 1024,
    "maxRetries": 3,
}
_COUNTED = {
    "totalErrors": "totalFailures",
    "gatewayErrors": "gatewayFailures",
    "localErrors": "localOriginFailures",
}


def mesh_circuit_breaker(conf: OldConf, notes: Notes) -> Json:
    """Return the MeshCircuitBreaker conf (§1.5).

    Limits that the old policy leaves out have the same defaults in both engines; only where there
    is nothing else to say are they written out.
    """
    limits = dict(conf.get("thresholds") or {})
    for name, value in limits.items():
        if value == 0:
            notes.lost("0 is not representable: the new limit must be above 0", "thresholds", name)
    detectors = conf.get("detectors")
    if not limits and not detectors:
        return {"connectionLimits": dict(LIMITS)}
    result: Json = {"connectionLimits": limits} if limits else {}
    if detectors:
        result["outlierDetection"] = _outlier(conf, detectors, notes)
    return result


def _outlier(conf: OldConf, detectors: Mapping[str, Any], notes: Notes) -> Json:
    result: Json = {}
    for name in ("interval", "baseEjectionTime"):
        value = conf.get(name)
        if value is not None and value <= ZERO:
            notes.lost("0 or less is not representable", name)
        if value is not None:
            result[name] = str(value)
    for name in ("maxEjectionPercent", "splitExternalAndLocalErrors"):
        if conf.get(name) is not None:
            result[name] = conf.get(name)
    new: Json = {}
    for old, renamed in _COUNTED.items():
        if old in detectors:
            new[renamed] = {"consecutive": _above_zero(detectors[old], old, notes)}
    if "standardDeviation" in detectors:
        new["successRate"] = _success_rate(detectors["standardDeviation"])
    if "failure" in detectors:
        new["failurePercentage"] = dict(detectors["failure"])
    if conf.get("splitExternalAndLocalErrors") and "standardDeviation" not in detectors:
        notes.lost(
            "it makes Envoy eject by the success rate of local errors, too, which cannot be asked"
            " for alone any more (add standardDeviation, or leave it out)",
            "splitExternalAndLocalErrors",
        )
    result["detectors"] = new
    return result


def _above_zero(values: Mapping[str, Any], name: str, notes: Notes) -> int:
    count = int(values.get("consecutive", 5))
    if count == 0:
        notes.lost("consecutive 0 is not representable", "detectors", name, "consecutive")
    return count


def _success_rate(values: Mapping[str, Any]) -> Json:
    kept = {k: v for k, v in values.items() if k != "factor"}
    factor = values.get("factor")
    return kept if factor is None else {**kept, "standardDeviationFactor": int_or_text(factor)}
