"""Which meshes have left the engine of policies up to 2.5 behind, and which changes tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumamigrate.flow.judging.beyond25 import is_beyond
from kumamigrate.flow.judging.everyworld import open_worlds
from kumamigrate.model.state import Environment
from kumamigrate.scene.loadfiles import repository_of
from kumamigrate.scene.scene import Scene
from tests.prove.states import state

TIMEOUT = """
type: MeshTimeout
name: t
mesh: default
spec:
  targetRef: {kind: %s}
  to: [{targetRef: {kind: Mesh}, default: {connectionTimeout: %s}}]
"""
INBOUND = """
type: MeshTimeout
name: t
mesh: default
spec: {rules: [{default: {connectionTimeout: %s}}]}
"""
ROUTE = """
type: MeshHTTPRoute
name: r
mesh: default
spec:
  targetRef: {kind: %s}
  to:
  - targetRef: {kind: MeshService, name: web}
    rules: [{matches: [{path: {type: PathPrefix, value: %s}}], default: {}}]
"""
SECOND = "---" + ROUTE.replace("name: r", "name: s") % ("Mesh", "/v2")
RETRY = "\ntype: Retry\nname: old\nmesh: default\nsources: []\ndestinations: []\nconf: {}\n"
TAGGED = """
type: Dataplane
name: d
mesh: default
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: d}}]
  outbound: [{port: 1000, tags: {kuma.io/service: web}}]
"""


def asked(
    before: str, after: str, *touched: str, mode: str = "Exclusive", release: str = "2.14"
) -> bool:
    old, new = (state(text, mode=mode, release=release) for text in (before, after))
    return is_beyond(old, new, "default", {*touched})


CHANGED = (TIMEOUT % ("Mesh", "3s"), TIMEOUT % ("Mesh", "4s"))


def test_what_is_said_of_outbounds_in_mode_exclusive_is_not_theirs() -> None:
    assert asked(*CHANGED, "MeshTimeout")


@pytest.mark.parametrize(
    "asked_otherwise",
    [
        {"mode": "Disabled"},
        {"mode": "Everywhere"},
        {"release": "2.9"},
    ],
    ids=str,
)
def test_but_it_is_where_tags_lead_or_inbounds_are_an_old_timeouts(
    asked_otherwise: dict[str, str],
) -> None:
    assert not asked(*CHANGED, "MeshTimeout", **asked_otherwise)


@pytest.mark.parametrize("beside", [RETRY, TAGGED], ids=["an old policy", "an outbound by tags"])
def test_nor_where_the_old_engine_is_at_work(beside: str) -> None:
    assert not asked(*(f"{text}---{beside}" for text in CHANGED), "MeshTimeout")


def test_inbounds_are_left_to_the_prover() -> None:
    assert not asked(INBOUND % "3s", INBOUND % "4s", "MeshTimeout")


def test_permissions_are_left_to_the_prover() -> None:
    assert not asked(*CHANGED, "MeshTimeout", "MeshTrafficPermission")


@pytest.mark.parametrize(
    ("after", "beyond"),
    [
        (ROUTE % ("Mesh", "/v2"), True),
        (ROUTE % ("Mesh", "/v1") + SECOND, True),
        (ROUTE % ("Dataplane", "/v1"), False),
        ("", False),
    ],
    ids=["another match", "a second one for the same proxies", "for others", "gone"],
)
def test_a_route_decides_whether_a_proxy_keeps_its_outbounds(after: str, beyond: bool) -> None:
    assert asked(ROUTE % ("Mesh", "/v1"), after, "MeshHTTPRoute") is beyond


MESH = "type: Mesh\nname: default\nmeshServices: {mode: Exclusive}\n---"


@pytest.mark.parametrize("target", ["2.14", "3.0"])
def test_what_can_go_out_today_is_asked_on_the_release_in_use(target: str) -> None:
    before, after = (
        Scene(
            repository=repository_of({"a.yaml": f"{MESH}{text}".encode()}, root=Path()),
            inventory=(),
            environment=Environment(),
            source="2.14",
            target=target,
        )
        for text in CHANGED
    )
    assert "2.5" not in open_worlds(before, after, today=True)
    # What the upgrade makes of the policies up to 2.5 is another question.
    assert ("2.5" in open_worlds(before, after)) is (target == "3.0")
    assert "2.6" in open_worlds(before, after, today=True)


@pytest.mark.parametrize(
    "kind",
    [
        *("MeshAccessLog", "MeshCircuitBreaker", "MeshHTTPRoute", "MeshHealthCheck"),
        *("MeshLoadBalancingStrategy", "MeshMetric", "MeshPassthrough", "MeshRetry", "MeshTLS"),
        *("MeshTimeout", "MeshTrace"),
    ],
)
def test_each_type_of_which_policies_up_to_2_5_have_no_say_counts(kind: str) -> None:
    assert asked(*CHANGED, kind)
    assert not asked(*CHANGED, kind, "MeshTrafficPermission")
