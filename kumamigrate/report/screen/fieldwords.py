"""What a setting is called on the screen, and which value of it means that it is off."""

from __future__ import annotations

import re

_FIELDS = {
    "connectionTimeout": "connection timeout",
    "idleTimeout": "idle timeout",
    "http.requestTimeout": "request timeout",
    "http.streamIdleTimeout": "stream idle timeout",
    "http.maxStreamDuration": "max stream duration",
    "http.maxConnectionDuration": "max connection duration",
    "http.requestHeadersTimeout": "request headers timeout",
    "http.idleTimeout (downstream)": "idle timeout towards the client",
}
_RETRIES = {
    "http.numRetries": "retries",
    "grpc.numRetries": "gRPC retries",
    "tcp.maxConnectAttempt": "TCP connection attempts",
}
_OFF_AT_ZERO = frozenset(_FIELDS) - {"connectionTimeout"}
_WHAT = {
    ("MeshTrafficPermission", "from"): "",
    ("MeshTrafficPermission", "allowed"): "",
    ("MeshTrafficPermission", "rules.allow"): "",
    ("MeshTrafficPermission", "rules.deny"): "",
    ("MeshHTTPRoute", "matches"): "route",
    ("MeshTCPRoute", "matches"): "TCP route",
    ("MeshHTTPRoute", "name"): "name of the route",
    ("MeshHTTPRoute", "outbound"): "outbound",
    ("MeshHTTPRoute", "normalized paths"): "paths normalized",
    ("MeshHTTPRoute", "request header x-kuma-tags"): "request header x-kuma-tags",
    ("MeshHTTPRoute", "filters"): "route filters",
    ("MeshHTTPRoute", "backendRefs"): "goes to",
    ("MeshTCPRoute", "backendRefs"): "goes to",
    ("MeshHTTPRoute", "protocol"): "protocol",
    ("MeshHTTPRoute", "answered with 500"): "answered with 500",
    ("MeshTCPRoute", "answered with 500"): "refused",
    ("MeshFaultInjection", "faults"): "faults",
    ("MeshFaultInjection", "rules"): "faults",
    ("MeshAccessLog", "backends"): "access log",
    ("MeshAccessLog", "rules"): "access log",
    ("MeshMetric", "backends"): "metrics",
    ("MeshTrace", "backends"): "traces",
    ("MeshTrace", "outbounds"): "requests sent",
    ("MeshTrace", "tags of every span"): "tags of every span",
    ("MeshTrace", "service that spans name"): "service that spans name",
    ("MeshTLS", "mode"): "TLS mode",
    ("MeshIdentity", "certificate"): "certificate",
}
CLIENT = "client "
"""Begins the field of what one client meets at an inbound."""
SWITCHES = frozenset(_RETRIES)
"""Settings whose absence switches off all that stands beside them in their block."""


def field_words(policy_type: str, field: str) -> str:
    """Return what a setting is called; its field in the policy where it has no other name."""
    known = _WHAT.get((policy_type, field))
    if known is not None:
        return known
    if policy_type in ("MeshTimeout", "Timeout") and field in _FIELDS:
        return _FIELDS[field]
    if policy_type in ("MeshRetry", "Retry") and field in _RETRIES:
        return _RETRIES[field]
    if policy_type == "MeshTrafficPermission" and field.startswith(CLIENT):
        return field
    return f"{policy_type} {field}".rstrip()


def block_of(field: str) -> str:
    """Return the block of a field that one setting switches on and off as a whole."""
    return field.split(".", 1)[0]


def means_off(policy_type: str, field: str, value: object) -> bool:
    """Say whether a value switches off what it is of."""
    if policy_type in ("MeshTimeout", "Timeout") and field in _OFF_AT_ZERO:
        return isinstance(value, str) and re.fullmatch(r"0+(ns|us|ms|s|m|h)?", value) is not None
    if policy_type in ("MeshRetry", "Retry") and field in _RETRIES:
        return value in (None, 0)
    return False
