"""Real resources: what a reference means, and which rule an outbound reads (matcher.md (f))."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.model.kri import kri_of
from kumamigrate.model.release import release as release_of
from kumamigrate.model.resource import Resource
from kumamigrate.targetref.backendref import tcp_protocols
from kumamigrate.targetref.explain import sources, winner_of
from kumamigrate.targetref.matcher import Matcher
from kumamigrate.targetref.route import RealResource, ServiceTag
from tests.targetref.meshes import EAST, MESH, on, resource, route, service, sidecar, state, timeout

PROXY = sidecar("a")


def _keys(policy: Resource, *services: Resource, release: str = "2.14") -> list[str]:
    matcher = Matcher(state(PROXY, policy, *services, release=release))
    return [str(rule.kri) for rule in matcher.rules(PROXY, "MeshTimeout").resource_rules]


def test_a_name_means_the_zone_and_namespace_of_the_policy() -> None:
    web = service("web", **EAST)
    assert _keys(timeout("t", None, (on("web"), "1s"), **EAST), web) == [
        "kri_msvc_default_east__web_"
    ]
    assert _keys(timeout("t", None, (on("web"), "1s"), origin="global"), web) == []


def test_labels_mean_every_resource_that_has_them() -> None:
    services = [service("web", team="red"), service("db", team="red"), service("pay")]
    target = {"kind": "MeshService", "labels": {"team": "red"}}
    expected = ["kri_msvc_default___db_", "kri_msvc_default___web_"]
    assert _keys(timeout("t", None, (target, "1s")), *services) == expected
    assert _keys(timeout("t", None, (target, "1s")), *services, release="3.0") == expected


def test_a_section_must_be_a_port_of_the_service() -> None:
    web = service("web", (80, "main"), (9090, ""))
    for section, keys in (("main", 1), ("9090", 1), ("80", 0), ("admin", 0)):
        target = on("web", sectionName=section)
        assert len(_keys(timeout("t", None, (target, "1s")), web)) == keys


def test_a_service_tag_name_means_its_port_in_every_zone() -> None:
    """matcher-notes §1.7."""
    web = service("web.shop", (80, "main"), shown="web", namespace="shop", **EAST)
    policy = timeout("t", None, (on("web_shop_svc_80"), "1s"), origin="global")
    assert _keys(policy, web) == ["kri_msvc_default_east_shop_web_main"]
    assert _keys(timeout("t", None, (on("web_shop_svc_81"), "1s")), web) == []


def test_policies_with_a_route_at_the_top_take_no_part() -> None:
    """product.md §1 law 2."""
    web = service("web")
    bound = timeout("t", on("r", "MeshHTTPRoute"), (MESH, "1s"))
    matcher = Matcher(state(PROXY, web, route("r", on("web"), "/v1"), bound))
    rules = matcher.rules(PROXY, "MeshTimeout")
    assert rules.resource_rules == ()
    assert rules.to_rules != ()


def test_policies_with_a_route_in_to_take_no_part_in_the_old_rules() -> None:
    """product.md §1 law 2: whole, their other entries included."""
    policy = timeout("t", None, (MESH, "1s"), (on("r", "MeshHTTPRoute"), "2s"))
    matcher = Matcher(state(PROXY, route("r", on("web"), "/v1"), policy))
    rules = matcher.rules(PROXY, "MeshTimeout")
    assert rules.to_rules == ()
    assert [r.conf["http"]["requestTimeout"] for r in rules.resource_rules] == ["1s", "2s"]


def _levels() -> tuple[Matcher, Resource, Resource]:
    web, web_route = service("web", (80, "main"), (81, "admin")), route("r", on("web"), "/v1")
    policy = timeout(
        "t",
        None,
        (MESH, "1s"),
        (on("web"), "2s"),
        (on("web", sectionName="main"), "3s"),
        (on("r", "MeshHTTPRoute"), "4s"),
    )
    other = service("other")
    return Matcher(state(PROXY, web, other, web_route, policy)), web, other


@pytest.mark.parametrize(
    ("section", "level", "value"),
    [("main", "section", "3s"), ("admin", "resource", "2s"), ("", "resource", "2s")],
)
def test_lookup_goes_from_section_to_resource(section: str, level: str, value: str) -> None:
    matcher, web, _ = _levels()
    selection = matcher.selection(PROXY, "MeshTimeout")
    found = matcher.resource(selection, kri_of(web, section))
    assert found is not None
    assert (found.level, found.conf["http"]["requestTimeout"]) == (level, value)


def test_lookup_ends_at_the_mesh() -> None:
    matcher, _, other = _levels()
    found = matcher.resource(matcher.selection(PROXY, "MeshTimeout"), kri_of(other, "main"))
    assert found is not None
    assert (found.level, found.conf["http"]["requestTimeout"]) == ("mesh", "1s")


def test_a_route_hides_the_service_and_direct_hits_only_are_routes() -> None:
    matcher, web, _ = _levels()
    selection = matcher.selection(PROXY, "MeshTimeout")
    destination = RealResource(kri_of(web, "main"))
    bound, _, rest = matcher.http_routes(PROXY, destination)
    found = matcher.lookup(selection, destination, bound)
    assert found is not None
    assert (found.level, found.conf["http"]["requestTimeout"]) == ("route", "4s")
    assert matcher.lookup(selection, destination, rest, direct_route=True) is None
    elsewhere = matcher.lookup(selection, destination, rest)
    assert elsewhere is not None and elsewhere.level == "section"


def test_winner_and_overruled_lead_to_the_lines() -> None:
    matcher, web, _ = _levels()
    found = matcher.resource(matcher.selection(PROXY, "MeshTimeout"), kri_of(web, "main"))
    assert found is not None
    path = ("http", "requestTimeout")
    winner = winner_of(found, path)
    assert winner is not None
    assert (winner.policy.name, winner.value) == ("t", "3s")
    assert winner.path == ("to", 2, "default", "http", "requestTimeout")
    assert [s.value for s in sources(found, path)] == ["3s", "2s", "1s"]
    assert winner_of(found, ("idleTimeout",)) is None


def test_the_source_of_a_default_is_the_object_it_is_filled_into() -> None:
    ref = {"kind": "MeshService", "name": "db"}
    rule = {"matches": [{"method": "GET"}], "default": {"backendRefs": [ref]}}
    spec = {"to": [{"targetRef": on("web"), "rules": [rule]}]}
    matcher = Matcher(state(PROXY, resource("MeshHTTPRoute", "r", spec)))
    found = matcher.service(matcher.selection(PROXY, "MeshHTTPRoute"), "web")
    assert found is not None
    weight = winner_of(found, ("rules", 0, "default", "backendRefs", 0, "weight"))
    assert weight is not None and not weight.written and weight.value == 1
    assert weight.path == ("to", 0, "rules", 0, "default", "backendRefs", 0)


def test_the_source_of_a_route_rule_is_found_by_its_matches_wherever_it_stands() -> None:
    def route(name: str, *rules: tuple[str, str]) -> Resource:
        told = [
            {
                "matches": [{"method": method}],
                "default": {"backendRefs": [{"kind": "MeshService", "name": to}]},
            }
            for method, to in rules
        ]
        return resource("MeshHTTPRoute", name, {"to": [{"targetRef": on("web"), "rules": told}]})

    routes = (route("a", ("GET", "x")), route("b", ("POST", "y"), ("GET", "z")))
    matcher = Matcher(state(PROXY, *routes))
    found = matcher.service(matcher.selection(PROXY, "MeshHTTPRoute"), "web")
    assert found is not None
    by_method = {}
    for at, rule in enumerate(found.conf["rules"]):
        name = ("rules", at, "default", "backendRefs", 0, "name")
        said = sources(found, name)
        by_method[rule["matches"][0]["method"]] = [
            (s.policy.name, s.path[2:4], s.value) for s in said
        ]
    assert by_method == {
        "GET": [("a", ("rules", 0), "x"), ("b", ("rules", 1), "z")],
        "POST": [("b", ("rules", 0), "y")],
    }


def test_the_source_of_an_appended_element_is_the_policy_that_wrote_it() -> None:
    def passthrough(name: str, *values: str) -> Resource:
        match = [{"type": "Domain", "value": value} for value in values]
        return resource("MeshPassthrough", name, {"default": {"appendMatch": match}})

    matcher = Matcher(state(PROXY, passthrough("a", "x"), passthrough("b", "y", "z")))
    found = matcher.single(matcher.selection(PROXY, "MeshPassthrough"))
    assert found is not None
    assert {(e.policy.name, e.index, e.path) for e in found.entries} == {
        ("a", 0, ("default",)),
        ("b", 0, ("default",)),
    }
    got = [winner_of(found, ("appendMatch", at, "value")) for at in range(3)]
    assert [(s.policy.name, s.path[2], s.value) for s in got if s] == [
        ("b", 0, "y"),
        ("b", 1, "z"),
        ("a", 0, "x"),
    ]


def _route(name: str, *matches: dict[str, Any], to: str = "web") -> Resource:
    rules = [{"matches": [match], "default": {"backendRefs": []}} for match in matches]
    return resource("MeshHTTPRoute", name, {"to": [{"targetRef": on(to), "rules": rules}]})


def _path(kind: str, value: str, **more: Any) -> dict[str, Any]:
    return {"path": {"type": kind, "value": value}, **more}


def test_routes_come_in_the_order_envoy_tries_them() -> None:
    wanted = [
        _path("Exact", "/long"),
        _path("Exact", "/a"),
        _path("PathPrefix", "/", method="GET"),
        _path("RegularExpression", "/.*"),
        {"headers": [{"name": "x", "type": "Exact", "value": "1"}]},
    ]
    matcher = Matcher(state(PROXY, _route("r", *reversed(wanted))))
    routes = matcher.http_routes(PROXY, ServiceTag("web"))
    assert [r.match for r in routes if r.entry] == wanted
    paths = [("exact", "/long"), ("exact", "/a"), ("prefix", "/"), ("regex", "/.*")]
    assert [r.path for r in routes if r.entry][:4] == paths
    # What nobody says comes last: a regular expression behind `/` would never hold.
    assert [r.path for r in routes if r.entry is None] == [("prefix", "/")]
    assert routes[-1].entry is None


def test_a_prefix_is_two_routes_and_the_root_is_one() -> None:
    matcher = Matcher(state(PROXY, _route("r", _path("PathPrefix", "/v1"))))
    routes = matcher.http_routes(PROXY, ServiceTag("web"))
    assert [r.path for r in routes] == [("exact", "/v1"), ("prefix", "/v1/"), ("prefix", "/")]
    assert routes[2].name == "9Zuf5Tg79OuZcQITwBbQykxAk2u4fRKrwYn3//AL4Yo="


def test_a_written_root_replaces_the_catch_all() -> None:
    matcher = Matcher(state(PROXY, _route("r", _path("PathPrefix", "/"))))
    routes = matcher.http_routes(PROXY, ServiceTag("web"))
    assert [(r.path, r.entry is None) for r in routes] == [(("prefix", "/"), False)]


def test_route_names_are_hashes_at_tags_and_identifiers_at_resources() -> None:
    for release, name in (("2.14", "kri_mhttpr_default___r_"), ("2.9", None)):
        web = service("web")
        matcher = Matcher(state(PROXY, web, _route("r", _path("Exact", "/a")), release=release))
        tagged = matcher.http_routes(PROXY, ServiceTag("web"))[0]
        real = matcher.http_routes(PROXY, RealResource(kri_of(web, "main")))[0]
        assert tagged.name == tagged.hash == real.hash
        assert real.name == (name or real.hash)
        assert (real.kri is None) == (name is None)


def test_route_names_of_3_0_carry_the_number_of_the_item() -> None:
    web = service("web", team="red")
    rules = [{"matches": [_path("Exact", "/a")], "default": {}}]
    to = [
        {"targetRef": {"kind": "MeshService", "labels": {"team": t}}, "rules": rules}
        for t in ("blue", "red")
    ]
    policy = resource("MeshHTTPRoute", "r", {"to": to})
    matcher = Matcher(state(PROXY, web, policy, release="3.0"))
    first = matcher.http_routes(PROXY, RealResource(kri_of(web, "main")))[0]
    assert first.name == "kri_mhttpr_default___r_rule_1"
    assert str(first.kri) == "kri_mhttpr_default___r_"
    assert matcher.lookup(matcher.selection(PROXY, "MeshHTTPRoute"), ServiceTag("web")) is None


def test_the_last_contributor_of_a_hash_names_the_route() -> None:
    web = service("web")
    low, high = _route("b", _path("Exact", "/a")), _route("a", _path("Exact", "/a"))
    matcher = Matcher(state(PROXY, web, low, high))
    first = matcher.http_routes(PROXY, RealResource(kri_of(web)))[0]
    assert first.name == "kri_mhttpr_default___a_"


def test_a_tcp_route_without_rules_goes_to_its_own_target() -> None:
    spec = {"to": [{"targetRef": on("web"), "rules": []}]}
    matcher = Matcher(state(PROXY, resource("MeshTCPRoute", "t", spec)))
    (only,) = matcher.tcp_routes(PROXY, ServiceTag("web"))
    assert only.backend_refs == [{"kind": "MeshService", "name": "web", "weight": 1}]
    assert matcher.tcp_routes(PROXY, ServiceTag("db")) == ()


def test_a_mesh_that_is_not_there_has_no_mesh_wide_rule() -> None:
    """matcher-notes §1.15: only where the state is complete."""
    policy = timeout("t", None, (MESH, "1s"))
    whole = state(PROXY, policy)
    bare = type(whole)(release="2.14", resources=(PROXY, policy), complete=True)
    assert Matcher(bare).rules(PROXY, "MeshTimeout").resource_rules == ()
    assert len(Matcher(whole).rules(PROXY, "MeshTimeout").resource_rules) == 1
    open_ended = type(whole)(release="2.14", resources=(PROXY, policy))
    assert len(Matcher(open_ended).rules(PROXY, "MeshTimeout").resource_rules) == 1


@pytest.mark.parametrize("kind", ["MeshExternalService", "MeshMultiZoneService"])
def test_only_a_mesh_service_can_be_meant_by_a_service_tag(kind: str) -> None:
    """matcher-notes §1.7: of other kinds such a name is a name."""
    web = service("web.shop", (80, "main"), shown="web", namespace="shop", **EAST)
    named = resource(kind, "web_shop_svc_80", {"ports": [{"port": 80}]}, **EAST)
    policy = timeout("t", None, (on("web_shop_svc_80", kind), "1s"), **EAST)
    (key,) = _keys(policy, web, named)
    assert key.endswith("_web_shop_svc_80_")


def test_a_tcp_route_carries_kafka_as_long_as_there_are_subsets() -> None:
    """legacy.md §1.2: a split with a destination that speaks TCP or Kafka is a MeshTCPRoute."""
    assert tcp_protocols(release_of("2.14")) == ("tcp", "http", "http2", "grpc", "kafka")
