"""What passes as an activation beside old policies, and what does not."""

from __future__ import annotations

from pathlib import Path

from tests.frontdoor import Answer, command

GROUND = """\
type: Mesh
name: default
meshServices: {mode: Exclusive}
---
type: MeshService
mesh: default
name: shop
labels: {kuma.io/display-name: shop}
spec:
  selector: {dataplaneTags: {kuma.io/service: shop}}
  ports: [{port: 80, name: main, appProtocol: http}]
"""
OLD = """\
---
type: Retry
mesh: default
name: old
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: nobody}}]
conf: {http: {numRetries: 9}}
"""
NEW = """\
---
type: MeshRetry
mesh: default
name: new
spec:
  targetRef: {kind: Mesh}
  to: [{targetRef: {kind: Mesh}, default: {http: {numRetries: 9}}}]
"""
ROUTE = """\
---
type: TrafficRoute
mesh: default
name: all
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {destination: {kuma.io/service: '*'}}
"""


def _proof(tmp_path: Path, before: str, after: str) -> Answer:
    was, now = tmp_path / "was.yaml", tmp_path / "now.yaml"
    was.write_text(GROUND + before)
    now.write_text(GROUND + after)
    return command("prove", was, now, "--format", "json")


def _effects(answer: Answer) -> set[str]:
    proxies = answer.json["claims"]["live"]["dataplanes"].values()
    return {w["effect"] for proxy in proxies for w in proxy["witnesses"]}


def test_outbounds_that_a_traffic_route_takes_away_are_no_activation(tmp_path: Path) -> None:
    """Real outbounds go from every proxy, in mode Exclusive too (prover.md §6 C)."""
    answer = _proof(tmp_path, "", ROUTE)

    assert answer.code == 4
    assert _effects(answer) == {"value"}


def test_outbounds_that_come_with_the_last_traffic_route_gone_are_one(tmp_path: Path) -> None:
    answer = _proof(tmp_path, ROUTE, "")

    assert answer.code == 0
    assert _effects(answer) == {"activation"}


def test_a_policy_beside_an_old_one_that_stays_is_a_change(tmp_path: Path) -> None:
    answer = _proof(tmp_path, OLD, OLD + NEW)

    assert answer.code == 4
    assert "activation" not in _effects(answer)


def test_a_policy_in_place_of_an_old_one_is_an_activation(tmp_path: Path) -> None:
    answer = _proof(tmp_path, OLD, NEW)

    assert answer.code == 0
    assert _effects(answer) == {"activation"}
