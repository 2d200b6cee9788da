"""The rules of matcher-notes §3: what of a conf reaches Envoy, no leaf of a schema unseen."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from kumamigrate.effective import sections
from kumamigrate.effective.policies import (
    meshaccesslog,
    meshcircuitbreaker,
    meshfault,
    meshhealthcheck,
    meshloadbalancing,
    meshmetric,
    meshpassthrough,
    meshpermission,
    meshproxypatch,
    meshratelimit,
    meshretry,
    meshtimeout,
    meshtls,
    meshtrace,
)
from kumamigrate.effective.reading import At, SlotKind, flat
from kumamigrate.effective.readings import READINGS
from kumamigrate.effective.sections import unread_leaves
from kumamigrate.model.policytype import Conf
from kumamigrate.model.release import known_releases, release
from kumamigrate.model.resource import Resource
from kumamigrate.prover.prover import prove
from tests.prove.states import state

DEFAULT_ROUTE = {"http.requestTimeout": "15s", "http.streamIdleTimeout": "30m0s"}
ROUTE, LISTENER, CLUSTER = SlotKind.ROUTE, SlotKind.LISTENER, SlotKind.CLUSTER
INBOUND, PROXY = SlotKind.INBOUND, SlotKind.PROXY
NO_ROUTES = ("MeshHTTPRoute", "MeshTCPRoute")
"""Read route by route, by the matcher and by split.py."""


def _leaves(conf: Conf) -> set[str]:
    """Return the leaves of a schema, lists seen through."""
    found = set()
    for top in conf.values():
        found |= {f.path.replace("[]", "") for f in top.walk() if not f.fields}
    return found


@pytest.mark.parametrize("name", known_releases())
def test_every_leaf_of_every_schema_is_read(name: str) -> None:
    """A leaf that a release brings fails here until some module says how it is read."""
    overlooked = [
        f"{kind.name} {section} {path}"
        for kind in release(name).policy_types.values()
        if kind.name not in NO_ROUTES
        for section in kind.sections
        for path in unread_leaves(kind, section)
    ]
    assert overlooked == []
    kinds = {kind.name for kind in release(name).policy_types.values()}
    assert kinds <= READINGS.keys() | set(NO_ROUTES)


def test_every_field_that_is_read_is_in_some_schema() -> None:
    known: dict[str, set[str]] = {}
    for name in known_releases():
        for kind in release(name).policy_types.values():
            for section in kind.sections:
                known.setdefault(kind.name, set()).update(_leaves(kind.conf(section)))
    wrong = [
        f"{kind} {path}"
        for kind, reading in READINGS.items()
        for path in reading.fields
        if not any(leaf == path or leaf.startswith(f"{path}.") for leaf in known[kind])
    ]
    assert wrong == []


def test_a_leaf_that_nobody_reads_is_a_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = "MeshRetry"
    kept = {k: v for k, v in READINGS[kind].fields.items() if k != "http.hostSelection"}
    less = {**READINGS, kind: replace(READINGS[kind], fields=kept)}
    monkeypatch.setattr(sections, "READINGS", less)
    text = """
type: MeshRetry
mesh: default
name: r
spec:
  to:
  - targetRef: {kind: Mesh}
    default: {http: {numRetries: %s, %s}}
