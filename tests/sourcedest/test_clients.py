"""Which clients a permission lets in, and whom a selector is about (legacy.md §1.1, notes C10)."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.model.resource import Resource
from kumamigrate.sourcedest.clients import admits_before, bears, clients_before

SERVICE = "kuma.io/service"


def permission(*sources: dict[str, str]) -> Resource:
    spec = {
        "sources": [{"match": tags} for tags in sources],
        "destinations": [{"match": {SERVICE: "nobody"}}],
    }
    return Resource(type="TrafficPermission", mesh="default", name="p", spec=spec)


@pytest.mark.parametrize(
    ("sources", "client", "let_in"),
    [
        ([{SERVICE: "*"}], {}, True),
        ([{SERVICE: "web"}], {SERVICE: "web"}, True),
        ([{SERVICE: "web"}], {SERVICE: "web", "team": "red"}, True),
        ([{SERVICE: "web"}], {SERVICE: "api"}, False),
        ([{SERVICE: "web"}], {}, False),
        ([{SERVICE: "web", "team": "red"}], {SERVICE: "web"}, False),
        # A star asks for nothing, not for the tag to be there.
        ([{SERVICE: "web", "team": "*"}], {SERVICE: "web"}, True),
        ([{SERVICE: "web"}, {SERVICE: "api"}], {SERVICE: "api"}, True),
        ([], {SERVICE: "web"}, False),
    ],
)
def test_a_client_carries_all_tags_of_one_source(
    sources: list[dict[str, str]], client: dict[str, str], let_in: bool
) -> None:
    assert admits_before(clients_before(permission(*sources)), client.items()) is let_in


def test_nobody_is_let_in_without_a_permission() -> None:
    assert clients_before(None) == frozenset()


def test_sources_that_ask_the_same_are_one() -> None:
    asked = clients_before(permission({"b": "2", "a": "1"}, {"a": "1", "b": "2", "c": "*"}))
    assert asked == {(("a", "1"), ("b", "2"))}


TWO = [(SERVICE, "web"), (SERVICE, "api"), ("team", "red")]
"""A client with two inbounds."""


@pytest.mark.parametrize(
    ("selector", "is_about"),
    [
        ({}, True),
        ({SERVICE: "web"}, True),
        ({SERVICE: "api", "team": "red"}, True),
        ({SERVICE: "db"}, False),
        ({"team": "red", SERVICE: "db"}, False),
        ({SERVICE: "*", "team": "*"}, True),
        ({"zone": "*"}, False),
        ({SERVICE: "*", "zone": "*"}, False),
    ],
)
def test_of_a_client_with_several_inbounds_any_value_counts(
    selector: dict[str, Any], is_about: bool
) -> None:
    assert bears(TWO, selector) is is_about
