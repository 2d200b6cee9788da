"""Of destinations that read the same one is asked: which are alike, and who is asked."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, cast

import pytest

from kumamigrate.model.kri import kri_of
from kumamigrate.model.resource import Resource
from kumamigrate.prover.stages.askedplace import called_together
from kumamigrate.targetref.route import Destination, RealResource, ServiceTag
from kumamigrate.universe.network import Network, same


class Spoken:
    """A side of which only protocols are asked."""

    def __init__(self, **protocols: str) -> None:
        self._protocols = protocols

    def protocol(self, destination: Destination) -> str:
        return self._protocols.get(_name(destination), "http")


def _name(destination: Destination) -> str:
    return destination.service if isinstance(destination, ServiceTag) else destination.kri.name


def _real(kind: str, name: str) -> RealResource:
    found = Resource(type=kind, mesh="default", name=name, labels={"kuma.io/display-name": name})
    return RealResource(kri_of(found, section="80"))


class Asking:
    """Notes who is asked; some differ, some are named."""

    def __init__(self, differ: Collection[str] = (), named: Collection[str] = ()) -> None:
        self.differ, self.named = differ, named
        self.checked: list[str] = []
        self.looked_up: list[str] = []

    def of(self, before: Spoken, after: Spoken, *destinations: Destination) -> list[str]:
        sides = cast("tuple[Any, Any]", (before, after))
        return list(Network(*sides, same(destinations)).differing(self._is_named, self._check))

    def _is_named(self, destination: Destination) -> bool:
        self.looked_up.append(_name(destination))
        return _name(destination) in self.named

    def _check(self, old: Destination, new: Destination) -> tuple[str, ...]:
        assert old == new
        self.checked.append(_name(old))
        return (_name(old),) if _name(old) in self.differ else ()


TAGS = [ServiceTag(name) for name in "abcd"]
HTTP = Spoken()


def test_one_that_nobody_names_stands_for_all() -> None:
    asking = Asking()
    assert asking.of(HTTP, HTTP, *TAGS) == []
    assert asking.checked == ["a"]


def test_where_one_differs_the_next_is_asked() -> None:
    asking = Asking(differ="ab")
    assert asking.of(HTTP, HTTP, *TAGS) == ["a", "b"]
    assert asking.checked == ["a", "b", "c"]


def test_who_is_named_is_asked_and_stands_for_nobody() -> None:
    asking = Asking(differ="d", named="ac")
    assert asking.of(HTTP, HTTP, *TAGS) == []
    assert asking.checked == ["a", "b", "c"]
    asking = Asking(differ="c", named="ac")
    assert asking.of(HTTP, HTTP, *TAGS) == ["c"]


def test_one_of_two_that_is_named_on_either_side_stands_for_nobody() -> None:
    for couple in ((TAGS[2], TAGS[0]), (TAGS[0], TAGS[2])):
        asked: list[Any] = []

        def check(*one: Destination, asked: list[Any] = asked) -> tuple[str, ...]:
            asked.append(one)
            return ()

        sides = cast("tuple[Any, Any]", (HTTP, HTTP))
        others = (TAGS[1], TAGS[1])
        Network(*sides, [couple, others]).differing(lambda one: one == TAGS[2], check)
        assert asked == [couple, others]


def test_of_one_alone_nobody_asks_whether_it_is_named() -> None:
    asking = Asking(differ="a")
    assert asking.of(HTTP, HTTP, TAGS[0]) == ["a"]
    assert asking.looked_up == []


@pytest.mark.parametrize(
    ("before", "after", "two"),
    [
        (HTTP, HTTP, TAGS[:2]),
        (Spoken(b="tcp"), HTTP, TAGS[:2]),
        (HTTP, Spoken(b="tcp"), TAGS[:2]),
        (HTTP, HTTP, [TAGS[0], _real("MeshService", "b")]),
        (HTTP, HTTP, [_real("MeshService", "a"), _real("MeshService", "b")]),
        (HTTP, HTTP, [_real("MeshService", "a"), _real("MeshExternalService", "b")]),
    ],
    ids=["alike", "before", "after", "of another kind", "alike as well", "of another type"],
)
def test_those_of_one_kind_and_protocol_are_alike(
    before: Spoken, after: Spoken, two: list[Destination], request: pytest.FixtureRequest
) -> None:
    asking = Asking()
    asking.of(before, after, *two)
    alike = "alike" in request.node.callspec.id
    assert asking.checked == (["a"] if alike else ["a", "b"])


def test_outbounds_that_are_asked_together_are_called_by_the_first_and_their_number() -> None:
    called = [called_together(TAGS[:number]) for number in (1, 2, 3)]
    assert called == ["outbound to a", "outbound to a and 1 more", "outbound to a and 2 more"]