"""
    predicate = "hostSelection: [{predicate: OmitPreviousHosts}]"
    nothing = ("perTryTimeout: 1s", "hostSelection: null", "hostSelection: []")
    for more, seen in ((predicate, True), *((said, False) for said in nothing)):
        before, after = (state(text % (number, more)) for number in (1, 2))
        found = prove(before, after, claims=("live",)).unknown("live")
        assert any("http.hostSelection" in reason for reason in found) is seen


def test_every_default_is_what_nothing_said_comes_to() -> None:
    """A leaf written down with its default equals the leaf left out (prover.md §1)."""
    for kind, reading in READINGS.items():
        for path, leaf in reading.fields.items():
            if leaf.default is None:
                continue
            for part in leaf.parts:
                at = At(part=part)
                base = _enough(kind, path)
                said = _over(base, _nested(path, leaf.default))
                assert reading.of_conf(said, at) == reading.of_conf(base, at), (kind, path, part)


def _enough(kind: str, path: str) -> dict[str, Any]:
    """Return what must stand beside a leaf for it to be read."""
    top, _, rest = path.partition(".")
    if kind == "MeshRetry":
        return {top: {"perTryTimeout": "1s"}}
    if path.startswith("outlierDetection."):
        counting = {"totalFailures": {"consecutive": 9}}
        return {top: {"detectors": {rest.split(".")[1]: {}} if "." in rest else counting}}
    if kind == "MeshRateLimit":
        return {"local": {"http": {"requestRate": {"num": 1, "interval": "1s"}}}}
    if kind == "MeshTrace":
        return {"backends": [{"type": "Zipkin", "zipkin": {"url": "http://z"}}]}
    if kind == "MeshHealthCheck":
        return {"tcp": {}}
    return {}


def _nested(path: str, value: Any) -> dict[str, Any]:
    for name in reversed(path.split(".")):
        value = {name: value}
    found: dict[str, Any] = value
    return found


def _over(low: dict[str, Any], high: dict[str, Any]) -> dict[str, Any]:
    out = dict(low)
    for key, value in high.items():
        both = isinstance(value, dict) and isinstance(out.get(key), dict)
        out[key] = _over(out[key], value) if both else value
    return out


@pytest.mark.parametrize(
    ("conf", "protocol", "read"),
    [
        ({"http": {"numRetries": 0, "retryOn": ["5xx"]}}, "http", []),
        ({"grpc": {"numRetries": 3}, "tcp": {"maxConnectAttempt": 2}}, "http", []),
        ({"http": {"numRetries": 2}}, "http2", ["http.numRetries"]),
        ({"http": {"numRetries": 2}, "grpc": {"numRetries": 3}}, "grpc", ["grpc.numRetries"]),
        (
            {"http": {"numRetries": 2}, "grpc": {"numRetries": 3}},
            "",
            ["http.numRetries", "grpc.numRetries"],
        ),
        (None, "http", []),
    ],
)
def test_rule_1_retry_reads_the_block_of_its_protocol(
    conf: Any, protocol: str, read: list[str]
) -> None:
    found = meshretry.of_conf(conf, At(part=ROUTE, protocol=protocol))
    assert [name for name in found if name.endswith("numRetries")] == read
    assert bool(found) is bool(read)


@pytest.mark.parametrize(("protocol", "read"), [("tcp", True), ("kafka", False), ("", True)])
def test_connections_are_retried_for_tcp_alone(protocol: str, read: bool) -> None:
    """legacy.md §1.4: new retries hit the protocol tcp only."""
    conf = {"tcp": {"maxConnectAttempt": 3}}
    found = meshretry.of_conf(conf, At(part=LISTENER, protocol=protocol))
    assert found == ({"tcp.maxConnectAttempt": 3} if read else {})


def _route(conf: Any, *, tag: bool) -> Any:
    return meshtimeout.of_conf(conf, At(part=ROUTE, tag=tag))


def _cluster(conf: Any, protocol: str) -> Any:
    return meshtimeout.of_conf(conf, At(part=CLUSTER, protocol=protocol))


def test_rule_2_only_two_timeouts_reach_a_route() -> None:
    conf = {"connectionTimeout": "1s", "idleTimeout": "2s", "http": {"maxStreamDuration": "3s"}}
    assert _route(conf, tag=False) == DEFAULT_ROUTE


@pytest.mark.parametrize("conf", [None, {}, {"http": {"requestTimeout": "15s"}}])
def test_rule_3_absent_is_default_at_real_resources(conf: Any) -> None:
    assert _route(conf, tag=False) == DEFAULT_ROUTE


def test_rule_4_no_conf_at_a_service_tag_is_no_timeout() -> None:
    """Streams are then ended after five minutes, which is Envoy's own."""
    unreached = {"http.requestTimeout": "0s", "http.streamIdleTimeout": "5m0s"}
    assert _route(None, tag=True) == unreached
    assert _route({"idleTimeout": "1s"}, tag=True) == DEFAULT_ROUTE


@pytest.mark.parametrize(
    "conf",
    [
        None,
        {"connectionTimeout": "5s", "idleTimeout": "1h0m0s"},
        {"http": {"maxStreamDuration": "0s", "maxConnectionDuration": "0s"}},
    ],
)
def test_rule_5_cluster_defaults(conf: Any) -> None:
    assert _cluster(conf, "http") == {
        "connectionTimeout": "5s",
        "idleTimeout": "1h0m0s",
        "http.maxStreamDuration": "0s",
        "http.maxConnectionDuration": "0s",
    }


def test_grpc_clusters_have_no_idle_timeout_of_a_policy() -> None:
    """Golden 09-0124; legacy.md §1.3 (c)."""
    assert _cluster({"idleTimeout": "3s"}, "grpc") == _cluster(None, "grpc")


def test_tcp_clusters_read_how_long_to_connect() -> None:
    """legacy.md §1.3 (c): all else of a cluster is for http and http2."""
    assert _cluster({"connectionTimeout": "3s", "idleTimeout": "3s"}, "tcp") == {
        "connectionTimeout": "3s"
    }


def _inbound(rules: Any, merged: Any, **more: Any) -> Any:
    return meshtimeout.of_rules(rules, merged, At(part=INBOUND, **more))


def test_rule_6_inbound_defaults() -> None:
    nothing = _inbound([], None)
    assert nothing["http.requestTimeout"] == "15s"
    said = {
        "connectionTimeout": "5s",
        "idleTimeout": "1h0m0s",
        "http": {"requestTimeout": "15s", "streamIdleTimeout": "30m0s"},
    }
    assert _inbound([(None, said)], said) == nothing
    assert _inbound([], {"idleTimeout": "2s"}) != nothing


