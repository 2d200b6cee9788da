"""What moves along with an edit, so that every build still succeeds and patches still patch."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumamigrate.deployment.environment import Deployment
from kumamigrate.deployment.follow import follow
from kumamigrate.deployment.tree import Tree
from tests.deployment.trees import needs_kustomize, rendered, resources, timeout, tree

FROM = """\
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: t, namespace: kuma-system}
spec:
  from:
    - targetRef: {kind: Mesh}
      default: {connectionTimeout: 5s}
"""
RULES = FROM.replace("from:", "rules:").replace(
    "    - targetRef: {kind: Mesh}\n      default", "    - default"
)
BASE = f"=== base/kustomization.yaml\nresources:\n  - t.yaml # inbound\n=== base/t.yaml\n{FROM}"
PROD = Deployment(name="prod", kustomize=("overlays/prod",))


def overlay(text: str, more: str = "") -> dict[str, bytes]:
    head = "=== overlays/prod/kustomization.yaml\nresources: [../../base]\n"
    return tree(f"{BASE}{head}{text}{more}")


def after(files: dict[str, bytes], root: Path, **edits: str | None) -> dict[str, bytes]:
    """Return all files after an edit of `base/t.yaml` and what moves along."""
    edited = (
        {"base/t.yaml": RULES.encode()}
        if not edits
        else {name: text.encode() if text is not None else None for name, text in edits.items()}
    )
    found = follow(Tree(files=files, root=root), edited)
    assert found.refusals == ()
    later = {**files, **edited, **found.files}
    return {path: data for path, data in later.items() if data is not None}


INLINE = """\
patches:
  # Production is slow.
  - target: {kind: MeshTimeout, name: t}
    patch: |-
      - op: replace
        path: /spec/from/0/default/connectionTimeout
        value: 9s
"""
MERGE = """\
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: t, namespace: kuma-system}
spec:
  from:
    - targetRef: {kind: Mesh}
      default: {connectionTimeout: 9s} # slow
