"""What the old engine reads of a Dataplane, whatever stands there."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.model.resource import Resource
from kumamigrate.sourcedest.proxy import TaggedProxy, proxy_of


def _proxy(networking: Any, zone: str = "east", **labels: str) -> TaggedProxy:
    named = {key.replace("_", "/"): value for key, value in labels.items()}
    spec = {"networking": networking}
    dataplane = Resource(type="Dataplane", mesh="default", name="a", labels=named, spec=spec)
    return proxy_of(dataplane, zone)


def test_inbounds_are_named_by_where_they_listen() -> None:
    inbounds = [
        {"port": 80, "tags": {"kuma.io/service": "a"}},
        {"port": 81, "address": "10.0.0.2", "servicePort": 82, "tags": {"kuma.io/zone": "west"}},
    ]
    found = _proxy({"address": "10.0.0.1", "inbound": inbounds})
    assert [(one.name, dict(one.tags), one.protocol) for one in found.inbounds] == [
        ("10.0.0.1:80:80", {"kuma.io/service": "a", "kuma.io/zone": "east"}, "tcp"),
        ("10.0.0.2:81:82", {"kuma.io/zone": "west"}, "tcp"),
    ]
    assert found.tag_sets == tuple(one.tags for one in found.inbounds)
    assert found.gateway is None


@pytest.mark.parametrize(
    ("outbound", "name", "service"),
    [
        ({"port": 1, "tags": {"kuma.io/service": "b"}}, "127.0.0.1:1", "b"),
        ({"port": 1, "address": "10.0.0.1", "service": "b"}, "10.0.0.1:1", "b"),
        ({"port": 1, "service": "c", "tags": {"kuma.io/service": "b"}}, "127.0.0.1:1", "b"),
        ({"port": 1, "tags": {"version": "v1"}}, "127.0.0.1:1", ""),
    ],
)
def test_outbounds_are_named_by_their_address(outbound: Any, name: str, service: str) -> None:
    (found,) = _proxy({"outbound": [outbound]}).outbounds
    assert (found.name, found.service) == (name, service)


@pytest.mark.parametrize(
    ("gateway", "tags"),
    [
        ({"type": "BUILTIN", "tags": {"kuma.io/service": "e"}}, {"kuma.io/service": "e"}),
        ({"type": "builtin"}, {}),
        ({"type": "DELEGATED", "tags": {"a": "b"}}, {"a": "b"}),
        ({}, {}),
    ],
)
def test_the_tags_of_a_gateway_come_first(gateway: Any, tags: Any) -> None:
    found = _proxy({"gateway": gateway, "inbound": [{"port": 80}]}, zone="")
    assert found.gateway == tags
    assert found.tag_sets == (tags, {})


def test_the_zone_of_a_dataplane_goes_before_that_of_the_control_plane() -> None:
    found = _proxy({"inbound": [{"port": 80}]}, kuma_x="y", **{"kuma.io_zone": "west"})
    assert [dict(one.tags) for one in found.inbounds] == [{"kuma.io/zone": "west"}]


@pytest.mark.parametrize("odd", [None, "x", {}, [None], ["x"], [[]], {"a": "b"}])
def test_what_is_no_list_of_maps_is_nothing(odd: Any) -> None:
    assert _proxy({"inbound": odd, "outbound": odd}) == TaggedProxy(name="a")
    assert _proxy(odd) == TaggedProxy(name="a")