def test_an_inbound_that_no_policy_reaches_is_as_kuma_made_it() -> None:
    """legacy.md §1.3 (d): 10s, 2h, no request timeout; since 2.14 the defaults reach it anyway."""
    unreached = _inbound([], None, reached=False, always=False)
    assert (unreached["connectionTimeout"], unreached["idleTimeout"]) == ("10s", "2h0m0s")
    assert _inbound([], None, reached=False, always=True) == _inbound([], None)


def _balancer(conf: Any) -> Any:
    return meshloadbalancing.of_conf(conf, At(part=CLUSTER))


def _hashes(conf: Any) -> Any:
    return meshloadbalancing.of_conf(conf, At(part=ROUTE))


def _from(rules: Any) -> Any:
    return meshpermission.of_from(rules, At(part=INBOUND))


def _rules(rules: Any, mesh: str = "default") -> Any:
    return meshpermission.of_rules(rules, None, At(part=INBOUND, mesh_name=mesh))


@pytest.mark.parametrize(
    ("conf", "read"),
    [
        (
            {"loadBalancer": {"type": "Random", "maglev": {"tableSize": 5}}},
            {"loadBalancer.type": "Random"},
        ),
        ({"loadBalancer": {"type": "RoundRobin"}}, {}),
        (
            {"loadBalancer": {"type": "Maglev", "maglev": {"tableSize": 5, "hashPolicies": []}}},
            {"loadBalancer.type": "Maglev", "loadBalancer.maglev.tableSize": 5},
        ),
    ],
)
def test_rule_7_only_the_chosen_balancer_counts(conf: Any, read: Any) -> None:
    expected = {**read, "localityAwareness.disabled": False}
    assert _balancer(conf) == expected


def test_any_balancer_conf_switches_locality_awareness_on() -> None:
    """catalogue.md mesh-locality-lb: with a conf proxies prefer their zone, without they do so of
    real resources alone, whatever the Mesh says (asked of 2.14)."""
    off = {"localityAwareness": {"disabled": True}}
    aware = {"routing": {"localityAwareLoadBalancing": True}}
    not_aware, is_aware = ({"localityAwareness.disabled": value} for value in (True, False))
    tag = At(part=CLUSTER, tag=True)
    assert meshloadbalancing.of_conf(None, tag) == not_aware
    assert meshloadbalancing.of_conf(None, At(part=CLUSTER, tag=True, mesh=aware)) == is_aware
    assert meshloadbalancing.of_conf({}, tag) == is_aware
    assert _balancer(None) == _balancer({}) == is_aware
    assert _balancer(off) == not_aware


def test_hash_policies_of_the_root_win_over_those_of_the_balancer() -> None:
    """catalogue.md mlbs-hash-up."""
    nested = {"loadBalancer": {"type": "Maglev", "maglev": {"hashPolicies": [{"type": "Header"}]}}}
    root = {**nested, "hashPolicies": [{"type": "Cookie"}]}
    other = {**nested, "loadBalancer": {**nested["loadBalancer"], "type": "Random"}}
    assert _hashes(nested) == {"hashPolicies": [{"type": "Header"}]}
    assert _hashes(root) == {"hashPolicies": [{"type": "Cookie"}]}
    assert _hashes(other) == {}


def test_rule_8_denials_are_nothing_and_order_is_nothing() -> None:
    web, pay, other = [["a", "web", False]], [["a", "pay", False]], [["a", "db", False]]
    allow, deny = {"action": "Allow"}, {"action": "Deny"}
    one = _from([(web, allow), (other, deny), (pay, allow)])
    assert one == _from([(pay, allow), (web, allow)])
    assert _from([(web, deny)]) == _from([]) == {}
    assert one != _from([(web, allow)])


def test_permission_rules_deny_first_and_switch_from_off() -> None:
    match = {"spiffeID": {"type": "Exact", "value": "spiffe://x/y"}}
    deny, allow = {"deny": [match]}, {"allow": [match]}
    read = _rules
    assert read([(None, deny), (None, allow)]) == read([(None, allow), (None, deny)])
    assert read([(None, {})]) != _from([])
    shadowed = read([(None, {"allowWithShadowDeny": [match]})])
    assert shadowed not in (read([(None, {})]), read([(None, allow)]))


def test_rules_that_deny_the_mesh_and_allow_nobody_are_a_from_that_only_denies() -> None:
    read = _rules
    everybody = {"spiffeID": {"type": "Prefix", "value": "spiffe://default"}}
    one = {"spiffeID": {"type": "Exact", "value": "spiffe://default/web"}}
    assert read([(None, {"deny": [everybody]})]) == _from([])
    assert read([(None, {"deny": [one]})]) != _from([])
    assert read([(None, {"deny": [everybody]}), (None, {"allow": [one]})]) != {}
    assert read([(None, {"deny": [everybody]})], mesh="other") != {}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("connect_timeout: 1h", "connect_timeout: 60m", True),
        ("connect_timeout: 2s", "connect_timeout: 2000ms", True),
        ("name: a\nconnect_timeout: 2s", "connect_timeout: 2s\nname: a", True),
        ("connect_timeout: 2s", "connect_timeout: 3s", False),
        ("name: 5", "name: '5'", False),
        ("a: [", "a:  [", False),
        ("port: 012", "port: 10", True),
        ("time: 1:30", "time: 90", False),
    ],
)
def test_rule_9_patches_are_read_as_yaml(one: str, other: str, same: bool) -> None:
    def patch(value: str) -> Any:
        modification = {"cluster": {"operation": "Patch", "value": value}}
        return meshproxypatch.of_conf({"appendModifications": [modification]}, At(part=PROXY))

    assert (patch(one) == patch(other)) is same


