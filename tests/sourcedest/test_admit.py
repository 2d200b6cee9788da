"""What the control plane refuses of old policies (legacy-notes.md G5–G8)."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.sourcedest.admit import accepted, refusals_of
from tests.sourcedest.meshes import resource

ALL = {"match": {"kuma.io/service": "*"}}
HTTP = {"match": {"kuma.io/protocol": "http"}}
ROUTE = {"kuma.io/service": "a"}


def _paths(kind: str, conf: Any, **spec: Any) -> list[tuple[str | int, ...]]:
    body = {"type": kind, "name": "p", "sources": [ALL], "destinations": [ALL], "conf": conf}
    return [problem.path for problem in refusals_of(resource({**body, **spec}))]


@pytest.mark.parametrize(
    ("kind", "conf"),
    [
        ("Timeout", {}),
        ("Timeout", {"connectTimeout": "0s"}),
        ("Timeout", {"connectTimeout": "-1s"}),
        ("Timeout", {"connect_timeout": "1m30s", "http": {"idleTimeout": "250ms"}}),
        ("Timeout", {"tcp": None, "connectTimeout": "1s"}),
        ("Retry", {"http": {"numRetries": 1}}),
        ("Retry", {"http": {"retryOn": ["all_5xx"]}}),
        ("Retry", {"http": {"retryOn": ["retriable_status_codes"], "retriableStatusCodes": [503]}}),
        ("CircuitBreaker", {"thresholds": {"maxConnections": 0}}),
        ("CircuitBreaker", {"detectors": {"totalErrors": {}}}),
        ("RateLimit", {}),
        ("TrafficLog", None),
        ("TrafficRoute", {"destination": ROUTE}),
    ],
)
def test_taken(kind: str, conf: Any) -> None:
    assert _paths(kind, conf) == []


@pytest.mark.parametrize(
    ("kind", "conf", "path"),
    [
        ("Timeout", None, ("conf",)),
        ("Timeout", {"http": {"streamIdleTimeout": "1s"}}, ("conf", "http")),
        ("Timeout", {"tcp": {}}, ("conf", "tcp")),
        ("Timeout", {"grpc": {}}, ("conf", "grpc")),
        ("Timeout", {"tcp": {"idleTimeout": "0s"}}, ("conf", "tcp", "idleTimeout")),
        ("Timeout", {"http": {"requestTimeout": "0s"}}, ("conf", "http", "requestTimeout")),
        ("Timeout", {"connectTimeout": 5}, ("conf", "connectTimeout")),
        ("Timeout", {"connectTimeout": {"seconds": 5}}, ("conf", "connectTimeout")),
        ("Retry", {}, ("conf",)),
        ("Retry", {"http": {}}, ("conf", "http")),
        ("Retry", {"http": {"numRetries": 0}}, ("conf", "http", "numRetries")),
        ("Retry", {"http": {"retryOn": ["retriable_status_codes"]}}, ("conf", "http", "retryOn")),
        ("Retry", {"http": {"retryOn": ["5xx"]}}, ("conf", "http", "retryOn", 0)),
        ("Retry", {"tcp": {"maxConnectAttempts": 0}}, ("conf", "tcp", "maxConnectAttempts")),
        ("CircuitBreaker", {"interval": "1s"}, ("conf",)),
        (
            "HealthCheck",
            {"interval": "1s", "timeout": "1s", "unhealthyThreshold": 1},
            ("conf", "healthyThreshold"),
        ),
        ("RateLimit", None, ("conf",)),
        ("RateLimit", {"http": {"interval": "1s"}}, ("conf", "http", "requests")),
        ("TrafficRoute", {"http": []}, ("conf",)),
        ("TrafficRoute", {"split": [{"weight": 0, "destination": ROUTE}]}, ("conf", "split")),
        ("TrafficRoute", {"destination": {"version": "1"}}, ("conf", "destination")),
    ],
)
def test_refused(kind: str, conf: Any, path: tuple[str | int, ...]) -> None:
    assert _paths(kind, conf) == [path]


@pytest.mark.parametrize(
    ("match", "at"),
    [
        ({"path": {"prefix": "/a"}}, None),
        ({"path": {"exact": ""}}, None),
        ({"headers": {"x": {"regex": "a.*"}}}, None),
        ({"path": {"prefix": ""}}, "path"),
        ({"path": {"regex": ""}}, "path"),
        ({"path": {}}, "path"),
        ({"path": {"prefix": "/a", "exact": "/b"}}, "path"),
        ({"method": {"exact": "GET"}, "headers": {"x": {"prefix": ""}}}, "x"),
        ({"method": None}, "match"),  # null is nothing in the JSON of protobuf
    ],
)
def test_what_a_route_matches_is_said_in_one_way(match: dict[str, Any], at: str | None) -> None:
    http = [{"match": match, "destination": ROUTE}]
    found = _paths("TrafficRoute", {"destination": ROUTE, "http": http})
    assert [path[-1] for path in found] == ([] if at is None else [at])


def test_which_sources_need_a_service() -> None:
    version = {"match": {"version": "v1"}}
    for kind in ("TrafficPermission", "RateLimit"):
        assert _paths(kind, {}, sources=[version], destinations=[version]) == []
    for kind in ("TrafficRoute", "TrafficLog"):
        conf = {"destination": ROUTE}
        assert _paths(kind, conf, sources=[version]) == [("sources", 0, "match")]
        assert ("destinations", 0, "match") in _paths(kind, conf, destinations=[version])


def test_empty_match_is_refused() -> None:
    assert _paths("TrafficPermission", None, sources=[{"match": {}}]) == [("sources", 0, "match")]
    assert _paths("TrafficPermission", None, sources=[]) == [("sources",)]


def test_fault_limits_and_destinations() -> None:
    def conf(limit: str) -> dict[str, Any]:
        return {"responseBandwidth": {"percentage": 1, "limit": limit}}

    assert _paths("FaultInjection", conf("50mbps"), destinations=[HTTP]) == []
    limit = ("conf", "responseBandwidth", "limit")
    assert _paths("FaultInjection", conf("50Mbps"), destinations=[HTTP]) == [limit]
    tcp = [{"match": {"kuma.io/protocol": "tcp"}}]
    at = ("destinations", 0, "match")
    assert _paths("FaultInjection", conf("1kbps"), destinations=tcp) == [at]
    assert _paths("FaultInjection", conf("1kbps")) == [at]


@pytest.mark.parametrize(
    ("match", "taken"),
    [
        ({"kuma.io/service": "es"}, True),
        ({"kuma.io/service": "es", "version": "v1"}, False),
        ({"kuma.io/service": "*", "version": "v1"}, False),
        ({"kuma.io/service": "web", "version": "v1"}, True),
        ({"version": "v1", "env": "x"}, True),
    ],
)
def test_rate_limit_beside_external_service(match: dict[str, str], taken: bool) -> None:
    service = resource({"type": "ExternalService", "name": "es", "tags": {"kuma.io/service": "es"}})
    limit = resource(
        {
            "type": "RateLimit",
            "name": "r",
            "sources": [ALL],
            "destinations": [{"match": match}],
            "conf": {"http": {"requests": 1, "interval": "1s"}},
        }
    )
    assert accepted(limit, [service]) is taken
    assert accepted(limit)
