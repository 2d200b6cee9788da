"""Every rule about old policies on both sides of its border, with what is said and where.

The rules are those of Kuma's validators (legacy-notes.md G5 to G8). Paths are below `conf`.
"""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.sourcedest.admit import refusals_of
from tests.sourcedest.meshes import resource

ALL = {"match": {"kuma.io/service": "*"}}
HTTP = {"match": {"kuma.io/service": "a", "kuma.io/protocol": "http"}}
A = {"kuma.io/service": "a"}
POSITIVE = "has to be greater than 0 when defined"
PERCENT = "has to be in [0 - 100] range"
EMPTY = "cannot be empty"
Said = dict[str, str]


def _said(kind: str, conf: Any, **spec: Any) -> Said:
    to = HTTP if kind == "FaultInjection" else ALL
    body = {"type": kind, "name": "p", "sources": [ALL], "destinations": [to], "conf": conf}
    if kind in ("ProxyTemplate", "VirtualOutbound"):
        body = {"type": kind, "name": "p", "selectors": [ALL], "conf": conf}
    found: dict[str, list[str]] = {}
    for one in refusals_of(resource({**body, **spec})):
        at = ".".join(map(str, one.path)).removeprefix("conf.")
        found.setdefault(at, []).append(one.message)
    return {at: "; ".join(messages) for at, messages in found.items()}


PROBE = {"interval": "1s", "timeout": "1s", "unhealthyThreshold": 1, "healthyThreshold": 1}
OUT_OF_RANGE = "must be in range [100, 600)"


@pytest.mark.parametrize(
    ("conf", "said"),
    [
        ({}, {}),
        ({"unhealthyThreshold": 0}, {"unhealthyThreshold": POSITIVE}),
        ({"timeout": "0s"}, {"timeout": POSITIVE}),
        ({"initialJitter": "0s"}, {"initialJitter": POSITIVE}),
        ({"intervalJitter": "0s"}, {"intervalJitter": POSITIVE}),
        ({"noTrafficInterval": "0s"}, {"noTrafficInterval": POSITIVE}),
        ({"healthyPanicThreshold": 0}, {}),
        ({"healthyPanicThreshold": 100}, {}),
        ({"healthyPanicThreshold": 101}, {"healthyPanicThreshold": PERCENT}),
        ({"healthyPanicThreshold": -1}, {"healthyPanicThreshold": PERCENT}),
        ({"http": {"path": "/"}}, {}),
        ({"http": {}}, {"http.path": "has to be defined and cannot be empty"}),
        ({"http": {"path": ""}}, {"http.path": "has to be defined and cannot be empty"}),
        ({"http": {"path": "/", "expectedStatuses": [100, 599]}}, {}),
        (
            {"http": {"path": "/", "expectedStatuses": [99, 200, 600]}},
            {"http.expectedStatuses.0": OUT_OF_RANGE, "http.expectedStatuses.2": OUT_OF_RANGE},
        ),
        (
            {"http": {"path": "/", "requestHeadersToAdd": [{"header": {"key": "a"}}, {}]}},
            {"http.requestHeadersToAdd.1.header": "header.key has to be defined"},
        ),
        ({"tcp": {}}, {}),
        (
            {"http": {"path": "/"}, "tcp": {}},
            {"conf": "http and tcp cannot be defined at the same time"},
        ),
    ],
)
def test_health_checks(conf: Any, said: Said) -> None:
    assert _said("HealthCheck", {**PROBE, **conf}) == said


def test_health_checks_say_four_things() -> None:
    assert _said("HealthCheck", None) == {"conf": "has to be defined"}
    for name in PROBE:
        less = {key: value for key, value in PROBE.items() if key != name}
        assert _said("HealthCheck", less) == {name: "must have a positive value"}


FAULTS: list[tuple[Any, Said]] = [
    ({"abort": {"percentage": 0, "httpStatus": 500}}, {}),
    ({"abort": {"percentage": 100, "httpStatus": 100}}, {}),
    ({"abort": {"percentage": 101, "httpStatus": 500}}, {"abort.percentage": PERCENT}),
    ({"abort": {"percentage": 1}}, {"abort.httpStatus": EMPTY}),
    ({"abort": {"httpStatus": 500}}, {"abort.percentage": EMPTY}),
    (
        {"abort": {"percentage": 1, "httpStatus": 599}},
        {"abort.httpStatus": "http status code is incorrect"},
    ),
    ({"delay": {"percentage": 1, "value": "1s"}}, {}),
    ({"delay": {"percentage": 1}}, {"delay.value": EMPTY}),
    ({"responseBandwidth": {"percentage": 1, "limit": "50kbps"}}, {}),
    ({"responseBandwidth": {"percentage": 1, "limit": "1mbps"}}, {}),
    ({"responseBandwidth": {"percentage": 1}}, {"responseBandwidth.limit": EMPTY}),
    (
        {"responseBandwidth": {"percentage": 1, "limit": "50bps"}},
        {"responseBandwidth.limit": "has to be in kbps/mbps/gbps units"},
    ),
    ({}, {"conf": "must have at least one of the faults configured"}),
    (None, {"conf": "must have at least one of the faults configured"}),
]


