"""Services that select a Pod by one port: 2.14 ends with the last one's listener, 3.0 with the
first one's inbound, in the order of their names (asked of both on Kubernetes)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frontdoor import command

STATE = """apiVersion: kuma.io/v1alpha1
kind: Mesh
metadata: {name: default}
spec: {meshServices: {mode: Exclusive}, skipCreatingInitialPolicies: ['*']}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {kuma.io/sidecar-injection: enabled}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: web, ports: [{name: http, containerPort: 8080}]}]}
"""
SERVICE = """---
apiVersion: v1
kind: Service
metadata: {name: %s, namespace: shop}
spec: {selector: {app: web}, ports: [{port: %s, targetPort: %s, %s}]}
"""


@pytest.mark.parametrize(
    ("services", "said"),
    [
        ((("aa", 80, 8080, "http"), ("bb", 80, 8080, "tcp")), ("tcp", "http")),
        ((("zz", 80, 8080, "http"), ("bb", 80, 8080, "tcp")), ("http", "tcp")),
        ((("aa", 80, 8080, "http"), ("bb", 80, 8080, "grpc")), ("grpc", "http")),
        ((("aa", 80, 8080, "http"), ("bb", 81, 8080, "http")), None),
        ((("aa", 80, 8080, "http"), ("bb", 81, 9090, "tcp")), None),
    ],
)
def test_the_upgrade_takes_the_protocol_of_another_service(
    tmp_path: Path,
    services: tuple[tuple[str, int, int, str], ...],
    said: tuple[str, str] | None,
) -> None:
    state = tmp_path / "state.yaml"
    state.write_text(
        STATE
        + "".join(
            SERVICE % (name, port, target, f"appProtocol: {protocol}")
            for name, port, target, protocol in services
        )
    )
    answer = command(
        "prove", state, state, "--from", "2.14", "--target", "3.0", "--format", "json"
    ).json
    release = answer["claims"]["release"]
    found = [
        tuple(one[side]["value"][0]["protocol"] for side in ("before", "after"))
        for proxy in release["dataplanes"].values()
        for one in proxy["witnesses"]
    ]
    assert found == ([said] if said else [])
    assert release["verdict"] == ("different" if said else "equivalent")
