"""What a baseline takes out of findings and held changes, and what is said of who reads nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumamigrate.effective.difference import Value
from kumamigrate.flow.baselined import NOTE, with_known, without_known
from kumamigrate.flow.dead.deadcause import _lines, _otherwise, why_unread
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import State
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding, Status
from kumamigrate.scene.held import Cause, Held
from kumamigrate.world.baseline import Baseline

RULE = "from-section"


def finding(name: str, status: Status = Status.HELD, message: str = "m") -> Finding:
    found = Resource(type="MeshTimeout", mesh="default", name=name)
    return Finding(rule=RULE, resource=found, message=message, status=status)


def known(**numbers: int) -> Baseline:
    listed = {(RULE, f"MeshTimeout default/{name}"): n for name, n in numbers.items()}
    return Baseline(file=Path("b.json"), target="2.14", known=listed)


def held(*names: str) -> Held:
    findings = tuple(finding(name) for name in names)
    return Held(change=Change(rule=RULE, mesh="default", edits=(), findings=findings))


def test_as_many_as_are_known_are_left_out_and_the_last_are_new() -> None:
    found = [finding("a", message="1"), finding("a", Status.FIXED), finding("b"),
             finding("a", message="2"), finding("a", message="3")]  # fmt: skip
    left = without_known(found, known(a=2))
    silent = Status.SUPPRESSED
    assert [f.status for f in left] == [silent, Status.FIXED, Status.HELD, silent, Status.HELD]
    assert [f.notes for f in left] == [(NOTE,), (), (), (NOTE,), ()]
    assert without_known(found, None) == tuple(found)


def test_a_change_is_known_that_is_about_nothing_else() -> None:
    changes = [held("a"), held("a", "b"), held("b"), held("c")]
    causes = [one.cause for one in with_known(changes, [finding("c")], known(a=1, c=1))]
    assert causes == [Cause.KNOWN, None, None, None]
    # One that is held no more says nothing about the others of its name.
    settled = [finding("c", Status.FIXED)]
    assert [one.cause for one in with_known(changes, settled, known(c=1))][-1] is Cause.KNOWN
    assert with_known(changes, [], None) == tuple(changes)


MTLS = {"mtls": {"enabledBackend": "ca", "backends": [{"name": "ca", "type": "builtin"}]}}


@pytest.mark.parametrize(
    ("kind", "asks"),
    [("MeshTLS", True), ("MeshTrafficPermission", True), ("TrafficPermission", True),
     ("MeshTimeout", False)],
)  # fmt: skip
def test_policies_about_who_may_connect_are_unread_where_nobody_is_asked(
    kind: str, asks: bool
) -> None:
    policy = Resource(type=kind, mesh="default", name="p", spec={})
    identity = Resource(type="MeshIdentity", mesh="default", name="i", spec={})

    def why(mesh: object, *more: Resource) -> str:
        made = Resource(type="Mesh", mesh="", name="default", spec=mesh)  # type: ignore[arg-type]
        return why_unread(State(release="2.14", resources=(made, *more, policy)), policy)

    said = "mesh default has neither mTLS nor a MeshIdentity, so nobody is asked"
    assert why({}) == (said if asks else "")
    assert why(MTLS) == why({}, identity) == ""


def test_a_policy_in_shadow_is_unread() -> None:
    label = {"kuma.io/effect": "shadow"}
    state = State(release="2.14")
    for labels, why in ((label, "its label kuma.io/effect is shadow"), ({}, "")):
        policy = Resource(type="MeshTimeout", mesh="default", name="p", labels=labels, spec={})
        assert why_unread(state, policy) == why


@pytest.mark.parametrize("mode", ["Exclusive", "Everywhere"])
@pytest.mark.parametrize("kind", ["MeshHTTPRoute", "Mesh", None])
def test_a_route_at_the_top_is_read_of_service_tags_alone(mode: str, kind: str | None) -> None:
    mesh = Resource(type="Mesh", mesh="", name="default", spec={"meshServices": {"mode": mode}})
    spec = {"targetRef": {"kind": kind, "name": "r"}} if kind else {}
    policy = Resource(type="MeshTimeout", mesh="default", name="p", spec=spec)
    why = why_unread(State(release="2.14", resources=(mesh, policy)), policy)
    assert bool(why) is (kind == "MeshHTTPRoute" and mode == "Exclusive")


def test_policies_are_named_by_their_lines_in_order_and_no_more_than_three() -> None:
    def at(policy: str, place: str) -> Value:
        return Value(value=1, policy=policy, at=place)

    two = [at("default/b", "x.yaml:10:1"), at("default/b", "x.yaml:9:1"), at("default/a", "")]
    assert _lines([*two, two[0]]) == (
        "a (which the control plane made with the mesh), b (x.yaml:9:1), b (x.yaml:10:1)"
    )
    more = [at("default/c", "c.yaml:1:1"), at("", "")]
    assert _lines([*two, *more]) == (
        "what Kuma does by default, a (which the control plane made with the mesh),"
        " b (x.yaml:9:1) and 2 more"
    )


def test_a_policy_that_says_otherwise_says_so_everywhere_and_is_for_the_same() -> None:
    ref = {"kind": "MeshService", "name": "web"}
    conf = {
        "action": "Deny", "then": {"action": "Allow", "kind": "x"},
        "on": True, "number": 3, "time": "5s", "late": "7777s", "words": "x",
        "list": ["a", 1], "type": "Exact", "nothing": None, "matches": [{"path": "/"}],
    }  # fmt: skip
    spec = {"targetRef": ref, "to": [{"targetRef": ref, "default": conf}]}
    policy = Resource(type="MeshTimeout", mesh="default", name="p", spec=spec)
    (entry,) = _otherwise(policy).spec["to"]
    assert _otherwise(policy).spec["targetRef"] == entry["targetRef"] == ref
    assert entry["default"] == {
        "action": "Allow", "then": {"action": "Deny", "kind": "x"},
        "on": False, "number": 4, "time": "7777s", "late": "7778s",
        "words": "xx", "list": ["ax", 2], "type": "Exact", "nothing": None,
        "matches": [{"path": "/"}],
    }  # fmt: skip
    assert _otherwise(policy).spec["to"][0]["default"] != conf