@pytest.mark.parametrize(("conf", "said"), FAULTS)
def test_faults(conf: Any, said: Said) -> None:
    assert _said("FaultInjection", conf) == said


def _limit(**more: Any) -> dict[str, Any]:
    return {"http": {"requests": 1, "interval": "1s", **more}}


@pytest.mark.parametrize(
    ("conf", "said"),
    [
        (_limit(), {}),
        ({}, {}),
        (None, {"conf": "must have conf"}),
        (_limit(requests=0), {"http.requests": "requests must be set"}),
        (_limit(interval="0s"), {"http.interval": "interval must be set"}),
        (_limit(onRateLimit={"headers": [{"key": "a", "value": "b"}]}), {}),
        (
            _limit(onRateLimit={"headers": [{"key": "a", "value": "b"}, {"key": "a"}]}),
            {"http.onRateLimit.headers.1": "value must be set"},
        ),
        (
            _limit(onRateLimit={"headers": [{"value": "a"}]}),
            {"http.onRateLimit.headers.0": "key must be set"},
        ),
    ],
)
def test_limits(conf: Any, said: Said) -> None:
    assert _said("RateLimit", conf) == said


@pytest.mark.parametrize(
    ("conf", "said"),
    [
        ({}, {"conf": "must have at least one of the detector or threshold configured"}),
        ({"detectors": {}}, {"conf": "must have at least one of the detector or threshold"
                                     " configured"}),
        ({"detectors": {"totalErrors": {}}, "thresholds": {}}, {"thresholds": "can't be empty"}),
        ({"detectors": {}, "thresholds": {"maxRetries": 1}}, {"detectors": "can't be empty"}),
        ({"thresholds": {"maxRetries": 1}, "maxEjectionPercent": 100}, {}),
        (
            {"thresholds": {"maxRetries": 1}, "maxEjectionPercent": 101},
            {"maxEjectionPercent": PERCENT},
        ),
        ({"detectors": {"failure": {"threshold": 100}}}, {}),
        ({"detectors": {"failure": {"threshold": 101}}}, {"detectors.failure.threshold": PERCENT}),
    ],
)  # fmt: skip
def test_breakers(conf: Any, said: Said) -> None:
    assert _said("CircuitBreaker", conf) == said


@pytest.mark.parametrize(
    ("conf", "said"),
    [
        (None, {"conf": "has to be defined"}),
        ({}, {"conf": "missing protocol [grpc|http|tcp] configuration"}),
        ({"tcp": {"maxConnectAttempts": 1}}, {}),
        ({"tcp": {}}, {"tcp.maxConnectAttempts": "has to be greater than 0"}),
        ({"grpc": {}}, {"grpc": "field cannot be empty"}),
        ({"grpc": {"numRetries": 0}}, {"grpc.numRetries": POSITIVE}),
        ({"http": {"perTryTimeout": "0s"}}, {"http.perTryTimeout": POSITIVE}),
        ({"http": {"backOff": {"baseInterval": "1s"}}}, {}),
        (
            {"http": {"backOff": {"maxInterval": "1s"}}},
            {"http.backOff.baseInterval": "has to be defined"},
        ),
        (
            {"grpc": {"backOff": {"baseInterval": "0s", "maxInterval": "0s"}}},
            {"grpc.backOff.baseInterval": POSITIVE, "grpc.backOff.maxInterval": POSITIVE},
        ),
        ({"grpc": {"retryOn": ["cancelled", "internal"]}}, {}),
        ({"grpc": {"retryOn": ["cancelled", "cancelled"]}}, {"grpc.retryOn": "repeated value"}),
        ({"http": {"retryOn": ["reset", "reset"]}}, {}),
        ({"http": {"retriableMethods": ["GET"]}}, {}),
        (
            {"http": {"retriableMethods": ["GET", "NONE"]}},
            {"http.retriableMethods": "field cannot be empty"},
        ),
        (
            {"http": {"retryOn": ["retriable_status_codes"]}},
            {"http.retryOn": "retriableStatusCodes cannot be empty when this option is specified"},
        ),
    ],
)
def test_retries(conf: Any, said: Said) -> None:
    assert _said("Retry", conf) == said


