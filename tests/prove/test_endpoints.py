"""Which protocol a service tag has, as a 2.14 control plane gave it to outbounds."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.model.protocols import UNKNOWN_PROTOCOL
from kumamigrate.model.release import release
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.universe.answering import Endpoint
from kumamigrate.universe.endpoints import endpoint_protocols


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