"""
OPS = '[{"op": "replace", "path": "/spec/from/0/default/connectionTimeout", "value": "9s"}]\n'
QUOTED = OPS.strip()


@needs_kustomize
@pytest.mark.parametrize(
    "files",
    [
        pytest.param(overlay(INLINE), id="inline operations"),
        pytest.param(
            overlay(f"patches: [{{path: p.yaml}}]\n=== overlays/prod/p.yaml\n{MERGE}"),
            id="merge in a file",
        ),
        pytest.param(
            overlay(f"patchesStrategicMerge: [p.yaml]\n=== overlays/prod/p.yaml\n{MERGE}"),
            id="the old field for merges",
        ),
        pytest.param(
            overlay(
                "patchesStrategicMerge:\n  - |\n"
                + "".join(f"    {line}\n" for line in MERGE.splitlines())
            ),
            id="a merge inline in the old field",
        ),
        pytest.param(
            overlay(
                "patchesJson6902:\n  - path: p.json\n    target: {group: kuma.io,"
                f" version: v1alpha1, kind: MeshTimeout, name: t}}\n=== overlays/prod/p.json\n{OPS}"
            ),
            id="the old field for operations, in JSON",
        ),
        pytest.param(
            overlay(f"patches:\n  - target: {{kind: MeshTimeout}}\n    patch: '{QUOTED}'\n"),
            id="inline JSON in quotes, for all of a kind",
        ),
        pytest.param(
            overlay(
                "components: [../../slow]\n=== slow/kustomization.yaml\nkind: Component\n"
                f"apiVersion: kustomize.config.k8s.io/v1alpha1\n{INLINE}"
            ),
            id="in a component",
        ),
    ],
)
def test_a_patch_still_patches(files: dict[str, bytes], tmp_path: Path) -> None:
    (before,) = resources(rendered(files, tmp_path, PROD))
    assert before.spec["from"][0]["default"] == {"connectionTimeout": "9s"}
    rendering = rendered(after(files, tmp_path), tmp_path, PROD)
    assert rendering.refusals == ()
    (found,) = resources(rendering)
    assert found.spec == {"rules": [{"default": {"connectionTimeout": "9s"}}]}


def test_only_the_path_changes(tmp_path: Path) -> None:
    files = overlay(INLINE)
    text = after(files, tmp_path)["overlays/prod/kustomization.yaml"].decode()
    assert text == "resources: [../../base]\n" + INLINE.replace("/from/", "/rules/")


@pytest.mark.parametrize(
    ("patch", "place", "said"),
    [
        pytest.param(
            "/spec/from/1",
            "overlays/prod/kustomization.yaml:5:12",
            "this patch changes spec.from[1], which is not there any more once MeshTimeout t is",
            id="inline",
        ),
        pytest.param(
            "/spec/from/-",
            "overlays/prod/kustomization.yaml:5:12",
            "spec.from.-",
            id="the end of a list",
        ),
    ],
)
def test_a_patch_that_cannot_move_holds_the_edit(
    patch: str, place: str, said: str, tmp_path: Path
) -> None:
    files = overlay(INLINE.replace("/spec/from/0/default/connectionTimeout", patch))
    found = follow(Tree(files=files, root=tmp_path), {"base/t.yaml": RULES.encode()})
    (refusal,) = found.refusals
    assert f"{refusal.path}:{refusal.line}:{refusal.column}" == place
    assert said in refusal.detail


def test_a_patch_in_a_file_is_named_there(tmp_path: Path) -> None:
    other = MERGE.replace("kind: Mesh}", "kind: MeshSubset}")
    files = overlay(f"patches: [{{path: p.yaml}}]\n=== overlays/prod/p.yaml\n# one\n{other}")
    (refusal,) = follow(Tree(files=files, root=tmp_path), {"base/t.yaml": RULES.encode()}).refusals
    assert (refusal.path, refusal.line) == ("overlays/prod/p.yaml", 2)


def test_a_patch_of_something_else_stays(tmp_path: Path) -> None:
    files = overlay(INLINE.replace("name: t}", "name: u}"))
    assert follow(Tree(files=files, root=tmp_path), {"base/t.yaml": RULES.encode()}).files == {}


@needs_kustomize
def test_a_patch_goes_to_the_half_that_takes_its_field(tmp_path: Path) -> None:
    outbound = "  to:\n    - targetRef: {kind: Mesh}\n      default: {idleTimeout: 1m}\n"
    both = FROM + outbound
    files = {**overlay(INLINE), "base/t.yaml": both.encode()}
    half = FROM.partition("  from:")[0] + outbound
    halves = f"{half}---\n{RULES.replace('name: t', 'name: t-inbound')}"
    later = after(files, tmp_path, **{"base/t.yaml": halves})
    rendering = rendered(later, tmp_path, PROD)
    assert rendering.refusals == ()
    values = {one.name: one.spec for one in resources(rendering)}
    assert values["t-inbound"]["rules"] == [{"default": {"connectionTimeout": "9s"}}]
    text = later["overlays/prod/kustomization.yaml"].decode()
    assert "  # Production is slow.\n  - target: {kind: MeshTimeout, name: t-inbound}\n" in text


STAYS = """\
  # So is the way out.
  - target: {kind: MeshTimeout, name: t}
    patch: |-
      - op: replace
        path: /spec/to/0/default/idleTimeout
        value: 2m
