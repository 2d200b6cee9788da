"""The rules of matcher-notes §3: what of a conf reaches Envoy."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from kumamigrate.effective import settings

DEFAULT_ROUTE = {"http.requestTimeout": "15s", "http.streamIdleTimeout": "30m0s"}


@pytest.mark.parametrize(
    ("conf", "protocols", "read"),
    [
        ({"http": {"numRetries": 0, "retryOn": ["5xx"]}}, ("http",), {}),
        ({"grpc": {"numRetries": 3}, "tcp": {"maxConnectAttempt": 2}}, ("http",), {}),
        ({"http": {"numRetries": 2}}, ("http2",), {"http.numRetries": 2}),
        ({"http": {"numRetries": 2}, "grpc": {"numRetries": 3}}, ("grpc",), {"grpc.numRetries": 3}),
        (
            {"http": {"numRetries": 2}, "grpc": {"numRetries": 3}},
            ("http", "grpc"),
            {"http.numRetries": 2, "grpc.numRetries": 3},
        ),
        (None, ("http",), {}),
    ],
)
def test_rule_1_retry_reads_the_block_of_its_protocol(
    conf: Any, protocols: tuple[str, ...], read: Any
) -> None:
    assert settings.retry(conf, protocols=protocols) == read


def test_rule_2_only_two_timeouts_reach_a_route() -> None:
    conf = {"connectionTimeout": "1s", "idleTimeout": "2s", "http": {"maxStreamDuration": "3s"}}
    assert settings.timeout_route(conf, service_tag=False) == DEFAULT_ROUTE


@pytest.mark.parametrize("conf", [None, {}, {"http": {"requestTimeout": "15s"}}])
def test_rule_3_absent_is_default_at_real_resources(conf: Any) -> None:
    assert settings.timeout_route(conf, service_tag=False) == DEFAULT_ROUTE


def test_rule_4_no_conf_at_a_service_tag_is_no_timeout() -> None:
    assert settings.timeout_route(None, service_tag=True) == {"http.requestTimeout": "0s"}
    assert settings.timeout_route({"idleTimeout": "1s"}, service_tag=True) == DEFAULT_ROUTE


@pytest.mark.parametrize(
    "conf",
    [
        None,
        {"connectionTimeout": "5s", "idleTimeout": "1h0m0s"},
        {"http": {"maxStreamDuration": "0s", "maxConnectionDuration": "0s"}},
    ],
)
def test_rule_5_cluster_defaults(conf: Any) -> None:
    assert settings.timeout_cluster(conf, protocol="http") == {
        "connectionTimeout": "5s",
        "idleTimeout": "1h0m0s",
        "http.maxStreamDuration": "0s",
        "http.maxConnectionDuration": "0s",
    }


def test_grpc_clusters_have_no_idle_timeout() -> None:
    """Golden 09-0124."""
    assert "idleTimeout" not in settings.timeout_cluster({"idleTimeout": "3s"}, protocol="grpc")


def test_rule_6_inbound_defaults() -> None:
    nothing = settings.timeout_inbound([], None)
    assert nothing["http.requestTimeout"] == "15s"
    said = {
        "connectionTimeout": "5s",
        "idleTimeout": "1h0m0s",
        "http": {"requestTimeout": "15s", "streamIdleTimeout": "30m0s"},
    }
    assert settings.timeout_inbound([(None, said)], said) == nothing
    assert settings.timeout_inbound([], {"idleTimeout": "2s"}) != nothing


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
    assert settings.balancer_cluster(conf) == expected


def test_any_balancer_conf_switches_locality_awareness_on() -> None:
    """catalogue.md mesh-locality-lb: with a conf proxies prefer their zone, without they do not."""
    off = {"localityAwareness": {"disabled": True}}
    assert settings.balancer_cluster(None) == {}
    assert settings.balancer_cluster({}) != settings.balancer_cluster(None)
    assert settings.balancer_cluster(off) == {"localityAwareness.disabled": True}


def test_hash_policies_of_the_root_win_over_those_of_the_balancer() -> None:
    """catalogue.md mlbs-hash-up."""
    nested = {"loadBalancer": {"type": "Maglev", "maglev": {"hashPolicies": [{"type": "Header"}]}}}
    root = {**nested, "hashPolicies": [{"type": "Cookie"}]}
    other = {**nested, "loadBalancer": {**nested["loadBalancer"], "type": "Random"}}
    assert settings.balancer_route(nested) == {"hashPolicies": [{"type": "Header"}]}
    assert settings.balancer_route(root) == {"hashPolicies": [{"type": "Cookie"}]}
    assert settings.balancer_route(other) == {}


def test_rule_8_denials_are_nothing_and_order_is_nothing() -> None:
    web, pay, other = [["a", "web", False]], [["a", "pay", False]], [["a", "db", False]]
    allow, deny = {"action": "Allow"}, {"action": "Deny"}
    one = settings.permission_from([(web, allow), (other, deny), (pay, allow)])
    assert one == settings.permission_from([(pay, allow), (web, allow)])
    assert settings.permission_from([(web, deny)]) == settings.permission_from([]) == {}
    assert one != settings.permission_from([(web, allow)])


def test_permission_rules_deny_first_and_switch_from_off() -> None:
    match = {"spiffeID": {"type": "Exact", "value": "spiffe://x/y"}}
    deny, allow = {"deny": [match]}, {"allow": [match]}
    read = partial(settings.permission_rules, mesh="default")
    assert read([(None, deny), (None, allow)]) == read([(None, allow), (None, deny)])
    assert read([(None, {})]) != settings.permission_from([])


def test_rules_that_deny_the_mesh_and_allow_nobody_are_a_from_that_only_denies() -> None:
    read = partial(settings.permission_rules, mesh="default")
    everybody = {"spiffeID": {"type": "Prefix", "value": "spiffe://default"}}
    one = {"spiffeID": {"type": "Exact", "value": "spiffe://default/web"}}
    assert read([(None, {"deny": [everybody]})]) == settings.permission_from([])
    assert read([(None, {"deny": [one]})]) != settings.permission_from([])
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
        return settings.patches({"appendModifications": [modification]})

    assert (patch(one) == patch(other)) is same


def test_rule_10_rules_for_all_clients_are_merged() -> None:
    match = {"spiffeID": {"type": "Exact", "value": "spiffe://x/y"}}
    merged = {"mode": "Strict"}
    rules = [(None, {"mode": "Permissive"}), (None, merged)]
    assert settings.base_only(rules, merged) == settings.base_only([(None, merged)], merged)
    assert settings.base_and_matched([*rules, (match, merged)], merged) == {
        "mode": "Strict",
        "rules": [{"match": match, "conf": merged}],
    }


@pytest.mark.parametrize(
    ("protocol", "probed"),
    [("http", True), ("http2", True), ("", True), ("tcp", False), ("grpc", False)],
)
def test_an_http_probe_is_for_http_services(protocol: str, probed: bool) -> None:
    """Goldens 09-0032 and 09-0114; the panic settings stay with the cluster."""
    conf = {"interval": "5s", "http": {"path": "/"}, "failTrafficOnPanic": True}
    read = settings.health_check(conf, protocol=protocol)
    assert ("interval" in read) is probed
    assert read["failTrafficOnPanic"] is True


def test_tracing_counts_where_there_is_http() -> None:
    """Golden 09-0004."""
    conf = {"backends": [{"type": "Zipkin"}], "sampling": {"overall": 14}}
    assert settings.trace(conf, http=False) == {"backends": [{"type": "Zipkin"}]}
    assert settings.trace(conf, http=True)["sampling.overall"] == 14


def test_passthrough_is_for_transparent_proxies() -> None:
    """Golden 09-0148."""
    conf = {"passthroughMode": "None"}
    assert settings.passthrough(conf, transparent=False) == {}
    assert settings.passthrough(conf, transparent=True) == {"passthroughMode": "None"}


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
    assert settings.names_matter({"appendModifications": [modification]}) is matters


def test_flat_keeps_lists_and_empty_objects() -> None:
    assert settings.flat({"a": {"b": [1, {"c": 2}], "d": {}}, "e": False}) == {
        "a.b": [1, {"c": 2}],
        "a.d": {},
        "e": False,
    }
    assert settings.flat(None) == settings.flat({}) == {}
