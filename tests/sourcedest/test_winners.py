"""Ranks, ties and targets: what the goldens pin thinly or not at all (legacy-notes.md §1)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kumamigrate.model.resource import Resource
from kumamigrate.model.state import Environment, State
from kumamigrate.rewrite.sourcedest.known import world_of
from kumamigrate.sourcedest.order import Ties, later
from kumamigrate.sourcedest.proxy import proxy_of
from kumamigrate.sourcedest.selector import Rank, best_rank, matches, rank, selectors_of
from kumamigrate.sourcedest.table import legacy_table
from kumamigrate.sourcedest.targets import common_protocol, route_targets
from kumamigrate.sourcedest.winners import (
    OldPolicies,
    connection_winner,
    inbound_list,
    old_policies,
    proxy_winner,
)
from tests.sourcedest.meshes import resource, state

SERVICE = "kuma.io/service"


def policy(
    kind: str, name: str, sources: list[Any], destinations: list[Any], **more: Any
) -> Resource:
    body = {
        "type": kind,
        "name": name,
        "sources": [{"match": m} for m in sources],
        "destinations": [{"match": m} for m in destinations],
        **more,
    }
    return resource(body)


def timeout(name: str, source: dict[str, str], target: str, created: str = "") -> Resource:
    return policy(
        "Timeout",
        name,
        [source],
        [{SERVICE: target}],
        conf={"connectTimeout": "1s"},
        creationTime=created,
    )


WEB = {SERVICE: "web"}
ALL = {SERVICE: "*"}


@pytest.mark.parametrize(
    ("selector", "tags", "hit"),
    [
        ({}, {}, True),
        ({"a": "*"}, {"a": "x"}, True),
        ({"a": "*"}, {"b": "x"}, False),
        ({"a": "x"}, {"a": "y"}, False),
        ({"a": "x"}, {"a": "x", "b": "z"}, True),
    ],
)
def test_star_means_present(selector: dict[str, str], tags: dict[str, str], hit: bool) -> None:
    assert matches(selector, tags) is hit


@pytest.mark.parametrize(
    ("selectors", "best"),
    [
        ([], None),
        ([{"a": "x"}, {"b": "y"}], None),
        ([{"c": "z"}, {"a": "*"}], Rank(1, 0)),
        ([{"a": "*"}, {"b": "2"}], Rank(1, 1)),
        ([{"b": "2"}, {"a": "*"}], Rank(1, 1)),
        ([{"b": "2"}, {}, {"b": "*", "c": "*"}], Rank(2, 0)),
        ([{"a": "1", "b": "2"}], None),
    ],
)
def test_the_best_selector_that_matches_any_inbound_counts(
    selectors: list[dict[str, str]], best: Rank | None
) -> None:
    assert best_rank(selectors, [{"a": "1"}, {"b": "2", "c": "3"}]) == best


def test_a_policy_of_a_proxy_is_chosen_by_selectors_and_for_all_without_any() -> None:
    def template(name: str, **match: str) -> Resource:
        listed = {"selectors": [{"match": match}]} if match else {}
        return resource({"type": "ProxyTemplate", "name": name, **listed})

    every, api, other = template("z"), template("y", env="dev"), template("x", env="prod")
    won = proxy_winner([every, api, other], [{"env": "dev"}], Ties.UNKNOWN)
    assert won is not None and won.policies == (api,)
    won = proxy_winner([every, other], [{"env": "dev"}], Ties.UNKNOWN)
    assert won is not None and won.policies == (every,)
    assert proxy_winner([other], [{"env": "dev"}], Ties.UNKNOWN) is None


def test_what_a_mesh_has_to_choose_from_is_its_own_and_accepted() -> None:
    """G8: beside an ExternalService of the mesh a RateLimit may name its service alone."""
    conf = {"http": {"requests": 1, "interval": "1s"}}
    narrow = policy("RateLimit", "narrow", [ALL], [{SERVICE: "far", "v": "1"}], conf=conf)
    wide = policy("RateLimit", "wide", [ALL], [ALL], conf=conf)
    empty = policy("Timeout", "empty", [ALL], [ALL])
    filled = replace(empty, name="filled", templated=True)
    abroad = replace(wide, mesh="abroad")
    far = resource({"type": "ExternalService", "name": "far", "tags": {SERVICE: "far"}})

    def found(external: Resource) -> OldPolicies:
        listed = (narrow, wide, empty, filled, abroad, external)
        return old_policies(replace(state(""), resources=listed), "default")

    own = found(far)
    assert own.by_kind == {"RateLimit": (wide,), "Timeout": (filled,)}
    assert own.refused == (narrow, empty)
    assert not own.routed
    assert found(replace(far, mesh="abroad")).of("RateLimit") == (narrow, wide)


def test_a_tag_is_text_however_it_is_written() -> None:
    written = {"a": True, "b": False, "c": None, "d": 1, "e": "x"}
    (read,) = selectors_of({"sources": [{"match": written}]}, "sources")
    assert read == {"a": "true", "b": "false", "c": "", "d": "1", "e": "x"}


def test_two_wildcards_beat_one_exact_tag() -> None:
    assert rank({SERVICE: "*", "env": "*"}) > rank(WEB)
    assert rank({SERVICE: "web", "env": "*"}) > rank({SERVICE: "*", "env": "*"})
    assert Rank(1, 0) + Rank(1, 1) == Rank(2, 1)


def test_case_t06_tie_by_time() -> None:
    """legacy.md T06: equal rank, the later one wins; swapped times swap the winner."""
    early, late = "2024-01-01T00:00:10Z", "2024-01-01T00:00:20Z"
    a, b = timeout("a", WEB, "*", early), timeout("b", ALL, "api", late)
    won = connection_winner([a, b], [WEB], "api", Ties.UNKNOWN)
    assert won is not None and won.policy is b and won.tie is None
    a, b = timeout("a", WEB, "*", late), timeout("b", ALL, "api", early)
    won = connection_winner([a, b], [WEB], "api", Ties.UNKNOWN)
    assert won is not None and won.policy is a


def test_tie_without_times_is_named() -> None:
    a, b = timeout("a", WEB, "*"), timeout("b", ALL, "api")
    won = connection_winner([b, a], [WEB], "api", Ties.UNKNOWN)
    assert won is not None and won.tie is not None
    assert won.tie.names == ("a", "b")
    by_file = connection_winner([b, a], [WEB], "api", Ties.FILE_ORDER)
    assert by_file is not None and by_file.policy is a and by_file.tie is None


def test_equal_times_stay_a_tie() -> None:
    now = "2024-01-01T00:00:10Z"
    a, b = timeout("a", WEB, "*", now), timeout("b", ALL, "api", now)
    won = connection_winner([a, b], [WEB], "api", Ties.UNKNOWN)
    assert won is not None and won.tie is not None


def test_tie_narrows_to_the_unbeaten() -> None:
    """a is older than b, c has no time: it may be b or c, never a."""
    a = timeout("a", WEB, "*", "2024-01-01T00:00:10Z")
    b = timeout("b", WEB, "*", "2024-01-01T00:00:20Z")
    c = timeout("c", WEB, "*")
    won = connection_winner([a, b, c], [WEB], "api", Ties.UNKNOWN)
    assert won is not None and won.tie is not None and won.tie.names == ("b", "c")


def test_case_t07_tag_count_beats_exactness() -> None:
    a = timeout("a", {SERVICE: "*", "env": "*"}, "*")
    b = timeout("b", WEB, "*")
    with_env = connection_winner([a, b], [{**WEB, "env": "dev"}], "api", Ties.UNKNOWN)
    without = connection_winner([a, b], [WEB], "api", Ties.UNKNOWN)
    assert with_env is not None and with_env.policy is a
    assert without is not None and without.policy is b


def test_fault_listed_once_per_destination_selector() -> None:
    http = {SERVICE: "api", "kuma.io/protocol": "http"}
    fault = policy(
        "FaultInjection",
        "f",
        [ALL],
        [http, {"kuma.io/protocol": "http"}],
        conf={"abort": {"percentage": 1, "httpStatus": 500}},
    )
    assert inbound_list([fault], http, Ties.UNKNOWN).policies == (fault, fault)


def test_lists_go_by_the_first_source_not_the_best() -> None:
    """Golden 04-0070: a better second source does not count."""
    z = policy("RateLimit", "z", [WEB], [ALL], conf={"http": {"requests": 1, "interval": "1s"}})
    m = policy(
        "RateLimit",
        "m",
        [ALL, {**WEB, "v": "1"}],
        [ALL],
        conf={"http": {"requests": 1, "interval": "1s"}},
    )
    assert inbound_list([z, m], WEB, Ties.UNKNOWN).policies == (z, m)


@pytest.mark.parametrize("tied", [WEB, ALL], ids=["ahead", "behind"])
def test_a_list_is_unknown_where_any_of_its_ranks_is(tied: dict[str, str]) -> None:
    """§2.4: within a rank the last created comes first, and of two nobody knows when they were."""
    alone = ALL if tied is WEB else WEB
    limits = [policy("RateLimit", name, [tied], [ALL]) for name in ("b", "a")]
    other = policy("RateLimit", "c", [alone], [ALL])
    found = inbound_list([*limits, other], WEB, Ties.UNKNOWN)
    assert not found.known
    names = [p.name for p in found.policies]
    assert names == (["a", "b", "c"] if tied is WEB else ["c", "a", "b"])
    assert inbound_list([*limits, other], WEB, Ties.FILE_ORDER).known
    assert inbound_list([limits[0], other], WEB, Ties.UNKNOWN).known


def test_route_targets_leave_http_out_and_keep_weight_zero() -> None:
    route = policy(
        "TrafficRoute",
        "r",
        [ALL],
        [ALL],
        conf={
            "split": [
                {"weight": 1, "destination": {SERVICE: "*", "v": "1"}},
                {"weight": 0, "destination": {SERVICE: "pay"}},
            ],
            "http": [{"match": {"path": {"prefix": "/"}}, "destination": {SERVICE: "hidden"}}],
        },
    )
    assert route_targets(route, "api") == ("api", "pay")
    assert route_targets(None, "api") == ("api",)


MESH = """
type: Dataplane
mesh: default
name: web-1
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
  outbound: [{port: 1, tags: {kuma.io/service: api}}]