def _route(**more: Any) -> dict[str, Any]:
    return {"destination": A, **more}


def _http(match: Any = None, **more: Any) -> dict[str, Any]:
    rule = {"destination": A, "match": match or {"path": {"prefix": "/a"}}, **more}
    return _route(http=[rule])


CHANGED = "this header cannot be modified"
EITHER = 'either "rewritePrefix" or "regex" has to be set'
BESIDE = "can only be set, and not be empty, when match.path.prefix is not empty"
ONE_OF = 'one of "exact", "prefix" or "regex" is needed'


@pytest.mark.parametrize(
    ("conf", "said"),
    [
        (None, {"conf": EMPTY}),
        (_route(), {}),
        ({"split": [{"weight": 1, "destination": A}]}, {}),
        (
            _route(split=[{"weight": 1, "destination": A}]),
            {"conf": '"split" cannot be defined at the same time as "destination"'},
        ),
        ({"loadBalancer": {"random": {}}}, {"conf": 'requires either "destination" or "split"'}),
        (
            {"split": [{"destination": A}, {"weight": 1, "destination": A}]},
            {"split.0.weight": "needs to be defined"},
        ),
        (
            {"split": [{"weight": 1, "destination": {"version": "v1"}}]},
            {"split.0.destination": 'mandatory tag "kuma.io/service" is missing'},
        ),
        (
            {"split": [{"weight": 0, "destination": A}]},
            {"split": "there must be at least one split entry with weight above 0"},
        ),
        (_route(loadBalancer={"leastRequest": {"choiceCount": 2}}), {}),
        (
            _route(loadBalancer={"leastRequest": {"choiceCount": 1}}),
            {"loadBalancer.leastRequest.choiceCount": "value must be greater than or equal to 2"},
        ),
        (_route(loadBalancer={"ringHash": {"hashFunction": "XX_HASH"}}), {}),
        (_route(loadBalancer={"ringHash": {"hashFunction": "MURMUR_HASH_2"}}), {}),
        (
            _route(loadBalancer={"ringHash": {}}),
            {"loadBalancer.ringHash.hashFunction": "must have a valid hash function"},
        ),
        (_http(), {}),
        (_http({"headers": {"a": {"exact": ""}}}), {}),
        (_http({"headers": {"a": {"regex": ""}}}), {"http.0.match.a": ONE_OF}),
        (_http({"method": {"exact": "GET", "prefix": "G"}}), {"http.0.match.method": ONE_OF}),
        (_http({"path": {}}), {"http.0.match.path": ONE_OF}),
        (
            _route(http=[{"destination": A, "match": {}}]),
            {"http.0.match": 'must contain at least one of "method", "path" or "headers"'},
        ),
        (
            _route(http=[{"match": {"path": {"prefix": "/a"}}}]),
            {"http.0": 'requires either "destination" or "split"'},
        ),
        (_http(modify={"path": {"rewritePrefix": "/b"}}), {}),
        (_http(modify={"path": {"regex": {"pattern": "a", "substitution": "b"}}}), {}),
        (_http(modify={"path": {}}), {"http.0.modify.path": EITHER}),
        (
            _http({"path": {"exact": "/a"}}, modify={"path": {"rewritePrefix": "/b"}}),
            {"http.0.modify.path.rewritePrefix": BESIDE},
        ),
        (
            _http(modify={"path": {"rewritePrefix": ""}}),
            {"http.0.modify.path.rewritePrefix": BESIDE},
        ),
        (_http(modify={"host": {"value": "a"}}), {}),
        (_http(modify={"host": {"fromPath": {"pattern": "a", "substitution": "b"}}}), {}),
        (
            _http(modify={"host": {}}),
            {"http.0.modify.host": 'either "value" or "fromPath" has to be set'},
        ),
        (_http(modify={"requestHeaders": {"add": [{"name": "a", "value": "b"}]}}), {}),
        (
            _http(modify={"requestHeaders": {"add": [{"name": "a"}, {"value": "b"}]}}),
            {
                "http.0.modify.requestHeaders.add.0.value": EMPTY,
                "http.0.modify.requestHeaders.add.1.name": CHANGED,
            },
        ),
        (
            _http(modify={"responseHeaders": {"remove": [{"name": "a"}, {"name": "host"}]}}),
            {"http.0.modify.responseHeaders.remove.1.name": CHANGED},
        ),
        (
            _http(modify={"responseHeaders": {"add": [{"name": ":path", "value": "a"}]}}),
            {"http.0.modify.responseHeaders.add.0.name": CHANGED},
        ),
        (
            _http(modify={"requestHeaders": {"remove": [{"name": "Host"}, {}]}}),
            {
                "http.0.modify.requestHeaders.remove.0.name": CHANGED,
                "http.0.modify.requestHeaders.remove.1.name": CHANGED,
            },
        ),
    ],
)
def test_routes(conf: Any, said: Said) -> None:
    assert _said("TrafficRoute", conf) == said


