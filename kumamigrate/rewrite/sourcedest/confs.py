"""One old conf of an outbound kind as the conf of its successor (legacy.md §1.3–1.6).

Every function returns plain JSON in the new form, with what has no equivalent as notes. Values
the old engine left off are written out where the new engine's default differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from kumamigrate.dataclass import dataclass, field
from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.sourcedest.conversion import Json, Manual
from kumamigrate.source.text import FieldPath
from kumamigrate.sourcedest.goduration import ZERO, Duration, seconds
from kumamigrate.sourcedest.oldconf import OldConf

DECIDE = "decide what it should be, or take it out of the old policy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What a translated conf cannot say. `path` starts at the old resource's spec."""

    message: str
    path: FieldPath = ()
    blocking: bool = True

    def manual(self, policy: Resource, action: str = DECIDE) -> Manual:
        """Return what somebody has to decide about the policy, and how it could be settled."""
        return Manual(
            resource=policy,
            message=self.message,
            action=action,
            path=self.path,
            blocking=self.blocking,
        )


@dataclass(slots=True)
class Notes:
    """Collects notes while one conf is translated."""

    items: list[Note] = field(default_factory=list)

    def lost(self, message: str, *path: str | int) -> None:
        """Note something that would be wrong to write."""
        self.items.append(Note(message=message, path=("conf", *path)))

    def warn(self, message: str, *path: str | int) -> None:
        """Note a small difference that stays."""
        self.items.append(Note(message=message, path=("conf", *path), blocking=False))


CONNECT_DEFAULT = seconds(5)

INBOUND: Json = {
    "connectionTimeout": "10s",
    "idleTimeout": "2h",
    "http": {"requestTimeout": "0s", "streamIdleTimeout": "1h", "maxStreamDuration": "0s"},
}
"""What inbounds have without a MeshTimeout; one that matches a proxy would change it (§1.3 (d))."""


def timeout(
    route: OldConf | None,
    cluster: OldConf | None,
    family: str,
    notes: Notes,
    idle_unsaid: str = "0s",
) -> Json:
    """Return the MeshTimeout conf of an outbound of a protocol family (http, grpc, tcp).

    `route` is the Timeout of the outbound, which listener and routes read; `cluster` that of the
    outbound that leads to this service, which the cluster reads (notes C2). None: everything off,
    but for idle connections, of which nobody says anything, `idle_unsaid`.
    """
    route, cluster = route or OldConf(), cluster or OldConf()
    connect = cluster.get("connectTimeout")
    if connect is not None and connect <= ZERO:
        notes.lost("connectTimeout of 0 or less has no equivalent", "connectTimeout")
    if family == "tcp":
        idle = route.get("tcp", "idleTimeout")
    else:
        idle = cluster.get("http", "idleTimeout")
    if family == "grpc":
        for lost in (("http", "idleTimeout"), ("http", "maxStreamDuration")):
            if cluster.get(*lost):
                notes.warn(f"{'.'.join(lost)} does not reach gRPC clusters any more", *lost)
        if cluster.get("grpc", "maxStreamDuration"):
            notes.warn(
                "grpc.maxStreamDuration does not reach gRPC clusters any more",
                "grpc",
                "maxStreamDuration",
            )
    return {
        "connectionTimeout": str(connect if connect is not None else CONNECT_DEFAULT),
        "idleTimeout": str(idle) if idle else idle_unsaid,
        "http": {
            "requestTimeout": str(route.get("http", "requestTimeout") or ZERO),
            "streamIdleTimeout": str(_twin(route, "streamIdleTimeout", family)),
            "maxStreamDuration": str(_twin(cluster, "maxStreamDuration", family)),
        },
    }


def _twin(conf: OldConf, name: str, family: str) -> Duration:
    value = conf.get("http", name)
    if not value and family == "grpc":
        value = conf.get("grpc", name)
    return value if isinstance(value, Duration) else ZERO


_RETRY_ON = {
    "all_5xx": "5xx",
    "gateway_error": "GatewayError",
    "reset": "Reset",
    "connect_failure": "ConnectFailure",
    "envoy_ratelimited": "EnvoyRatelimited",
    "retriable_4xx": "Retriable4xx",
    "refused_stream": "RefusedStream",
    "http3_post_connect_failure": "Http3PostConnectFailure",
}
_GRPC_RETRY_ON = {
    "cancelled": "Canceled",
    "deadline_exceeded": "DeadlineExceeded",
    "internal": "Internal",
    "resource_exhausted": "ResourceExhausted",
    "unavailable": "Unavailable",
}
_REGISTERED = {int(status) for status in HTTPStatus}
RETRY_OFF: Json = {"http": {"numRetries": 0}, "grpc": {"numRetries": 0}}


def retry(conf: OldConf, notes: Notes) -> Json:
    """Return the MeshRetry conf: a section the old one lacks means no retries (§1.4)."""
    http, grpc, tcp = conf.get("http"), conf.get("grpc"), conf.get("tcp")
    result: Json = dict(RETRY_OFF)
    if http is not None:
        result["http"] = {**_attempts(http), **_http_retry_on(http, notes)}
    if grpc is not None:
        result["grpc"] = {**_attempts(grpc), **_grpc_retry_on(grpc, notes)}
    if tcp is not None:
        result["tcp"] = {"maxConnectAttempt": tcp["maxConnectAttempts"]}
    return result


def _attempts(section: Mapping[str, Any]) -> Json:
    result: Json = {}
    if "numRetries" in section:
        result["numRetries"] = section["numRetries"]
    if "perTryTimeout" in section:
        result["perTryTimeout"] = str(section["perTryTimeout"])
    if "backOff" in section:
        result["backOff"] = {name: str(value) for name, value in section["backOff"].items()}
    return result


