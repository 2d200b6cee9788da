"""Who answers where both engines have policies (legacy.md §3), and policyEngine (seed 003)."""

from __future__ import annotations

import pytest

from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.sourcedest.engine import Engine, answering_engine, meeting, policy_engine
from tests.sourcedest.meshes import resource


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        ("TrafficPermission", Engine.NEW),
        ("Timeout", Engine.NEW),
        ("Retry", Engine.NEW),
        ("CircuitBreaker", Engine.NEW),
        ("HealthCheck", Engine.BOTH),
        ("FaultInjection", Engine.OLD),
        ("RateLimit", Engine.OLD),
        ("TrafficLog", Engine.BOTH),
        ("TrafficTrace", Engine.NEW),
        ("ProxyTemplate", Engine.BOTH),
        ("TrafficRoute", Engine.NEW),
    ],
)
@pytest.mark.parametrize("release", ["2.6", "2.9", "2.14"])
def test_where_both_reach(kind: str, answer: Engine, release: str) -> None:
    got = answering_engine(kind, release, old_reaches=True, new_reaches=True)
    assert got is answer


def test_every_old_policy_but_virtual_outbound_has_a_rule() -> None:
    missing = {kind for kind in OLD_POLICIES if meeting(kind, "2.9") is None}
    assert missing == {"VirtualOutbound"}


def test_alone_and_gone() -> None:
    def ask(release: str, old: bool, new: bool) -> Engine:
        return answering_engine("RateLimit", release, old_reaches=old, new_reaches=new)

    assert ask("2.9", True, False) is Engine.OLD
    assert ask("2.9", False, True) is Engine.NEW
    assert ask("2.9", False, False) is Engine.NONE
    assert ask("3.0", True, True) is Engine.NEW
    assert ask("3.0", True, False) is Engine.NONE


def test_releases_differ() -> None:
    """legacy.md fact 6: 2.14 rewrites clusters and inbounds without any MeshTimeout."""
    early, late = meeting("Timeout", "2.9"), meeting("Timeout", "2.14")
    assert early is not None and early.always == ()
    assert late is not None and late.always == ("cluster", "inbound")
    retry = meeting("Retry", "2.9")
    assert retry is not None and retry.else_old


@pytest.mark.parametrize(
    ("default", "written", "result"),
    [
        ("TargetRef", "Undefined", "TargetRef"),
        ("TargetRef", "Legacy", "Legacy"),
        ("TargetRef", "TargetRef", "TargetRef"),
        ("Legacy", "Undefined", "Legacy"),
        ("Legacy", "Legacy", "Legacy"),
        ("Legacy", "TargetRef", "TargetRef"),
    ],
)
def test_policy_engine(default: str, written: str, result: str) -> None:
    mesh = resource({"type": "Mesh", "name": "default", "policyEngine": written})
    for release in ("2.5", "2.9", "2.14", "3.0"):
        found = policy_engine(mesh, release, default)
        assert found is not None and found.result == result
        assert not found.effective


def test_mesh_without_policy_engine() -> None:
    assert policy_engine(resource({"type": "Mesh", "name": "default"}), "2.9") is None
