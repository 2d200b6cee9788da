"""A label of a service that changes: who may choose by it, and what is taken for granted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.frontdoor import command
from tests.prove.states import live
from tests.prove.states import state as state_of

MESH = """\
type: Mesh
name: default
skipCreatingInitialPolicies: ['*']
meshServices: {mode: Exclusive}
---
type: MeshService
mesh: default
name: web
labels: {team: %s}
spec:
  selector: {dataplaneTags: {kuma.io/service: web}}
  ports: [{port: 80, targetPort: 8080, appProtocol: http}]
"""
WORKLOAD = """\
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop, namespace: shop}
spec:
  template:
    metadata:
      labels: {app: shop, kuma.io/sidecar-injection: enabled}
      annotations:
        kuma.io/reachable-backends: |
          refs:
          - kind: MeshService
            labels:
              team: red
"""
GRANTED = (
    "no proxy or HostnameGenerator outside of these files chooses MeshService web of mesh default"
    " by label team"
)


def _claim(folder: Path, more: str = "") -> tuple[str, list[Any]]:
    states = []
    for team in ("red", "blue"):
        states.append(folder / f"{team}.yaml")
        states[-1].write_text(MESH % team + more, encoding="utf-8")
    found = command("prove", *states, "--zone", "east", "--format", "json").json
    return found["claims"]["live"]["verdict"], found["assumptions"]


def test_that_nobody_else_chooses_by_it_is_taken_for_granted(tmp_path: Path) -> None:
    verdict, assumptions = _claim(tmp_path)
    assert verdict == "equivalent"
    assert GRANTED in assumptions


@pytest.mark.parametrize("whole", [(True, True), (True, False), (False, True)])
def test_it_is_taken_for_granted_unless_all_is_known_of_both_sides(
    whole: tuple[bool, bool],
) -> None:
    teams = zip(("red", "blue"), whole, strict=True)
    sides = [state_of(MESH % team, complete=one) for team, one in teams]
    assert (GRANTED in live(*sides).assumptions) is not all(whole)


def test_pods_choose_what_they_reach(tmp_path: Path) -> None:
    verdict, assumptions = _claim(tmp_path, WORKLOAD)
    assert verdict == "different"
    assert GRANTED not in assumptions


METRIC = """\
---
type: Dataplane
mesh: default
name: web-1
labels: {%s}
networking:
  address: 10.0.0.1
  inbound: [{port: 8080, tags: {kuma.io/service: web, kuma.io/protocol: http}}]
---
type: MeshMetric
mesh: default
name: all
spec:
  targetRef: {kind: Dataplane, labels: {app: web}}
  default: {backends: [{type: Prometheus, prometheus: {port: 5670, path: /metrics}}]}
"""


@pytest.mark.parametrize(
    ("was", "now", "effects"),
    [
        ("app: web, kuma.io/workload: a", "app: web, kuma.io/workload: b", ["value"]),
        ("app: web", "app: web, kuma.io/workload: b", ["activation"]),
        ("app: db", "app: db, kuma.io/workload: b", []),  # no MeshMetric reaches it
    ],
)
def test_metrics_carry_the_workload(tmp_path: Path, was: str, now: str, effects: list[str]) -> None:
    states = [tmp_path / "before.yaml", tmp_path / "after.yaml"]
    for state, labels in zip(states, (was, now), strict=True):
        state.write_text(MESH % "red" + METRIC % labels, encoding="utf-8")
    found = command("prove", *states, "--zone", "east", "--format", "json").json
    witnesses = found["claims"]["live"]["dataplanes"]["web-1"]["witnesses"]
    assert [one["effect"] for one in witnesses] == effects


NEAR = """\
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop, namespace: shop}
spec:
  template:
    metadata:
      labels: {app: shop, rack: "%s"}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {kuma.io/sidecar-injection: enabled}}
---
type: MeshLoadBalancingStrategy
mesh: default
name: near
spec:
  to:
  - targetRef: {kind: Mesh}
    default: {localityAwareness: {localZone: {affinityTags: [{key: %s}]}}}
"""


@pytest.mark.parametrize(("key", "verdict"), [("rack", "different"), ("shelf", "equivalent")])
def test_traffic_stays_near_by_labels_of_pods(tmp_path: Path, key: str, verdict: str) -> None:
    states = [tmp_path / "before.yaml", tmp_path / "after.yaml"]
    for state, rack in zip(states, ("1", "2"), strict=True):
        state.write_text(MESH % "red" + NEAR % (rack, key), encoding="utf-8")
    found = command("prove", *states, "--zone", "east", "--format", "json").json
    assert found["claims"]["live"]["verdict"] == verdict


def test_labels_of_an_external_service_stand_at_its_endpoint(tmp_path: Path) -> None:
    external = MESH.replace("type: MeshService", "type: MeshExternalService").replace(
        "spec:\n  selector: {dataplaneTags: {kuma.io/service: web}}\n"
        "  ports: [{port: 80, targetPort: 8080, appProtocol: http}]\n",
        "spec: {match: {port: 80}, endpoints: [{address: web.example.com, port: 80}]}\n",
    )
    states = [tmp_path / "before.yaml", tmp_path / "after.yaml"]
    for state, team in zip(states, ("red", "blue"), strict=True):
        state.write_text(external % team, encoding="utf-8")
    found = command("prove", *states, "--zone", "east", "--format", "json").json
    assert found["claims"]["live"]["verdict"] == "different"
    assert not any("by label team" in one for one in found["assumptions"])
