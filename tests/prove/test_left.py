"""Which differences of a proxy stood before a change, so that it leaves them as they were."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kumamigrate.effective.difference import Value, Witness
from kumamigrate.prover.owed import Owed


def _witness(place: str) -> Witness:
    return Witness(
        mesh="default",
        proxy="web",
        policy_type="MeshTimeout",
        direction="outbound",
        field="http.requestTimeout",
        place=place,
        before=Value(value="1s", policy="one"),
        after=Value(value="2s", policy="two"),
    )


STOOD, AT_A_ROUTE = _witness("db"), _witness("route r>db")


def _owed(old: dict[str, Any], new: dict[str, Any]) -> Owed:
    pair = SimpleNamespace(after=SimpleNamespace(kinds=old))
    return Owed(pair, SimpleNamespace(kinds=new))  # type: ignore[arg-type]


def test_what_stood_before_is_left() -> None:
    owed = _owed({"MeshTimeout": 1}, {"MeshTimeout": 2})
    assert owed.left([STOOD], [STOOD]) == ()
    assert owed.left([STOOD], []) == (STOOD,)


@pytest.mark.parametrize(
    ("old", "new", "left"),
    [
        ({"MeshTimeout": 1}, {"MeshTimeout": 1}, ()),
        ({"MeshTimeout": 1}, {"MeshTimeout": 2}, (AT_A_ROUTE,)),
        ({"MeshTimeout": 1}, {}, (AT_A_ROUTE,)),
        ({}, {"MeshTimeout": 1}, (AT_A_ROUTE,)),
        ({"MeshRetry": 1}, {"MeshRetry": 2}, ()),
    ],
    ids=["the same", "changed", "gone", "new", "another type"],
)
def test_a_route_shows_again_what_its_service_shows_unless_the_type_changes(
    old: dict[str, Any], new: dict[str, Any], left: tuple[Witness, ...]
) -> None:
    assert _owed(old, new).left([AT_A_ROUTE], [STOOD]) == left