---
type: Timeout
mesh: default
name: here
sources: [{match: {kuma.io/service: '*', kuma.io/zone: east}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {connectTimeout: 1s}
"""


def test_zone_tag_is_added_and_inert_policies_are_listed() -> None:
    """No TrafficRoute: the Timeout does nothing, yet the table lists it (notes G2, G10)."""
    east = legacy_table(state(MESH, zone="east"))["web-1"]
    assert east == [
        {
            "attachment": "outbound",
            "name": "127.0.0.1:1",
            "service": "api",
            "policies": {"Timeout": ["here"]},
        }
    ]
    assert legacy_table(state(MESH, zone="west"))["web-1"] == []
    assert not old_policies(state(MESH), "default").routed


def test_zone_label_of_the_dataplane_goes_first() -> None:
    dataplane = state(MESH).resources[0].with_labels({"kuma.io/zone": "north"})
    assert proxy_of(dataplane, "east").inbounds[0].tags["kuma.io/zone"] == "north"


def test_an_outbound_of_the_first_form_names_its_service_outside_its_tags() -> None:
    old = MESH.replace("tags: {kuma.io/service: api}", "service: api")
    assert old != MESH
    assert legacy_table(state(old)) == legacy_table(state(MESH))


def test_ties_appear_in_the_table() -> None:
    both = MESH + "---\n" + MESH.split("---\n")[1].replace("name: here", "name: also")
    row = legacy_table(state(both))["web-1"][0]
    assert row["ties"] == {"Timeout": ["also", "here"]}
    assert "ties" not in legacy_table(state(both), "file-order")["web-1"][0]


@pytest.mark.parametrize(
    ("protocols", "common"),
    [
        (("http", "http"), "http"),
        (("http", "tcp"), "tcp"),
        (("tcp", "http"), "tcp"),
        (("grpc", "http2"), "http2"),
        (("http2", "http"), "tcp"),
        (("kafka", "http"), "tcp"),
        (("grpc", "grpc", "http2", "tcp"), "tcp"),
        (("http", "unknown"), "unknown"),
    ],
)
def test_endpoints_speak_what_all_of_them_speak(protocols: tuple[str, ...], common: str) -> None:
    """legacy-notes.md C3: each protocol stands on others, down to tcp."""
    assert common_protocol(protocols) == common


OUTBOUND, TARGET = ("outbound", "127.0.0.1:1"), ("service", "api")


@pytest.mark.parametrize(
    ("kind", "place", "conf"),
    [
        ("TrafficRoute", OUTBOUND, "{destination: {kuma.io/service: '*'}}"),
        ("Timeout", OUTBOUND, "{connectTimeout: 1s}"),
        ("RateLimit", OUTBOUND, "{http: {requests: 1, interval: 1s}}"),
        ("Retry", TARGET, "{http: {numRetries: 1}}"),
        ("CircuitBreaker", TARGET, "{thresholds: {maxConnections: 1}}"),
        (
            "HealthCheck",
            TARGET,
            "{interval: 1s, timeout: 1s, unhealthyThreshold: 1, healthyThreshold: 1}",
        ),
    ],
)
def test_each_kind_is_attached_where_kuma_attaches_it(
    kind: str, place: tuple[str, str], conf: str
) -> None:
    """By outbound, or by the service that the outbound leads to."""
    old = f"""---
type: {kind}
mesh: default
name: here
sources: [{{match: {{kuma.io/service: web}}}}]
destinations: [{{match: {{kuma.io/service: api}}}}]
conf: {conf}
"""
    (row,) = legacy_table(state(MESH.split("---")[0] + old))["web-1"]
    assert (row["attachment"], row["name"]) == place
    assert row["policies"] == {kind: ["here"]}


def test_ties_of_policies_that_add_up_appear_in_the_table() -> None:
    limits = "".join(
        f"""---
type: FaultInjection
mesh: default
name: {name}
sources: [{{match: {{kuma.io/service: '*'}}}}]
destinations: [{{match: {{kuma.io/service: web, kuma.io/protocol: http}}}}]
conf: {{abort: {{httpStatus: {status}, percentage: 50}}}}
"""
        for name, status in (("one", 500), ("two", 501))
    )
    dataplane = MESH.split("---")[0].replace(
        "service: web}", "service: web, kuma.io/protocol: http}"
    )
    (row,) = legacy_table(state(dataplane + limits))["web-1"]
    assert row["ties"] == {"FaultInjection": ["one", "two"]}
    assert row["attachment"] == "inbound"


@pytest.mark.parametrize(
    ("body", "services"),
    [
        ({"type": "Timeout", "sources": ["a"], "destinations": ["b"]}, {"a", "b"}),
        ({"type": "RateLimit", "sources": ["a"], "destinations": ["*"]}, {"a"}),
        ({"type": "TrafficTrace", "selectors": ["c"]}, {"c"}),
        # Where a TrafficRoute leads counts as well.
        ({"type": "TrafficRoute", "sources": ["a"], "destinations": ["b"]}, {"a", "b", "d", "e"}),
    ],
)
def test_services_that_old_policies_name_are_known(body: Any, services: set[str]) -> None:
    given = {
        key: [{"match": {"kuma.io/service": one}} for one in value]
        for key, value in body.items()
        if key != "type"
    }
    split = [{"weight": 1, "destination": {"kuma.io/service": one}} for one in "de"]
    confs = {"Timeout": {"connectTimeout": "1s"}, "TrafficRoute": {"split": split}}
    conf = confs.get(body["type"], {})
    policy = resource({"type": body["type"], "name": "p", "conf": conf, **given})
    mesh = resource({"type": "Mesh", "name": "default"})
    held = State(release="2.9", environment=Environment(zone="east"), resources=(mesh, policy))
    found = world_of(held, "default", "2.9", ties=Ties.UNKNOWN)
    assert set(found.services) == services


@pytest.mark.parametrize(
    ("first", "newer"), [("2025-01-01T00:00:00", True), ("2025-01-01", True), ("?", None)]
)
def test_a_time_without_a_zone_is_one_of_utc(first: str, *, newer: bool | None) -> None:
    """Else it could not be compared with one that has a zone."""
    one, two = (
        resource({"type": "Retry", "name": name, "creationTime": time})
        for name, time in (("a", first), ("b", "2024-12-31T23:30:00+00:00"))
    )
    assert later(one, two, {}, Ties.UNKNOWN) is newer
