"""Bases with overlays, through the command line: what is written builds, and does what it did."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.deployment.trees import needs_kustomize, tree, write
from tests.frontdoor import Answer, command

MESH = """\
=== {base}mesh.yaml
apiVersion: kuma.io/v1alpha1
kind: Mesh
metadata: {{name: default}}
spec: {{meshServices: {{mode: Exclusive}}}}
"""
LIMITS = """\
=== base/limits.yaml
apiVersion: kuma.io/v1alpha1
kind: MeshCircuitBreaker
metadata: {name: inbound, namespace: kuma-system}
spec:
  from:
    - targetRef: {kind: Mesh}
      default: {connectionLimits: {maxConnections: 500}} # per pod
"""
RETRY = """\
=== base/retry.yaml
apiVersion: kuma.io/v1alpha1
kind: MeshRetry
metadata: {name: web, namespace: kuma-system}
spec:
  targetRef: {kind: MeshSubset, tags: {app: web}}
  to:
    - targetRef: {kind: Mesh}
      default: {http: {numRetries: 3}}
"""
BASE = (
    "=== base/kustomization.yaml\nresources: [mesh.yaml, limits.yaml, retry.yaml]\n"
    + MESH.format(base="base/")
    + LIMITS
    + RETRY
)
EAST = "=== overlays/east/kustomization.yaml\nresources: [../../base]\n"
WEST = "=== overlays/west/kustomization.yaml\nresources: [../../base]\n"
PATCH = """\
patches:
  - target: {kind: MeshCircuitBreaker, name: inbound}
    patch: |-
      - op: replace
        path: %s
        value: 1000
"""
LIMIT = "/spec/from/0/default/connectionLimits/maxConnections"


def run(text: str, root: Path, *words: str) -> tuple[Answer, dict[str, str]]:
    """Return what `run` says of a repository, and the files that it leaves."""
    before = tree(text)
    write(before, root)
    answer = command("run", *words, root)
    after = {
        path.relative_to(root).as_posix(): path.read_text()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }
    return answer, {path: text for path, text in after.items() if before.get(path) != text.encode()}


def built(root: Path, folder: str) -> str:
    """Return what kustomize makes of a folder as it lies there: nobody's build may break."""
    for program in (["kustomize", "build"], ["kubectl", "kustomize"]):
        try:
            done = subprocess.run([*program, root / folder], capture_output=True, check=False)
        except FileNotFoundError:
            continue
        assert done.returncode == 0, done.stderr
        return done.stdout.decode()
    raise AssertionError("no kustomize")


@needs_kustomize
def test_a_base_is_migrated_where_that_holds_in_every_overlay(tmp_path: Path) -> None:
    answer, changed = run(BASE + EAST + PATCH % LIMIT + WEST, tmp_path)
    assert answer.code == 0
    assert sorted(changed) == [
        "base/limits.yaml",
        "base/retry.yaml",
        "overlays/east/kustomization.yaml",
    ]
    assert (
        "rules:\n    - default: {connectionLimits: {maxConnections: 500}} # per pod"
        in (changed["base/limits.yaml"])
    )
    east, west = built(tmp_path, "overlays/east"), built(tmp_path, "overlays/west")
    assert "maxConnections: 1000" in east
    assert "maxConnections: 500" in west
    again, changed = command("run", tmp_path), {}
    assert again.code == 0
    assert changed == {}


@needs_kustomize
def test_a_patch_that_cannot_move_along_holds_its_edit_and_no_other(tmp_path: Path) -> None:
    # The patch adds an entry to a list that is not there any more.
    patch = PATCH % "/spec/from/-"
    patch = patch.replace("op: replace", "op: add").replace("1000", "{targetRef: {kind: Mesh}}")
    answer, changed = run(BASE + EAST + patch + WEST, tmp_path)
    assert answer.code == 3
    assert "overlays/east/kustomization.yaml:4:12" in answer.out
    assert sorted(changed) == ["base/retry.yaml"]
    built(tmp_path, "overlays/east")