def test_rule_10_rules_for_all_clients_are_merged() -> None:
    merged = {"mode": "Strict"}
    rules = [(None, {"mode": "Permissive"}), (None, merged)]
    tls = partial(meshtls.of_rules, at=At(part=INBOUND))
    assert tls(rules, merged) == tls([(None, merged)], merged)


def test_limits_for_some_clients_stand_beside_those_for_all() -> None:
    match = {"spiffeID": {"type": "Exact", "value": "spiffe://x/y"}}
    limit = {"local": {"tcp": {"connectionRate": {"num": 5, "interval": "1s"}}}}
    found = meshratelimit.of_rules([(None, limit), (match, limit)], limit, At(part=INBOUND))
    assert found == {
        "local.tcp.connectionRate.num": 5,
        "local.tcp.connectionRate.interval": "1s",
        "rules": [{"match": match, "conf": limit}],
    }


@pytest.mark.parametrize(
    ("protocol", "probed"),
    [("http", True), ("http2", True), ("", True), ("tcp", False), ("grpc", False)],
)
def test_an_http_probe_is_for_http_services(protocol: str, probed: bool) -> None:
    """Goldens 09-0032 and 09-0114; the panic settings stay with the cluster."""
    conf = {"interval": "5s", "http": {"path": "/"}, "failTrafficOnPanic": True}
    read = meshhealthcheck.of_conf(conf, At(part=CLUSTER, protocol=protocol))
    assert ("interval" in read) is probed
    assert read["failTrafficOnPanic"] is True


def test_tracing_counts_where_there_is_http() -> None:
    """Golden 09-0004."""
    conf = {"backends": [{"type": "Zipkin"}], "sampling": {"overall": 14}}
    assert list(meshtrace.of_conf(conf, At(part=PROXY, http=False))) == ["backends"]
    assert meshtrace.of_conf(conf, At(part=PROXY))["sampling.overall"] == 14


def test_what_the_mesh_says_is_what_a_policy_may_say_instead() -> None:
    """legacy.md §1.15: metrics, passthrough and the mode of mTLS."""
    mesh = {
        "metrics": {
            "enabledBackend": "p",
            "backends": [
                {"name": "p", "type": "prometheus", "conf": {"port": 5671, "skipMTLS": True}}
            ],
        },
        "networking": {"outbound": {"passthrough": False}},
        "mtls": {"enabledBackend": "ca", "backends": [{"name": "ca", "mode": "PERMISSIVE"}]},
    }
    metric = {
        "sidecar": {"includeUnused": True, "profiles": {"appendProfiles": [{"name": "All"}]}},
        "backends": [
            {
                "type": "Prometheus",
                "prometheus": {"port": 5671, "path": "/metrics", "tls": {"mode": "Disabled"}},
            }
        ],
    }
    proxy, inbound = (At(part=part, mesh=mesh) for part in (PROXY, INBOUND))
    assert meshmetric.of_conf(None, proxy) == meshmetric.of_conf(metric, proxy)
    said = meshpassthrough.of_conf({"passthroughMode": "None"}, proxy)
    assert meshpassthrough.of_conf(None, proxy) == said
    assert meshtls.of_conf(None, inbound) == meshtls.of_conf({"mode": "Permissive"}, inbound)
    assert meshtls.of_conf(None, inbound) != meshtls.of_conf({"mode": "Strict"}, inbound)
    # Goldens 32-0006, 21-0096: it opens two listeners where nothing is redirected to the proxy.
    explicit = At(part=INBOUND, mesh=mesh, transparent=False)
    assert meshtls.of_conf(None, explicit) != meshtls.of_conf({"mode": "Permissive"}, explicit)
    assert meshtls.LISTENERS not in meshtls.of_conf(None, explicit)
    assert meshtls.of_conf({"mode": "Permissive"}, explicit)[meshtls.LISTENERS] is True
    off = At(part=INBOUND, transparent=False)
    assert meshtls.LISTENERS not in meshtls.of_conf({"mode": "Strict"}, off)


_APPLICATION = {"name": "app", "address": "10.0.0.1", "port": 9, "path": "/stats"}


