"""What one old conf says in its new form, and what no new one can say (legacy.md §1.3 to §1.6).

A note that is `lost` keeps the policy from being written; one that `warns` does not.
"""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.rewrite.sourcedest.confnotes import Notes
from kumamigrate.rewrite.sourcedest.outbounds.balancerconf import load_balancer
from kumamigrate.rewrite.sourcedest.outbounds.breakerconf import LIMITS, mesh_circuit_breaker
from kumamigrate.rewrite.sourcedest.outbounds.probeconf import mesh_health_check
from kumamigrate.rewrite.sourcedest.outbounds.retryconf import mesh_retry
from kumamigrate.rewrite.sourcedest.outbounds.routerules import http_rules
from kumamigrate.rewrite.sourcedest.outbounds.timeoutconf import mesh_timeout
from kumamigrate.sourcedest.oldconf import OldConf, read_conf

Said = dict[str, bool]
"""The place of a note, and whether it keeps the policy from being written."""


def _conf(kind: str, conf: Any) -> OldConf:
    read = read_conf(kind, {"conf": conf})
    assert not read.problems
    return read


def _said(notes: Notes) -> Said:
    return {".".join(map(str, note.path[1:])): note.blocking for note in notes.items}


@pytest.mark.parametrize(
    ("family", "conf", "said"),
    [
        ("grpc", {"grpc": {"maxStreamDuration": "1s"}}, {"grpc.maxStreamDuration": False}),
        ("http", {"grpc": {"maxStreamDuration": "1s"}}, {}),
        ("grpc", {"http": {"idleTimeout": "1s"}}, {"http.idleTimeout": False}),
        ("grpc", {"http": {"requestTimeout": "1s", "maxStreamDuration": "1s"}}, {
            "http.maxStreamDuration": False
        }),
        ("http", {"http": {"idleTimeout": "1s", "maxStreamDuration": "1s"}}, {}),
        ("tcp", {"http": {"idleTimeout": "1s"}}, {}),
        ("tcp", {"connectTimeout": "0s"}, {"connectTimeout": True}),
    ],
)  # fmt: skip
def test_what_a_timeout_loses(family: str, conf: Any, said: Said) -> None:
    notes = Notes()
    old = _conf("Timeout", conf)
    mesh_timeout(old, old, family, notes)
    assert _said(notes) == said


def test_listener_and_cluster_read_what_leads_to_them() -> None:
    route = _conf("Timeout", {
        "connectTimeout": "1s", "tcp": {"idleTimeout": "2s"},
        "http": {"requestTimeout": "3s", "streamIdleTimeout": "4s", "maxStreamDuration": "5s",
                 "idleTimeout": "6s"},
    })  # fmt: skip
    cluster = _conf("Timeout", {
        "connectTimeout": "11s", "tcp": {"idleTimeout": "12s"},
        "http": {"requestTimeout": "13s", "streamIdleTimeout": "14s", "maxStreamDuration": "15s",
                 "idleTimeout": "16s"},
    })  # fmt: skip
    http = {"requestTimeout": "3s", "streamIdleTimeout": "4s", "maxStreamDuration": "15s"}
    for family, idle in (("tcp", "2s"), ("http", "16s"), ("grpc", "16s")):
        found = mesh_timeout(route, cluster, family, Notes())
        assert found == {"connectionTimeout": "11s", "idleTimeout": idle, "http": http}
    off = {"requestTimeout": "0s", "streamIdleTimeout": "0s", "maxStreamDuration": "0s"}
    nothing = mesh_timeout(None, None, "http", Notes(), idle_unsaid="1h")
    assert nothing == {"connectionTimeout": "5s", "idleTimeout": "1h", "http": off}


