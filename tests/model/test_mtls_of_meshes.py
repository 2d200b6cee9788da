"""What a state tells of `Mesh.mtls`: nothing where its Meshes of one name differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frontdoor import command

PLAIN = "type: Mesh\nname: default\n"
GUARDED = PLAIN + "mtls: {enabledBackend: ca, backends: [{name: ca, type: builtin}]}\n"
PERMISSION = """type: MeshTrafficPermission
mesh: default
name: web
spec:
  targetRef: {kind: Mesh}
  from: [{targetRef: {kind: MeshSubset, tags: {kuma.io/service: web}}, default: {action: Allow}}]
"""


@pytest.mark.parametrize(
    ("meshes", "said"),
    [((PLAIN,), True), ((PLAIN, GUARDED), False), ((GUARDED, PLAIN), False), ((GUARDED,), False)],
)
def test_nobody_is_asked_where_every_mesh_says_so(
    tmp_path: Path, meshes: tuple[str, ...], said: bool
) -> None:
    for number, mesh in enumerate(meshes):
        (tmp_path / f"mesh{number}.yaml").write_text(mesh)
    (tmp_path / "web.yaml").write_text(PERMISSION)
    found = command("check", tmp_path, "--target", "3.0", "--format", "json").json["findings"]
    assert any(one["rule"] == "permission-without-certificate" for one in found) is said
