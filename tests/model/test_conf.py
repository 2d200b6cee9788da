"""Confs in normal form, and merged (matcher.md (e))."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.model.conf import merge, normal, patch
from kumamigrate.model.policytype import Conf
from kumamigrate.model.release import release


def _fields(kind: str, section: str = "to", name: str = "2.14") -> Conf:
    return release(name).policy_types[kind].conf(section)


def _normal(kind: str, conf: Any, section: str = "to", name: str = "2.14") -> dict[str, Any]:
    return normal(conf, _fields(kind, section, name), defaults=True)


def test_normal_keeps_what_is_normal() -> None:
    conf = {"connectionTimeout": "10s", "http": {"requestTimeout": "1m0s"}}
    assert _normal("MeshTimeout", conf) == conf


def test_normal_prints_durations_as_go_and_drops_unknown_fields() -> None:
    given = {"idleTimeout": "60s", "idelTimeout": "1s", "http": {"requestTimeout": "0", "x": 1}}
    assert _normal("MeshTimeout", given) == {
        "idleTimeout": "1m0s",
        "http": {"requestTimeout": "0s"},
    }


def test_normal_fills_defaults_inside_objects_that_are_present() -> None:
    rules = [{"matches": [], "default": {"backendRefs": [{"kind": "MeshService", "name": "a"}]}}]
    got = _normal("MeshHTTPRoute", {"rules": rules})
    assert got["rules"][0]["default"]["backendRefs"] == [
        {"kind": "MeshService", "name": "a", "weight": 1}
    ]
    assert _normal("MeshTrace", {"backends": []}, "default") == {"backends": []}


def test_normal_of_a_route_rule_always_has_a_default() -> None:
    got = _normal("MeshHTTPRoute", {"rules": [{"matches": []}]})
    assert got == {"rules": [{"matches": [], "default": {}}]}


def test_normal_leaves_defaults_to_kubernetes_where_the_api_does_not_fill_them() -> None:
    fields = _fields("MeshHealthCheck", name="2.9")
    assert normal({"tcp": {}}, fields, defaults=False) == {"tcp": {}}
    assert normal({"tcp": {}}, fields, defaults=True)["interval"] == "1m0s"


def test_an_empty_list_is_lost_before_2_14_only() -> None:
    given = {"appendMatch": []}
    assert _normal("MeshPassthrough", given, "default", "2.9") == {"passthroughMode": "None"}
    assert _normal("MeshPassthrough", given, "default") == {"appendMatch": []}


def test_normal_counts_null_as_absent_and_survives_nonsense() -> None:
    assert _normal("MeshTimeout", {"http": None, "idleTimeout": None}) == {}
    assert _normal("MeshTimeout", ["no", "conf"]) == {}
    assert _normal("MeshTimeout", {"http": "text"}) == {}


def test_merge_goes_deep_into_objects_and_replaces_lists() -> None:
    low = {"http": {"numRetries": 3, "retryOn": ["5xx"]}, "tcp": {"maxConnectAttempt": 1}}
    high = {"http": {"retryOn": ["Reset"], "perTryTimeout": "1s"}}
    assert merge([low, high], _fields("MeshRetry")) == (
        {
            "http": {"numRetries": 3, "retryOn": ["Reset"], "perTryTimeout": "1s"},
            "tcp": {"maxConnectAttempt": 1},
        },
    )


@pytest.mark.parametrize(
    ("low", "high", "merged"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
        ({"a": "foo"}, {"a": {"b": None}}, {"a": {}}),
    ],
)
def test_a_patch_is_merged_as_the_examples_of_rfc_7396_are(
    low: dict[str, Any], high: dict[str, Any], merged: dict[str, Any]
) -> None:
    assert patch(low, high) == merged


def test_merge_of_nothing_is_nothing() -> None:
    assert merge([], _fields("MeshRetry")) == ()


def test_merge_does_not_clean_one_of_the_many() -> None:
    """A merged Random keeps the dead maglev (matcher-notes §3.7)."""
    low = {"loadBalancer": {"type": "Maglev", "maglev": {"tableSize": 7}}}
    high = {"loadBalancer": {"type": "Random"}}
    assert merge([low, high], _fields("MeshLoadBalancingStrategy"))[0]["loadBalancer"] == {
        "type": "Random",
        "maglev": {"tableSize": 7},
    }


def test_append_fields_are_joined_lowest_first_without_removing_doubles() -> None:
    a, b = {"type": "Domain", "value": "a"}, {"type": "Domain", "value": "b"}
    fields = _fields("MeshPassthrough", "default")
    low, high = {"appendMatch": [a, b], "passthroughMode": "All"}, {"appendMatch": [a]}
    assert merge([low, {}, high], fields) == ({"appendMatch": [a, b, a], "passthroughMode": "All"},)


def test_append_reaches_into_structs() -> None:
    low = {"sidecar": {"profiles": {"appendProfiles": [{"name": "All"}], "exclude": [1]}}}
    high = {"sidecar": {"profiles": {"appendProfiles": [{"name": "Basic"}], "exclude": [2]}}}
    assert merge([low, high], _fields("MeshMetric", "default")) == (
        {
            "sidecar": {
                "profiles": {
                    "appendProfiles": [{"name": "All"}, {"name": "Basic"}],
                    "exclude": [2],
                }
            }
        },
    )


def _rule(path: str, **default: Any) -> dict[str, Any]:
    return {"matches": [{"path": {"value": path, "type": "Exact"}}], "default": default}


def test_rules_of_equal_matches_unite_where_the_last_stood() -> None:
    low = {"rules": [_rule("/a", filters=[1]), _rule("/b")]}
    high = {"rules": [_rule("/c"), _rule("/a", backendRefs=[2])]}
    assert merge([low, high], _fields("MeshHTTPRoute")) == (
        {"rules": [_rule("/b"), _rule("/c"), _rule("/a", filters=[1], backendRefs=[2])]},
    )


def test_order_of_matches_makes_another_rule() -> None:
    one, two = {"method": "GET"}, {"method": "PUT"}
    low = {"rules": [{"matches": [one, two], "default": {}}]}
    high = {"rules": [{"matches": [two, one], "default": {}}]}
    assert len(merge([low, high], _fields("MeshHTTPRoute"))[0]["rules"]) == 2


def test_hostnames_part_the_confs_in_order_of_appearance() -> None:
    confs = [
        {"rules": [_rule("/a")]},
        {"hostnames": ["x", "y"], "rules": [_rule("/b")]},
        {"hostnames": ["y"], "rules": [_rule("/c")]},
    ]
    assert merge(confs, _fields("MeshHTTPRoute")) == (
        {"rules": [_rule("/a")]},
        {"rules": [_rule("/b")], "hostnames": ["x"]},
        {"rules": [_rule("/b"), _rule("/c")], "hostnames": ["y"]},
    )
