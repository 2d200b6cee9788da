"""Which meshes are told that their inbounds get other timeouts (legacy-notes C16)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frontdoor import command

MESH = "type: Mesh\nname: default\n"
NEW = (
    "---\ntype: MeshTimeout\nname: t\nmesh: default\n"
    "spec: {from: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1h}}]}\n"
)
OLD = (
    "---\ntype: Timeout\nname: t\nmesh: default\nconf: {connectTimeout: 9s}\n"
    "sources: [{match: {kuma.io/service: '*'}}]\ndestinations: [{match: {kuma.io/service: '*'}}]\n"
)
OTHER = "---\ntype: Retry\nname: r\nmesh: default\n" + OLD.partition("9s}\n")[2]


@pytest.mark.parametrize(
    ("policies", "told"),
    [("", 1), (NEW, 0), (OLD, 0), (OTHER, 1)],
    ids=["none", "new", "old", "else"],
)
def test_a_mesh_without_a_timeout_of_either_form_is_told(
    policies: str, told: int, tmp_path: Path
) -> None:
    (tmp_path / "a.yaml").write_text(MESH + policies)
    words = ("--from", "2.9", "--target", "2.14", "--select", "unset-inbound-timeout")
    report = command("check", tmp_path, *words, "--format", "json").json
    assert [one["rule"] for one in report["findings"]] == ["unset-inbound-timeout"] * told
