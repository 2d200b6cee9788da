"""The conf of a Retry as that of a MeshRetry (legacy.md §1.4)."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from kumamigrate.rewrite.sourcedest.confnotes import Notes
from kumamigrate.rewrite.sourcedest.conversion import Json
from kumamigrate.sourcedest.oldconf import OldConf

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


def mesh_retry(conf: OldConf, notes: Notes) -> Json:
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
