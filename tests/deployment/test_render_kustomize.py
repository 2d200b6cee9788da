"""What an environment gets of kustomizations: as kustomize builds them, or why that is unknown."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumamigrate.deployment.environment import Deployment
from kumamigrate.deployment.rendered import render
from kumamigrate.deployment.tree import Tree
from kumamigrate.source.text import Reason
from tests.deployment.trees import (
    needs_kustomize,
    rendered,
    resources,
    timeout,
    tree,
    write,
)

PROD = Deployment(name="prod", kustomize=("overlays/prod",))
BASE = f"""\
=== base/kustomization.yaml
resources: [t.yaml]
=== base/t.yaml
{timeout("t")}"""


def overlay(text: str, more: str = "") -> dict[str, bytes]:
    return tree(
        f"{BASE}=== overlays/prod/kustomization.yaml\nresources: [../../base]\n{text}{more}"
    )


def names(files: dict[str, bytes], root: Path, deployment: Deployment = PROD) -> list[str]:
    rendering = rendered(files, root, deployment)
    assert rendering.refusals == ()
    return [f"{one.namespace}/{one.name}" for one in resources(rendering)]


@needs_kustomize
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("namePrefix: dev-\n", "kuma-system/dev-t", id="prefix"),
        pytest.param("nameSuffix: -v2\n", "kuma-system/t-v2", id="suffix"),
        pytest.param("namespace: shop\n", "shop/t", id="namespace"),
        pytest.param(
            "patches:\n  - patch: |-\n      - {op: replace, path: /metadata/name, value: u}\n"
            "    target: {kind: MeshTimeout}\n    options: {allowNameChange: true}\n",
            "kuma-system/u",
            id="inline JSON patch",
        ),
    ],
)
def test_an_overlay_is_what_kustomize_makes_of_it(text: str, expected: str, tmp_path: Path) -> None:
    assert names(overlay(text), tmp_path) == [expected]


@needs_kustomize
@pytest.mark.parametrize(
    "text",
    [
        "patches: [{path: p.yaml}]\n",
        "patchesStrategicMerge: [p.yaml]\n",
        "components: [../../part]\n",
    ],
)
def test_a_patch_is_applied_and_no_manifest_of_its_own(text: str, tmp_path: Path) -> None:
    patch = timeout("t", "9s")
    more = (
        f"=== overlays/prod/p.yaml\n{patch}=== part/p.yaml\n{patch}=== part/kustomization.yaml\n"
        "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches: [{path: p.yaml}]\n"
    )
    files = overlay(text, more)
    if "components" in text:
        del files["overlays/prod/p.yaml"]
    rendering = rendered(files, tmp_path, Deployment(name="all", include=("**",)))
    values = [r.spec["to"][0]["default"]["connectionTimeout"] for r in resources(rendering)]
    assert values == ["9s"]
    assert rendering.manifests == {"base/t.yaml"}


@needs_kustomize
def test_what_was_built_is_found_in_the_sources_again(tmp_path: Path) -> None:
    files = overlay("namePrefix: dev-\n")
    files["base/t.yaml"] = (timeout("s") + "---\n" + timeout("t")).encode()
    rendering = rendered(files, tmp_path, PROD)
    places = [(one.path, one.line) for _, one in sorted(rendering.origins.items())]
    assert places == [("base/t.yaml", 1), ("base/t.yaml", 9)]


@needs_kustomize
@pytest.mark.parametrize("name", ["kustomization.yml", "Kustomization"])
def test_the_file_may_have_each_name_that_kustomize_knows(name: str, tmp_path: Path) -> None:
    files = overlay("namespace: shop\n")
    files[f"base/{name}"] = files.pop("base/kustomization.yaml")
    assert names(files, tmp_path) == ["shop/t"]


@needs_kustomize
@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        pytest.param("bases: [../gone]\n", "2:9", "../gone does not exist", id="missing base"),
        pytest.param(
            "components:\n  - https://github.com/kumahq/x?ref=v1\n", "3:5", "fetched", id="remote"
        ),
        pytest.param(
            "secretGenerator: [{name: s, files: [a=https://example.org/a]}]\n",
            "2:37",
            "fetched",
            id="remote content",
        ),
        pytest.param(
            "configMapGenerator: [{name: s, envs: [gone.env]}]\n",
            "2:39",
            "gone.env does not exist",
            id="missing content",
        ),
        pytest.param("patches: [{path: ../../../p.yaml}]\n", "2:18", "outside", id="outside"),
        pytest.param("components: [../prod]\n", "2:14", "in a circle", id="circle"),
        pytest.param("helmCharts: [{name: x}]\n", "2:13", "run helm", id="helm inside"),
        pytest.param("patches: [{patch: 'a: b'}]\n", "1:1", "its build fails", id="bad patch"),
        pytest.param("unknownField: 1\n", "1:1", "unknownField", id="unknown field"),
    ],
)
def test_what_cannot_be_built_says_where_and_why(
    text: str, place: str, said: str, tmp_path: Path
) -> None:
    rendering = rendered(overlay(text), tmp_path, PROD)
    (refusal,) = rendering.refusals
    at = f"{refusal.path}:{refusal.line}:{refusal.column}"
    assert at == f"overlays/prod/kustomization.yaml:{place}"
    assert said in refusal.detail
    assert refusal.advice
    assert refusal.hides
    assert refusal.reason is Reason.UNBUILDABLE


def test_without_kustomize_only_a_list_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert names(overlay(""), tmp_path) == ["kuma-system/t"]
    rendering = rendered(overlay("namePrefix: dev-\n"), tmp_path, PROD)
    (refusal,) = rendering.refusals
    assert "namePrefix" in refusal.detail
    assert "install kustomize or kubectl" in refusal.advice
    assert (refusal.line, refusal.column) == (2, 13)


@needs_kustomize
def test_links_are_followed_inside_the_repository_and_nowhere_else(tmp_path: Path) -> None:
    files = tree(
        f"=== real/kustomization.yaml\nresources: [t.yaml]\n=== real/t.yaml\n{timeout('t')}"
        "=== overlays/prod/kustomization.yaml\nresources: [../base]\nnamespace: shop\n"
    )
    root = write(files, tmp_path / "repository")
    (root / "overlays" / "base").symlink_to("../real")
    assert names(files, root) == ["shop/t"]
    write(
        tree(f"=== kustomization.yaml\nresources: [t.yaml]\n=== t.yaml\n{timeout('t')}"), tmp_path
    )
    (root / "overlays" / "base").unlink()
    (root / "overlays" / "base").symlink_to("../..")
    assert [r.path for r in rendered(files, root, PROD).refusals] == [
        "overlays/prod/kustomization.yaml"
    ]


@needs_kustomize
def test_the_sources_in_memory_count_and_not_those_on_the_disk(tmp_path: Path) -> None:
    files = overlay("namespace: shop\n")
    write(files, tmp_path)
    edited = {**files, "base/t.yaml": timeout("edited").encode()}
    assert names(edited, tmp_path) == ["shop/edited"]


@needs_kustomize
def test_what_an_edit_leaves_without_a_word_of_kuma_is_built_all_the_same(tmp_path: Path) -> None:
    # Whether a build of workloads succeeds is no concern here, but no edit may break one.
    files = overlay("")
    edits = {"base/t.yaml": None, "base/kustomization.yaml": b"resources:\n"}
    broken = {path: data for path, data in {**files, **edits}.items() if data is not None}
    write(files, tmp_path)
    assert rendered(broken, tmp_path, PROD).refusals == ()
    (refusal,) = render(PROD, Tree(files=files, root=tmp_path).edited(edits)).refusals
    assert refusal.reason is Reason.UNBUILDABLE
    assert "kustomization.yaml is empty" in refusal.detail
