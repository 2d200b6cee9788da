"""Built-in gateways that no file holds: a running 2.14 was asked what theirs would read.

`dataplanes.yaml` is what it was given besides; the prover has to tell without them.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cases import GOLDEN
from tests.frontdoor import command

PAIRS = sorted(path.parent for path in (GOLDEN / "gateways-2.14").glob("*/verdict.json"))
GROUND = """type: Mesh
name: default
meshServices: {mode: Exclusive}
skipCreatingInitialPolicies: ['*']
---
type: MeshGateway
mesh: default
name: edge
selectors: [{match: {kuma.io/service: edge_shop_svc}}]
conf: {listeners: [{port: 8080, protocol: HTTP}]}
"""
INSTANCE = """---
apiVersion: kuma.io/v1alpha1
kind: MeshGatewayInstance
metadata: {name: edge, namespace: shop}
spec: {replicas: 1, tags: {version: v1}}
"""
POD = """---
apiVersion: v1
kind: Pod
metadata:
  name: edge
  namespace: shop
  annotations:
    kuma.io/gateway: builtin
    kuma.io/tags: '{"kuma.io/service": "edge_shop_svc", "version": "v1"}'
spec: {}
"""
TIMEOUT = """---
type: MeshTimeout
mesh: default
name: a
LABELS
spec:
  targetRef: TOP
  to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 15s, streamIdleTimeout: 30m}}}]
"""
"""What sidecars have without it. At a gateway streams end after 5s (asked)."""
V1 = "{kind: MeshSubset, tags: {version: v1}}"
V2 = "{kind: MeshSubset, tags: {kuma.io/service: edge_shop_svc, version: v2}}"
ELSEWHERE = "{kind: MeshSubset, tags: {kuma.io/service: elsewhere, version: v1}}"
SIDECARS = "{kind: MeshSubset, tags: {version: v1}, proxyTypes: [Sidecar]}"
SHOP = "labels: {k8s.kuma.io/namespace: shop, kuma.io/policy-role: consumer}"


@pytest.mark.parametrize("folder", PAIRS, ids=lambda folder: folder.name)
def test_a_gateway_that_nobody_listed_is_thought_of(folder: Path) -> None:
    states = (folder / "before.yaml", folder / "after.yaml")
    verdict = json.loads((folder / "verdict.json").read_text())["dataplanes"]
    words = ("--target", "2.14", "--initial-policies", "none", "--format", "json")
    found = command("prove", *states, *words).json["claims"]["live"]
    same = all(said["same"] for said in verdict.values())
    assert (found["verdict"] == "equivalent") is same


@pytest.mark.parametrize(
    ("more", "top", "labels", "verdict"),
    [
        ("", V1, "", "different"),
        ("", V2, "", "different"),
        (INSTANCE, V1, "", "different"),
        (POD, V1, "", "different"),
        ("", "{kind: Mesh}", SHOP, "different"),
        ("", ELSEWHERE, "", "equivalent"),
        ("", SIDECARS, "", "equivalent"),
        ("", "{kind: Dataplane, labels: {version: v1}}", "", "equivalent"),
    ],
)
def test_what_sidecars_have_anyway_counts_at_a_gateway(
    tmp_path: Path, more: str, top: str, labels: str, verdict: str
) -> None:
    policy = TIMEOUT.replace("TOP", top).replace("LABELS\n", f"{labels}\n" if labels else "")
    states = tmp_path / "before.yaml", tmp_path / "after.yaml"
    for path, text in zip(states, (GROUND + more + policy, GROUND + more), strict=True):
        path.write_text(text, encoding="utf-8")
    words = ("--target", "2.14", "--initial-policies", "none", "--format", "json")
    found = command("prove", *states, *words).json["claims"]["live"]
    assert found["verdict"] == verdict, found["dataplanes"].keys()


def test_each_thing_is_said_of_one_gateway(tmp_path: Path) -> None:
    """Two policies that say the same to gateways with other tags are one difference each."""
    both = TIMEOUT.replace("TOP", V1) + TIMEOUT.replace("TOP", V2).replace("name: a", "name: b")
    states = tmp_path / "before.yaml", tmp_path / "after.yaml"
    for path, text in zip(states, (GROUND + both.replace("LABELS\n", ""), GROUND), strict=True):
        path.write_text(text, encoding="utf-8")
    words = ("--target", "2.14", "--initial-policies", "none", "--format", "json")
    found = command("prove", *states, *words).json["claims"]["live"]["dataplanes"]
    named = [name for name, one in found.items() if one["verdict"] == "different"]
    assert named == ["gateway edge with version=v1"]


def test_a_gateway_with_the_tags_of_one_policy_alone_is_thought_of(tmp_path: Path) -> None:
    """Where it has those of both, a third policy hides what changes in either."""
    states = tmp_path / "before.yaml", tmp_path / "after.yaml"
    hides = _subset("c", "version: v1, team: red", "9s")
    for path, value in zip(states, ("1s", "2s"), strict=True):
        changed = _subset("a", "version: v1", value) + _subset("b", "team: red", value)
        path.write_text(GROUND + changed + hides, encoding="utf-8")
    words = ("--target", "2.14", "--initial-policies", "none", "--format", "json")
    found = command("prove", *states, *words).json["claims"]["live"]["dataplanes"]
    assert found["gateway edge with version=v1"]["verdict"] == "different"


def _subset(name: str, tags: str, value: str) -> str:
    return f"""---
type: MeshTimeout
mesh: default
name: {name}
spec:
  targetRef: {{kind: MeshSubset, tags: {{{tags}}}}}
  to: [{{targetRef: {{kind: Mesh}}, default: {{http: {{requestTimeout: {value}}}}}}}]
"""
