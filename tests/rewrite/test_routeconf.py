"""Which fields of a conf reach a route, and when two confs do the same there."""

from __future__ import annotations

import pytest

from kumamigrate.model.release import release
from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.routes.inherited import Reader
from kumamigrate.rewrite.routes.routeconf import (
    contains,
    effective,
    filled,
    from_leaves,
    leaves,
    own_part,
    reaching,
)
from kumamigrate.targetref.matcher import Matcher
from tests.targetref.meshes import resource, sidecar, state

TIMEOUT = release("2.14").policy_types["MeshTimeout"].conf("to")
RETRY = release("2.14").policy_types["MeshRetry"].conf("to")


def test_only_two_timeouts_reach_a_route() -> None:
    conf = {
        "connectionTimeout": "5s",
        "idleTimeout": "1h",
        "http": {
            "requestTimeout": "2s",
            "streamIdleTimeout": "3s",
            "maxStreamDuration": "4s",
            "requestHeadersTimeout": "5s",
        },
    }
    assert reaching("MeshTimeout", conf) == {
        "http": {"requestTimeout": "2s", "streamIdleTimeout": "3s"}
    }


def test_balancing_reaches_a_route_with_its_hash_policies_alone() -> None:
    conf = {"loadBalancer": {"type": "Random"}, "hashPolicies": [{"type": "Connection"}]}
    assert reaching("MeshLoadBalancingStrategy", conf) == {"hashPolicies": [{"type": "Connection"}]}


def test_headers_timeout_is_left_out_and_named() -> None:
    conf = {"http": {"requestTimeout": "2s", "requestHeadersTimeout": "5s"}}
    assert own_part("MeshTimeout", conf) == (
        {"http": {"requestTimeout": "2s"}},
        (("http", "requestHeadersTimeout"),),
    )


def test_retry_keeps_all_that_was_written() -> None:
    conf = {"http": {"numRetries": 1}, "tcp": {"maxConnectAttempt": 2}}
    assert own_part("MeshRetry", conf) == (conf, ())


def test_absent_timeouts_are_the_defaults_of_real_resources() -> None:
    nothing = effective("MeshTimeout", {}, TIMEOUT)
    said = {"http": {"requestTimeout": "15s", "streamIdleTimeout": "30m"}}
    assert effective("MeshTimeout", said, TIMEOUT) == nothing


@pytest.mark.parametrize(
    ("protocol", "same"),
    [("http", True), ("http2", True), ("grpc", False), ("", False)],
    ids=["http reads http only", "http2 reads http only", "grpc reads grpc", "unknown reads both"],
)
def test_grpc_retries_count_by_protocol(protocol: str, same: bool) -> None:
    low = {"http": {"numRetries": 2}, "grpc": {"numRetries": 3}}
    high = {"http": {"numRetries": 2}}
    found = effective("MeshRetry", low, RETRY, protocol) == effective(
        "MeshRetry", high, RETRY, protocol
    )
    assert found is same


def test_no_retries_is_no_policy_whatever_else_is_set() -> None:
    bare = {"http": {"numRetries": 0}}
    more = {"http": {"numRetries": 0, "perTryTimeout": "1h"}}
    assert effective("MeshRetry", more, RETRY, "http") == effective(
        "MeshRetry", bare, RETRY, "http"
    )


def test_own_values_win_and_stand_first() -> None:
    own, below = {"http": {"numRetries": 1}}, {"http": {"perTryTimeout": "1h", "numRetries": 9}}
    assert filled(own, below) == {"http": {"numRetries": 1, "perTryTimeout": "1h"}}
    assert list(filled(own, below)["http"]) == ["numRetries", "perTryTimeout"]


def test_leaves_come_back_as_the_conf_they_came_from() -> None:
    conf = {"http": {"backOff": {"baseInterval": "10ms"}, "retryOn": ["5xx", "Reset"]}}
    assert from_leaves(dict(leaves(conf))) == conf


def test_a_conf_contains_its_parts_and_no_other_value() -> None:
    conf = {"http": {"requestTimeout": "2s", "streamIdleTimeout": "3s"}}
    assert contains(conf, {"http": {"requestTimeout": "2s"}})
    assert not contains(conf, {"http": {"requestTimeout": "3s"}})
    assert not contains({}, conf)


def _inbound(protocol: str | None) -> dict[str, object]:
    tags = {"kuma.io/service": "web"}
    return {"port": 80, "tags": tags | ({"kuma.io/protocol": protocol} if protocol else {})}


def _service(*protocols: str | None) -> Resource:
    ports = [
        {"port": 80 + at} | ({"appProtocol": protocol} if protocol else {})
        for at, protocol in enumerate(protocols)
    ]
    return resource("MeshService", "web", {"ports": ports})


@pytest.mark.parametrize(
    ("known", "protocol"),
    [
        ([sidecar("a", _inbound("grpc"))], "grpc"),
        ([sidecar("a", _inbound(None))], "tcp"),
        ([sidecar("a", _inbound("http")), sidecar("b", _inbound("http"))], "http"),
        ([sidecar("a", _inbound("http")), sidecar("b", _inbound("grpc"))], None),
        ([sidecar("a", _inbound("http"), _inbound(None))], None),
        ([_service("http2")], "http2"),
        ([_service(None)], "tcp"),
        ([_service("http", "grpc")], None),
        ([_service("http"), sidecar("a", _inbound("http"))], "http"),
        ([_service("http"), sidecar("a", _inbound("grpc"))], None),
        ([], None),
    ],
)
def test_a_service_has_the_protocol_on_which_all_that_is_known_agrees(
    known: list[Resource], protocol: str | None
) -> None:
    reader = Reader(matcher=Matcher(state(*known)), policy_type="MeshRetry", mesh="default")
    assert reader.protocols.get("web") == protocol