@pytest.mark.parametrize(
    ("kind", "conf", "said"),
    [
        ("ProxyTemplate", {"imports": ["default-proxy", "gateway-proxy"]}, {}),
        ("ProxyTemplate", {"imports": ["x"]}, {"imports.0": "profile not found"}),
        ("ProxyTemplate", {"resources": [{"name": "a", "version": "v", "resource": "r"}]}, {}),
        (
            "ProxyTemplate",
            {"resources": [{"name": "a"}]},
            {"resources.0.version": EMPTY, "resources.0.resource": EMPTY},
        ),
        ("VirtualOutbound", {"host": "a", "port": "80"}, {}),
        ("VirtualOutbound", {"host": "a"}, {"port": "has to be defined"}),
        ("VirtualOutbound", {"port": "80"}, {"host": "has to be defined"}),
        ("VirtualOutbound", None, {"conf": "has to be defined"}),
        ("Timeout", {"grpc": {"streamIdleTimeout": "0s"}}, {"grpc.streamIdleTimeout": POSITIVE}),
        (
            "Timeout",
            {"grpc": {}},
            {"grpc": "at least one timeout in section has to be defined: streamIdleTimeout or"
             " maxStreamDuration"},
        ),
    ],
)  # fmt: skip
def test_others(kind: str, conf: Any, said: Said) -> None:
    assert _said(kind, conf) == said


@pytest.mark.parametrize(
    ("sources", "said"),
    [
        (None, {"sources": "must have at least one element"}),
        ([], {"sources": "must have at least one element"}),
        ("a", {"sources": "must be a list"}),
        ([{"match": "a"}], {"sources.0.match": "must be a map of tags"}),
        ([ALL, {}], {
            "sources.1.match": "must have at least one tag; "
            'mandatory tag "kuma.io/service" is missing'
        }),
        ([{"match": {"version": "v1"}}], {
            "sources.0.match": 'mandatory tag "kuma.io/service" is missing'
        }),
        ([{"match": {**A, "a/b.c:d_e-f": "G.h:i_j/k-l"}}], {}),
        ([{"match": {**A, "a b": "c"}}], {
            "sources.0.match": 'tag name "a b" has a character not allowed'
        }),
        ([{"match": {**A, "a": ""}}], {"sources.0.match.a": "tag value must be non-empty"}),
        ([{"match": {**A, "a": "b*"}}], {
            "sources.0.match.a": "tag value has a character not allowed"
        }),
    ],
)  # fmt: skip
def test_sources(sources: Any, said: Said) -> None:
    assert _said("Timeout", {"connectTimeout": "1s"}, sources=sources) == said


def test_destinations() -> None:
    conf = {"connectTimeout": "1s"}
    two = [{"match": {**A, "version": "v1"}}]
    only = 'must consist of exactly one tag "kuma.io/service"'
    assert _said("Timeout", conf, destinations=two) == {"destinations.0.match": only}
    assert _said("RateLimit", {}, destinations=two) == {}
    abort = {"abort": {"percentage": 1, "httpStatus": 500}}
    for protocol, said in (("grpc", {}), ("http2", {}), ("tcp", "kuma.io/protocol must be one of"
                           " http, http2, grpc")):  # fmt: skip
        tagged = [{"match": {"kuma.io/protocol": protocol}}]
        expected = {"destinations.0.match": said} if said else {}
        assert _said("FaultInjection", abort, destinations=tagged) == expected


def test_other_kinds_are_no_matter_of_old_rules() -> None:
    assert refusals_of(resource({"type": "MeshTimeout", "name": "t", "spec": {}})) == ()
