"""What a connection's policies come to: timeouts, retries, circuit breakers, health checks (§1).

For each kind one function reads an old policy and one the conf that the new engine merged; equal
results mean equal behaviour. None as a conf means that no policy of that engine reaches the place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kumamigrate.model.resource import Resource, mapping
from kumamigrate.sourcedest.goduration import ZERO, Duration, seconds
from kumamigrate.sourcedest.oldconf import OldConf
from kumamigrate.sourcedest.values import Effect, Json, as_duration, conf_of, same_type

HTTP_FAMILY = ("http", "http2", "grpc")
_CONNECT = seconds(5)
_HOUR = seconds(3600)


def timeouts_before(route: Resource | None, cluster: Resource | None, protocol: str) -> Effect:
    """Return the timeouts the old engine sets; all off but connect without a policy.

    `route` is the Timeout of the outbound, `cluster` that of the outbound which leads to the
    cluster (notes C2). `protocol` is what the targets of the outbound have in common (C3).
    """
    own, leading = conf_of(route), conf_of(cluster)
    http = protocol in HTTP_FAMILY
    connect = leading.get("connectTimeout")
    result: dict[str, Any] = {"connect": _CONNECT if connect is None else connect}
    if not http:
        return {**result, "idle": own.get("tcp", "idleTimeout") or ZERO}
    return {
        **result,
        "idle": leading.get("http", "idleTimeout") or ZERO,
        "request": own.get("http", "requestTimeout") or ZERO,
        "streamIdle": _twin(own, "streamIdleTimeout", protocol),
        "maxStream": _twin(leading, "maxStreamDuration", protocol),
    }


def timeouts_after(conf: Json | None, protocol: str, treated: str | None = None) -> Effect:
    """Return the timeouts of a MeshTimeout conf on an outbound; without one as without Timeout.

    gRPC clusters get neither idle timeout nor maximum stream duration (§1.3 (c)). `treated` is
    the protocol the old generator gave the outbound, where TrafficRoutes still make it: the
    plugin goes by the service's own, and what does not fit is switched off (notes C3).
    """
    treated = treated or protocol
    if conf is None:
        return timeouts_before(None, None, treated)
    connect = _read(conf, "connectionTimeout", _CONNECT)
    if (treated in HTTP_FAMILY) != (protocol in HTTP_FAMILY):
        return {**timeouts_before(None, None, treated), "connect": connect}
    if treated not in HTTP_FAMILY:
        return {"connect": connect, "idle": _read(conf, "idleTimeout", _HOUR)}
    values, grpc = mapping(conf.get("http")), protocol == "grpc"
    return {
        "connect": connect,
        "idle": ZERO if grpc else _read(conf, "idleTimeout", _HOUR),
        "request": _read(values, "requestTimeout", seconds(15)),
        "streamIdle": _read(values, "streamIdleTimeout", seconds(1800)),
        "maxStream": ZERO if grpc else _read(values, "maxStreamDuration", ZERO),
    }


def _twin(conf: OldConf, name: str, protocol: str) -> Duration:
    value = conf.get("http", name)
    if not value and protocol == "grpc":
        value = conf.get("grpc", name)
    return value if isinstance(value, Duration) else ZERO


_RETRY_NAMES = {
    "all_5xx": "5xx", "gateway_error": "GatewayError", "reset": "Reset",
    "connect_failure": "ConnectFailure", "envoy_ratelimited": "EnvoyRatelimited",
    "retriable_4xx": "Retriable4xx", "refused_stream": "RefusedStream",
    "http3_post_connect_failure": "Http3PostConnectFailure", "cancelled": "Cancelled",
    "deadline_exceeded": "DeadlineExceeded", "internal": "Internal",
    "resource_exhausted": "ResourceExhausted", "unavailable": "Unavailable",
}  # fmt: skip
_HTTP_DEFAULT = ("GatewayError", "ConnectFailure", "RefusedStream")


def retries_before(policy: Resource | None, protocol: str) -> Effect:
    """Return the retries the old engine sets; http2 services have none in either engine (§1.4)."""
    conf = conf_of(policy)
    if protocol in ("http", "grpc"):
        section = conf.get(protocol)
        if section is None:
            return {}
        on = [_RETRY_NAMES[n] for n in section.get("retryOn") or () if n in _RETRY_NAMES]
        on += [str(code) for code in section.get("retriableStatusCodes") or ()]
        on += [f"HttpMethod{m.capitalize()}" for m in section.get("retriableMethods") or ()]
        return _retries(section, section.get("backOff") or {}, on, protocol)
    if protocol == "http2":
        return {}
    attempts = conf.get("tcp", "maxConnectAttempts") or 1
    return {"attempts": attempts} if attempts > 1 else {}


def retries_after(conf: Json | None, protocol: str) -> Effect:
    """Return the retries of a MeshRetry conf; on tcp it reaches the protocol tcp alone."""
    if conf is None or protocol == "http2":
        return {}
    section = mapping(conf.get(protocol))
    if protocol in ("http", "grpc"):
        if not section or section.get("numRetries") == 0:
            return {}
        on = ["Canceled!" if n == "Canceled" else str(n) for n in section.get("retryOn") or ()]
        return _retries(section, mapping(section.get("backOff")), on, protocol)
    attempts = section.get("maxConnectAttempt") or 1 if protocol == "tcp" else 1
    return {"attempts": attempts} if attempts > 1 else {}


def _retries(section: Json, back_off: Json, on: Iterable[str], protocol: str) -> Effect:
    names = list(dict.fromkeys(on))
    codes = tuple(n for n in names if n.isdigit())
    methods = tuple(n for n in names if n.startswith("HttpMethod"))
    plain = tuple(n for n in names if n not in codes and n not in methods)
    if protocol == "http" and not plain:
        plain = _HTTP_DEFAULT
    base = as_duration(back_off.get("baseInterval"))
    longest = as_duration(back_off.get("maxInterval"))
    if base is not None and longest is None:
        longest = Duration(base.ns * 10)
    return {
        "retries": section.get("numRetries", 1),
        "perTry": as_duration(section.get("perTryTimeout")),
        "backOff": (base or Duration(25_000_000), longest or Duration(250_000_000)),
        "on": (*plain, *codes, *methods),
    }


_LIMITS = {
    "maxConnections": 1024, "maxPendingRequests": 1024, "maxRequests": 1024, "maxRetries": 3,
}  # fmt: skip
_DETECTORS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "totalErrors": ("totalFailures", {"consecutive": 5}),
    "gatewayErrors": ("gatewayFailures", {"consecutive": 5}),
    "localErrors": ("localOriginFailures", {"consecutive": 5}),
    "standardDeviation": (
        "successRate",
        {"requestVolume": 100, "minimumHosts": 5, "factor": 1.9},
    ),
    "failure": ("failurePercentage", {"requestVolume": 50, "minimumHosts": 5, "threshold": 85}),
}
_LOCAL_RATE = "successRate of local errors"
_OUTLIER: Json = {
    "interval": seconds(10),
    "baseEjectionTime": seconds(30),
    "maxEjectionPercent": 10,
    "splitExternalAndLocalErrors": False,
}


def breakers_before(policy: Resource | None) -> Effect:
    """Return limits and ejection the old engine sets on a cluster (§1.5)."""
    conf = conf_of(policy)
    limits = {**_LIMITS, **(conf.get("thresholds") or {})}
    detectors = conf.get("detectors")
    if not detectors:
        return {"limits": limits, "ejection": None}
    found = {
        new: {**defaults, **detectors[old]}
        for old, (new, defaults) in _DETECTORS.items()
        if old in detectors
    }
    outer = {name: conf.value.get(name, value) for name, value in _OUTLIER.items()}
    if outer["splitExternalAndLocalErrors"] and "successRate" not in found:
        # Envoy judges local errors by their rate unless told not to; no MeshCircuitBreaker lets
        # it do so without judging all others as well (notes C22).
        found[_LOCAL_RATE] = _DETECTORS["standardDeviation"][1]
    return {"limits": limits, "ejection": {**outer, "detectors": found}}


def breakers_after(conf: Json | None) -> Effect:
    """Return limits and ejection of a MeshCircuitBreaker conf.

    A detector without `consecutive` is not enforced, but the block replaces an old one.
    """
    conf = conf or {}
    limits = {**_LIMITS, **mapping(conf.get("connectionLimits"))}
    outlier = mapping(conf.get("outlierDetection"))
    detectors = mapping(outlier.get("detectors"))
    found: dict[str, Any] = {}
    for new, defaults in _DETECTORS.values():
        values = dict(mapping(detectors.get(new)))
        if "standardDeviationFactor" in values:
            values["factor"] = float(values.pop("standardDeviationFactor"))
        counted = "consecutive" not in defaults or values.get("consecutive") is not None
        if new in detectors and counted:
            found[new] = {**defaults, **values}
    if not outlier or outlier.get("disabled") is True:
        return {"limits": limits, "ejection": None}
    outer = {name: same_type(outlier.get(name, value), value) for name, value in _OUTLIER.items()}
    return {"limits": limits, "ejection": {**outer, "detectors": found}}


PROBE_DEFAULTS: Json = {
    "interval": seconds(60), "timeout": seconds(15), "unhealthyThreshold": 5,
    "healthyThreshold": 1, "initialJitter": ZERO, "intervalJitter": ZERO,
    "intervalJitterPercent": 0, "failTrafficOnPanic": False, "eventLogPath": "",
    "alwaysLogHealthCheckFailures": False, "noTrafficInterval": seconds(60),
    "reuseConnection": True, "healthyPanicThreshold": 50.0,
}  # fmt: skip


def probes_before(policy: Resource | None) -> Effect:
    """Return the health check the old engine sets on a cluster; TCP unless it says http (§1.6)."""
    if policy is None:
        return {}
    conf = conf_of(policy)
    common = {name: conf.value.get(name, value) for name, value in PROBE_DEFAULTS.items()}
    http = conf.get("http")
    if http is None:
        tcp = conf.get("tcp") or {}
        received = tuple(tcp.get("receive") or ())
        return {**common, "probe": ("tcp", tcp.get("send", b""), received)}
    headers = [
        (h.get("append", True), h["header"]["key"], h["header"].get("value", ""))
        for h in http.get("requestHeadersToAdd") or ()
    ]
    statuses = frozenset(http.get("expectedStatuses") or (200,))
    return {**common, "probe": ("http", http.get("path"), statuses, tuple(sorted(headers)))}


def probes_after(conf: Json | None, protocol: str) -> Effect:
    """Return the health check of a MeshHealthCheck conf: by the service's own protocol."""
    if conf is None:
        return {}
    probe = _probe(conf, protocol)
    if probe is None:
        return {}
    common = {
        name: same_type(conf.get(name, value), value) for name, value in PROBE_DEFAULTS.items()
    }
    return {**common, "probe": probe}


def _probe(conf: Json, protocol: str) -> tuple[Any, ...] | None:
    native = {"http": "http", "http2": "http", "grpc": "grpc", "tcp": "tcp"}.get(protocol)
    section = conf.get(native) if native is not None else None
    if not isinstance(section, Mapping):
        return None
    if native != "tcp" and section.get("disabled") is True:
        native, section = "tcp", conf.get("tcp")
    if not isinstance(section, Mapping) or section.get("disabled") is True:
        return None
    if native == "http":
        added = mapping(section.get("requestHeadersToAdd"))
        headers = [
            (kind == "add", h.get("name"), h.get("value", ""))
            for kind in ("add", "set")
            for h in added.get(kind) or ()
        ]
        statuses = frozenset(section.get("expectedStatuses") or (200,))
        return ("http", section.get("path", "/"), statuses, tuple(sorted(headers)))
    if native == "grpc":
        return ("grpc", section.get("serviceName", ""), section.get("authority", ""))
    received = tuple(str(part).encode() for part in section.get("receive") or ())
    return ("tcp", str(section.get("send", "")).encode(), received)


def _read(conf: Json, name: str, default: Duration) -> Duration:
    return as_duration(conf.get(name)) or (default if conf.get(name) is None else ZERO)
