"""What only Dataplanes tell of outbounds by tag is taken for granted without them, and said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frontdoor import command

LISTED = "Dataplanes that list their outbounds list all to which routes lead what they send"
TCP = "grpc, which MeshTCPRoute t is about, speaks TCP"
MESH = "type: Mesh\nname: default\nmeshServices: {mode: MODE}\n"
ROUTE = """---
type: MeshTCPRoute
mesh: default
name: t
spec:
  to:
  - targetRef: {kind: MeshService, name: grpc}
    rules: [{default: {backendRefs: [{kind: MeshService, name: db}]}}]
"""
LIMITS = """---
type: MeshCircuitBreaker
mesh: default
name: p
spec:
  to: [{targetRef: {kind: Mesh}, default: {connectionLimits: {maxConnections: 7}}}]
"""
IDLE = """---
type: MeshTimeout
mesh: default
name: p
spec:
  to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 30s}}]
"""
SPEAKS = """---
type: Dataplane
mesh: default
name: grpc-1
networking:
  address: 10.0.0.2
  inbound: [{port: 80, tags: {kuma.io/service: grpc, kuma.io/protocol: tcp}}]
"""
ON_KUBERNETES = """---
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {kuma.io/sidecar-injection: enabled}}
---
apiVersion: v1
kind: Service
metadata: {name: grpc, namespace: shop}
spec: {selector: {app: grpc}, ports: [{name: main, port: 80, appProtocol: tcp}]}
---
apiVersion: kuma.io/v1alpha1
kind: MeshTCPRoute
metadata: {name: t, namespace: kuma-system}
spec:
  to:
  - targetRef: {kind: MeshService, name: grpc, namespace: shop}
    rules: [{default: {backendRefs: [{kind: MeshService, name: db, namespace: shop, port: 80}]}}]
"""


@pytest.mark.parametrize(
    ("policies", "expected"),
    [
        pytest.param(ROUTE + LIMITS, {LISTED}, id="limits where a route leads (90-led-to)"),
        pytest.param(ROUTE + IDLE, {TCP}, id="an idle timeout (93-idle-of-a-tcp-route)"),
        pytest.param(ROUTE + IDLE + SPEAKS, set[str](), id="what it speaks is known"),
        pytest.param(ON_KUBERNETES + IDLE, set[str](), id="what its Service says"),
        pytest.param(ROUTE.replace("name: db", "name: grpc") + LIMITS, set[str](), id="to itself"),
        pytest.param(LIMITS + IDLE.replace("name: p", "name: q"), set[str](), id="no route"),
    ],
)
def test_what_a_switch_takes_for_granted_of_tags_is_said(
    policies: str, expected: set[str], tmp_path: Path
) -> None:
    for side, mode in (("before", "Disabled"), ("after", "Exclusive")):
        (tmp_path / side).mkdir()
        (tmp_path / side / "a.yaml").write_text(MESH.replace("MODE", mode) + policies)
    words = ("prove", tmp_path / "before", tmp_path / "after", "--format", "json")
    proof = command(*words).json
    assert {LISTED, TCP} & set(proof["assumptions"]) == expected
