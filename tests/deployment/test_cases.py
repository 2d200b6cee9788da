"""Small inputs that went wrong once, each ending as it should; they lie beside the checkout."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cases import contents, shared
from tests.deployment.test_overlays import built
from tests.deployment.trees import needs_helm, needs_kustomize
from tests.frontdoor import Answer, command

SINCE = ("--initial-policies", "2.6")
"""What the control plane gave the mesh is not what these are about."""


def left(name: str, root: Path, *words: str) -> tuple[Answer, dict[str, str | None]]:
    """Return what `run` says of a case, and what it changed: None for what it removed."""
    source = shared(f"cases/{name}")
    shutil.copytree(source, root, copy_function=shutil.copyfile)
    answer = command("run", *words, root)
    before, after = contents(source), contents(root)
    return answer, {
        path: after[path].decode() if path in after else None
        for path in sorted(before.keys() | after.keys())
        if before.get(path) != after.get(path)
    }


@needs_kustomize
def test_an_inline_patch_moves_along(tmp_path: Path) -> None:
    answer, changed = left("kustomize-inline-patch", tmp_path / "c", *SINCE)
    assert answer.code == 0
    assert sorted(changed) == [
        "base/retry.yaml",
        "base/timeout.yaml",
        "overlays/prod/kustomization.yaml",
    ]
    assert "app: web-prod" in built(tmp_path / "c", "overlays/prod")
    assert "app: web\n" in built(tmp_path / "c", "overlays/dev")


@needs_kustomize
def test_a_patch_that_replaces_a_list_goes_with_the_list(tmp_path: Path) -> None:
    answer, _ = left("kustomize-patch-replaces-to", tmp_path / "c", *SINCE)
    assert answer.code == 0
    text = built(tmp_path / "c", "overlay")
    assert "requestTimeout: 20s\n    targetRef:\n      kind: MeshHTTPRoute\n" in text


@needs_kustomize
def test_a_listed_file_does_not_leave_its_list_behind(tmp_path: Path) -> None:
    answer, _ = left("kustomize-resources-list", tmp_path / "c", *SINCE)
    assert answer.code == 0
    text = built(tmp_path / "c", "overlays/east")
    assert "maxConnections: 1000" in text
    assert "  from:" not in text


@needs_kustomize
def test_a_prefix_holds_what_would_lose_it(tmp_path: Path) -> None:
    answer, changed = left("kustomize-name-prefix", tmp_path / "c", *SINCE)
    assert answer.code in (3, 4)
    assert "Proved" not in answer.out
    assert changed == {}


@needs_kustomize
def test_a_namespace_of_a_kustomization_is_known(tmp_path: Path) -> None:
    words = ("--target", "3.0", "--initial-policies", "none")
    _, changed = left("kustomize-namespace", tmp_path / "c", *words)
    assert "k8s.kuma.io/namespace: shop" in (changed["t.yaml"] or "")


@needs_kustomize
def test_a_patch_is_no_policy(tmp_path: Path) -> None:
    answer, changed = left("patch-document", tmp_path / "c", *SINCE)
    assert "overlay/patch.yaml" not in answer.out
    assert "overlay/patch.yaml" not in changed
    assert "MeshTimeout" not in built(tmp_path / "c", "overlay")


@needs_helm
def test_what_stands_beside_a_template_is_written(tmp_path: Path) -> None:
    answer, changed = left("helm-static-beside-value", tmp_path / "c", *SINCE)
    assert answer.code == 0
    assert "charts/m/templates/t.yaml" in changed
    assert "pay/limits.yaml" in changed


@pytest.mark.parametrize("target", ["2.14", "3.0"])
def test_a_policy_in_the_values_of_a_release_is_there(target: str, tmp_path: Path) -> None:
    answer, changed = left("nested-in-helmrelease", tmp_path / "c", "--target", target, *SINCE)
    assert answer.code in (3, 4)
    assert "hr.yaml:9:9" in answer.out
    assert changed == {}
