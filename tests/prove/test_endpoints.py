"""Which protocol a service tag has, as a 2.14 control plane gave it to outbounds."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.model.protocols import UNKNOWN_PROTOCOL
from kumamigrate.model.release import release
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.model.state import State
from kumamigrate.universe.answering import Endpoint, answered
from kumamigrate.universe.contents import Contents
from kumamigrate.universe.endpoints import endpoint_protocols
from kumamigrate.universe.side import Side


def _inbound(spoken: str | None, **more: Any) -> dict[str, Any]:
    tags = {"kuma.io/service": "api", **({"kuma.io/protocol": spoken} if spoken else {})}
    return {"port": 8080, "tags": tags, **more}


def _protocols(*inbounds: dict[str, Any], on: str = "2.14") -> set[str] | None:
    return endpoint_protocols(inbounds, release(on)).get("api")


def test_the_field_of_an_inbound_says_nothing_to_others() -> None:
    field = _inbound(None, protocol="http")
    assert _protocols(field) == {"tcp"}
    assert _protocols(field, on="3.0") == {"http"}
    assert _protocols(_inbound("http", protocol="tcp")) == {"http"}


def test_an_ignored_inbound_is_no_endpoint() -> None:
    ignored = _inbound("tcp", state="Ignored")
    assert _protocols(ignored) is None
    assert _protocols(_inbound("http"), ignored) == {"http"}


@pytest.mark.parametrize(
    "at_times", [{"state": "NotReady"}, {"serviceProbe": {"tcp": {}}}, {"health": {"ready": False}}]
)
def test_an_inbound_that_is_ready_at_times_speaks_at_times(at_times: dict[str, Any]) -> None:
    assert _protocols(_inbound("http", **at_times)) == {"http"}
    assert _protocols(_inbound("http"), _inbound("http", **at_times)) == {"http"}
    assert _protocols(_inbound("http"), _inbound("tcp", **at_times)) == {UNKNOWN_PROTOCOL}
    # http and tcp are TCP, with http2 or without.
    there = (_inbound("http"), _inbound("tcp"))
    found = _protocols(*there, _inbound("http2", **at_times))
    assert found == {"tcp"}


def test_an_endpoint_is_called_by_all_that_tells_it_apart() -> None:
    proxy = Resource(type="Dataplane", mesh="default", name="web-1")
    tags = {SERVICE: "web", "version": "v1"}
    labels = {"topology.kubernetes.io/zone": "a"}
    one = Endpoint(proxy=proxy, address="10.0.0.1:80", tags=tags, labels=labels)
    assert one.called == "web-1 at 10.0.0.1:80 with topology.kubernetes.io/zone=a, version=v1"
    plain = Endpoint(proxy=proxy, address="10.0.0.1:80", tags={SERVICE: "web"}, labels={})
    assert plain.called == "web-1 at 10.0.0.1:80"


SELECTORS: tuple[dict[str, Any], ...] = (
    {},
    {"dataplaneTags": {SERVICE: "web"}},
    {"dataplaneTags": {SERVICE: "*", "version": "v1"}},
    {"dataplaneTags": {"version": "v2", SERVICE: "web"}},
    {"dataplaneLabels": {"matchLabels": {"app": "web"}}},
    {"dataplaneLabels": {"matchLabels": {"app": "web", "team": "red"}}},
    {"dataplaneRef": {"name": "web-1"}},
)


@pytest.mark.parametrize(
    ("name", "tags", "labels", "by"),
    [
        ("web-1", {SERVICE: "web", "version": "v1"}, {"app": "web"}, [1, 2, 4, 6]),
        ("web-2", {SERVICE: "web", "version": "v2"}, {"app": "web", "team": "red"}, [1, 3, 4, 5]),
        ("api-1", {SERVICE: "api", "version": "v1"}, {"team": "red"}, [2]),
        ("api-2", {"version": "v2"}, {}, []),
    ],
)
def test_an_endpoint_answers_for_whoever_selects_it(
    name: str, tags: dict[str, str], labels: dict[str, str], by: list[int]
) -> None:
    services = [
        Resource(type="MeshService", mesh="default", name=f"s{at}", spec={"selector": selector})
        for at, selector in enumerate(SELECTORS)
    ]
    side = Side(State(release="2.14", resources=tuple(services)), "default", Contents())
    proxy = Resource(type="Dataplane", mesh="default", name=name, labels=labels)
    one = Endpoint(proxy=proxy, address="10.0.0.1:80", tags=tags, labels={})
    assert [kri.name for kri in answered(side, one)] == [f"s{at}" for at in by]
