"""Which proxies a policy selects, and at which points (matcher.md (d))."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.dataclass import replace
from kumamigrate.model.resource import Resource
from kumamigrate.model.targetref import TargetRef
from kumamigrate.targetref.matcher import Matcher
from kumamigrate.targetref.subset import Tag, subset_of
from tests.targetref.meshes import EAST, MESH, resource, route, sidecar, state, timeout

ITEM = (MESH, "1s")


def _gateway(name: str, kind: str, **labels: str) -> Resource:
    tags = {"kuma.io/service": name, "tier": "edge"}
    networking = {"address": "10.0.0.9", "gateway": {"type": kind, "tags": tags}}
    return resource("Dataplane", name, {"networking": networking}, **labels)


def _selected(policy: Resource, proxy: Resource, *more: Resource, release: str = "2.14") -> bool:
    matcher = Matcher(state(policy, proxy, *more, release=release))
    return bool(matcher.selection(proxy, policy.type).policies)


def _points(policy: Resource, proxy: Resource, *more: Resource) -> list[str]:
    matcher = Matcher(state(policy, proxy, *more))
    return [p.key for p in matcher.selection(proxy, policy.type).points]


def test_an_omitted_target_selects_every_proxy() -> None:
    policy = timeout("t", None, ITEM)
    assert _selected(policy, sidecar("a"))
    assert _selected(policy, _gateway("edge", "DELEGATED"))


def test_a_proxy_of_another_mesh_is_not_selected() -> None:
    other = Resource(type="Dataplane", mesh="other", name="a", spec=sidecar("a").spec)
    assert not _selected(timeout("t", None, ITEM), other)


def test_a_proxy_without_points_reads_nothing() -> None:
    """matcher.md (d): the policy is dropped, its `to` part included."""
    bare = resource("Dataplane", "a", {"networking": {"address": "10.0.0.1"}})
    assert not _selected(timeout("t", MESH, ITEM), bare)


@pytest.mark.parametrize(
    ("types", "sidecars", "gateways"),
    [(["Sidecar"], True, False), (["Gateway"], False, True), ([], True, True)],
)
def test_proxy_types_narrow_mesh_until_3_0(
    types: list[str], sidecars: bool, gateways: bool
) -> None:
    policy = timeout("t", {"kind": "Mesh", "proxyTypes": types}, ITEM)
    edge = _gateway("edge", "DELEGATED")
    assert _selected(policy, sidecar("a")) is sidecars
    assert _selected(policy, edge) is gateways
    assert _selected(policy, edge, release="3.0")


def test_tags_select_inbound_by_inbound() -> None:
    proxy = sidecar(
        "a",
        {"port": 80, "tags": {"kuma.io/service": "a", "version": "v1"}},
        {"port": 81, "tags": {"kuma.io/service": "a", "version": "v2"}},
    )
    subset = {"kind": "MeshSubset", "tags": {"version": "v2"}}
    assert _points(timeout("t", subset, ITEM), proxy) == ["10.0.0.1:81"]
    anything = {"kind": "MeshSubset", "tags": {"version": "*"}}
    assert _points(timeout("t", anything, ITEM), proxy) == ["10.0.0.1:80", "10.0.0.1:81"]
    assert _points(timeout("t", {"kind": "MeshSubset", "tags": {"x": "*"}}, ITEM), proxy) == []
    both = {"kind": "MeshServiceSubset", "name": "a", "tags": {"version": "v1"}}
    assert _points(timeout("t", both, ITEM), proxy) == ["10.0.0.1:80"]


def test_tags_of_a_delegated_gateway_are_those_of_its_gateway_section() -> None:
    subset = {"kind": "MeshSubset", "tags": {"tier": "edge"}}
    assert _selected(timeout("t", subset, ITEM), _gateway("edge", "DELEGATED"))


def test_a_section_keeps_named_inbounds_and_unnamed_ones_by_number() -> None:
    proxy = sidecar("a", {"port": 80, "name": "main"}, {"port": 81}, app="a")
    for section, key in (("main", "10.0.0.1:80"), ("81", "10.0.0.1:81")):
        top = {"kind": "Dataplane", "labels": {"app": "a"}, "sectionName": section}
        assert _points(timeout("t", top, ITEM), proxy) == [key]
    top = {"kind": "Dataplane", "sectionName": "80"}
    assert _points(timeout("t", top, ITEM), proxy) == []


def test_a_section_still_selects_a_delegated_gateway() -> None:
    """matcher-notes B."""
    policy = timeout("t", {"kind": "Dataplane", "sectionName": "main"}, ITEM)
    assert _selected(policy, _gateway("edge", "DELEGATED"))
    assert not _selected(policy, sidecar("a"))


def test_dataplane_by_name_needs_the_zone_and_namespace_of_the_policy() -> None:
    top = {"kind": "Dataplane", "name": "a"}
    proxy = sidecar("a.shop", shown="a", namespace="shop", **EAST)
    assert _selected(timeout("t", top, ITEM, namespace="shop", **EAST), proxy)
    assert not _selected(timeout("t", top, ITEM, namespace="other", **EAST), proxy)
    assert not _selected(timeout("t", top, ITEM, namespace="shop", origin="global"), proxy)
    elsewhere = {"kind": "Dataplane", "name": "a", "namespace": "shop"}
    assert _selected(timeout("t", elsewhere, ITEM, namespace="other", **EAST), proxy)


def test_a_namespace_without_a_name_selects_no_dataplane() -> None:
    """On 2.x, which has it; asked of 2.14 in matcher-2.14/99-dataplane-by-what."""
    proxy = sidecar("a.shop", shown="a", namespace="shop", **EAST)
    policy = timeout("t", {"kind": "Dataplane", "namespace": "shop"}, ITEM, **EAST)
    assert not _selected(policy, proxy)
    assert _selected(timeout("t", {"kind": "Dataplane"}, ITEM, **EAST), proxy)
    no_label = {"kind": "Dataplane", "namespace": "shop", "labels": {}}
    assert _selected(timeout("t", no_label, ITEM, **EAST), proxy)
    assert _selected(timeout("t", {**no_label, "name": "b"}, ITEM, **EAST), proxy)


def test_dataplane_selects_every_label_and_in_3_0_the_display_name() -> None:
    proxy = sidecar("a", app="a", tier="x")
    assert _selected(timeout("t", {"kind": "Dataplane", "labels": {"app": "a"}}, ITEM), proxy)
    both = {"kind": "Dataplane", "labels": {"app": "a", "tier": "y"}}
    assert not _selected(timeout("t", both, ITEM), proxy)
    shown = {"kind": "Dataplane", "labels": {"kuma.io/display-name": "a"}}
    assert not _selected(timeout("t", shown, ITEM), proxy)
    assert _selected(timeout("t", shown, ITEM), proxy, release="3.0")


def test_the_zone_gate() -> None:
    here = timeout("t", MESH, ITEM, **EAST)
    west = {"kuma.io/origin": "zone", "kuma.io/zone": "west"}
    assert _selected(here, sidecar("a", **EAST))
    assert not _selected(here, sidecar("a", **west))
    assert _selected(here, sidecar("a"))
    assert _selected(timeout("t", MESH, ITEM, role="producer", **EAST), sidecar("a", **west))


def test_the_namespace_gate() -> None:
    proxy = sidecar("a", namespace="shop")
    for role, passes in (("consumer", False), ("workload-owner", False), ("system", True)):
        policy = timeout("t", MESH, ITEM, namespace="other", role=role)
        assert _selected(policy, proxy) is passes
        assert _selected(policy, proxy, release="2.6")
    assert _selected(timeout("t", MESH, ITEM, namespace="shop", role="consumer"), proxy)


def test_shadow_policies_take_no_part() -> None:
    shadow = {"kuma.io/effect": "shadow"}
    assert not _selected(timeout("t", MESH, ITEM, **shadow), sidecar("a"))


def test_a_route_at_the_top_selects_what_the_route_selects() -> None:
    policy = timeout("t", {"kind": "MeshHTTPRoute", "name": "r"}, ITEM)
    to = {"kind": "MeshService", "name": "b"}
    assert _selected(policy, sidecar("a"), route("r", to, "/"))
    west = {"kuma.io/origin": "zone", "kuma.io/zone": "west"}
    assert not _selected(policy, sidecar("a", **EAST), route("r", to, "/", **west))


def test_a_missing_route_is_a_warning_and_selects_nothing() -> None:
    policy = timeout("t", {"kind": "MeshHTTPRoute", "name": "r"}, ITEM)
    proxy = sidecar("a")
    selection = Matcher(state(policy, proxy)).selection(proxy, "MeshTimeout")
    assert selection.policies == ()
    assert selection.warnings == (
        "unable to resolve TargetRef on policy: mesh:default name:t "
        "error:\"couldn't resolve MeshHTTPRoute targetRef with name 'r'\"",
    )


def _edge() -> tuple[Resource, Resource]:
    listeners: list[dict[str, Any]] = [
        {"port": 80, "tags": {"vhost": "one"}},
        {"port": 80, "hostname": "b.example.com", "tags": {"vhost": "two"}},
        {"port": 90, "tags": {"vhost": "three"}},
    ]
    selectors = [{"match": {"kuma.io/service": "edge"}}]
    spec = {"selectors": selectors, "tags": {"x": "y"}, "conf": {"listeners": listeners}}
    return _gateway("edge", "BUILTIN"), resource("MeshGateway", "edge-gw", spec)


def test_a_builtin_gateway_has_the_points_of_its_listeners() -> None:
    proxy, gateway = _edge()
    assert _points(timeout("t", MESH, ITEM), proxy, gateway) == ["10.0.0.9:80", "10.0.0.9:90"]
    top = {"kind": "MeshGateway", "name": "edge-gw", "tags": {"vhost": "two", "x": "y"}}
    policy = timeout("t", top, ITEM)
    selection = Matcher(state(policy, proxy, gateway)).selection(proxy, "MeshTimeout")
    assert [p.key for p in selection.hostnames] == ["10.0.0.9:80:b.example.com"]
    other = timeout("t", {"kind": "MeshGateway", "name": "other"}, ITEM)
    assert not _selected(other, proxy, gateway)
    assert not _selected(timeout("t", {"kind": "Dataplane"}, ITEM), proxy, gateway)


@pytest.mark.parametrize(
    ("release", "name"),
    [("2.6", "edge-gw.shop"), ("2.9", "edge-gw"), ("2.14", "edge-gw")],
)
def test_a_gateway_is_called_by_its_plain_name_at_first(release: str, name: str) -> None:
    """matcher.md (d): 2.6 compares the name that is stored, later releases the display name."""
    proxy, gateway = _edge()
    gateway = replace(gateway, name="edge-gw.shop", labels={"kuma.io/display-name": "edge-gw"})
    chosen = [
        top
        for top in ("edge-gw", "edge-gw.shop")
        if Matcher(
            state(
                timeout("t", {"kind": "MeshGateway", "name": top}, ITEM),
                *(proxy, gateway),
                release=release,
            )
        )
        .selection(proxy, "MeshTimeout")
        .policies
    ]
    assert chosen == [name]


def test_malformed_proxies_are_survived() -> None:
    for networking in (None, [], {"inbound": "x"}, {"inbound": [1, {"port": "x"}]}):
        proxy = resource("Dataplane", "a", {"networking": networking})
        _selected(timeout("t", MESH, ITEM), proxy)


def test_a_subset_of_two_services() -> None:
    """Golden 99-service-subset-by-its-tag: at the top the tag counts, in lists both do."""
    tags = (("kuma.io/service", "b"), ("version", "v1"))
    target = TargetRef(kind="MeshServiceSubset", name="a", tags=tags)
    assert target.asked_tags == tags
    both = Tag("kuma.io/service", "a"), Tag("kuma.io/service", "b")
    assert subset_of(target) == (*both, Tag("version", "v1"))
