"""Spans and metrics name the workload of a Pod, which its service account gives (asked of 2.14)."""

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
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80, appProtocol: PROTOCOL}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  template:
    metadata: {labels: {app: web}}
    spec: {serviceAccountName: ACCOUNT, containers: []}
"""
TRACE = """---
apiVersion: kuma.io/v1alpha1
kind: MeshTrace
metadata: {name: spans, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec: {default: {backends: [{type: Zipkin, zipkin: {url: 'http://z:9411/'}}]}}
"""
METRIC = """---
apiVersion: kuma.io/v1alpha1
kind: MeshMetric
metadata: {name: all, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec: {default: {backends: [{type: Prometheus, prometheus: {port: 5670, path: /m}}]}}
"""


@pytest.mark.parametrize(
    ("policy", "protocol", "verdict"),
    [
        (TRACE, "http", "different"),
        (METRIC, "tcp", "different"),
        ("", "http", "equivalent"),
    ],
)
def test_another_service_account_is_another_workload(
    tmp_path: Path, policy: str, protocol: str, verdict: str
) -> None:
    states = tmp_path / "before.yaml", tmp_path / "after.yaml"
    for path, account in zip(states, ("web", "backend"), strict=True):
        text = STATE.replace("ACCOUNT", account).replace("PROTOCOL", protocol)
        path.write_text(text + policy, encoding="utf-8")
    words = ("--target", "2.14", "--initial-policies", "none", "--format", "json")
    found = command("prove", *states, *words).json["claims"]["live"]
    assert found["verdict"] == verdict