def _http_retry_on(section: Mapping[str, Any], notes: Notes) -> Json:
    on = [_RETRY_ON[name] for name in section.get("retryOn") or () if name in _RETRY_ON]
    for index, code in enumerate(section.get("retriableStatusCodes") or ()):
        if code not in _REGISTERED:
            notes.lost(
                f"{code} is no registered HTTP status, MeshRetry would ignore it",
                "http",
                "retriableStatusCodes",
                index,
            )
        on.append(str(code))
    methods = section.get("retriableMethods") or ()
    on += [f"HttpMethod{name.capitalize()}" for name in methods]
    return {"retryOn": on} if on else {}


def _grpc_retry_on(section: Mapping[str, Any], notes: Notes) -> Json:
    names = section.get("retryOn") or []
    if "cancelled" in names:
        notes.warn(
            "Kuma writes Canceled as 'canceled', which Envoy does not know as 'cancelled'",
            "grpc",
            "retryOn",
        )
    return {"retryOn": [_GRPC_RETRY_ON[name] for name in names]} if names else {}


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


def circuit_breaker(conf: OldConf, notes: Notes) -> Json:
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


def int_or_text(number: float) -> int | str:
    """Return a number as IntOrString wants it: whole as int, else as decimal text."""
    return int(number) if float(number).is_integer() else repr(float(number))


_PROBE_OFF: Json = {"disabled": True}
_HEALTH_FIELDS = (
    "interval", "timeout", "unhealthyThreshold", "healthyThreshold", "initialJitter",
    "intervalJitter", "intervalJitterPercent", "failTrafficOnPanic", "eventLogPath",
    "alwaysLogHealthCheckFailures", "noTrafficInterval", "reuseConnection",
)  # fmt: skip


def health_check(conf: OldConf, notes: Notes) -> Json:
    """Return the MeshHealthCheck conf (§1.6)."""
    result: Json = {}
    for name in _HEALTH_FIELDS:
        value = conf.get(name)
        if value is not None and value != "":
            result[name] = str(value) if isinstance(value, Duration) else value
    panic = conf.get("healthyPanicThreshold")
    if panic is not None:
        result["healthyPanicThreshold"] = int_or_text(panic)
    if (conf.get("intervalJitterPercent") or 0) > 100:
        notes.lost("must be between 0 and 100 now", "intervalJitterPercent")
    http = conf.get("http")
    if http is None:
        return {**result, "tcp": _tcp_probe(conf, notes), "http": _PROBE_OFF, "grpc": _PROBE_OFF}
    return {**result, "http": _http_probe(http, notes)}


def _tcp_probe(conf: OldConf, notes: Notes) -> Json:
    tcp = conf.get("tcp") or {}
    result: Json = {}
    if "send" in tcp:
        result["send"] = _text(tcp["send"], notes, "tcp", "send")
    if tcp.get("receive"):
        result["receive"] = [
            _text(part, notes, "tcp", "receive", index) for index, part in enumerate(tcp["receive"])
        ]
    return result


def without_probe(conf: OldConf, notes: Notes) -> Json:
    """Return the MeshHealthCheck conf for a service that it does not probe: the panic settings.

    The probe stands there too, for the day it does, as far as it can be written.
    """
    tried = Notes()
    result = health_check(conf, tried)
    unwritten = [note for note in tried.items if note.path[:2] == ("conf", "tcp")]
    notes.items += [note for note in tried.items if note not in unwritten]
    return {**result, "tcp": _PROBE_OFF} if unwritten else result


def envoy_health_check(conf: OldConf) -> Json:
    """Return the TCP health check that Envoy gets for a HealthCheck, as JSON (§1.6)."""
    result: Json = {}
    for name in _HEALTH_FIELDS:
        value = conf.get(name)
        if value is not None and value != "" and name != "failTrafficOnPanic":
            result[name] = _proto_text(value) if isinstance(value, Duration) else value
    tcp = conf.get("tcp") or {}
    probe: Json = {}
    if "send" in tcp:
        probe["send"] = {"text": tcp["send"].hex()}
    if tcp.get("receive"):
        probe["receive"] = [{"text": part.hex()} for part in tcp["receive"]]
    return {**result, "tcpHealthCheck": probe}


def _proto_text(duration: Duration) -> str:
    """Return a duration in the JSON of Protobuf: seconds with 0, 3, 6 or 9 decimals."""
    whole, rest = divmod(duration.ns, 1_000_000_000)
    digits = f"{rest:09d}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return f"{whole}.{digits}s" if digits else f"{whole}s"


def _text(data: bytes, notes: Notes, *path: str | int) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        notes.lost("bytes that are no text cannot be written in a MeshHealthCheck", *path)
        return ""


def _http_probe(http: Mapping[str, Any], notes: Notes) -> Json:
    result: Json = {"path": http["path"]}
    if http.get("expectedStatuses"):
        result["expectedStatuses"] = list(http["expectedStatuses"])
    added: dict[str, list[Json]] = {}
    for index, header in enumerate(http.get("requestHeadersToAdd") or ()):
        at = ("http", "requestHeadersToAdd", index)
        if "append" not in header:
            notes.warn("without append this health check never worked; taken as append", *at)
        value = header["header"].get("value", "")
        if "," in value:
            notes.lost("a comma would split this header into several values", *at)
        entry = {"name": header["header"]["key"], "value": value}
        added.setdefault("add" if header.get("append", True) else "set", []).append(entry)
    if added:
        result["requestHeadersToAdd"] = added
        notes.warn("probes carry the header x-kuma-tags too now", "http", "requestHeadersToAdd")
    return result
