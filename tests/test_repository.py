"""A repository in memory: what is read, what is refused, and which meshes that leaves in doubt."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumamigrate.model.state import Environment
from kumamigrate.repository import repository_of, state_of

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
    text = "type: MeshTimeout\nname: t\nmesh: m\nspec:\n  to:\n  - targetRef: {kind: Mesh}\n    default: {idleTimeout: %s}\n"
    for other, doubts in (("2s", [("b.yaml", 1, "m")]), ("1s", [])):
        files = {"a.yaml": (text % "1s").encode(), "b.yaml": (text % other).encode()}
        repository = repository_of(files, root=Path())
        state, rejections = state_of(
            repository.resources, release="2.14", environment=Environment()
        )
        assert [(r.path, r.line, r.mesh) for r in state.unread] == doubts
        assert rejections == ()
