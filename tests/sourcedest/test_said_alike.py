"""What a check announces a run does, and what a run takes for granted stands with its verdict."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kumamigrate.cli import app
from tests.runner import CliRunner

MESH = """type: Mesh
name: default
skipCreatingInitialPolicies: ['*']
{section}:
  defaultBackend: j
  backends: [{{name: j, type: {type}, conf: {{{conf}}}}}]
---
type: {reader}
name: all
mesh: default
{whom}
"""
OF_TRACING = {
    "section": "tracing",
    "type": "zipkin",
    "conf": "url: 'http://j:9411/api/v2/spans'",
    "reader": "TrafficTrace",
    "whom": "selectors: [{match: {kuma.io/service: '*'}}]",
}
OF_LOGGING = {
    "section": "logging",
    "type": "file",
    "conf": "path: /tmp/a",
    "reader": "TrafficLog",
    "whom": "sources: [{match: {kuma.io/service: '*'}}]\n"
    "destinations: [{match: {kuma.io/service: '*'}}]",
}


@pytest.mark.parametrize("given", [OF_TRACING, OF_LOGGING], ids=lambda one: one["section"])
def test_a_setting_goes_on_what_stands_with_the_verdict(
    given: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody reads it once the policies are new ones, if Git has all of them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.yaml").write_text(MESH.format(**given), encoding="utf-8")
    said = CliRunner().invoke(app, ["check"]).output
    assert f"convert every {given['reader']} first; a run then takes it out of the Mesh" in said
    said = CliRunner().invoke(app, ["run", "--dry-run", "--format", "json"]).stdout
    taken = f"mesh default has no {given['reader']} elsewhere"
    assert taken in json.loads(said)["proof"]["assumptions"]
    shown = CliRunner().invoke(app, ["run"]).output
    assert f"{given['section']}:" not in (tmp_path / "m.yaml").read_text()
    assert taken in shown.partition("RESTS ON")[2]
