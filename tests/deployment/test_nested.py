"""Kuma's resources inside of other objects: never skipped, and only their own mesh is in doubt."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.deployment.trees import tree, write
from tests.frontdoor import command

SUBSET = """\
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: b, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  targetRef: {kind: MeshSubset, tags: {app: web}}
  to:
    - targetRef: {kind: Mesh}
      default: {http: {requestTimeout: 9s}}
"""
MESH = """\
apiVersion: kuma.io/v1alpha1
kind: Mesh
metadata: {name: default}
spec: {meshServices: {mode: Exclusive}}
"""
INNER = """\
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: a, namespace: kuma-system, labels: {kuma.io/mesh: MESH}}
spec:
  targetRef: {kind: Dataplane, labels: {app: web}}
  to:
    - targetRef: {kind: Mesh}
      default: {http: {requestTimeout: 5s}}
"""


def inside(head: str, mesh: str, indent: int) -> str:
    lines = INNER.replace("MESH", mesh).splitlines()
    return head + "".join(f"{' ' * indent}{line}\n" for line in lines)


HELM_RELEASE = "kind: HelmRelease\nspec:\n  values:\n    extra:\n      -\n"
APPLICATION = (
    "apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec:\n  source:\n    helm:\n"
    "      values: |\n        extra:\n          -\n"
)
CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\ndata:\n  a.yaml: |\n"
CROSSPLANE = (
    "apiVersion: kubernetes.crossplane.io/v1alpha2\nkind: Object\nspec:\n  forProvider:\n"
    "    manifest:\n"
)


@pytest.mark.parametrize(
    ("head", "indent", "place"),
    [
        pytest.param(HELM_RELEASE, 8, "o.yaml:6:9", id="values of a HelmRelease"),
        pytest.param(APPLICATION, 12, "o.yaml:6:15", id="values of an Argo CD Application"),
        pytest.param(CONFIG_MAP, 4, "o.yaml:4:11", id="data of a ConfigMap"),
        pytest.param(CROSSPLANE, 6, "o.yaml:6:7", id="manifest of a Crossplane object"),
    ],
)
def test_nothing_is_proven_in_a_mesh_of_which_a_part_is_inside_of_something(
    head: str, indent: int, place: str, tmp_path: Path
) -> None:
    # The inner policy ranks with what the MeshSubset becomes: who wins depends on the edit.
    files = tree(f"=== mesh.yaml\n{MESH}=== b.yaml\n{SUBSET}=== o.yaml\n")
    write({**files, "o.yaml": inside(head, "default", indent).encode()}, tmp_path)
    answer = command("run", tmp_path)
    assert answer.code == 3
    assert f"[1] {place}" in answer.out
    assert "the answer may depend on [1], which is not known" in answer.out
    assert "Proved" not in answer.out
    assert (tmp_path / "b.yaml").read_text() == SUBSET


def test_another_mesh_is_not_in_doubt(tmp_path: Path) -> None:
    files = tree(f"=== mesh.yaml\n{MESH}=== b.yaml\n{SUBSET}=== o.yaml\n")
    write({**files, "o.yaml": inside(HELM_RELEASE, "other", 8).encode()}, tmp_path)
    answer = command("run", tmp_path)
    assert "o.yaml:6:9" in answer.out  # it is said all the same
    assert "kind: Dataplane" in (tmp_path / "b.yaml").read_text()
