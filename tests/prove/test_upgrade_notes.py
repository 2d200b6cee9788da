"""What the step to 3.0 changes by itself stands with the verdict, and changes no verdict."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kumamigrate.cli import app
from tests.runner import CliRunner

MESH = """type: Mesh
name: default
meshServices: {mode: Exclusive}
skipCreatingInitialPolicies: ["*"]
---
type: KIND
name: probes
mesh: default
spec: SPEC
"""
PROBES = "{to: [{targetRef: {kind: Mesh}, default: {interval: 10s, timeout: 2s, HOW}}]}"
HTTP = PROBES.replace("HOW", "http: {path: /healthz}")
TCP = PROBES.replace("HOW", "tcp: {}")
FAULTS = "{rules: [{default: {http: [{abort: {httpStatus: 500, percentage: 1}}]}}]}"


@pytest.mark.parametrize(
    ("kind", "spec", "target", "said"),
    [
        ("MeshHealthCheck", HTTP, "3.0", True),
        ("MeshHealthCheck", TCP, "3.0", False),
        ("MeshHealthCheck", HTTP, "2.14", False),
        ("MeshFaultInjection", FAULTS, "3.0", True),
    ],
)
def test_the_header_x_kuma_tags_is_announced(
    kind: str, spec: str, target: str, said: bool, tmp_path: Path
) -> None:
    path = tmp_path / "in.yaml"
    path.write_text(MESH.replace("KIND", kind).replace("SPEC", spec), encoding="utf-8")
    words = ["--from", "2.13" if target == "2.14" else "2.14", "--target", target]
    result = CliRunner().invoke(app, ["prove", str(path), str(path), *words, "--format", "json"])
    proof = json.loads(result.stdout)
    assert proof["claims"]["release"]["verdict"] == "equivalent"
    assert ("x-kuma-tags" in json.dumps(proof["assumptions"])) is said
