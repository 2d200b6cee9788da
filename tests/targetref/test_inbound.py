"""Inbound rules, from rules and releases that have only one of them."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.dataclass import replace
from kumamigrate.model.release import release
from kumamigrate.model.resource import Resource
from kumamigrate.targetref.matcher import Matcher
from kumamigrate.targetref.meshdump import deprecations, inspect_mesh
from kumamigrate.targetref.permission import PERMISSION, outranked, reads_both
from tests.targetref.meshes import MESH, resource, sidecar, state

PROXY = sidecar("a")
POINT = "10.0.0.1:8080"


def _conf(seconds: int) -> dict[str, Any]:
    return {"http": {"requestTimeout": f"{seconds}s"}}


def _from(kind: str, name: str, *items: tuple[dict[str, Any], Any]) -> Resource:
    listed = [{"targetRef": ref, "default": conf} for ref, conf in items]
    return resource(kind, name, {"from": listed})


def _spiffe(kind: str, value: str) -> dict[str, Any]:
    return {"spiffeID": {"type": kind, "value": value}}


def test_from_items_count_as_rules_without_match_where_the_type_says_so() -> None:
    policies = _from("MeshTimeout", "t", (MESH, _conf(1))), _from("MeshFaultInjection", "f")
    rules = Matcher(state(PROXY, *policies)).rules(PROXY, "MeshTimeout")
    (only,) = rules.inbound_rules[POINT]
    assert (only.match, only.conf, only.origin) == (None, _conf(1), {"name": "t", "ruleIndex": 0})
    assert [r.conf for r in rules.from_rules[POINT]] == [_conf(1)]


def test_rules_are_one_for_each_match_strongest_match_first() -> None:
    prefix, exact = _spiffe("Prefix", "spiffe://a/"), _spiffe("Exact", "spiffe://a/b")
    sni = {"sni": {"type": "Exact", "value": "x"}}
    matches = [sni, prefix, exact, {**prefix, **sni}, {**exact, **sni}]
    spec = {"rules": [{"default": _conf(1)}, {"default": _conf(2), "matches": matches}]}
    matcher = Matcher(state(PROXY, resource("MeshTimeout", "t", spec)))
    rules = matcher.rules(PROXY, "MeshTimeout").inbound_rules[POINT]
    strongest = [{**exact, **sni}, exact, {**prefix, **sni}, prefix, sni, None]
    assert [r.match for r in rules] == strongest
    assert [r.origin["ruleIndex"] for r in rules] == [1, 1, 1, 1, 1, 0]


def test_matches_mean_nothing_before_they_came() -> None:
    spec = {"rules": [{"default": _conf(1), "matches": [_spiffe("Exact", "spiffe://a")]}]}
    policy = resource("MeshTimeout", "t", spec)
    matcher = Matcher(state(PROXY, policy, release="2.12"))
    (only,) = matcher.rules(PROXY, "MeshTimeout").inbound_rules[POINT]
    assert only.match is None


def test_3_0_does_not_read_from() -> None:
    policy = _from("MeshTimeout", "t", (MESH, _conf(1)))
    rules = Matcher(state(PROXY, policy, release="3.0")).rules(PROXY, "MeshTimeout")
    assert rules.inbound_rules == {POINT: ()}
    assert rules.as_json().keys() == {
        "policies",
        "resourceRules",
        "inboundRules",
        "proxyConf",
        "warnings",
    }


def test_from_lists_name_every_combination_of_tags() -> None:
    """matcher.md (h) step 3, worked by hand: the candidates of {k=1} and everything."""
    subset = {"kind": "MeshSubset", "tags": {"k": "1"}}
    allow, deny = {"action": "Allow"}, {"action": "Deny"}
    policy = _from("MeshTrafficPermission", "p", (MESH, allow), (subset, deny))
    matcher = Matcher(state(PROXY, policy))
    rules = matcher.rules(PROXY, "MeshTrafficPermission").from_rules[POINT]
    assert [([tuple(t) for t in r.subset], r.conf) for r in rules] == [
        ([("k", "1", False)], deny),
        ([("k", "1", True)], allow),
    ]


@pytest.mark.parametrize("name", ["2.6", "2.9", "2.10", "2.14", "3.0"])
def test_every_release_resolves_a_mesh(name: str) -> None:
    policies = (
        _from("MeshTimeout", "t", (MESH, _conf(1))),
        _from("MeshTrafficPermission", "p", (MESH, {"action": "Allow"})),
        resource("MeshTrace", "r", {"default": {"backends": []}}),
    )
    answer = inspect_mesh(state(PROXY, *policies, release=name))
    types = answer["dataplanes"]["a"]
    assert set(types) == {"MeshTimeout", "MeshTrafficPermission", "MeshTrace"}
    shown = types["MeshTrace"].get("singleItemRules") or types["MeshTrace"].get("proxyConf")
    assert shown


def test_2_6_groups_what_is_connected_where_later_releases_take_cliques() -> None:
    """Two subsets that only the mesh connects: 2.6 crosses their values, 2.9 does not."""
    one, two = ({"kind": "MeshSubset", "tags": {"k": v}} for v in ("1", "2"))
    conf = {"action": "Allow"}
    policy = _from("MeshTrafficPermission", "p", (one, conf), (two, conf), (MESH, conf))

    def negated(name: str) -> list[int]:
        matcher = Matcher(state(PROXY, policy, release=name))
        rules = matcher.rules(PROXY, "MeshTrafficPermission").from_rules[POINT]
        return sorted(sum(t.negated for t in r.subset) for r in rules)

    assert negated("2.6") == [0, 0, 2]
    assert negated("2.9") == [0, 0, 1, 1]


def test_deprecations_come_in_kumas_order() -> None:
    named = {"kind": "MeshService", "name": "a"}
    policy = _from("MeshTrafficPermission", "p", (named, {"action": "Allow"}))
    top = {**policy.spec, "targetRef": named}
    policy = resource("MeshTrafficPermission", "p", top)
    texts = deprecations(policy, release("2.14"))
    assert [t.split()[0] for t in texts] == ["'from'", "MeshService", "MeshService"]
    assert "'from[].targetRef.kind'" in texts[1]
    assert "'targetRef.kind'" in texts[2]
    assert deprecations(policy, release("3.0")) == []


@pytest.mark.parametrize(
    ("name", "both"),
    [("2.6", False), ("2.11", False), ("2.12", True), ("2.14", True), ("3.0", False)],
)
def test_permissions_have_from_and_rules_between_the_release_that_adds_one_and_drops_the_other(
    name: str, *, both: bool
) -> None:
    assert reads_both(release(name)) is both


def test_a_release_without_permissions_has_neither() -> None:
    known = release("2.14")
    types = {name: kind for name, kind in known.policy_types.items() if name != PERMISSION}
    assert not reads_both(replace(known, policy_types=types))


def test_the_first_rule_ends_from_and_without_rules_the_identity_does() -> None:
    policy = resource("MeshTrafficPermission", "rules", {"rules": [{"default": {"allow": []}}]})
    identity = resource("MeshIdentity", "own", {})
    selected = Matcher(state(PROXY, policy)).rules(PROXY, PERMISSION)
    assert outranked(selected.inbound_rules[POINT], identity) == policy
    assert outranked((), identity) == identity
    assert outranked((), None) is None
