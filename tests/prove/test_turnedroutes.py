"""Routes that exclude each other may change places; others may not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kumamigrate.effective.turnedroutes import only_turned


def key(kind: str, value: str, **rest: Any) -> list[str]:
    return ["route", json.dumps([[kind, value], rest]), "0"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (key("exact", "/a"), key("exact", "/b")),
        (key("prefix", "/a/"), key("prefix", "/b/")),
        (key("exact", "/a"), key("prefix", "/b/")),
        (key("prefix", "/b/"), key("exact", "/a")),
        (key("exact", "/a", method="GET"), key("exact", "/a", method="PUT")),
    ],
)
def test_what_no_request_matches_both_of_may_turn(one: list[str], other: list[str]) -> None:
    assert only_turned([one, other], [other, one])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (key("prefix", "/a/"), key("prefix", "/a/b/")),
        (key("exact", "/a/b"), key("prefix", "/a/")),
        (key("prefix", "/a/"), key("exact", "/a/b")),
        (key("exact", "/a/"), key("regex", "/b")),
        (key("regex", "/b"), key("exact", "/a/")),
        (key("regex", "/a"), key("regex", "/b")),
        (key("exact", "/a", method="GET"), key("exact", "/a")),
        (key("exact", "/a", headers=[1]), key("exact", "/a", headers=[2])),
    ],
)
def test_what_one_request_may_match_may_not_turn(one: list[str], other: list[str]) -> None:
    assert not only_turned([one, other], [other, one])


def test_only_the_pairs_that_turned_count() -> None:
    wide, narrow, else_ = key("prefix", "/a/"), key("prefix", "/a/b/"), key("exact", "/c")
    assert only_turned([else_, narrow, wide], [narrow, wide, else_])
    assert not only_turned([narrow, else_, wide], [wide, else_, narrow])


def test_a_route_more_is_no_turn() -> None:
    one = key("exact", "/a")
    assert not only_turned([one], [one, key("exact", "/b")])
    assert not only_turned([one], [one])
