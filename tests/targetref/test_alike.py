"""What a selector needs is offered by every proxy it selects."""

from __future__ import annotations

import random
from typing import Any

from kumamigrate.model.release import release
from kumamigrate.model.resource import Resource
from kumamigrate.targetref.items import top_of
from kumamigrate.targetref.proxyclasses import class_of, need_of, offers_of, traits_of
from kumamigrate.targetref.select import proxy_of, reach, selector_of

KEYS = ("app", "version", "kuma.io/service", "kuma.io/display-name")
VALUES = ("a", "b", "*")


def _pairs(rng: random.Random, *values: str) -> dict[str, str]:
    return {key: rng.choice(values) for key in rng.sample(KEYS, rng.randrange(3))}


def _top(rng: random.Random) -> dict[str, Any]:
    kind = rng.choice(("Mesh", "MeshSubset", "MeshService", "MeshServiceSubset", "Dataplane"))
    top: dict[str, Any] = {"kind": kind}
    if kind in ("MeshService", "MeshServiceSubset"):
        top["name"] = rng.choice(VALUES)
    if kind in ("MeshSubset", "MeshServiceSubset"):
        top["tags"] = _pairs(rng, *VALUES)
    if kind == "Dataplane":
        top |= rng.choice(({"labels": _pairs(rng, "a", "b")}, {"name": "a"}, {"sectionName": "x"}))
    return top


def _dataplane(rng: random.Random) -> Resource:
    networking: dict[str, Any] = {
        "inbound": [{"port": 80 + n, "tags": _pairs(rng, "a", "b")} for n in range(2)]
    }
    if rng.random() < 0.3:
        networking["gateway"] = {"type": "DELEGATED", "tags": _pairs(rng, "a", "b")}
    return Resource(
        type="Dataplane",
        mesh="default",
        name=rng.choice("ab"),
        labels=_pairs(rng, "a", "b"),
        spec={"networking": networking},
    )


def test_no_proxy_is_selected_that_lacks_what_the_selector_needs() -> None:
    rng = random.Random(7)
    selected = spared = 0
    for _ in range(8000):
        known = release(rng.choice(("2.9", "2.14", "3.0")))
        spec = {"targetRef": _top(rng)}
        policy = Resource(type="MeshTimeout", mesh="default", name="t", spec=spec)
        selector = selector_of(policy, top_of(policy, known), {}, known)
        proxy = proxy_of(_dataplane(rng), (), known)
        need = need_of(selector)
        if reach(selector, proxy, known):
            selected += 1
            assert need is None or need in set(offers_of(proxy)), spec
        else:
            spared += need is not None and need not in set(offers_of(proxy))
    assert min(selected, spared) > 500


def test_a_policy_on_a_route_needs_what_its_route_needs() -> None:
    known = release("2.14")

    def need(routed: dict[str, Any] | None, top: dict[str, Any]) -> object:
        found = {}
        if routed is not None:
            spec = {"targetRef": routed}
            route = Resource(type="MeshHTTPRoute", mesh="default", name="r", spec=spec)
            found = {("default", "r"): route}
        policy = Resource(type="MeshRetry", mesh="default", name="t", spec={"targetRef": top})
        return need_of(selector_of(policy, top_of(policy, known), found, known))

    on_route = {"kind": "MeshHTTPRoute", "name": "r"}
    by_label = {"kind": "Dataplane", "labels": {"kuma.io/display-name": "x", "app": "a"}}
    by_tags = {"kind": "MeshServiceSubset", "name": "web", "tags": {"version": "v2"}}
    assert need(by_label, on_route) == ("label", "app", "a")
    assert need(by_tags, on_route) == ("tag", "kuma.io/service", "web")
    assert need(None, on_route) is None
    assert need({"kind": "Mesh"}, on_route) is None
    assert need(by_tags, {"kind": "Mesh"}) is None
    assert need(None, {"kind": "MeshSubset", "tags": {"a": "*", "b": "c"}}) == ("tag", "b", "c")
    assert need(None, {"kind": "Dataplane", "name": "x"}) is None


def test_a_policy_for_its_namespace_needs_that_where_it_needs_nothing_else() -> None:
    known = release("2.14")
    labels = {"k8s.kuma.io/namespace": "ns", "kuma.io/policy-role": "workload-owner"}

    def need(top: dict[str, Any], given: dict[str, str] = labels) -> object:
        spec = {"targetRef": top}
        policy = Resource(type="MeshRetry", mesh="default", name="t", labels=given, spec=spec)
        return need_of(selector_of(policy, top_of(policy, known), {}, known))

    assert need({"kind": "Mesh"}) == ("label", "k8s.kuma.io/namespace", "ns")
    assert need({"kind": "Mesh"}, {"k8s.kuma.io/namespace": "ns"}) is None
    assert need({"kind": "Dataplane", "labels": {"app": "a"}}) == ("label", "app", "a")


def test_proxies_of_one_class_are_selected_alike() -> None:
    """Also by a policy on a route, which selects whom its route selects."""
    rng = random.Random(11)
    same = apart = 0
    for _ in range(6000):
        known = release(rng.choice(("2.9", "2.14", "3.0")))
        spec = {"targetRef": _top(rng)}
        on_route = {"targetRef": {"kind": "MeshHTTPRoute", "name": "r"}}
        route = Resource(type="MeshHTTPRoute", mesh="default", name="r", spec=spec)
        routed = rng.random() < 0.5
        given = on_route if routed else spec
        policy = Resource(type="MeshTimeout", mesh="default", name="t", spec=given)
        routes = {("default", "r"): route} if routed else {}
        selector = selector_of(policy, top_of(policy, known), routes, known)
        traits = traits_of([selector])
        one, two = (proxy_of(_dataplane(rng), (), known) for _ in range(2))
        if class_of(one, traits) == class_of(two, traits):
            same += 1
            assert reach(selector, one, known) == reach(selector, two, known), (routed, spec)
        else:
            apart += reach(selector, one, known) != reach(selector, two, known)
    assert min(same, apart) > 100