@pytest.mark.parametrize(
    ("said", "sidecar", "prometheus", "applications"),
    [
        ({}, {}, {}, None),
        ({"port": 1, "path": "/m"}, {}, {"port": 1, "path": "/m"}, None),
        ({"skipMTLS": True}, {}, {"tls": {"mode": "Disabled"}}, None),
        ({"skipMTLS": False}, {}, {}, None),
        # What `tls` says counts, whatever skipMTLS says.
        ({"tls": {"mode": "disabled"}}, {}, {"tls": {"mode": "Disabled"}}, None),
        ({"tls": {"mode": "providedTLS"}}, {}, {"tls": {"mode": "ProvidedTLS"}}, None),
        ({"skipMTLS": True, "tls": {"mode": "activeMTLSBackend"}}, {}, {}, None),
        ({"envoy": {"usedOnly": True}}, {"includeUnused": False}, {}, None),
        ({"envoy": {"usedOnly": False}}, {}, {}, None),
        (
            {"envoy": {"filterRegex": "http.*"}},
            {"profiles": {
                "appendProfiles": [{"name": "None"}],
                "include": [{"type": "Regex", "match": "http.*"}],
            }},
            {},
            None,
        ),
        ({"aggregate": [_APPLICATION]}, {}, {}, [_APPLICATION]),
        ({"aggregate": [{**_APPLICATION, "enabled": True}]}, {}, {}, [_APPLICATION]),
        ({"aggregate": [{"name": "a", "port": 9}]}, {}, {}, [
            {"name": "a", "port": 9, "path": "/metrics"}
        ]),
        ({"aggregate": [{**_APPLICATION, "enabled": False}, "odd"]}, {}, {}, None),
    ],
)  # fmt: skip
def test_metrics_of_a_mesh_are_those_of_a_policy(
    said: Any, sidecar: Any, prometheus: Any, applications: Any
) -> None:
    """legacy.md §1.15: all statistics, used or not, at 5670 `/metrics`, plainly without mTLS."""
    backend = {"name": "p", "type": "prometheus", "conf": said}
    at = At(part=PROXY, mesh={"metrics": {"enabledBackend": "p", "backends": [backend]}})
    every = {"includeUnused": True, "profiles": {"appendProfiles": [{"name": "All"}]}}
    least = {"port": 5670, "path": "/metrics", "tls": {"mode": "Disabled"}}
    conf: dict[str, Any] = {
        "sidecar": {**every, **sidecar},
        "backends": [{"type": "Prometheus", "prometheus": {**least, **prometheus}}],
    }
    if applications is not None:
        conf["applications"] = applications
    assert meshmetric.of_conf(None, at) == meshmetric.of_conf(conf, at)


@pytest.mark.parametrize(
    ("said", "mode"),
    [
        ({}, "activeMTLSBackend"),
        ({"skipMTLS": False}, "activeMTLSBackend"),
        ({"skipMTLS": True}, "Disabled"),
        # What `tls` says counts, and nothing is its first mode.
        ({"skipMTLS": True, "tls": {}}, "activeMTLSBackend"),
        ({"tls": {"mode": "activeMTLSBackend"}}, "activeMTLSBackend"),
        ({"tls": {"mode": "disabled"}}, "Disabled"),
        ({"tls": {"mode": "providedTLS"}}, "ProvidedTLS"),
    ],
)
def test_metrics_of_a_mesh_with_mtls_are_served_by_it_and_those_of_a_policy_are_not(
    said: Any, mode: str
) -> None:
    """Kuma's sources, of all releases, and features-2.14/34-9000-metrics-by-mtls."""
    backend = {"name": "p", "type": "prometheus", "conf": said}
    mtls = {"enabledBackend": "ca", "backends": [{"name": "ca", "type": "builtin"}]}
    metrics = {"enabledBackend": "p", "backends": [backend]}
    read = meshmetric.of_conf(None, At(part=PROXY, mesh={"mtls": mtls, "metrics": metrics}))
    assert read["backends"][0]["prometheus"]["tls"] == {"mode": mode}
    named = {"type": "Prometheus", "prometheus": {"tls": {"mode": "ActiveMTLSBackend"}}}
    policy = meshmetric.of_conf({"backends": [named]}, At(part=PROXY, mesh={"mtls": mtls}))
    assert policy["backends"][0]["prometheus"]["tls"] == {"mode": "Disabled"}


