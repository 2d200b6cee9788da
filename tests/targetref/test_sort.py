"""Precedence, level by level (matcher.md (c)): the later in the list wins."""

from __future__ import annotations

from functools import cmp_to_key
from random import Random
from typing import Any

import pytest

from kumamigrate.model.release import release as release_of
from kumamigrate.model.resource import Resource
from kumamigrate.model.targetref import TargetRef, read_target_ref
from kumamigrate.targetref.matcher import Matcher
from kumamigrate.targetref.sort import Ranked, compare, keys_of
from tests.targetref.meshes import EAST, MESH, on, resource, route, sidecar, state, timeout

ITEM = (MESH, "1s")


def _order(*policies: Resource, release: str = "2.14", **labels: str) -> list[str]:
    inbound = {"port": 80, "tags": {"kuma.io/service": "a", "v": "1"}}
    proxy = sidecar("a", inbound, app="a", **labels)
    matcher = Matcher(state(proxy, *policies, release=release))
    return [p.name for p in matcher.selection(proxy, "MeshTimeout").policies]


def test_kind_of_the_top_level_target_comes_first() -> None:
    tops: list[dict[str, Any] | None] = [
        {"kind": "MeshService", "name": "a"},
        {"kind": "MeshSubset", "tags": {"v": "1"}},
        {"kind": "Dataplane"},
        None,
    ]
    policies = [timeout(f"p{at}", top, ITEM) for at, top in enumerate(tops)]
    assert _order(*policies) == ["p3", "p2", "p1", "p0"]


def test_origin_comes_before_role_and_name() -> None:
    policies = [
        timeout("a", MESH, ITEM, **EAST),
        timeout("b", MESH, ITEM),
        timeout("c", MESH, ITEM, origin="global"),
    ]
    assert _order(*policies) == ["c", "b", "a"]


def test_role_comes_before_name() -> None:
    policies = [
        timeout("a", MESH, ITEM, role="workload-owner", namespace="shop"),
        timeout("b", MESH, ITEM, role="consumer", namespace="shop"),
        timeout("c", MESH, ITEM, role="producer", namespace="shop"),
        timeout("d", MESH, ITEM, role="system"),
        timeout("e", MESH, ITEM),
    ]
    assert _order(*policies, namespace="shop") == ["e", "d", "c", "b", "a"]


def test_what_is_for_its_own_namespace_and_has_none_reaches_nobody() -> None:
    roles = ("workload-owner", "consumer", "producer", "system")
    policies = [timeout(role, MESH, ITEM, role=role) for role in roles]
    assert _order(*policies) == ["system", "producer"]


def test_the_smaller_display_name_wins() -> None:
    policies = [timeout("x", MESH, ITEM, shown="b"), timeout("y", MESH, ITEM, shown="a")]
    assert _order(*policies) == ["x", "y"]


@pytest.mark.parametrize("release", ["2.14", "3.0"])
def test_a_section_beats_none_among_dataplanes(release: str) -> None:
    plain = timeout("a", {"kind": "Dataplane"}, ITEM)
    section = timeout("b", {"kind": "Dataplane", "sectionName": "80"}, ITEM)
    assert _order(section, plain, release=release) == ["a", "b"]


def test_a_name_beats_labels_among_dataplanes_of_2_14() -> None:
    named = timeout("b", {"kind": "Dataplane", "name": "a"}, ITEM)
    labelled = timeout("a", {"kind": "Dataplane", "labels": {"app": "a"}}, ITEM)
    assert _order(named, labelled) == ["a", "b"]


@pytest.mark.parametrize(
    ("shown", "tied"),
    [
        (("c", "b", "a"), True),
        (("b", "b", "a"), True),  # "all" is no more than the named one, and no less
        (("c", "b", "b"), True),  # the labelled one is no more than "all", and no less
        (("a", "b", "c"), False),
        (("c", "a", "b"), False),
        (("b", "c", "a"), False),
    ],
)
def test_a_circle_of_dataplanes_is_a_tie(shown: tuple[str, str, str], tied: bool) -> None:
    """matcher.md Traps 13: named > labelled, both equal to "all"; names close the circle."""
    tops: tuple[dict[str, Any], ...] = (
        {"kind": "Dataplane", "name": "a"},
        {"kind": "Dataplane"},
        {"kind": "Dataplane", "labels": {"app": "a"}},
    )
    policies = [
        timeout(f"{name}.{at}", top, (MESH, f"{at + 1}s"), shown=name)
        for at, (name, top) in enumerate(zip(shown, tops, strict=True))
    ]
    proxy = sidecar("a", app="a")
    selection = Matcher(state(proxy, *policies)).selection(proxy, "MeshTimeout")
    circles = [{p.name for p in t.policies} for t in selection.ties if t.reason == "no-order"]
    assert circles == ([{p.name for p in policies}] if tied else [])


def test_policies_that_some_level_tells_apart_are_no_tie() -> None:
    one, two = timeout("a", MESH, (MESH, "1s")), timeout("b", MESH, (MESH, "2s"))
    proxy = sidecar("a")
    assert Matcher(state(proxy, one, two)).selection(proxy, "MeshTimeout").ties == ()


def _twins(first: Any, second: Any) -> tuple[str, ...]:
    """Two policies of one display name, in two namespaces."""
    one = timeout("t.a", MESH, first, shown="t", namespace="a")
    two = timeout("t.b", MESH, second, shown="t", namespace="b")
    proxy = sidecar("a")
    ties = Matcher(state(proxy, one, two)).selection(proxy, "MeshTimeout").ties
    return tuple(p.name for t in ties for p in t.policies)


