"""Where a field is after an edit, read off the manifest before and after."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.deployment.moves import Gone, Moves, pointer, pointer_path

MESH = {"kind": "Mesh"}
LIMITS = {"connectionLimits": {"maxConnections": 500}}
FROM = {"spec": {"targetRef": MESH, "from": [{"targetRef": MESH, "default": LIMITS}]}}
RULES = {"spec": {"targetRef": MESH, "rules": [{"default": LIMITS}]}}
TAGS = {"spec": {"targetRef": {"kind": "MeshSubset", "tags": {"app": "web"}}, "to": [1]}}
LABELS = {"spec": {"targetRef": {"kind": "Dataplane", "labels": {"app": "web"}}, "to": [1]}}
TWO = {"spec": {"from": [{"targetRef": MESH, "default": 1}, {"targetRef": MESH, "default": 1}]}}
TWO_RULES = {"spec": {"rules": [{"default": 1}, {"default": 1}]}}


@pytest.mark.parametrize(
    ("old", "new", "before", "after"),
    [
        pytest.param(
            FROM,
            [RULES],
            "/spec/from/0/default/connectionLimits/maxConnections",
            (0, "/spec/rules/0/default/connectionLimits/maxConnections"),
            id="a leaf below what moved",
        ),
        pytest.param(
            FROM, [RULES], "/spec/from/0/default/new", (0, "/spec/rules/0/default/new"), id="added"
        ),
        pytest.param(
            FROM, [RULES], "/spec/targetRef/kind", (0, "/spec/targetRef/kind"), id="stays"
        ),
        pytest.param(FROM, [RULES], "/metadata/labels/a", (0, "/metadata/labels/a"), id="beside"),
        pytest.param(
            TAGS, [LABELS], "/spec/targetRef/tags/app", (0, "/spec/targetRef/labels/app"), id="key"
        ),
        pytest.param(
            TAGS,
            [LABELS],
            "/spec/targetRef/tags/team",
            (0, "/spec/targetRef/labels/team"),
            id="added below a key",
        ),
        pytest.param(
            TWO, [TWO_RULES], "/spec/from/1/default", (0, "/spec/rules/1/default"), id="same index"
        ),
        pytest.param(
            FROM,
            [{"spec": {"targetRef": MESH}}, RULES],
            "/spec/from/0/default/connectionLimits",
            (1, "/spec/rules/0/default/connectionLimits"),
            id="in another manifest",
        ),
    ],
)
def test_a_field_is_found_where_it_went(
    old: Any, new: list[Any], before: str, after: tuple[int, str]
) -> None:
    at, path = Moves(old, new).where(pointer_path(before, old))
    assert (at, pointer(path)) == after


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        pytest.param(FROM, [RULES], "/spec/from/0/targetRef/kind", id="dropped"),
        pytest.param(
            FROM, [RULES], "/spec/from/1/default", id="a further item of a list that goes"
        ),
        pytest.param(FROM, [RULES], "/spec/from/-", id="the end of a list that goes"),
        pytest.param(FROM, [RULES], "/spec/from", id="the list itself"),
        pytest.param(FROM, [], "/spec/targetRef", id="all of it"),
    ],
)
def test_what_is_nowhere_is_gone(old: Any, new: list[Any], path: str) -> None:
    with pytest.raises(Gone):
        Moves(old, new).where(pointer_path(path, old))


def test_keys_with_a_slash_or_a_tilde_survive_a_pointer() -> None:
    path = ("metadata", "labels", "kuma.io/~x", 0)
    old = {"metadata": {"labels": {"kuma.io/~x": [1]}}}
    assert pointer_path(pointer(path), old) == path


def test_a_number_is_a_place_in_a_list_and_a_key_elsewhere() -> None:
    value = {"ports": {"80": ["a", "b"]}}
    assert pointer_path("/ports/80/1", value) == ("ports", "80", 1)
