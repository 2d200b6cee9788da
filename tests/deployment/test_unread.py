"""What cannot be read bars what it could matter to, and nothing else (world.md §5)."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumamigrate.prover.doubts.doubt import concerns
from kumamigrate.source.text import Reason, Refusal
from tests.frontdoor import command

POLICIES = frozenset(
    {"MeshTimeout", "MeshRetry", "MeshHTTPRoute", "MeshTrafficPermission", "MeshCircuitBreaker"}
)
MESH = "type: Mesh\nname: default\nmeshServices: {mode: Exclusive}\n"
SUBSET = """type: MeshRetry
name: r
mesh: default
spec:
  targetRef: {kind: MeshSubset, tags: {app: web}}
  to: [{targetRef: {kind: Mesh}, default: {http: {numRetries: 3}}}]
"""
BROKEN = "type: %s\nname: broken\nmesh: %s\nspec: {}\nspec: {a: %d}\n"


@pytest.mark.parametrize(
    ("kind", "changed", "expected"),
    [
        ("", {"MeshRetry"}, True),
        ("Mesh", {"MeshRetry"}, True),
        ("Timeout", {"MeshTimeout"}, True),
        ("MeshTimeout", {"MeshRetry"}, False),
        ("MeshTimeout", {"MeshRetry", "MeshTimeout"}, True),
        ("MeshTimeout", {"Dataplane"}, True),
        ("MeshHTTPRoute", {"MeshRetry"}, True),
        ("MeshHTTPRoute", {"MeshCircuitBreaker"}, True),
        ("MeshHTTPRoute", {"MeshTrafficPermission"}, False),
        ("MeshCircuitBreaker", {"MeshHTTPRoute"}, True),
        ("MeshTrafficPermission", {"MeshHTTPRoute"}, False),
    ],
)
def test_what_an_unread_kind_matters_to(kind: str, changed: set[str], expected: bool) -> None:
    unread = Refusal(
        path="a.yaml", line=1, column=1, reason=Reason.DUPLICATE_KEY, detail="", kind=kind
    )
    assert concerns(unread, changed, POLICIES, external=False) is expected


def _verdict(root: Path, broken: tuple[str, str]) -> str:
    """Prove that one of two policies that say the same may go, beside what cannot be read."""
    for side, retry, text in (
        ("before", SUBSET + "---\n" + SUBSET.replace("name: r", "name: s"), broken[0]),
        ("after", SUBSET, broken[1]),
    ):
        (root / side).mkdir()
        for name, data in (("mesh", MESH), ("r", retry), ("broken", text)):
            (root / side / f"{name}.yaml").write_text(data)
    data = command("prove", root / "before", root / "after", "--format", "json").json
    verdict: str = data["claims"]["live"]["verdict"]
    return verdict


@pytest.mark.parametrize(
    ("kind", "mesh", "expected"),
    [
        ("MeshTimeout", "default", "equivalent"),
        ("MeshRetry", "other", "equivalent"),
        ("MeshRetry", "default", "unknown"),
        ("MeshHTTPRoute", "default", "unknown"),
        ("Mesh", "default", "unknown"),
    ],
)
def test_a_document_that_cannot_be_read_bars_its_kind_in_its_mesh(
    kind: str, mesh: str, expected: str, tmp_path: Path
) -> None:
    text = BROKEN % (kind, mesh, 1)
    assert _verdict(tmp_path, (text, text)) == expected


def test_what_cannot_be_read_and_differs_is_a_change_of_its_kind(tmp_path: Path) -> None:
    texts = (BROKEN % ("MeshTimeout", "default", 1), BROKEN % ("MeshTimeout", "default", 2))
    assert _verdict(tmp_path, texts) == "unknown"


def test_what_cannot_be_read_and_differs_bars_a_local_proof_too(tmp_path: Path) -> None:
    for side, value in (("before", 1), ("after", 2)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "t.yaml").write_text(BROKEN % ("MeshTimeout", "default", value))
        (tmp_path / side / "mesh.yaml").write_text(MESH)
    answer = command("prove", tmp_path / "before", tmp_path / "after")
    assert answer.code == 3
    assert "equivalent" not in answer.out


def test_a_kind_that_stands_deeper_or_twice_is_not_seen(tmp_path: Path) -> None:
    broken = BROKEN % ("X", "default", 1)
    nested = "spec:\n  type: MeshTimeout\n" + broken.replace("type: X\n", "")
    assert _verdict(tmp_path, (nested, nested)) == "unknown"


ON_ROUTE = """type: MeshTimeout
name: t
mesh: default
spec:
  targetRef: {kind: MeshHTTPRoute, name: api}
  to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 9s}}}]
---
type: MeshHTTPRoute
name: api
mesh: default
spec:
  to:
    - targetRef: {kind: MeshService, name: orders}
      rules: [{matches: [{path: {type: PathPrefix, value: /v1}}], default: {}}]
"""


def test_what_is_not_known_is_listed_once_and_said_by_its_number(tmp_path: Path) -> None:
    (tmp_path / "mesh.yaml").write_text(MESH)
    (tmp_path / "t.yaml").write_text(ON_ROUTE)
    for name, value in (("a", 1), ("b", 2)):
        (tmp_path / f"{name}.yaml").write_text(BROKEN % ("MeshTimeout", "default", value))
    out = command("run", tmp_path, "--initial-policies", "none").out
    assert out.count("a.yaml:5:1") == out.count("b.yaml:5:1") == 1
    assert "Not read: 2 places\n    [1] 2 places: document 1: key 'spec' stands twice" in out
    assert "\n          a.yaml:5:1, b.yaml:5:1\n" in out
    assert "cannot tell: the answer may depend on [1], which is not known" in out
    assert out.index("Not read") < out.index("held")
