"""Whom a proxy reaches is the same after an upgrade, whichever list says it.

On 2.14 a list of tags alone leaves no outbound to a real resource (asked of a control plane: the
clusters of both services go when the list comes, and are none where the list is there from the
beginning). With references beside it those have their outbounds in mode Disabled as well, where
somebody wrote the service (asked, too).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.frontdoor import command

MESH = """type: Mesh
name: default
meshServices: {mode: MODE}
skipCreatingInitialPolicies: ['*']
---
type: MeshTimeout
mesh: default
name: kept
spec:
  to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 0s, streamIdleTimeout: 5m}}}]
"""
"""Requests by tag have what they have without a MeshTimeout, and keep it."""
SERVICE = """---
type: MeshService
mesh: default
name: NAME
labels: {kuma.io/display-name: NAME, app: NAME}
spec:
  selector: {dataplaneLabels: {matchLabels: {app: NAME}}}
  ports: [{port: 80, appProtocol: http}, {port: 90, name: admin}]
"""
DATAPLANE = """---
type: Dataplane
mesh: default
name: web
labels: {app: web, kuma.io/workload: web}
networking:
  address: 192.0.2.1
  inbound:
  - {name: main, port: 80, protocol: http, tags: {kuma.io/service: web, kuma.io/protocol: http}}
  transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001REACH}
"""
NOTHING = ""
TAGS = ", reachableServices: [a, b]"
STAR = ", reachableServices: ['*']"
EMPTY = ", reachableBackends: {}"
A = ", reachableBackends: {refs: [{kind: MeshService, labels: {app: a}}]}"
A_BY_NAME = ", reachableBackends: {refs: [{kind: MeshService, name: a}]}"
A_80 = ", reachableBackends: {refs: [{kind: MeshService, name: a, port: 80}]}"
BOTH = (
    ", reachableBackends:"
    " {refs: [{kind: MeshService, labels: {app: b}}, {kind: MeshService, name: a}]}"
)
ONLY_B = ", reachableBackends: {refs: [{kind: MeshService, labels: {app: b}}]}"
UNKNOWN_TAG = ", reachableServices: [a, elsewhere]"


def _state(mode: str, reach: str) -> str:
    services = "".join(SERVICE.replace("NAME", name) for name in ("a", "b"))
    return MESH.replace("MODE", mode) + services + DATAPLANE.replace("REACH", reach)


def _verdict(folder: Path, mode: str, before: str, after: str) -> str:
    paths = [folder / f"{name}.yaml" for name in ("before", "after")]
    for path, reach in zip(paths, (before, after), strict=True):
        path.write_text(_state(mode, reach), encoding="utf-8")
    words = ("--from", "2.14", "--target", "3.0", "--format", "json")
    claims: dict[str, Any] = command("prove", *paths, *words, given=None).json["claims"]
    verdict: str = claims["release"]["verdict"]
    return verdict


@pytest.mark.parametrize(
    ("mode", "before", "after", "verdict"),
    [
        ("Exclusive", NOTHING, NOTHING, "equivalent"),
        ("Exclusive", NOTHING, EMPTY, "different"),
        ("Exclusive", NOTHING, A, "different"),
        ("Exclusive", A, NOTHING, "different"),
        ("Exclusive", A, BOTH, "different"),
        ("Exclusive", A, A_BY_NAME, "equivalent"),
        ("Exclusive", A, A_80, "different"),
        ("Exclusive", TAGS, TAGS, "unknown"),
        ("Exclusive", TAGS, EMPTY, "equivalent"),
        ("Exclusive", TAGS, BOTH, "different"),
        ("Exclusive", STAR, NOTHING, "equivalent"),
        ("Everywhere", TAGS, TAGS, "unknown"),
        ("Everywhere", TAGS, A, "different"),
        ("Everywhere", TAGS, BOTH, "equivalent"),
        ("Everywhere", A, A, "different"),
        ("Everywhere", A, NOTHING, "equivalent"),
        ("Everywhere", TAGS + A, A, "different"),
        ("Everywhere", TAGS + A, BOTH, "equivalent"),
        ("Disabled", TAGS, BOTH, "equivalent"),
        ("Disabled", ", reachableServices: [b]" + A, BOTH, "equivalent"),
        ("Disabled", ", reachableServices: [b]" + A, ONLY_B, "different"),
        ("Disabled", UNKNOWN_TAG, A, "unknown"),
    ],
)
def test_a_proxy_reaches_the_same(
    tmp_path: Path, mode: str, before: str, after: str, verdict: str
) -> None:
    """Tags by the services that replace them; outside mode Exclusive a proxy without tags reaches
    every service by its tag."""
    assert _verdict(tmp_path, mode, before, after) == verdict