def test_equal_rank_is_a_tie_only_where_the_order_shows() -> None:
    """matcher.md Traps 14."""
    web, db = {"kind": "MeshService", "name": "web"}, {"kind": "MeshService", "name": "db"}
    assert _twins((MESH, "1s"), (MESH, "2s")) == ("t.a", "t.b")
    assert _twins((MESH, "60s"), (MESH, "1m")) == ()
    assert _twins((web, "1s"), (db, "2s")) == ()
    assert _twins((web, "1s"), (MESH, "2s")) == ("t.a", "t.b")


def test_a_route_name_that_two_routes_have_is_a_tie() -> None:
    """Selection takes the first, the to-list the last: the order of the store decides."""
    web = {"kind": "MeshService", "name": "web"}
    routes = [route(f"r.{n}", web, "/v1", shown="r", namespace=n) for n in ("a", "b")]
    policy = timeout("t", {"kind": "MeshHTTPRoute", "name": "r"}, ITEM)
    proxy = sidecar("a")
    (tie,) = Matcher(state(proxy, *routes, policy)).selection(proxy, "MeshTimeout").ties
    assert (tie.reason, [p.name for p in tie.policies]) == ("ambiguous-route", ["t", "r.a", "r.b"])
    alone = Matcher(state(proxy, routes[0], policy)).selection(proxy, "MeshTimeout")
    assert alone.ties == ()


def test_vhosts_of_a_gateway_read_in_store_order() -> None:
    """matcher-notes §1.1: what conflicts there is left to chance."""
    net = {"address": "10.0.0.9", "gateway": {"type": "BUILTIN", "tags": {"kuma.io/service": "e"}}}
    proxy = resource("Dataplane", "edge", {"networking": net})
    spec = {
        "selectors": [{"match": {"kuma.io/service": "e"}}],
        "conf": {"listeners": [{"port": 80, "hostname": "x"}]},
    }
    gateway = resource("MeshGateway", "g", spec)

    def reasons(*policies: Resource) -> list[str]:
        matcher = Matcher(state(proxy, gateway, *policies))
        return [t.reason for t in matcher.selection(proxy, "MeshTimeout").ties]

    one, two = timeout("a", MESH, (MESH, "1s")), timeout("b", MESH, (MESH, "2s"))
    assert reasons(one, two) == ["store-order"]
    assert reasons(one) == []


TOPS: tuple[dict[str, Any], ...] = (
    {"kind": "Mesh"},
    {"kind": "Mesh", "proxyTypes": ["Sidecar"]},
    {"kind": "MeshSubset", "tags": {"v": "1"}},
    {"kind": "MeshService", "name": "a"},
    {"kind": "MeshServiceSubset", "name": "a", "tags": {"v": "1"}},
    {"kind": "MeshGateway", "name": "g"},
    {"kind": "MeshGateway", "name": "g", "tags": {"v": "1"}},
    {"kind": "MeshHTTPRoute", "name": "r"},
    {"kind": "Dataplane"},
    {"kind": "Dataplane", "labels": {"app": "a"}},
    {"kind": "Dataplane", "labels": {"app": "a"}, "sectionName": "http"},
)
TARGETS: tuple[dict[str, Any] | None, ...] = (
    None,
    {"kind": "Mesh"},
    {"kind": "MeshService", "name": "b"},
    {"kind": "MeshService", "name": "b", "sectionName": "http"},
    {"kind": "MeshExternalService", "name": "e"},
    {"kind": "MeshHTTPRoute", "name": "r"},
)


def _ref(value: dict[str, Any]) -> TargetRef:
    return read_target_ref(value, value.keys())


def _ranked(rng: Random, *, named: bool = False) -> list[Ranked]:
    tops = (*TOPS, {"kind": "Dataplane", "name": "dp-1"}) if named else TOPS
    found = []
    for at in range(60):
        labels = {"kuma.io/display-name": f"p{rng.randrange(20)}"}
        labels |= rng.choice([{}, {"kuma.io/origin": "zone"}, {"kuma.io/origin": "global"}])
        role = rng.choice(["", "system", "producer", "consumer", "workload-owner"])
        labels |= {"kuma.io/policy-role": role} if role else {}
        policy = Resource(type="MeshTimeout", mesh="default", name=f"p{at}", labels=labels)
        target = rng.choice(TARGETS)
        found.append(
            Ranked(
                policy,
                _ref(rng.choice(tops)),
                None if target is None else _ref(target),
            )
        )
    return found


@pytest.mark.parametrize("release", ["2.6", "2.9", "2.14", "3.0"])
def test_keys_sort_as_the_levels_compare(release: str) -> None:
    rules = release_of(release)
    for seed in range(30):
        items = _ranked(Random(seed))
        for levels in (rules.policy_sort, rules.resource_sort, rules.inbound_sort):
            keys = keys_of(rules, levels, items)
            assert keys is not None
            by_key = [items[at] for at in sorted(range(len(items)), key=keys.__getitem__)]
            compared = sorted(items, key=cmp_to_key(lambda a, b: compare(rules, levels, a, b)))  # noqa: B023
            assert by_key == compared


def test_dataplanes_by_name_and_by_labels_have_no_key_where_they_beat_each_other() -> None:
    items = _ranked(Random(1), named=True)
    assert keys_of(release_of("2.14"), release_of("2.14").policy_sort, items) is None


@pytest.mark.parametrize(
    "kind", ["MeshService", "MeshExternalService", "MeshMultiZoneService", "MeshHTTPRoute"]
)
@pytest.mark.parametrize("other", ["a", "b"])
def test_only_what_names_one_target_leaves_its_order_to_chance(kind: str, other: str) -> None:
    tied = _twins((on("a", kind), "1s"), (on(other, kind), "2s"))
    assert tied == (("t.a", "t.b") if other == "a" else ())
