"""A manifest whose mesh a template fills in may belong to any mesh."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.frontdoor import command

OLD = """\
type: Mesh
name: default
meshServices: {mode: Disabled}
---
type: TrafficRoute
mesh: default
name: all
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {destination: {kuma.io/service: '*'}}
---
type: Timeout
mesh: default
name: all
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {connectTimeout: 3s}
"""
BESIDE = """\
type: MeshTimeout
mesh: MESH
name: zz
spec:
  targetRef: {kind: Mesh}
  to: [{targetRef: {kind: Mesh}, default: {connectionTimeout: 1s}}]
"""


@pytest.mark.parametrize("mesh", ["{{ mesh }}", "'{{ .Values.mesh }}'", "${MESH}"])
def test_what_may_be_in_the_mesh_bars_its_proof(mesh: str, tmp_path: Path) -> None:
    """With the MeshTimeout in mesh default the old Timeout counts for nothing there."""
    (tmp_path / "old.yaml").write_text(OLD)
    (tmp_path / "beside.yaml").write_text(BESIDE.replace("MESH", mesh))
    subprocess.run(["git", "init", "-q", tmp_path], check=True)

    answer = command("run", tmp_path)

    assert answer.code == 3
    assert "Proved" not in answer.out
    assert "fills in the mesh of MeshTimeout zz" in answer.out
    assert (tmp_path / "old.yaml").read_text() == OLD
