"""`policyEngine` of a Mesh (seed 003)."""

from __future__ import annotations

import pytest

from kumamigrate.sourcedest.policyengine import policy_engine
from tests.sourcedest.meshes import resource


@pytest.mark.parametrize(
    ("default", "written", "result"),
    [
        ("TargetRef", "Undefined", "TargetRef"),
        ("TargetRef", "Legacy", "Legacy"),
        ("TargetRef", "TargetRef", "TargetRef"),
        ("Legacy", "Undefined", "Legacy"),
        ("Legacy", "Legacy", "Legacy"),
        ("Legacy", "TargetRef", "TargetRef"),
        ("TargetRef", "Both", "TargetRef"),
        ("Legacy", "legacy", "Legacy"),
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