@pytest.mark.parametrize(
    ("conf", "outlier", "said"),
    [
        (
            {"detectors": {"failure": {"minimumHosts": 2, "requestVolume": 3, "threshold": 4}}},
            {"detectors": {
                "failurePercentage": {"minimumHosts": 2, "requestVolume": 3, "threshold": 4}
            }},
            {},
        ),
        (
            {"interval": "0s", "baseEjectionTime": "0s", "detectors": {"gatewayErrors": {}}},
            {"interval": "0s", "baseEjectionTime": "0s",
             "detectors": {"gatewayFailures": {"consecutive": 5}}},
            {"interval": True, "baseEjectionTime": True},
        ),
        (
            {"interval": "1s", "maxEjectionPercent": 9, "detectors": {"localErrors": {
                "consecutive": 0
            }}},
            {"interval": "1s", "maxEjectionPercent": 9,
             "detectors": {"localOriginFailures": {"consecutive": 0}}},
            {"detectors.localErrors.consecutive": True},
        ),
        (
            {"splitExternalAndLocalErrors": True, "detectors": {"totalErrors": {}}},
            {"splitExternalAndLocalErrors": True,
             "detectors": {"totalFailures": {"consecutive": 5}}},
            {"splitExternalAndLocalErrors": True},
        ),
        (
            {"splitExternalAndLocalErrors": True, "detectors": {"standardDeviation": {
                "factor": 2, "minimumHosts": 3
            }}},
            {"splitExternalAndLocalErrors": True, "detectors": {"successRate": {
                "minimumHosts": 3, "standardDeviationFactor": 2
            }}},
            {},
        ),
        (
            {"splitExternalAndLocalErrors": False, "detectors": {"standardDeviation": {}}},
            {"splitExternalAndLocalErrors": False, "detectors": {"successRate": {}}},
            {},
        ),
    ],
)  # fmt: skip
def test_what_a_breaker_ejects_by(conf: Any, outlier: Any, said: Said) -> None:
    notes = Notes()
    found = mesh_circuit_breaker(_conf("CircuitBreaker", conf), notes)
    assert found == {"outlierDetection": outlier}
    assert _said(notes) == said


@pytest.mark.parametrize(
    ("conf", "limits"),
    [
        ({"thresholds": {"maxRequests": 10}}, {"maxRequests": 10}),
        ({"interval": "1s"}, LIMITS),
    ],
)
def test_limits_that_nobody_set_are_written_only_where_nothing_else_is(
    conf: Any, limits: Any
) -> None:
    assert mesh_circuit_breaker(_conf("CircuitBreaker", conf), Notes()) == {
        "connectionLimits": limits
    }


PROBE = {"interval": "1s", "timeout": "2s", "unhealthyThreshold": 3, "healthyThreshold": 4}


def _probe(**http: Any) -> tuple[Any, Said]:
    notes = Notes()
    said = {**PROBE, "http": {"path": "/p", **http}}
    found = mesh_health_check(_conf("HealthCheck", said), notes)
    return {key: value for key, value in found.items() if key not in PROBE}, _said(notes)


def _header(value: str, **more: Any) -> dict[str, Any]:
    return {"header": {"key": "a", "value": value}, **more}


def test_a_probe_by_http() -> None:
    at = "http.requestHeadersToAdd"
    assert _probe() == ({"http": {"path": "/p"}}, {})
    found = _probe(expectedStatuses=[200, 204])
    assert found == ({"http": {"path": "/p", "expectedStatuses": [200, 204]}}, {})
    entry = {"name": "a", "value": "b"}
    added: list[tuple[dict[str, Any], str, Said]] = [
        (_header("b", append=True), "add", {}),
        (_header("b", append=False), "set", {}),
        # Without `append` the control plane made a check that Envoy refused.
        (_header("b"), "add", {f"{at}.0": False}),
    ]
    for header, kind, said in added:
        http = {"path": "/p", "requestHeadersToAdd": {kind: [entry]}}
        assert _probe(requestHeadersToAdd=[header]) == ({"http": http}, {**said, at: False})
    comma = _probe(requestHeadersToAdd=[_header("b,c", append=True)])
    assert comma[1] == {f"{at}.0": True, at: False}


def test_a_probe_keeps_its_numbers() -> None:
    more = {"initialJitter": "5s", "intervalJitterPercent": 100, "healthyPanicThreshold": 50.5,
            "eventLogPath": "", "reuseConnection": False}  # fmt: skip
    notes = Notes()
    found = mesh_health_check(_conf("HealthCheck", {**PROBE, **more}), notes)
    off = {"disabled": True}
    assert found == {
        **PROBE, "initialJitter": "5s", "intervalJitterPercent": 100, "reuseConnection": False,
        "healthyPanicThreshold": "50.5", "tcp": {}, "http": off, "grpc": off,
    }  # fmt: skip
    assert notes.items == []
    mesh_health_check(_conf("HealthCheck", {**PROBE, "intervalJitterPercent": 101}), notes)
    assert _said(notes) == {"intervalJitterPercent": True}