@pytest.mark.parametrize(
    ("conf", "read"),
    [
        ({}, {"sidecar.profiles": {"appendProfiles": [{"name": "Basic"}]}, "backends": []}),
        (
            {"sidecar": {"regex": "a", "profiles": {"appendProfiles": [{"name": "All"}]}}},
            {
                "sidecar.profiles": {
                    "appendProfiles": [{"name": "None"}],
                    "include": [{"type": "Regex", "match": "a"}],
                },
                "backends": [],
            },
        ),
        (
            {"backends": [{"type": "Prometheus"}, {"type": "OpenTelemetry", "openTelemetry": {}}]},
            {
                "sidecar.profiles": {"appendProfiles": [{"name": "Basic"}]},
                "backends": [
                    {
                        "type": "Prometheus",
                        "prometheus": {
                            "port": 5670, "path": "/metrics", "tls": {"mode": "Disabled"}
                        },
                    },
                    {"type": "OpenTelemetry", "openTelemetry": {}},
                ],
            },
        ),
        (
            {"applications": [{"port": 1}, {"port": 2, "path": "/x"}]},
            {
                "sidecar.profiles": {"appendProfiles": [{"name": "Basic"}]},
                "backends": [],
                "applications": [{"port": 1, "path": "/metrics"}, {"port": 2, "path": "/x"}],
            },
        ),
    ],
)  # fmt: skip
def test_a_metric_is_read_with_what_it_leaves_out(conf: Any, read: Any) -> None:
    found = dict(meshmetric.of_conf(conf, At(part=PROXY)))
    assert found.pop("sidecar.includeUnused") is False
    assert found == read


def test_no_metric_is_told_where_nothing_says_so() -> None:
    assert meshmetric.of_conf(None, At(part=PROXY)) == {}
    off = {"metrics": {"backends": [{"name": "p", "type": "prometheus"}]}}
    assert meshmetric.of_conf(None, At(part=PROXY, mesh=off)) == {}


def test_passthrough_is_for_transparent_proxies() -> None:
    """Golden 09-0148."""
    conf = {"passthroughMode": "None"}
    assert meshpassthrough.of_conf(conf, At(part=PROXY, transparent=False)) == {}
    assert meshpassthrough.of_conf(conf, At(part=PROXY)) == {"passthroughMode": "None"}


@pytest.mark.parametrize(
    ("modification", "matters"),
    [
        ({"cluster": {"operation": "Patch", "match": {"origin": "outbound"}}}, False),
        ({"cluster": {"operation": "Patch", "match": {"name": "web"}}}, True),
        ({"virtualHost": {"operation": "Patch"}}, True),
        ({"listener": {"match": {"name": "in"}}}, True),
        ({"listener": {"match": {"tags": {"a": "b"}}}}, False),
    ],
)
def test_patches_that_depend_on_names(modification: Any, matters: bool) -> None:
    assert meshproxypatch.names_matter({"appendModifications": [modification]}) is matters


def test_flat_keeps_lists_and_empty_objects() -> None:
    assert flat({"a": {"b": [1, {"c": 2}], "d": {}}, "e": False}) == {
        "a.b": [1, {"c": 2}],
        "a.d": {},
        "e": False,
    }
    assert flat(None) == flat({}) == {}


def _logged(form: dict[str, Any] | None) -> Any:
    file = {"path": "/x"} if form is None else {"path": "/x", "format": form}
    conf = {"backends": [{"type": "File", "file": file}]}
    return meshaccesslog.of_conf(conf, At(part=LISTENER))


def test_a_log_is_told_by_its_words_and_an_empty_format_is_none() -> None:
    """The words are plain or JSON; `omitEmptyValues` changes them, said or not (§3)."""
    assert _logged(None) == _logged({}) == _logged({"type": "Plain", "plain": ""})
    assert _logged({"plain": "a"}) == _logged({"type": "Plain", "plain": "a"})
    plain = {"path": "/x", "format": {"type": "Plain", "plain": "a"}}
    assert _logged({"plain": "a"}) == {"backends": [{"type": "File", "file": plain}]}
    json = [{"key": "k", "value": "v"}]
    forms: list[dict[str, Any]] = [
        {},
        {"plain": "a"},
        {"type": "Json", "json": json},
        {"type": "Json", "json": [{"key": "k", "value": "w"}]},
        {"type": "Json", "json": json, "omitEmptyValues": True},
        {"plain": "a", "omitEmptyValues": True},
        {"omitEmptyValues": True},
    ]
    told = [repr(_logged(form)) for form in forms]
    assert len({*told}) == len(forms)


@pytest.mark.parametrize(("name", "kept"), [("2.9", None), ("2.14", 7)])
def test_limits_of_an_old_breaker_stay_beside_new_ones_field_by_field(
    name: str, kept: int | None
) -> None:
    """A section of the new one takes the place of the old one; since 2.14 a limit does."""
    spec = {"conf": {"thresholds": {"maxConnections": 7, "maxRequests": 8}}}
    old = Resource(type="CircuitBreaker", mesh="default", name="old", spec=spec)
    at = At(part=CLUSTER, release=name)
    both = meshcircuitbreaker.beside(old, {"connectionLimits": {"maxRequests": 9}}, at)
    alone = meshcircuitbreaker.of_old(old, at)
    assert alone["connectionLimits.maxConnections"] == 7
    assert both["connectionLimits.maxRequests"] == 9
    fallback = meshcircuitbreaker.of_conf({}, at)["connectionLimits.maxConnections"]
    assert both["connectionLimits.maxConnections"] == (kept or fallback)
    assert meshcircuitbreaker.beside(old, {}, at) == alone


