"""Policies of outbounds stop working with the last TrafficRoute: they are converted before it."""

from __future__ import annotations

import pytest

from kumamigrate.rewrite.sourcedest.convert import CONVERTERS
from kumamigrate.rewrite.sourcedest.known import world_of
from kumamigrate.rewrite.sourcedest.spare import spare_of
from tests.sourcedest.meshes import ROUTE_ALL, state

MESH = """
type: Mesh
name: default
skipCreatingInitialPolicies: ['*']
logging: {backends: [{name: f, type: file, conf: {path: /tmp/f}}]}
tracing: {backends: [{name: f, type: zipkin, conf: {url: 'http://z:1/api'}}]}
"""
SOURCES = """
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'%s}}]
"""
ALL = SOURCES % ""
HTTP = SOURCES % ", kuma.io/protocol: http"
SELECTORS = "\nselectors: [{match: {kuma.io/service: '*'}}]\n"
OF_OUTBOUNDS = {
    "Timeout": f"{ALL}conf: {{connectTimeout: 1s}}",
    "Retry": f"{ALL}conf: {{http: {{numRetries: 1}}}}",
    "CircuitBreaker": f"{ALL}conf: {{thresholds: {{maxConnections: 1}}}}",
    "HealthCheck": (
        f"{ALL}conf: {{interval: 1s, timeout: 1s, unhealthyThreshold: 1, healthyThreshold: 1}}"
    ),
    "TrafficLog": f"{ALL}conf: {{backend: f}}",
}
OF_OTHERS = {
    "TrafficPermission": ALL,
    "FaultInjection": f"{HTTP}conf: {{abort: {{httpStatus: 500, percentage: 1}}}}",
    "RateLimit": f"{ALL}conf: {{http: {{requests: 1, interval: 1s}}}}",
    "TrafficTrace": f"{SELECTORS}conf: {{backend: f}}",
}


@pytest.mark.parametrize("kind", [*OF_OUTBOUNDS, *OF_OTHERS])
def test_a_route_waits_for_whatever_its_outbounds_read(kind: str) -> None:
    """legacy.md §0 fact 3: without TrafficRoutes the old engine makes no outbound."""
    conf = {**OF_OUTBOUNDS, **OF_OTHERS}[kind]
    policy = f"type: {kind}\nname: p\nmesh: default{conf}\n"
    world = world_of(state("\n---\n".join((MESH, ROUTE_ALL, policy))), "default", "2.9")
    told = [one.message for one in CONVERTERS["TrafficRoute"](world).manual if one.blocking]
    waiting = [f"the mesh still has {kind} policies" for _ in range(kind in OF_OUTBOUNDS)]
    assert [text.partition(",")[0] for text in told] == waiting


CONNECTED = {
    **OF_OUTBOUNDS,
    "TrafficRoute": f"{ALL}conf: {{destination: {{kuma.io/service: '*'}}}}",
}
SPARED = {
    **{kind: ("sources", conf) for kind, conf in CONNECTED.items()},
    "TrafficPermission": ("destinations", ALL),
    "RateLimit": ("destinations", OF_OTHERS["RateLimit"]),
    "TrafficTrace": ("selectors", OF_OTHERS["TrafficTrace"]),
    "ProxyTemplate": ("selectors", f"{SELECTORS}conf: {{imports: [default-proxy]}}"),
}


@pytest.mark.parametrize("kind", SPARED)
def test_what_says_the_same_for_fewer_changes_nothing(kind: str) -> None:
    """legacy.md §2: the narrower one wins, and says what the broader one would."""
    field, conf = SPARED[kind]
    broad = f"type: {kind}\nname: broad\nmesh: default{conf}\n"
    head, _, tail = broad.partition(f"{field}: ")
    fewer = tail.replace("'*'", "web", 1)
    narrow = f"{head}{field}: {fewer}".replace("broad", "narrow")
    docs = [MESH, broad, narrow] if kind == "TrafficRoute" else [MESH, ROUTE_ALL, broad, narrow]
    world = world_of(state("\n---\n".join(docs)), "default", "2.9")
    assert [one.resource.name for one in spare_of(kind, world)] == ["narrow"]


@pytest.mark.parametrize(
    ("kind", "conf"),
    [
        ("Timeout", "{connectTimeout: %ss}"),
        ("Timeout", "{tcp: {idleTimeout: %ss}}"),
        ("Timeout", "{http: {requestTimeout: %ss}}"),
        ("Timeout", "{grpc: {streamIdleTimeout: %ss}}"),
        ("Retry", "{http: {numRetries: %s}}"),
        ("Retry", "{grpc: {numRetries: %s}}"),
        ("Retry", "{tcp: {maxConnectAttempts: %s}}"),
    ],
)
def test_what_says_something_else_for_one_protocol_is_not(kind: str, conf: str) -> None:
    head = f"type: {kind}\nname: %s\nmesh: default{ALL}conf: {conf}\n"
    broad, narrow = head % ("broad", 7), (head % ("narrow", 8)).replace("'*'", "web", 1)
    world = world_of(state("\n---\n".join((MESH, ROUTE_ALL, broad, narrow))), "default", "2.9")
    assert spare_of(kind, world) == ()
