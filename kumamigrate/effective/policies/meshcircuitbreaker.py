"""MeshCircuitBreaker, and the CircuitBreaker before it: limits and ejection (legacy.md §1.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumamigrate.effective.reading import (
    At,
    Conf,
    Rules,
    SlotKind,
    TypeReading,
    Values,
    as_read,
    leaf,
    number,
    read,
    said,
)
from kumamigrate.model.resource import Resource
from kumamigrate.model.versions import at_least
from kumamigrate.sourcedest.oldconf import OldConf, conf_of

_PARTS = (SlotKind.CLUSTER, SlotKind.INBOUND)
LIMITS, EJECTION, DETECTORS = "connectionLimits", "outlierDetection", "outlierDetection.detectors"

FIELDS = {
    f"{LIMITS}.maxConnections": leaf(*_PARTS, default=1024),
    f"{LIMITS}.maxPendingRequests": leaf(*_PARTS, default=1024),
    f"{LIMITS}.maxRequests": leaf(*_PARTS, default=1024),
    f"{LIMITS}.maxRetries": leaf(*_PARTS, default=3),
    f"{LIMITS}.maxConnectionPools": leaf(*_PARTS),
    f"{EJECTION}.disabled": leaf(),
    f"{EJECTION}.interval": leaf(*_PARTS, default="10s"),
    f"{EJECTION}.baseEjectionTime": leaf(*_PARTS, default="30s"),
    f"{EJECTION}.maxEjectionPercent": leaf(*_PARTS, default=10),
    f"{EJECTION}.splitExternalAndLocalErrors": leaf(*_PARTS, default=False),
    f"{EJECTION}.healthyPanicThreshold": leaf(*_PARTS),
    f"{DETECTORS}.totalFailures.consecutive": leaf(*_PARTS),
    f"{DETECTORS}.gatewayFailures.consecutive": leaf(*_PARTS),
    f"{DETECTORS}.localOriginFailures.consecutive": leaf(*_PARTS),
    f"{DETECTORS}.successRate.requestVolume": leaf(*_PARTS, default=100),
    f"{DETECTORS}.successRate.minimumHosts": leaf(*_PARTS, default=5),
    f"{DETECTORS}.successRate.standardDeviationFactor": leaf(*_PARTS, default=1.9),
    f"{DETECTORS}.failurePercentage.requestVolume": leaf(*_PARTS, default=50),
    f"{DETECTORS}.failurePercentage.minimumHosts": leaf(*_PARTS, default=5),
    f"{DETECTORS}.failurePercentage.threshold": leaf(*_PARTS, default=85),
}
_OLD_DETECTORS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "totalErrors": ("totalFailures", {"consecutive": 5}),
    "gatewayErrors": ("gatewayFailures", {"consecutive": 5}),
    "localErrors": ("localOriginFailures", {"consecutive": 5}),
    "standardDeviation": ("successRate", {}),
    "failure": ("failurePercentage", {}),
}
_NEW_NAMES = {"factor": "standardDeviationFactor"}
FIELD_BY_FIELD = "2.14"
"""Since then the limits of a conf take the place of old ones field by field (legacy.md §3)."""
PANIC = f"{EJECTION}.healthyPanicThreshold"
FACTOR = f"{DETECTORS}.successRate.standardDeviationFactor"
LOCAL_RATE = f"{DETECTORS}.successRate of local errors"


def of_conf(conf: Conf | None, at: At) -> Values:
    """Return the limits, and how hosts are ejected, if they are at all."""
    return {**_limits(conf, at), **_ejection(conf, at)}


def of_rules(_rules: Rules, merged: Conf | None, at: At) -> Values:
    """Return what an inbound reads: rules with a match are nothing (matcher-notes §3.10)."""
    return of_conf(merged, at)


def of_old(policy: Resource | None, at: At) -> Values:
    """Return what a CircuitBreaker comes to; thresholds alone eject nobody."""
    conf = conf_of(policy)
    return {**_limits({LIMITS: conf.get("thresholds") or {}}, at), **_old_ejection(conf, at)}


def beside(policy: Resource | None, conf: Conf, at: At) -> Values:
    """Return what both come to: each section of a conf takes the place of the old one.

    Since 2.14 the limits do so field by field. An ejection that is switched off leaves the old one.
    """
    old = conf_of(policy)
    limits: Conf = conf.get(LIMITS) or {}
    if not limits or at_least(at.release, FIELD_BY_FIELD):
        limits = {**(old.get("thresholds") or {}), **limits}
    block = conf.get(EJECTION)
    ejects = block is not None and block.get("disabled") is not True
    ejection = _ejection(conf, at) if ejects else _old_ejection(old, at)
    return {**_limits({LIMITS: limits}, at), **ejection}


def _limits(conf: Conf | None, at: At) -> Values:
    return read(FIELDS, at.part, conf, LIMITS)


def _ejection(conf: Conf | None, at: At) -> Values:
    """Return the ejection of a conf; a detector that counts to no number is not enforced."""
    block = said(conf, EJECTION)
    if not block or block.get("disabled") is True:
        return {}
    found = _enforced(conf, at, block.get("detectors") or {})
    return {k: number(v) if k in (PANIC, FACTOR) else v for k, v in found.items()}


def _old_ejection(conf: OldConf, at: At) -> Values:
    detectors = conf.get("detectors")
    if not detectors:
        return {}
    there = {
        new: {_NEW_NAMES.get(k, k): as_read(v) for k, v in {**least, **detectors[old]}.items()}
        for old, (new, least) in _OLD_DETECTORS.items()
        if old in detectors
    }
    outer = {name: as_read(value) for name, value in conf.value.items()}
    found = _enforced({EJECTION: {**outer, "detectors": there}}, at, there)
    if outer.get("splitExternalAndLocalErrors") is True and "successRate" not in there:
        # Envoy judges local errors by their rate unless told not to; no MeshCircuitBreaker lets
        # it do so without judging all others as well (notes C22).
        found[LOCAL_RATE] = True
    return found


def _enforced(conf: Conf | None, at: At, there: Mapping[str, Any]) -> Values:
    """Return the ejection by the detectors that are there; without any, nobody is ejected."""
    found = read(FIELDS, at.part, conf, EJECTION)
    judged = {
        path: value
        for name, one in there.items()
        if one is not None
        for path, value in found.items()
        if path.startswith(f"{DETECTORS}.{name}.")
    }
    outer = {k: v for k, v in found.items() if not k.startswith(DETECTORS)}
    return {**outer, **judged} if judged else {k: v for k, v in outer.items() if k == PANIC}


READING = TypeReading(
    policy_type="MeshCircuitBreaker",
    fields=FIELDS,
    of_conf=of_conf,
    of_rules=of_rules,
    old="CircuitBreaker",
    old_parts=(SlotKind.CLUSTER,),
    of_old=of_old,
    beside=beside,
)
