"""A repository in memory: what is read, what is refused, and which meshes that leaves in doubt."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumamigrate.scene.loadfiles import repository_of

BROKEN = "type: MeshTimeout\nname: t\n%sspec:\n  to: []\n  to: []\n"


@pytest.mark.parametrize(
    ("words", "mesh"),
    [
        ("mesh: payments\n", "payments"),
        ("labels: {a: b}\n", ""),
        ("mesh: {{ .Values.mesh }}\n", ""),
        ("mesh: one\nmesh: two\n", ""),
        ("labels:\n  kuma.io/mesh: 'payments' # ours\n", "payments"),
    ],
)
def test_an_unread_document_leaves_the_mesh_in_doubt_that_it_names(words: str, mesh: str) -> None:
    repository = repository_of({"a.yaml": (BROKEN % words).encode()}, root=Path())
    assert [(refusal.hides, refusal.mesh) for refusal in repository.unread] == [(True, mesh)]


def test_two_manifests_of_one_identity_leave_their_mesh_in_doubt_unless_equal() -> None:
    text = (
        "type: MeshTimeout\nname: t\nmesh: m\nspec:\n"
        "  to:\n  - targetRef: {kind: Mesh}\n    default: {idleTimeout: %s}\n"
    )
    for other, doubts in (("2s", [("b.yaml", 1, "m")]), ("1s", [])):
        files = {"a.yaml": (text % "1s").encode(), "b.yaml": (text % other).encode()}
        repository = repository_of(files, root=Path())
        assert [(r.path, r.line, r.mesh) for r in repository.unread if r.hides] == doubts


POD = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: %s}\nspec: {}\n"
NAMESPACE = (
    "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n"
    "  labels: {kuma.io/sidecar-injection: %s}\n"
)
POLICY = b"type: MeshTimeout\nname: t\nmesh: m\nspec: {}\n"


@pytest.mark.parametrize(
    ("pod", "namespace", "read"),
    [
        pytest.param(POD % "shop", "enabled", True, id="its namespace injects"),
        pytest.param(POD % "shop", "disabled", False, id="its namespace does not inject"),
        pytest.param(POD % "pay", "enabled", False, id="another namespace injects"),
        pytest.param(POD % "pay" + "# {{ x }}\n", "disabled", True, id="a template"),
        pytest.param(POD % "pay" + "# KUMA_MODE\n", "disabled", True, id="a control plane"),
        pytest.param(POD % "pay" + "---\nkind: Service\n", "disabled", True, id="with a Service"),
        pytest.param(POD % "pay" + "# kuma.io\n", "disabled", True, id="a word of Kuma's"),
    ],
)
def test_plain_pods_are_read_only_where_a_namespace_makes_proxies_of_them(
    pod: str, namespace: str, read: bool
) -> None:
    files = {"a.yaml": pod.encode(), "n.yaml": (NAMESPACE % namespace).encode(), "p.yaml": POLICY}
    repository = repository_of(files, root=Path())
    assert sorted(repository.files) == [*(["a.yaml"] if read else []), "n.yaml", "p.yaml"]
    assert repository.examined == 3


def test_the_namespaces_of_an_inventory_count_for_plain_pods() -> None:
    inventory = repository_of({"n.yaml": (NAMESPACE % "enabled").encode()}, root=Path()).resources
    files = {"a.yaml": (POD % "shop").encode(), "p.yaml": POLICY}
    assert "a.yaml" not in repository_of(files, root=Path()).files
    assert "a.yaml" in repository_of(files, root=Path(), inventory=inventory).files


def test_the_same_bytes_under_the_same_path_are_read_once() -> None:
    """A build hands most files through as they are."""
    texts = {f"{name}.yaml": f"type: Mesh\nname: {name}\n".encode() for name in "abc"}
    known = repository_of(texts, root=Path()).with_texts({"b.yaml": "type: Mesh\nname: new\n"})
    again = repository_of({**texts, "c.yaml": b"type: Mesh\nname: d\n"}, root=Path(), known=known)
    assert again.files["a.yaml"] is known.files["a.yaml"]
    assert [resource.name for resource in again.resources] == ["a", "b", "d"]