@pytest.mark.parametrize(("always", "idle"), [(False, "9s"), (True, "0s")])
def test_an_old_timeout_ends_idle_connections_of_clients_where_no_release_has_a_word(
    always: bool, idle: str
) -> None:
    """legacy-notes.md C4: no MeshTimeout can say it, and from 2.14 on nothing does."""
    spec = {"conf": {"http": {"idleTimeout": "9s", "requestTimeout": "3s"}}}
    old = Resource(type="Timeout", mesh="default", name="old", spec=spec)
    at = At(part=LISTENER, treated="http", made=True, always=always)
    read = meshtimeout.of_old(old, at)
    assert (read[meshtimeout.DOWNSTREAM], read["http.requestTimeout"]) == (idle, "3s")


@pytest.mark.parametrize(
    ("split", "detectors", "judged"),
    [
        (True, {"totalErrors": {}}, True),
        (False, {"totalErrors": {}}, False),
        (True, {"totalErrors": {}, "standardDeviation": {}}, False),
        (True, {}, False),
    ],
)
def test_local_errors_are_judged_by_their_rate_unless_all_are(
    split: bool, detectors: dict[str, Any], judged: bool
) -> None:
    """legacy-notes.md C22."""
    spec = {"conf": {"splitExternalAndLocalErrors": split, "detectors": detectors}}
    old = Resource(type="CircuitBreaker", mesh="default", name="old", spec=spec)
    read = meshcircuitbreaker.of_old(old, At(part=CLUSTER, release="2.9"))
    assert (meshcircuitbreaker.LOCAL_RATE in read) is judged


def test_a_patch_that_is_none_is_read_as_it_stands() -> None:
    read = meshproxypatch.of_conf({"appendModifications": [None, "x"]}, At(part=PROXY))
    assert [*read.values()] == [[None, "x"]]


@pytest.mark.parametrize(
    ("conf", "leaves"),
    [
        ({"a": {"b": [1]}, "c": {}}, {"a.b": [1], "c": {}}),
        ({"a": None}, {}),
        ({}, {}),
        ([1], {"": [1]}),
    ],
)
def test_what_is_no_mapping_is_a_leaf_and_not_nothing(conf: Any, leaves: dict[str, Any]) -> None:
    assert flat(conf) == leaves


@pytest.mark.parametrize(
    ("change", "counts_once"),
    [
        ({"cluster": {"operation": "Remove", "match": {"name": "x"}}}, True),
        ({"cluster": {"operation": "Patch", "value": "connect_timeout: 2s"}}, True),
        ({"cluster": {"operation": "Patch", "value": "filters: [{name: x}]"}}, False),
        ({"cluster": {"operation": "Add", "value": "name: x"}}, False),
        ("no mapping", False),
        ({}, False),
    ],
)
def test_what_stands_there_twice_counts_once_where_it_changes_nothing_more(
    change: Any, counts_once: bool
) -> None:
    once, twice = (
        meshproxypatch.of_conf({"appendModifications": [change] * n}, At(part=PROXY))
        for n in (1, 2)
    )
    assert (once == twice) is counts_once


RETRY_ON = {
    "all_5xx": "5xx",
    "gateway_error": "GatewayError",
    "reset": "Reset",
    "connect_failure": "ConnectFailure",
    "envoy_ratelimited": "EnvoyRatelimited",
    "retriable_4xx": "Retriable4xx",
    "refused_stream": "RefusedStream",
    "http3_post_connect_failure": "Http3PostConnectFailure",
}
RETRY_ON_GRPC = {
    "cancelled": "Cancelled",
    "deadline_exceeded": "DeadlineExceeded",
    "internal": "Internal",
    "resource_exhausted": "ResourceExhausted",
    "unavailable": "Unavailable",
}


@pytest.mark.parametrize(
    ("protocol", "old", "new"),
    [
        *(("http", old, new) for old, new in RETRY_ON.items()),
        *(("grpc", old, new) for old, new in RETRY_ON_GRPC.items()),
    ],
)
def test_a_condition_of_an_old_retry_is_one_of_a_new_one(protocol: str, old: str, new: str) -> None:
    conf = {protocol: {"numRetries": 2, "retryOn": [old]}}
    at = At(part=ROUTE, protocol=protocol, treated=protocol)
    retry = Resource(type="Retry", mesh="default", name="r", spec={"conf": conf})
    assert f"{protocol}.retryOn" in (read := meshretry.of_old(retry, at))
    named = {protocol: {"numRetries": 2, "retryOn": [new]}}
    assert read[f"{protocol}.retryOn"] == meshretry.of_conf(named, at)[f"{protocol}.retryOn"]


