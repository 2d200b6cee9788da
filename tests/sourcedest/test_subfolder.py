"""Conversions of a part of a repository: what was not named is read, and never written."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.frontdoor import command

MESH = """type: Mesh
name: default
skipCreatingInitialPolicies: ['*']
tracing:
  defaultBackend: zip
  backends: [{name: zip, type: zipkin, conf: {url: 'http://zip:9411/api/v2/spans'}}]
logging:
  defaultBackend: file
  backends: [{name: file, type: file, conf: {path: /dev/stdout}}]
"""
TRACE = """type: TrafficTrace
name: all
mesh: default
selectors: [{match: {kuma.io/service: '*'}}]
conf: {backend: zip}
"""
LOG = """type: TrafficLog
name: all
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {backend: file}
"""


@pytest.mark.parametrize(("old", "new"), [(TRACE, "MeshTrace"), (LOG, "MeshAccessLog"), ("", "")])
def test_the_mesh_beside_the_folder_stays_as_it_is(
    old: str, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody reads its backends afterwards; a run over the whole repository takes them away."""
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "-q"], check=True, capture_output=True)
    (tmp_path / "mesh.yaml").write_text(MESH)
    teams = tmp_path / "teams"
    teams.mkdir()
    (teams / "old.yaml").write_text(old)
    assert "undo each other" not in command("run", "teams", given=None).out
    assert (tmp_path / "mesh.yaml").read_text() == MESH
    written = (teams / "old.yaml").read_text()
    assert f"type: {new}" in written or not old
    command("run", "teams", given=None)
    assert (teams / "old.yaml").read_text() == written
    command("run", given=None)
    assert "backends" not in (tmp_path / "mesh.yaml").read_text()


def test_a_change_that_needs_more_than_was_named_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "-q"], check=True, capture_output=True)
    for name, text in (("mesh", MESH), ("one", TRACE), ("two", TRACE.replace("all", "two"))):
        (tmp_path / f"{name}.yaml").write_text(text)
    command("run", "one.yaml", given=None)
    assert (tmp_path / "one.yaml").read_text() == TRACE
    assert (tmp_path / "two.yaml").read_text() == TRACE.replace("all", "two")
