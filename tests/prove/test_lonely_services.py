"""A Service whose Pods nobody has here: what it says of inbounds counts for whoever they are."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.prover.proof import Verdict
from tests.prove.states import live, state

MESH = """
type: Mesh
name: default
---
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {kuma.io/sidecar-injection: enabled}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop%s}
spec: {selector: {app: %s}, ports: [{%s}]}
"""
PORT = "port: 80, targetPort: 8080, appProtocol: http, protocol: TCP, name: main"


def _changed(was: tuple[str, str, str], now: tuple[str, str, str]) -> Any:
    return live(state(MESH % was), state(MESH % now))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("port: 80", "port: 81"),
        ("targetPort: 8080", "targetPort: 8081"),
        ("appProtocol: http", "appProtocol: tcp"),
        ("protocol: TCP", "protocol: UDP"),
        ("name: main", "name: other"),
    ],
)
def test_every_field_of_a_port_is_of_inbounds(old: str, new: str) -> None:
    """world.md: a Service makes the inbounds of the Pods that it selects."""
    proof = _changed(("", "web", PORT), ("", "web", PORT.replace(old, new)))
    assert proof.verdict("live") is Verdict.UNKNOWN
    (doubt,) = proof.unknown("live")
    assert "Service web of namespace shop changed" in str(doubt)


@pytest.mark.parametrize(
    ("note", "app", "verdict"),
    [
        ("", "api", Verdict.UNKNOWN),
        (", annotations: {80.service.kuma.io/protocol: http}", "web", Verdict.UNKNOWN),
        (", annotations: {team: a}", "web", Verdict.EQUIVALENT),
        ("", "web", Verdict.EQUIVALENT),
    ],
)
def test_so_is_whom_it_selects_and_what_it_notes_of_ports(
    note: str, app: str, verdict: Verdict
) -> None:
    assert _changed(("", "web", PORT), (note, app, PORT)).verdict("live") is verdict
