"""What rules say of manifests that they leave to a decision."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.frontdoor import command

MESH = "type: Mesh\nname: default\n"
FAULTS = (
    MESH
    + """---
type: MeshFaultInjection
name: f
mesh: default
spec:
  targetRef: {kind: Mesh, proxyTypes: [Sidecar]}
  from:
"""
)
FAULT = "default: {http: [{abort: {httpStatus: 500, percentage: 1}}]}"
EVERY = f"  - {{targetRef: {{kind: Mesh}}, {FAULT}}}\n"
ONE = f"  - {{targetRef: {{kind: MeshSubset, tags: {{app: NAME}}}}, {FAULT}}}\n"


def _told(folder: Path, text: str, rule: str, target: str) -> list[dict[str, Any]]:
    (folder / "a.yaml").write_text(text)
    words = ("run", "--dry-run", folder, "--select", rule, "--target", target, "--format", "json")
    findings: list[dict[str, Any]] = command(*words).json["findings"]
    return findings


@pytest.mark.parametrize(
    ("said", "mode"),
    [("", "Disabled"), ("meshServices: {}\n", "Disabled")]
    + [(f"meshServices: {{mode: {one}}}\n", one) for one in ("Everywhere", "ReachableBackends")],
)
def test_a_mesh_that_says_no_mode_is_told_the_one_it_has(
    said: str, mode: str, tmp_path: Path
) -> None:
    (finding,) = _told(tmp_path, MESH + said, "mesh-services-mode", "3.0")
    assert mode in finding["message"]


@pytest.mark.parametrize(
    ("entries", "both"),
    [
        (EVERY + ONE.replace("NAME", "x"), True),
        (ONE.replace("NAME", "x") + ONE.replace("NAME", "z"), False),
        (ONE.replace("NAME", "x"), False),
    ],
)
def test_faults_for_everybody_and_for_some_would_add_up(
    entries: str, both: bool, tmp_path: Path
) -> None:
    (finding,) = _told(tmp_path, FAULTS + entries, "fault-from", "2.14")
    assert any("would get both faults" in note for note in finding["notes"]) is both
