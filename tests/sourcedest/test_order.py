"""Who was created last, asked of every order of creation that what is known allows (§2.2-2.4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations, product

import pytest

from kumamigrate.model.resource import Resource
from kumamigrate.sourcedest.order import (
    CreationTie,
    Latest,
    Ties,
    created_at,
    latest,
    merge_ties,
    newest_first,
    options_of,
)

TIMES = {"": None, "yesterday": None, "2024-01-01T00:00:20Z": 20, "2024-01-01T00:00:30": 30,
         "2024-01-01T01:00:20+01:00": 20}  # fmt: skip
"""Creation times as inventories have them, and what they come to; without a zone they are UTC."""
NAMES = "cabd"


def policies(*created: str) -> list[Resource]:
    return [
        Resource(type="Timeout", mesh="default", name=name, created=at)
        for name, at in zip(NAMES, created, strict=False)
    ]


def allowed(listed: Sequence[Resource], ties: Ties) -> Iterator[tuple[Resource, ...]]:
    """Yield every order of creation that may have been."""
    for order in permutations(listed):
        if all(_may_precede(a, b, listed, ties) for at, b in enumerate(order) for a in order[:at]):
            yield order


def _may_precede(first: Resource, then: Resource, listed: Sequence[Resource], ties: Ties) -> bool:
    one, two = TIMES[first.created], TIMES[then.created]
    if one is not None and two is not None and one != two:
        return one < two
    if ties is Ties.FILE_ORDER and (one is None) == (two is None):
        return listed.index(first) < listed.index(then)
    return True


@pytest.mark.parametrize("ties", Ties)
def test_whoever_may_be_the_last_is_named(ties: Ties) -> None:
    for number in (1, 2, 3):
        for created in product(TIMES, repeat=number):
            listed = policies(*created)
            orders = list(allowed(listed, ties))
            last = sorted({order[-1].name for order in orders})
            found = latest(listed, ties)
            assert [p.name for p in found.policies] == last, created
            assert found.policy.name == last[0]
            assert (found.tie is None) is (len(last) == 1)
            assert options_of(found) == found.policies
            newest, known = newest_first(listed, ties)
            assert known is (len(orders) == 1)
            assert newest == tuple(
                reversed(orders[0]) if known else sorted(listed, key=lambda p: p.name)
            )


def test_four_of_which_two_are_dated() -> None:
    listed = policies("", "2024-01-01T00:00:20Z", "2024-01-01T00:00:30", "")
    assert [p.name for p in latest(listed, Ties.UNKNOWN).policies] == ["b", "c", "d"]
    assert [p.name for p in latest(listed, Ties.FILE_ORDER).policies] == ["b", "d"]
    assert options_of(None) == (None,)


def test_times_are_read_with_their_zone() -> None:
    read = [created_at(policy) for policy in policies(*TIMES)]
    read.append(created_at(policies("2024-01-01T01:00:20+01:00")[0]))
    assert [at and round(at.timestamp()) - 1704067200 for at in read] == [None, None, 20, 30, 20]


@pytest.mark.parametrize("ties", Ties)
def test_one_that_is_listed_twice_is_one(ties: Ties) -> None:
    """But a list has it twice (§2.4)."""
    one, two = policies("2024-01-01T00:00:20Z", "2024-01-01T00:00:30Z")
    assert latest([one, one], ties) == Latest(policy=one)
    assert latest([two, one, two], ties) == Latest(policy=two)
    assert newest_first([one, two, one], ties) == ((two, one, one), True)
    bare = policies("", "")
    assert latest([*bare, *bare], Ties.UNKNOWN).policies == (bare[1], bare[0])
    assert newest_first([*bare, bare[0]], Ties.UNKNOWN) == ((bare[1], bare[0], bare[0]), False)
    assert newest_first([*bare, bare[0]], Ties.FILE_ORDER)[1]


def test_names_of_one_namespace_stand_together() -> None:
    listed = [
        Resource(type="Timeout", mesh="default", name=name, namespace=namespace)
        for name, namespace in (("a", "y"), ("b", "x"))
    ]
    assert latest(listed, Ties.UNKNOWN).policy.name == "b"
    assert [p.name for p in newest_first(listed, Ties.UNKNOWN)[0]] == ["b", "a"]


def test_ties_are_told_once_in_the_order_of_their_names() -> None:
    ties = [CreationTie(policies=tuple(policies("", "")[::step])) for step in (1, -1)]
    other = CreationTie(policies=tuple(policies("", "", "")[1:]))
    assert [tie.names for tie in merge_ties([None, ties[0], other, ties[1]])] == [
        ("a", "b"),
        ("a", "c"),
    ]