@needs_kustomize
def test_a_prefix_that_reaches_only_the_old_place_of_a_name_holds_the_edit(
    tmp_path: Path,
) -> None:
    text = MESH.format(base="") + (
        "=== kustomization.yaml\nnamePrefix: dev-\nresources: [t.yaml, r.yaml, mesh.yaml]\n"
        "configurations: [names.yaml]\n"
        "=== names.yaml\nnameReference:\n  - kind: MeshHTTPRoute\n    fieldSpecs:\n"
        "      - {kind: MeshTimeout, path: spec/targetRef/name}\n"
        "=== t.yaml\napiVersion: kuma.io/v1alpha1\nkind: MeshTimeout\n"
        "metadata: {name: t, namespace: kuma-system}\nspec:\n"
        "  targetRef: {kind: MeshHTTPRoute, name: api}\n"
        "  to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 10s}}}]\n"
        "=== r.yaml\napiVersion: kuma.io/v1alpha1\nkind: MeshHTTPRoute\n"
        "metadata: {name: api, namespace: kuma-system}\nspec:\n  to:\n"
        "    - targetRef: {kind: MeshService, name: orders, namespace: shop}\n"
        "      rules: [{matches: [{path: {type: PathPrefix, value: /api}}], default: {}}]\n"
    )
    answer, changed = run(text, tmp_path)
    assert answer.code in (3, 4)
    assert "t.yaml" in answer.out
    assert changed == {}


@needs_kustomize
@pytest.mark.parametrize(
    ("overlay", "namespace"),
    [
        pytest.param("namespace: shop\n", "shop", id="of the kustomization"),
        pytest.param("commonLabels: {team: a}\nnamespace: pay\n", "pay", id="beside labels"),
    ],
)
def test_a_namespace_comes_from_the_kustomization(
    overlay: str, namespace: str, tmp_path: Path
) -> None:
    text = (
        f"=== kustomization.yaml\n{overlay}resources: [t.yaml]\n"
        "=== t.yaml\napiVersion: kuma.io/v1alpha1\nkind: MeshTimeout\n"
        "metadata:\n  name: t\nspec:\n  to:\n"
        "    - targetRef: {kind: MeshService, name: orders}\n      default: {idleTimeout: 1m}\n"
    )
    _, changed = run(text, tmp_path, "--target", "3.0")
    labels = f"labels: {{kuma.io/display-name: orders, k8s.kuma.io/namespace: {namespace}}}"
    assert labels in changed["t.yaml"]
    assert "namespace: " + namespace in built(tmp_path, ".")


@needs_kustomize
def test_two_namespaces_of_one_source_hold_what_would_name_one(tmp_path: Path) -> None:
    text = (
        "=== base/kustomization.yaml\nresources: [t.yaml]\n"
        "=== base/t.yaml\napiVersion: kuma.io/v1alpha1\nkind: MeshTimeout\n"
        "metadata:\n  name: t\nspec:\n  to:\n"
        "    - targetRef: {kind: MeshService, name: orders}\n      default: {idleTimeout: 1m}\n"
        f"{EAST}namespace: east-shop\n{WEST}namespace: west-shop\n"
    )
    answer, changed = run(text, tmp_path, "--target", "3.0")
    assert answer.code in (1, 3, 4)
    assert changed == {}


@needs_kustomize
def test_what_an_overlay_deletes_is_no_policy_there(tmp_path: Path) -> None:
    patch = (
        "patches: [{path: patch.yaml}]\n=== overlays/east/patch.yaml\n"
        "apiVersion: kuma.io/v1alpha1\nkind: MeshRetry\n"
        "metadata: {name: web, namespace: kuma-system}\n$patch: delete\n"
    )
    answer, changed = run(BASE + EAST + patch, tmp_path)
    assert answer.code == 0
    assert "overlays/east/patch.yaml" not in answer.out
    assert "overlays/east/patch.yaml" not in changed
    assert "MeshRetry" not in built(tmp_path, "overlays/east")


@needs_kustomize
@pytest.mark.parametrize(
    ("more", "said"),
    [
        pytest.param("bases: [../gone]\n", "east/kustomization.yaml:2:9", id="missing base"),
        pytest.param("components: [../east]\n", "in a circle", id="circle"),
        pytest.param("patches: [{patch: 'a: b'}]\n", "its build fails", id="fails"),
        pytest.param("components: [../../../x]\n", "outside the repository", id="outside"),
        pytest.param("components: [../../..]\n", "outside the repository", id="above"),
        pytest.param("helmCharts: [{name: x}]\n", "run helm", id="chart inside"),
    ],
)
def test_what_cannot_be_built_bars_its_environment_and_nothing_is_written(
    more: str, said: str, tmp_path: Path
) -> None:
    answer, changed = run(BASE + EAST + more, tmp_path)
    assert answer.code == 3
    assert said in answer.out + answer.err
    assert "Proved" not in answer.out
    assert changed == {}


def test_without_kustomize_the_program_to_install_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    answer, changed = run(BASE + EAST + "namePrefix: east-\n", tmp_path / "repository")
    assert answer.code == 3
    assert "install kustomize or kubectl" in answer.out
    assert changed == {}


