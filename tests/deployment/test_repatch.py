"""The same patch of what a manifest became: only where that is certain from its structure."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.deployment.moves import Gone, Moves
from kumamigrate.deployment.repatch import merge, operations
from kumamigrate.source.editing.patch import patch
from kumamigrate.source.reading.load import read_file
from kumamigrate.source.value import Replacement, Value

MESH = {"kind": "Mesh"}
ROUTE = {"kind": "MeshHTTPRoute", "name": "api"}


def policy(**spec: Any) -> dict[str, Any]:
    return {"kind": "X", "metadata": {"name": "x"}, "spec": spec}


FROM = policy(targetRef=MESH, **{"from": [{"targetRef": MESH, "default": {"a": 1, "b": 2}}]})
RULES = policy(targetRef=MESH, rules=[{"default": {"a": 1, "b": 2}}])
SUBSET = policy(targetRef={"kind": "MeshSubset", "tags": {"app": "web"}}, to=[1])
LABELS = policy(targetRef={"kind": "Dataplane", "labels": {"app": "web"}}, to=[1])
ON_ROUTE = policy(targetRef=ROUTE, to=[{"targetRef": MESH, "default": {"a": 1}}])
TO_ROUTE = policy(to=[{"targetRef": ROUTE, "default": {"a": 1}}])
BOTH = policy(to=[1], **{"from": [{"targetRef": MESH, "default": {"a": 1}}]})
HALVES = [policy(to=[1]), {**policy(rules=[{"default": {"a": 1}}]), "metadata": {"name": "x-in"}}]


def said(text: str, value: Value) -> str:
    file = read_file("p.yaml", text.encode())
    found = patch(file, [Replacement(document=file.documents[0], values=(value,))])
    assert isinstance(found, str), found
    return found


@pytest.mark.parametrize(
    ("old", "new", "before", "after"),
    [
        pytest.param(
            FROM,
            RULES,
            "- op: replace\n  path: /spec/from/0/default/a # why\n  value: 9\n",
            "- op: replace\n  path: /spec/rules/0/default/a # why\n  value: 9\n",
            id="a leaf",
        ),
        pytest.param(
            SUBSET,
            LABELS,
            '[{"op": "replace", "path": "/spec/targetRef/tags/app", "value": "v"}]\n',
            '[{"op": "replace", "path": "/spec/targetRef/labels/app", "value": "v"}]\n',
            id="in JSON",
        ),
        pytest.param(
            ON_ROUTE,
            TO_ROUTE,
            "- op: replace\n  path: /spec/to\n  value:\n    - targetRef: {kind: Mesh}\n"
            "      default: {a: 20} # slow\n",
            "- op: replace\n  path: /spec/to\n  value:\n"
            "    - targetRef: {kind: MeshHTTPRoute, name: api}\n"
            "      default: {a: 20} # slow\n",
            id="a list as a whole, of the same structure",
        ),
        pytest.param(
            FROM,
            RULES,
            "- {op: copy, from: /spec/from/0/default/a, path: /spec/from/0/default/b}\n",
            "- {op: copy, from: /spec/rules/0/default/a, path: /spec/rules/0/default/b}\n",
            id="from one place to another",
        ),
    ],
)
def test_operations_follow(old: Any, new: Any, before: str, after: str) -> None:
    ops = read_file("p.yaml", before.encode()).documents[0].value
    assert isinstance(ops, list)
    value, at = operations(ops, Moves(old, [new]))
    assert (said(before, value), at) == (after, 0)


@pytest.mark.parametrize(
    ("old", "new", "before", "after"),
    [
        pytest.param(
            SUBSET,
            LABELS,
            "kind: X\nmetadata: {name: x}\nspec:\n  targetRef: {tags: {app: prod}} # why\n",
            "kind: X\nmetadata: {name: x}\nspec:\n  targetRef: {labels: {app: prod}} # why\n",
            id="a key",
        ),
        pytest.param(
            FROM,
            RULES,
            "kind: X\nmetadata: {name: x}\nspec:\n  from:\n    - targetRef: {kind: Mesh}\n"
            "      default: {a: 7}\n",
            "kind: X\nmetadata: {name: x}\nspec:\n  rules:\n    - default: {a: 7}\n",
            id="a list",
        ),
        pytest.param(
            FROM,
            RULES,
            "kind: X\nmetadata: {name: x}\n$patch: delete\n",
            "kind: X\nmetadata: {name: x}\n$patch: delete\n",
            id="delete",
        ),
    ],
)
def test_a_merge_follows(old: Any, new: Any, before: str, after: str) -> None:
    body = read_file("p.yaml", before.encode()).documents[0].value
    assert isinstance(body, dict)
    value, at = merge(body, Moves(old, [new]))
    assert (said(before, value), at) == (after, 0)


def test_a_patch_goes_to_the_half_that_took_its_field() -> None:
    text = (
        "kind: X\nmetadata: {name: x}\nspec: {from: [{targetRef: {kind: Mesh}, default: {a: 7}}]}\n"
    )
    body = read_file("p.yaml", text.encode()).documents[0].value
    assert isinstance(body, dict)
    value, at = merge(body, Moves(BOTH, HALVES))
    assert at == 1
    assert said(text, value) == (
        "kind: X\nmetadata: {name: x-in}\nspec: {rules: [{default: {a: 7}}]}\n"
    )
    assert (
        operations([{"op": "remove", "path": "/spec/from/0/default/a"}], Moves(BOTH, HALVES))[1]
        == 1
    )


@pytest.mark.parametrize(
    ("old", "new", "patch"),
    [
        pytest.param(FROM, RULES, {"spec": {"from": []}}, id="another length"),
        pytest.param(
            FROM,
            RULES,
            {"spec": {"from": [{"targetRef": {"kind": "MeshSubset"}, "default": {}}]}},
            id="says otherwise what was dropped",
        ),
        pytest.param(
            FROM,
            RULES,
            {"spec": {"from": [{"default": {"a": 1}}, {"default": {"a": 2}}]}},
            id="a second item",
        ),
        pytest.param(SUBSET, LABELS, {"spec": {"targetRef": {"kind": "Mesh"}}}, id="another kind"),
    ],
)
def test_what_has_another_structure_is_gone(old: Any, new: Any, patch: Any) -> None:
    with pytest.raises(Gone):
        merge(patch, Moves(old, [new]))


def test_operations_on_both_halves_belong_to_neither() -> None:
    ops = [
        {"op": "replace", "path": "/spec/to/0", "value": 2},
        {"op": "remove", "path": "/spec/from/0/default/a"},
    ]
    with pytest.raises(Gone):
        operations(ops, Moves(BOTH, HALVES))
