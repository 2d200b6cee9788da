"""Scripts that call kumactl with removed types are reported with their line, and never edited."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kumamigrate.cli import app
from tests.runner import CliRunner

POLICY = "type: MeshTimeout\nname: t\nmesh: default\nspec: {to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1m}}]}\n"  # noqa: E501
SCRIPT = """#!/bin/sh
# kumactl get timeouts
kumactl get traffic-permissions -m default -o yaml
kumactl get meshtrafficpermissions
kubectl get timeouts
echo kumactl; echo get retries
kumactl --config-file "$C" delete \\\\
  retry old
"""


def _found(folder: Path, target: str) -> list[tuple[str, int, str]]:
    words = ["check", str(folder), "--target", target, "--format", "json"]
    report = json.loads(CliRunner().invoke(app, words).stdout)
    return [
        (Path(f["file"]).name, f["line"], f["message"].split(" from")[0])
        for f in report["findings"]
        if f["rule"] == "removed-kind-named"
    ]


@pytest.mark.parametrize("name", ["sync.sh", "Makefile", "Jenkinsfile"])
def test_a_script_is_searched_whatever_it_is_written_in(name: str, tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    (tmp_path / name).write_text(SCRIPT, encoding="utf-8")
    assert _found(tmp_path, "3.0") == [(name, 3, "kumactl has no traffic-permissions")]
    assert _found(tmp_path, "2.14") == []
    assert (tmp_path / name).read_text() == SCRIPT


def test_hostile_lines_take_no_time(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    (tmp_path / "x.sh").write_text("kumactl " * 100_000 + "get retry\n", encoding="utf-8")
    assert _found(tmp_path, "3.0") == []