API = {"kuma.io/service": "api"}
ROOT = {"type": "PathPrefix", "value": "/"}
HOME = [{"kind": "MeshService", "name": "api", "weight": 1}]


def _rules(match: Any, modify: Any = None) -> tuple[Any, Said]:
    """Return the first rule of a route to another version, and what it loses."""
    notes = Notes()
    item = {"match": match, "destination": {**API, "version": "v1"}}
    item |= {} if modify is None else {"modify": modify}
    conf = _conf("TrafficRoute", {"destination": API, "http": [item]})
    rules = http_rules(conf, "api", notes)
    assert rules[-1] == {"matches": [{"path": ROOT}], "default": {"backendRefs": HOME}}
    subset = {"kind": "MeshServiceSubset", "name": "api", "tags": {"version": "v1"}, "weight": 1}
    assert rules[0]["default"].pop("backendRefs") == [subset]
    return rules[0], _said(notes)


@pytest.mark.parametrize(
    ("method", "methods", "said"),
    [
        ({"exact": "GET"}, ["GET"], {}),
        ({"exact": "FETCH"}, None, {"http.0.match.method": True}),
        ({"prefix": "P"}, ["POST", "PUT", "PATCH"], {}),
        ({"prefix": "X"}, None, {"http.0.match.method": True}),
        ({"regex": "^(GET|HEAD)$"}, ["GET", "HEAD"], {}),
        ({"regex": "G.T"}, None, {"http.0.match.method": True}),
    ],
)
def test_a_method_is_a_set_of_methods(method: Any, methods: Any, said: Said) -> None:
    found, notes = _rules({"method": method, "path": {"exact": "/a"}})
    path = {"type": "Exact", "value": "/a"}
    matches = [{"path": path, "method": one} for one in methods or ()] or [{"path": path}]
    key = sorted if methods is None else (lambda given: sorted(given, key=lambda m: m["method"]))
    assert key(found["matches"]) == key(matches)
    assert (found["default"], notes) == ({}, said)


@pytest.mark.parametrize(
    ("modify", "filters", "said"),
    [
        ({"path": {"regex": {"pattern": "a", "substitution": "b"}}}, None, {
            "http.0.modify.path.regex": True
        }),
        ({"host": {"value": "a.com"}}, [
            {"type": "URLRewrite", "urlRewrite": {"hostname": "a.com"}}
        ], {}),
        ({"host": {"value": "a.com:80"}}, [
            {"type": "URLRewrite", "urlRewrite": {"hostname": "a.com:80"}}
        ], {"http.0.modify.host.value": True}),
        ({"host": {"fromPath": {"pattern": "a", "substitution": "b"}}}, None, {
            "http.0.modify.host.fromPath": True
        }),
        ({"requestHeaders": {
            "add": [{"name": "a", "value": "b"}, {"name": "c", "value": "d,e", "append": True}],
            "remove": [{"name": "f"}],
        }}, [{"type": "RequestHeaderModifier", "requestHeaderModifier": {
            "set": [{"name": "a", "value": "b"}],
            "add": [{"name": "c", "value": "d,e"}],
            "remove": ["f"],
        }}], {}),
        ({"responseHeaders": {"add": [{"name": "a", "value": "b,c"}]}}, [
            {"type": "ResponseHeaderModifier", "responseHeaderModifier": {
                "set": [{"name": "a", "value": "b,c"}]
            }}
        ], {"http.0.modify.responseHeaders.add.0": True}),
        ({"responseHeaders": {"add": [
            {"name": "A", "value": "b"}, {"name": "a", "value": "c", "append": True}
        ]}}, [{"type": "ResponseHeaderModifier", "responseHeaderModifier": {
            "set": [{"name": "A", "value": "b"}], "add": [{"name": "a", "value": "c"}]
        }}], {"http.0.modify.responseHeaders": True}),
    ],
)  # fmt: skip
def test_what_a_route_changes(modify: Any, filters: Any, said: Said) -> None:
    found, notes = _rules({"path": {"exact": "/a"}}, modify)
    assert found["default"].get("filters") == filters
    assert notes == said


