"""Fields of the Mesh in stages: expand takes nothing away, contract takes what has a successor."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frontdoor import command

MESH = "type: Mesh\nname: default\nskipCreatingInitialPolicies: ['*']\n"
MOVES = {
    "metrics": """\
metrics:
  enabledBackend: p   # the one
  backends:
  - {name: p, type: prometheus, conf: {port: 5670, path: /metrics, skipMTLS: true}}
""",
    "passthrough": "networking: {outbound: {passthrough: false}}\n",
    "locality": "routing: {localityAwareLoadBalancing: true}\n",
}
GOES = {
    "logging": """\
logging:
  defaultBackend: f
  backends: [{name: f, type: file, conf: {path: /tmp/a}}]
""",
    "tracing": """\
tracing:
  defaultBackend: z
  backends: [{name: z, type: zipkin, conf: {url: 'http://z:9411/api/v2/spans'}}]
""",
    "policyEngine": "policyEngine: Legacy\n",
    "passthrough-by-default": "networking: {outbound: {passthrough: true}}\n",
    "locality-by-default": "routing: {localityAwareLoadBalancing: false}\n",
}


def _in_stage(file: Path, stage: str) -> str:
    """Run one stage over a file and return what it says; a second run has nothing to do."""
    said = command("run", file, "--target", "2.14", "--stage", stage).out
    written = file.read_text()
    command("run", file, "--target", "2.14", "--stage", stage)
    assert file.read_text() == written
    return said


@pytest.mark.parametrize("field", [*MOVES, *GOES])
def test_expand_and_contract_come_to_what_one_step_comes_to(field: str, tmp_path: Path) -> None:
    text = MESH + (MOVES.get(field) or GOES[field])
    staged, at_once = tmp_path / "staged" / "a.yaml", tmp_path / "at-once" / "a.yaml"
    for file in (staged, at_once):
        file.parent.mkdir()
        file.write_text(text)
    _in_stage(staged, "expand")
    _in_stage(staged, "contract")
    _in_stage(at_once, "auto")
    assert staged.read_text() == at_once.read_text() != text


@pytest.mark.parametrize("field", MOVES)
def test_expand_writes_the_successor_beside_the_field(field: str, tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(MESH + MOVES[field])
    said = _in_stage(file, "expand")
    assert file.read_text().startswith(MESH + MOVES[field] + "---\n")
    assert "its successor stands beside it" in said


@pytest.mark.parametrize("field", GOES)
def test_what_only_goes_waits_for_contract(field: str, tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(MESH + GOES[field])
    said = _in_stage(file, "expand")
    assert file.read_text() == MESH + GOES[field]
    assert "stage expand takes nothing away" in said
    assert "cannot tell" not in said


def test_a_successor_that_says_something_else_is_left_to_decide(tmp_path: Path) -> None:
    """The field would go with a proof only where a policy says just what it says."""
    policy = """\
type: MeshMetric
name: ours
mesh: default
spec:
  targetRef: {kind: Mesh}
  default: {backends: [{type: Prometheus, prometheus: {port: 1234, path: /other}}]}
"""
    file = tmp_path / "a.yaml"
    file.write_text(f"{MESH}{MOVES['metrics']}---\n{policy}")
    said = _in_stage(file, "contract")
    assert "enabledBackend: p" in file.read_text()
    assert "which go before the Mesh" in said