GOES_WITHOUT_SAYING = ["GatewayError", "ConnectFailure", "RefusedStream"]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (["5xx"], ["5xx", "503"], False),
        (["503"], ["504"], False),
        (["5xx"], ["5xx", "HttpMethodGet"], False),
        (["HttpMethodGet"], ["HttpMethodPost"], False),
        (["5xx"], ["GatewayError"], False),
        (["5xx"], [], False),
        (["503", "HttpMethodGet"], ["503"], False),
        (["5xx"], ["5xx", "5xx"], True),
        ([], GOES_WITHOUT_SAYING, True),
        (["503"], [*GOES_WITHOUT_SAYING, "503"], True),
        (["HttpMethodGet"], ["HttpMethodGet", *GOES_WITHOUT_SAYING], True),
    ],
)
def test_each_word_of_a_retry_counts(one: list[str], other: list[str], same: bool) -> None:
    """legacy.md §1.4: statuses and methods narrow what is there besides."""
    at = At(part=ROUTE, protocol="http", treated="http")
    read = [
        meshretry.of_conf({"http": {"numRetries": 2, "retryOn": on}}, at) for on in (one, other)
    ]
    assert (read[0] == read[1]) is same


def _template(conf: Any) -> Any:
    old = Resource(type="ProxyTemplate", mesh="default", name="t", spec={"conf": conf})
    return meshproxypatch.of_old(old, At(part=PROXY)).get("appendModifications", [])


def test_a_template_is_read_as_the_patch_that_says_the_same() -> None:
    value = "name: x\n"
    added = {"cluster": {"operation": "add", "value": value}}
    read = {"cluster": {"operation": "Add", "value": {"name": "x"}}}
    whole = {"imports": ["default-proxy"]}
    assert _template(whole) == []
    assert _template({**whole, "modifications": [added]}) == [read]
    conf = {"appendModifications": [{"cluster": {"operation": "Add", "value": value}}]}
    patch = meshproxypatch.of_conf(conf, At(part=PROXY))
    assert patch["appendModifications"] == [read]
    # Whole resources are added as what their type says they are.
    for kind, said in (
        ("listener", "'@type': envoy.config.listener.v3.Listener"),
        ("cluster", "'@type': envoy.config.cluster.v3.Cluster"),
        ("other", "'@type': envoy.config.endpoint.v3.Endpoint"),
    ):
        resource = {"name": "r", "version": "v", "resource": said}
        (found,) = _template({**whole, "resources": [resource]})
        assert found[kind]["operation"] == "Add"
    # Without the default nothing but the template is there, which no patch can say.
    assert _template({"modifications": []}) == [{"without default-proxy": "t"}]
    gone = {"listener": {"operation": "remove", "match": {"name": "l"}}}
    assert _template({**whole, "modifications": [gone, gone]}) == [
        {"listener": {"operation": "Remove", "match": {"name": "l"}}}
    ]


@pytest.mark.parametrize(
    ("change", "once"),
    [
        ({"cluster": {"operation": "Remove"}}, True),
        ({"cluster": {"operation": "Patch", "value": "connectTimeout: 1s"}}, True),
        # What is appended to a list stands there twice.
        ({"cluster": {"operation": "Patch", "value": "filters: [{name: a}]"}}, False),
        ({"cluster": {"operation": "Patch", "value": "a: {b: [1]}"}}, False),
        ({"cluster": {"operation": "Add", "value": "name: x"}}, False),
    ],
)
def test_what_is_patched_twice_in_a_row(change: Any, once: bool) -> None:
    def read(*changes: Any) -> Any:
        found = meshproxypatch.of_conf({"appendModifications": changes}, At(part=PROXY))
        return found["appendModifications"]

    assert (read(change, change) == read(change)) is once
    other = {"listener": {"operation": "Remove"}}
    assert len(read(change, other)) == len(read(other, change)) == 2
    assert len(read(change, other, change)) == 3
    assert (read(change, other, change, other) == read(change, other)) is once


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("10mbps", "10Mbps", True),
        ("10Mbps", "10mbps", True),
        ("1gbps", "1Gbps", True),
        ("10kbps", "10kbps", True),
        ("10mbps", "11Mbps", False),
        ("10mbps", "10Gbps", False),
        ("1gbps", "1Mbps", False),
    ],
)
def test_units_of_bandwidth_are_spelled_in_two_ways(one: str, other: str, same: bool) -> None:
    faults = [[{"responseBandwidth": {"limit": limit, "percentage": 5}}] for limit in (one, other)]
    assert meshfault.same_but_for_units(*faults) is same


@pytest.mark.parametrize(
    ("least", "certified", "same"),
    [
        ("TLS13", True, False),
        ("TLS10", True, False),
        ("TLS13", None, False),
        ("TLS12", True, True),
        ("TLSAuto", True, True),
        ("TLS13", False, True),
    ],
)
def test_the_least_version_of_tls_that_certificates_of_an_identity_hide(
    least: str, certified: bool | None, same: bool
) -> None:
    """Asked of 2.14 and 3.0; that TLS12 is the least anyway is Envoy's documentation's word."""
    conf = {"tlsVersion": {"min": least}}
    at = At(part=INBOUND, certified=certified)
    old, new = meshtls.of_conf(conf, at), meshtls.of_conf(conf, replace(at, release="3.0"))
    assert (old == new) is same
    assert meshtls.of_conf({}, at) == old or least != "TLSAuto"
