"""Where a TrafficRoute leads, entry by entry of its conf (legacy-notes.md C3, G3, G4; §1.2)."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.model.resource import Resource
from kumamigrate.sourcedest.proxy import Inbound, TaggedProxy
from kumamigrate.sourcedest.targets import (
    common_protocol,
    family_of,
    live_targets,
    main_services,
    main_targets,
    route_destinations,
    route_targets,
    service_protocols,
    treated_as,
    zone_egress,
)

SERVICE, PROTOCOL = "kuma.io/service", "kuma.io/protocol"
SPLIT = [
    {"weight": 3, "destination": {SERVICE: "pay", "version": "v1"}},
    {"weight": 0, "destination": {SERVICE: "old"}},
    {"weight": "0", "destination": {SERVICE: "older"}},
    {"destination": {SERVICE: "unsaid"}},
    {"weight": "1", "destination": {SERVICE: "*", "version": "*", "team": "red"}},
    {"weight": 1, "destination": {"version": "v2"}},
    {"weight": 1},
    "no entry",
]
RULES = [
    {"destination": {SERVICE: "hidden"}},
    {"split": [{"weight": 0, "destination": {SERVICE: "gone"}}]},
    {"split": SPLIT[:2], "match": {"path": {"prefix": "/"}}},
]
ALL = {"destination": {SERVICE: "*"}}
OWN = {"version": "v9", SERVICE: "api"}


def route(conf: Any) -> Resource:
    return Resource(type="TrafficRoute", mesh="default", name="r", spec={"conf": conf})


def test_weights_of_zero_lead_nowhere() -> None:
    both = route({"split": SPLIT, "http": RULES})
    led = [{SERVICE: "pay", "version": "v1"}, {SERVICE: "api", "team": "red"}]
    assert main_targets(both, "api") == led
    assert main_services(both, "api") == ("pay", "api")
    assert live_targets(both, "api") == [*led, {SERVICE: "hidden"}, led[0]]
    assert live_targets(both, "api", OWN) == [
        led[0], {**led[1], "version": "v9"}, {SERVICE: "hidden", "version": "v9"}, led[0],
    ]  # fmt: skip


def test_breakers_and_checks_are_looked_up_under_them_all_the_same() -> None:
    both = route({"split": SPLIT, "http": RULES})
    assert route_targets(both, "api") == ("pay", "old", "older", "unsaid", "api")


def test_all_that_a_route_says_is_all_of_it() -> None:
    split = [dict(one["destination"]) for one in SPLIT[:6] if isinstance(one, dict)]
    rules = [{SERVICE: "hidden"}, {SERVICE: "gone"}, *split[:2]]
    assert list(route_destinations(route({"split": SPLIT, "http": RULES}))) == [*split, *rules]
    assert route_destinations(route(None)) == ()
    assert list(route_destinations(route({**ALL, "http": "x"}))) == [{SERVICE: "*"}]


def test_without_a_route_the_own_service_counts_and_without_a_conf_nothing() -> None:
    assert main_targets(None, "api") == live_targets(None, "api") == [{SERVICE: "api"}]
    assert live_targets(None, "api", OWN) == [OWN]
    assert main_services(None, "api") == route_targets(None, "api") == ("api",)
    for conf in (None, [], "x", {}):
        bare = route(conf)
        assert main_targets(bare, "api") == live_targets(bare, "api") == []
        assert main_services(bare, "api") == route_targets(bare, "api") == ()
    assert main_targets(route(ALL), "api") == live_targets(route(ALL), "api") == [{SERVICE: "api"}]


def test_what_is_read_of_a_route_once_is_read_of_each_service() -> None:
    one = route(ALL)
    assert [main_services(one, name) for name in ("a", "b")] == [("a",), ("b",)]
    assert [route_targets(one, name) for name in ("a", "b")] == [("a",), ("b",)]


@pytest.mark.parametrize(
    ("conf", "protocol"),
    [
        (None, "http"),
        (ALL, "http"),
        ({"destination": {SERVICE: "db"}}, "kafka"),
        ({"split": [{"weight": 1, "destination": {SERVICE: one}} for one in ("db", "api")]}, "tcp"),
        ({"split": [{"weight": 0, "destination": {SERVICE: "db"}}]}, "http"),
    ],
)
def test_an_outbound_speaks_what_its_targets_have_in_common(conf: Any, protocol: str) -> None:
    spoken = {"api": "http", "db": "kafka"}
    found = treated_as(route(conf) if conf is not None else None, "api", spoken.__getitem__)
    assert found == protocol


@pytest.mark.parametrize(
    ("names", "common"),
    [
        (("grpc",), "grpc"),
        (("http", "http"), "http"),
        (("grpc", "http2"), "http2"),
        (("http2", "grpc"), "http2"),
        (("http2", "http"), "tcp"),
        (("http", "http2"), "tcp"),
        (("kafka", "http"), "tcp"),
        (("kafka", "tcp"), "tcp"),
        (("grpc", "kafka", "http2"), "tcp"),
        (("http", "unknown"), "unknown"),
        (("unknown", "http"), "unknown"),
        (("mongo", "mongo"), "mongo"),
    ],
)
def test_what_protocols_have_in_common(names: tuple[str, ...], common: str) -> None:
    assert common_protocol(names) == common


def test_how_an_outbound_of_a_protocol_is_treated() -> None:
    treated = {"grpc": "grpc", "http": "http", "http2": "http", "tcp": "tcp", "kafka": "tcp"}
    assert {name: family_of(name) for name in treated} == treated


def test_a_service_speaks_what_its_endpoints_have_in_common() -> None:
    def proxy(*tags: dict[str, str]) -> TaggedProxy:
        return TaggedProxy(name="p", inbounds=tuple(Inbound(name="i", tags=one) for one in tags))

    proxies = [
        proxy({SERVICE: "web", PROTOCOL: "http"}, {SERVICE: "bare"}, {PROTOCOL: "http"}),
        proxy({SERVICE: "web", PROTOCOL: "tcp"}, {SERVICE: "far", PROTOCOL: "http"}),
    ]
    external = [{SERVICE: "far"}, {SERVICE: "out", PROTOCOL: "http"}, {PROTOCOL: "http"}]
    assert service_protocols(proxies, external) == {
        "web": "tcp", "bare": "unknown", "far": "tcp", "out": "http",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("routing", "through"),
    [({"zoneEgress": True}, True), ({"zoneEgress": False}, False), ({}, False),
     ({"zoneEgress": "true"}, False), ([], False), (None, False)],
)  # fmt: skip
def test_a_mesh_says_whether_traffic_leaves_through_a_zone_egress(
    routing: Any, through: bool
) -> None:
    mesh = Resource(type="Mesh", mesh="", name="default", spec={"routing": routing})
    assert zone_egress(mesh) is through
    assert not zone_egress(None)