def test_a_prefix_is_rewritten_by_whole_segments() -> None:
    found, notes = _rules({"path": {"prefix": "/a/"}}, {"path": {"rewritePrefix": "/b"}})
    assert found["matches"] == [{"path": {"type": "PathPrefix", "value": "/a"}}]
    replaced = {"path": {"type": "ReplacePrefixMatch", "replacePrefixMatch": "/b"}}
    assert found["default"] == {"filters": [{"type": "URLRewrite", "urlRewrite": replaced}]}
    assert notes == {"http.0.match.path": False}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (None, {"type": "RoundRobin"}, {}),
        ({"roundRobin": {}}, {"type": "RoundRobin"}, {}),
        ({"random": {}}, {"type": "Random"}, {}),
        ({"maglev": {}}, {"type": "Maglev"}, {}),
        ({"leastRequest": {}}, {"type": "LeastRequest", "leastRequest": {"choiceCount": 2}}, {}),
        (
            {"leastRequest": {"choiceCount": 3}},
            {"type": "LeastRequest", "leastRequest": {"choiceCount": 3}},
            {},
        ),
        (
            {"ringHash": {"hashFunction": "XX_HASH", "minRingSize": 1, "maxRingSize": 2}},
            {"type": "RingHash", "ringHash": {
                "hashFunction": "XXHash", "minRingSize": 1, "maxRingSize": 2
            }},
            {},
        ),
        (
            {"ringHash": {"hashFunction": "MURMUR_HASH_2", "maxRingSize": 2}},
            {"type": "RingHash", "ringHash": {"hashFunction": "MurmurHash2", "maxRingSize": 2}},
            {"loadBalancer.ringHash": False},
        ),
    ],
)  # fmt: skip
def test_how_a_route_spreads_load(old: Any, new: Any, said: Said) -> None:
    notes = Notes()
    conf: dict[str, Any] = {"destination": API} | ({} if old is None else {"loadBalancer": old})
    assert load_balancer(_conf("TrafficRoute", conf), notes) == new
    assert _said(notes) == said


@pytest.mark.parametrize(
    ("section", "conf", "said"),
    [
        ("http", {"retryOn": ["all_5xx"]}, ["5xx"]),
        ("http", {"retryOn": ["gateway_error"]}, ["GatewayError"]),
        ("http", {"retryOn": ["reset"]}, ["Reset"]),
        ("http", {"retryOn": ["connect_failure"]}, ["ConnectFailure"]),
        ("http", {"retryOn": ["envoy_ratelimited"]}, ["EnvoyRatelimited"]),
        ("http", {"retryOn": ["retriable_4xx"]}, ["Retriable4xx"]),
        ("http", {"retryOn": ["refused_stream"]}, ["RefusedStream"]),
        ("http", {"retryOn": ["http3_post_connect_failure"]}, ["Http3PostConnectFailure"]),
        ("http", {"retriableStatusCodes": [503, 404]}, ["503", "404"]),
        ("http", {"retriableMethods": ["GET", "PATCH"]}, ["HttpMethodGet", "HttpMethodPatch"]),
        ("grpc", {"retryOn": ["cancelled"]}, ["Canceled"]),
        ("grpc", {"retryOn": ["deadline_exceeded"]}, ["DeadlineExceeded"]),
        ("grpc", {"retryOn": ["internal"]}, ["Internal"]),
        ("grpc", {"retryOn": ["resource_exhausted"]}, ["ResourceExhausted"]),
        ("grpc", {"retryOn": ["unavailable"]}, ["Unavailable"]),
    ],
)
def test_when_to_retry_is_said_in_the_words_of_the_new_form(
    section: str, conf: Any, said: list[str]
) -> None:
    written = mesh_retry(_conf("Retry", {section: {"numRetries": 1, **conf}}), Notes())
    assert written[section]["retryOn"] == said