def test_without_kustomize_a_list_is_read_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    answer, changed = run(BASE + EAST, tmp_path / "repository")
    assert answer.code == 0
    assert sorted(changed) == ["base/limits.yaml", "base/retry.yaml"]


@needs_kustomize
def test_what_has_to_follow_outside_of_the_paths_given_holds_the_edit(tmp_path: Path) -> None:
    write(tree("=== kumamigrate.toml\ntarget = '2.14'\n" + BASE + EAST + PATCH % LIMIT), tmp_path)
    answer = command("run", tmp_path / "base")
    assert "overlays/east/kustomization.yaml" in answer.out
    assert "from:" in (tmp_path / "base/limits.yaml").read_text()
    assert "Dataplane" in (tmp_path / "base/retry.yaml").read_text()


FLUX = """\
=== clusters/east.yaml
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: mesh}
spec:
  path: ./overlays/east
"""


@needs_kustomize
@pytest.mark.parametrize(
    ("more", "code"),
    [("", 0), ("  patches: [{patch: x, target: {kind: MeshRetry}}]\n", 3)],
    ids=["as it is", "with patches of its own"],
)
def test_what_an_object_of_flux_changes_is_not_known(more: str, code: int, tmp_path: Path) -> None:
    answer, changed = run(BASE + EAST + FLUX + more, tmp_path)
    assert answer.code == code
    assert ("clusters/east.yaml:1:1" in answer.out) is bool(more)
    assert bool(changed) is not bool(more)


EAST_ONLY = """\
=== kumamigrate.toml
[[environment]]
name = "east"
kustomize = "overlays/east"
"""


@needs_kustomize
@pytest.mark.parametrize("path", [LIMIT, "/spec/from/-"], ids=["moves along", "cannot move"])
def test_an_overlay_that_no_environment_names_builds_all_the_same(
    path: str, tmp_path: Path
) -> None:
    patch = (PATCH % path).replace("op: replace", "op: add")
    if path != LIMIT:
        patch = patch.replace("1000", "{targetRef: {kind: Mesh}, default: {}}")
    _, changed = run(EAST_ONLY + BASE + EAST + WEST + patch, tmp_path)
    assert ("base/limits.yaml" in changed) is (path == LIMIT)
    assert "base/retry.yaml" in changed
    assert "MeshCircuitBreaker" in built(tmp_path, "overlays/west")


@needs_kustomize
def test_what_would_break_a_build_that_no_environment_names_is_held(tmp_path: Path) -> None:
    # A replacement writes into the old place: nothing moves that along.
    replacement = (
        "replacements:\n  - source: {kind: Mesh, name: default, fieldPath: kind}\n"
        "    targets:\n      - select: {kind: MeshCircuitBreaker}\n"
        "        fieldPaths: [spec.from.0.targetRef.kind]\n"
    )
    answer, changed = run(EAST_ONLY + BASE + EAST + WEST + replacement, tmp_path)
    assert "overlays/west/kustomization.yaml" in answer.out
    assert "base/limits.yaml" not in changed
    assert "base/retry.yaml" in changed
    built(tmp_path, "overlays/west")


@needs_kustomize
@pytest.mark.parametrize(
    "more",
    [
        pytest.param("images: [{name: web, newTag: v2}]\n", id="images"),
        pytest.param("commonLabels: {team: a}\n", id="common labels"),
        pytest.param("commonAnnotations: {team: a}\n", id="common annotations"),
        pytest.param("nameSuffix: -v2\n", id="suffix"),
        pytest.param("generatorOptions: {disableNameSuffixHash: true}\n", id="generator options"),
        pytest.param(
            "configMapGenerator: [{name: x, literals: [a=b]}]\n", id="a generated ConfigMap"
        ),
        pytest.param(
            "replacements:\n  - source: {kind: Mesh, name: default, fieldPath: metadata.name}\n"
            "    targets: [{select: {kind: MeshRetry}, fieldPaths: [metadata.labels.mesh],"
            " options: {create: true}}]\n",
            id="a replacement beside the edit",
        ),
        pytest.param("buildMetadata: [managedByLabel]\n", id="metadata of builds"),
    ],
)
def test_what_does_not_touch_the_edit_does_not_hold_it(more: str, tmp_path: Path) -> None:
    answer, changed = run(BASE + EAST + more, tmp_path)
    assert answer.code == 0
    assert sorted(changed) == ["base/limits.yaml", "base/retry.yaml"]
    assert "from:" not in built(tmp_path, "overlays/east")
