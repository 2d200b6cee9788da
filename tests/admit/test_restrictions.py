"""The rows of matcher.md "Conf field restrictions", written out by hand: broken, then kept."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.admit.check import refusals_of
from kumamigrate.model.state import Environment
from tests.admit.manifest import resource_of

ALL, OLD, BOTH = ("2.9", "2.14", "3.0"), ("2.9", "2.14"), ("2.14", "3.0")
SPIFFE = [{"spiffeID": {"type": "Exact", "value": "spiffe://mesh/a"}}]
RATE = {"num": 1, "interval": "51ms"}
LABELLED = {"kind": "MeshService", "labels": {"a": "b"}}
ROUTE = {"kind": "MeshHTTPRoute", "labels": {"a": "b"}}
DATAPLANE = {"targetRef": {"kind": "Dataplane"}}

Row = tuple[str, tuple[str, ...], dict[str, Any], dict[str, Any]]


def to(conf: Any, reference: Any = None) -> dict[str, Any]:
    return {"to": [{"targetRef": reference or {"kind": "Mesh"}, "default": conf}]}


def single(conf: Any) -> dict[str, Any]:
    return {"default": conf}


def rules(conf: Any, matches: Any = None) -> dict[str, Any]:
    rule = {"default": conf} | ({"matches": matches} if matches is not None else {})
    return DATAPLANE | {"rules": [rule]}


def route(rule: Any, **more: Any) -> dict[str, Any]:
    match = {"path": {"type": "PathPrefix", "value": "/a"}}
    item = {"targetRef": LABELLED, "rules": [{"matches": [match], "default": {}} | rule]}
    return {"to": [item | more]}


def tcp_route(count: int, *backends: Any) -> dict[str, Any]:
    rule = {"default": {"backendRefs": list(backends)}}
    return {"to": [{"targetRef": LABELLED, "rules": [rule] * count}]}


def rewrite(kind: str) -> dict[str, Any]:
    path = {"type": "ReplacePrefixMatch", "replacePrefixMatch": "/"}
    filters = [{"type": "URLRewrite", "urlRewrite": {"path": path}}]
    match = {"path": {"type": kind, "value": "/a"}}
    return route({"matches": [match], "default": {"filters": filters}})


def permission(**conf: Any) -> dict[str, Any]:
    return {"from": [{"targetRef": {"kind": "Mesh"}, "default": conf}]}


def affinity(*weights: int | None) -> dict[str, Any]:
    tags = [{"key": "k"} | ({"weight": w} if w else {}) for w in weights]
    return to({"localityAwareness": {"localZone": {"affinityTags": tags}}})


def passing(*matches: tuple[str, str, int, str]) -> dict[str, Any]:
    names = ("type", "value", "port", "protocol")
    return single({"appendMatch": [dict(zip(names, m, strict=True)) for m in matches]})


def http_limit(interval: str) -> dict[str, Any]:
    return to({"local": {"http": {"requestRate": {"num": 1, "interval": interval}}}})


OTEL_REF = {"backendRef": {"kind": "MeshOpenTelemetryBackend", "labels": {"a": "b"}}}
ROWS: list[Row] = [
    ("MeshAccessLog", ALL, to({}), to({"backends": []})),
    (
        "MeshAccessLog",
        ("2.14",),
        to({"backends": [{"type": "OpenTelemetry", "openTelemetry": {}}]}),
        to({"backends": [{"type": "OpenTelemetry", "openTelemetry": {"endpoint": "a:1"}}]}),
    ),
    (
        "MeshAccessLog",
        ("3.0",),
        to({"backends": [{"type": "OpenTelemetry", "openTelemetry": {"endpoint": "a:1"}}]}),
        to({"backends": [{"type": "OpenTelemetry", "openTelemetry": OTEL_REF}]}),
    ),
    ("MeshCircuitBreaker", ALL, to({}), to({"connectionLimits": {}})),
    (
        "MeshCircuitBreaker",
        ALL,
        to({"outlierDetection": {"detectors": {}}}),
        to({"outlierDetection": {"detectors": {"totalFailures": {}}}}),
    ),
    ("MeshFaultInjection", ("3.0",), DATAPLANE | to({"http": []}), to({"http": []})),
    (
        "MeshFaultInjection",
        OLD,
        {"targetRef": {"kind": "MeshSubset", "proxyTypes": ["Sidecar"]}} | to({"http": []}),
        {"targetRef": {"kind": "MeshSubset", "proxyTypes": ["Gateway"]}} | to({"http": []}),
    ),
    ("MeshHealthCheck", ALL, to({"interval": "1s"}), to({"tcp": {}})),
    ("MeshHTTPRoute", ALL, route({}, hostnames=["a"]), route({}, hostnames=[])),
    ("MeshHTTPRoute", ALL, rewrite("Exact"), rewrite("PathPrefix")),
    (
        "MeshHTTPRoute",
        ("2.14",),
        route({"default": {"backendRefs": [{"kind": "MeshMultiZoneService"}]}}),
        route({"default": {"backendRefs": [{"kind": "MeshMultiZoneService", "port": 80}]}}),
    ),
    (
        "MeshHTTPRoute",
        ("3.0",),
        route({"default": {"backendRefs": [LABELLED | {"weight": 2**32}]}}),
        route({"default": {"backendRefs": [LABELLED | {"weight": 2**32 - 1}]}}),
    ),
    ("MeshLoadBalancingStrategy", ALL, affinity(1, None), affinity(1, 2)),
    (
        "MeshLoadBalancingStrategy",
        BOTH,
        to({"loadBalancer": {"type": "Random"}}, ROUTE),
        to({"hashPolicies": []}, ROUTE),
    ),
    (
        "MeshLoadBalancingStrategy",
        ("2.14",),
        to(
            {
                "hashPolicies": [],
                "loadBalancer": {"type": "Maglev", "maglev": {"hashPolicies": []}},
            }
        ),
        to({"loadBalancer": {"type": "Maglev", "maglev": {"hashPolicies": []}}}),
    ),
    (
        "MeshPassthrough",
        ALL,
        passing(("Domain", "a.com", 80, "tcp")),
        passing(("Domain", "a.com", 80, "tls")),
    ),
    (
        "MeshPassthrough",
        ALL,
        passing(("IP", "10.0.0.1", 80, "http"), ("IP", "10.0.0.2", 80, "tcp")),
        passing(("IP", "10.0.0.1", 80, "tls"), ("IP", "10.0.0.2", 80, "tcp")),
    ),
    (
        "MeshProxyPatch",
        ALL,
        single({"appendModifications": []}),
        single({"appendModifications": [{"cluster": {"operation": "Remove"}}]}),
    ),
    (
        "MeshProxyPatch",
        ALL,
        single(
            {
                "appendModifications": [
                    {"cluster": {"operation": "Remove"}, "listener": {"operation": "Remove"}}
                ]
            }
        ),
        single({"appendModifications": [{"listener": {"operation": "Remove"}}]}),
    ),
    ("MeshRateLimit", ALL, to({"local": {}}), to({"local": {"tcp": {"disabled": True}}})),
    ("MeshRateLimit", ALL, http_limit("50ms"), http_limit("51ms")),
    (
        "MeshRateLimit",
        ("3.0",),
        rules({"local": {"tcp": {"connectionRate": RATE}}}, SPIFFE),
        rules({"local": {"http": {"requestRate": RATE}}}, SPIFFE),
    ),
    ("MeshRateLimit", ("3.0",), DATAPLANE | http_limit("1s"), http_limit("1s")),
    ("MeshRetry", ALL, to({}), to({"http": {"numRetries": 0}})),
    ("MeshRetry", ALL, to({"tcp": {}}), to({"tcp": {"maxConnectAttempt": 1}})),
    (
        "MeshRetry",
        ALL,
        to({"tcp": {"maxConnectAttempt": 0}}),
        to({"tcp": {"maxConnectAttempt": 1}}),
    ),
    (
        "MeshRetry",
        ALL,
        to({"http": {"rateLimitedBackOff": {}}}),
        to({"http": {"rateLimitedBackOff": {"resetHeaders": []}}}),
    ),
    ("MeshTCPRoute", ALL, tcp_route(2, LABELLED), tcp_route(1, LABELLED)),
    ("MeshTCPRoute", BOTH, tcp_route(1), tcp_route(1, LABELLED)),
    (
        "MeshTimeout",
        OLD,
        {"targetRef": {"kind": "MeshHTTPRoute", "name": "r"}} | to({"idleTimeout": "1s"}),
        {"targetRef": {"kind": "MeshHTTPRoute", "name": "r"}}
        | to({"http": {"requestTimeout": "1s"}}),
    ),
    (
        "MeshTimeout",
        ALL,
        to({"http": {"requestHeadersTimeout": "1s"}}),
        to({"http": {"requestHeadersTimeout": "1s", "maxStreamDuration": "0s"}}),
    ),
    ("MeshTimeout", ALL, to({"connectionTimeout": "0s"}), to({"connectionTimeout": "1ms"})),
    (
        "MeshTimeout",
        BOTH,
        rules({"idleTimeout": "1s"}, SPIFFE),
        rules({"http": {"requestTimeout": "1s"}}, SPIFFE),
    ),
    ("MeshTimeout", BOTH, rules({"idleTimeout": "1s"}, [{}]), rules({"idleTimeout": "1s"}, [])),
    (
        "MeshTimeout",
        BOTH,
        rules(
            {"http": {"requestTimeout": "1s"}},
            [{"spiffeID": {"type": "Glob", "value": "spiffe://a"}}],
        ),
        rules({"http": {"requestTimeout": "1s"}}, SPIFFE),
    ),
    ("MeshTLS", BOTH, rules({"tlsVersion": {"min": "TLS12"}}), rules({"mode": "Strict"})),
    ("MeshTrace", ALL, single({}), single({"backends": []})),
    (
        "MeshTrace",
        ALL,
        single({"backends": [], "tags": [{"name": "a"}]}),
        single({"backends": [], "tags": [{"name": "a", "literal": "b"}]}),
    ),
    ("MeshTrafficPermission", OLD, permission(), permission(action="Deny")),
    (
        "MeshTrafficPermission",
        BOTH,
        rules({"deny": []}),
        rules({"allow": SPIFFE}),
    ),
]


@pytest.mark.parametrize(
    ("kind", "release", "broken", "kept"),
    [
        pytest.param(kind, release, broken, kept, id=f"{number} {kind} {release}")
        for number, (kind, releases, broken, kept) in enumerate(ROWS)
        for release in releases
    ],
)
def test_a_row_of_the_table_holds(kind: str, release: str, broken: Any, kept: Any) -> None:
    def refused(spec: Any) -> list[str]:
        manifest = {"type": kind, "mesh": "default", "name": "p", "spec": spec}
        found = refusals_of(resource_of(manifest), release=release, environment=Environment())
        return [str(problem) for problem in found]

    assert refused(broken)
    assert refused(kept) == []


@pytest.mark.parametrize(
    ("kind", "conf", "refused"),
    [
        ("MeshTrace", {"backends": []}, True),
        ("MeshMetric", {"backends": []}, False),
        ("MeshProxyPatch", {"appendModifications": [{"cluster": {"operation": "Remove"}}]}, True),
    ],
)
def test_listener_tags_are_for_what_listeners_have(
    kind: str, conf: dict[str, Any], *, refused: bool
) -> None:
    """matcher.md "Top-level targetRef kinds": `+tags` says for which policies."""
    top = {"kind": "MeshGateway", "name": "g", "tags": {"port": "http"}}
    spec = {"targetRef": top, **single(conf)}
    manifest = {"type": kind, "mesh": "default", "name": "p", "spec": spec}
    problems = refusals_of(resource_of(manifest), release="2.14", environment=Environment())
    assert [one.path for one in problems] == [("spec", "targetRef", "tags")] * refused