"""


@needs_kustomize
@pytest.mark.parametrize("first", [True, False])
def test_a_patch_of_the_half_that_stays_stays_beside_it(first: bool, tmp_path: Path) -> None:
    outbound = "  to:\n    - targetRef: {kind: Mesh}\n      default: {idleTimeout: 1m}\n"
    head, goes = INLINE.split("\n", 1)
    entries = (STAYS, goes) if first else (goes, STAYS)
    files = {
        **overlay("\n".join((head, "".join(entries)))),
        "base/t.yaml": (FROM + outbound).encode(),
    }
    half = FROM.partition("  from:")[0] + outbound
    halves = f"{half}---\n{RULES.replace('name: t', 'name: t-inbound')}"
    later = after(files, tmp_path, **{"base/t.yaml": halves})
    values = {one.name: one.spec for one in resources(rendered(later, tmp_path, PROD))}
    assert values["t-inbound"]["rules"] == [{"default": {"connectionTimeout": "9s"}}]
    assert values["t"]["to"][0]["default"] == {"idleTimeout": "2m"}
    assert STAYS in later["overlays/prod/kustomization.yaml"].decode()


@needs_kustomize
def test_the_entry_of_a_removed_file_goes_and_that_of_a_new_one_comes(tmp_path: Path) -> None:
    files = overlay("", f"=== base/u.yaml\n{timeout('u')}")
    files["base/kustomization.yaml"] = b"resources:\n  - u.yaml\n  - t.yaml # inbound\n"
    later = after(files, tmp_path, **{"base/t.yaml": None, "base/v.yaml": timeout("v")})
    rendering = rendered(later, tmp_path, PROD)
    assert rendering.refusals == ()
    assert [one.name for one in resources(rendering)] == ["u", "v"]
    text = later["base/kustomization.yaml"].decode()
    assert text.startswith("resources:\n  - u.yaml\n")
    assert "t.yaml" not in text


@pytest.mark.parametrize(
    ("listed", "edits", "left"),
    [
        pytest.param(
            "resources:\n  - t.yaml # why\nnamespace: x\n",
            {"base/t.yaml": None, "base/u.yaml": RULES},
            "resources:\n  - u.yaml # why\nnamespace: x\n",
            id="the only one gives way to another",
        ),
        pytest.param(
            "resources:\n  - t.yaml\nnamespace: x\n",
            {"base/t.yaml": None},
            "namespace: x\n",
            id="the only one goes",
        ),
        pytest.param(
            "# all of it\nkind: Kustomization\nresources:\n  - t.yaml\n",
            {"base/t.yaml": None},
            "# all of it\nkind: Kustomization\nresources: []\n",
            id="an empty one could not be built",
        ),
        pytest.param(
            "resources:\n  - t.yaml\n  - other\nnamespace: x\n",
            {"base/t.yaml": None},
            "resources:\n  - other\nnamespace: x\n",
            id="one of two goes",
        ),
        pytest.param(
            "bases:\n  - ../more\nresources:\n  - t.yaml\n",
            {"more/kustomization.yaml": "resources: []\n", "base/u.yaml": RULES},
            "bases:\n  - ../more\nresources:\n  - t.yaml\n  - u.yaml\n",
            id="bases stay as they are",
        ),
        pytest.param(
            "namespace: x\n",
            {"base/u.yaml": RULES},
            None,
            id="what lists nothing is not asked",
        ),
    ],
)
def test_lists_of_a_kustomization_follow(
    listed: str, edits: dict[str, str | None], left: str | None, tmp_path: Path
) -> None:
    files = {"base/kustomization.yaml": listed.encode(), "base/t.yaml": FROM.encode()}
    files["more/kustomization.yaml"] = b"resources: []\n"
    found = after(files, tmp_path, **edits)
    assert found["base/kustomization.yaml"].decode() == (listed if left is None else left)


def test_what_takes_the_place_of_all_is_listed_where_they_were(tmp_path: Path) -> None:
    head = BASE.replace("inbound\n", "inbound\nnamespace: kuma-system\n")
    found = after(tree(head), tmp_path, **{"base/t.yaml": None, "base/u.yaml": RULES})
    assert found["base/kustomization.yaml"] == (
        b"resources:\n  - u.yaml # inbound\nnamespace: kuma-system\n"
    )
