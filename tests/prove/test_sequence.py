"""Local ⇒ sequence ⇒ search ⇒ every set tried: each cheaper stage says what the next one says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kumamigrate.model.release import release
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import State
from kumamigrate.prover import Verdict
from kumamigrate.prover.prover import prove
from kumamigrate.prover.stages import searchslot
from kumamigrate.prover.stages.local import local_proof
from kumamigrate.prover.stages.sequence import ALL_SECTIONS, EVERY, INBOUND, TO, Sequences, Suspects
from kumamigrate.universe.contents import Contents
from kumamigrate.universe.reach import Reach
from kumamigrate.universe.side import Side
from tests.frontdoor import drawn
from tests.prove import generate

POLICIES = release("2.14").policy_types.keys()
EASY = settings(max_examples=drawn(80), deadline=None, suppress_health_check=list(HealthCheck))

rates = st.integers(1, 3).map(
    lambda n: {"local": {"http": {"requestRate": {"num": n, "interval": "1s"}}}}
)
whole_mesh = st.just({"kind": "Mesh"})
clients = st.one_of(whole_mesh, st.just({"kind": "MeshSubset", "tags": {"team": "red"}}))
actions = st.sampled_from(["Allow", "Deny"]).map(lambda action: {"action": action})
backends = st.integers(1, 2).map(
    lambda n: {"backends": [{"type": "Zipkin", "zipkin": {"url": f"http://z{n}"}}]}
)
roles = st.sampled_from(["system", "consumer", "workload-owner"])


@st.composite
def inbound(draw: st.DrawFn) -> Resource:
    """Draw a policy for inbounds, or for whole proxies."""
    kind = draw(st.sampled_from(["MeshTimeout", "MeshRateLimit", "MeshTrafficPermission"]))
    top, name = draw(generate.tops), draw(st.sampled_from("abcdefgh"))
    spec: dict[str, Any] = {"targetRef": top}
    if kind == "MeshTrafficPermission":
        spec["from"] = [{"targetRef": draw(clients), "default": draw(actions)}]
    elif draw(st.booleans()):
        spec["rules"] = [{"default": draw(generate.timeouts if kind == "MeshTimeout" else rates)}]
    else:
        conf = draw(generate.timeouts if kind == "MeshTimeout" else rates)
        spec["from"] = [{"targetRef": {"kind": "Mesh"}, "default": conf}]
    if kind == "MeshTimeout" and draw(st.booleans()):
        to = {"targetRef": draw(generate.targets), "default": draw(generate.timeouts)}
        spec["to"] = [to]
    made = generate.resource(kind, name, spec)
    labels = {**made.labels, "kuma.io/policy-role": draw(roles), "k8s.kuma.io/namespace": "shop"}
    return replace(made, labels=labels)


@st.composite
def single(draw: st.DrawFn) -> Resource:
    spec = {"targetRef": draw(generate.tops), "default": draw(backends)}
    return generate.resource("MeshTrace", draw(st.sampled_from("abcd")), spec)


ANYBODY = [{"match": {"kuma.io/service": "*"}}]
OLD = (
    generate.resource("TrafficPermission", "all", {"sources": ANYBODY, "destinations": ANYBODY}),
    generate.resource(
        "Timeout",
        "old",
        {
            "sources": [{"match": {"kuma.io/service": "*", "team": "red"}}],
            "destinations": ANYBODY,
            "conf": {"connectTimeout": "7s", "http": {"requestTimeout": "9s"}},
        },
    ),
)


some = st.one_of(generate.policy(), inbound(), inbound(), single())


@st.composite
def pairs(draw: st.DrawFn) -> tuple[State, State]:
    """Draw two states: policies come, go, get another name, selector or value."""
    mesh = draw(generate.meshes())
    drawn = draw(st.lists(some, min_size=1, max_size=6))
    listed = {p.identity: p for p in (*mesh.resources, *drawn)}
    old = draw(st.sampled_from([(), (), OLD[:1], OLD]))
    name = draw(st.sampled_from(["2.14", "2.14", "2.9"]))
    before = replace(mesh, release=name, resources=(*listed.values(), *old))
    later = {r.identity: r for r in before.resources}
    policies = [r for r in listed.values() if r.type not in ("Mesh", "MeshService")]
    for one in draw(st.lists(st.sampled_from(policies), max_size=3, unique_by=id)):
        changed = draw(_changed(one))
        later.pop(one.identity, None)
        if changed is not None:
            later[changed.identity] = changed
    return before, replace(before, resources=tuple(later.values()))


@st.composite
def _changed(draw: st.DrawFn, policy: Resource) -> Resource | None:
    how = draw(st.sampled_from(["gone", "name", "top", "other", "labels"]))
    if how == "gone" or (how == "other" and policy.type == "MeshHTTPRoute"):
        return None
    if how == "name":
        return replace(policy, name=draw(st.sampled_from("abcdefghijk")))
    if how == "top":
        return replace(policy, spec={**policy.spec, "targetRef": draw(generate.tops)})
    if how == "labels":
        return replace(policy, labels={**policy.labels, "team": "red"})
    return draw(some)


def _suspicious(*_: Any) -> Suspects:
    return EVERY


@settings(EASY, max_examples=drawn(150))
@pytest.mark.parametrize("few", [0, searchslot.FEW])
@given(pair=pairs())
def test_sets_with_a_suspect_show_what_all_sets_show(few: int, pair: tuple[State, State]) -> None:
    with pytest.MonkeyPatch.context() as patching:
        patching.setattr(searchslot, "FEW", few)
        found = prove(*pair, claims=("live",))
        patching.setattr(Sequences, "suspects", _suspicious)
        every = prove(*pair, claims=("live",))
    assert found.verdict("live") is every.verdict("live"), _shown(*pair)
    kinds = [{w.policy_type for w in proof.witnesses("live")} for proof in (found, every)]
    assert kinds[0] == kinds[1], _shown(*pair)


def _shown(before: State, after: State) -> str:
    """Return what only one of two states holds."""
    lists = ([str((r.type, r.name, dict(r.labels), r.spec)) for r in state.resources]
             for state in (before, after))  # fmt: skip
    old, new = lists
    gone = [f"- {one}" for one in old if one not in new]
    come = [f"+ {one}" for one in new if one not in old]
    return "\n".join((*gone, *come, *(f"  {one}" for one in old if one in new)))


@settings(EASY, max_examples=drawn(150))
@given(pair=pairs())
def test_what_is_equal_in_sequence_is_equal(pair: tuple[State, State]) -> None:
    found = _sequences(*pair)
    kinds = {r.type for state in pair for r in state.resources} & POLICIES
    suspected = {kind for kind in kinds for sections in ALL_SECTIONS if found(kind, sections)}
    routes = suspected & {"MeshHTTPRoute", "MeshTCPRoute"}
    proof = prove(*pair, claims=("live",))
    shown = {w.policy_type for w in proof.witnesses("live")}
    assert routes or shown <= suspected, f"{shown} {suspected}\n{_shown(*pair)}"


@settings(EASY, max_examples=drawn(150))
@given(pair=pairs())
def test_what_is_proven_locally_is_proven_by_sequence(pair: tuple[State, State]) -> None:
    if local_proof(*pair) is None:
        return
    proof = prove(*pair, claims=("live",), same_unread=False)
    assert proof.verdict("live") is Verdict.EQUIVALENT
    with pytest.MonkeyPatch.context() as patching:
        patching.setattr("kumamigrate.prover.prover.local_proof", lambda *_: None)
        assert prove(*pair, claims=("live",)).verdict("live") is Verdict.EQUIVALENT


def _sequences(before: State, after: State) -> Any:
    contents = Contents()
    was, now = (Side(state, "default", contents) for state in (before, after))
    return Sequences(was, now, (Reach(was), Reach(now))).suspects


def test_only_what_was_renamed_past_another_is_suspected() -> None:
    conf = [{"targetRef": {"kind": "Mesh"}, "default": {"connectionTimeout": "1s"}}]
    policies = [generate.resource("MeshTimeout", name, {"to": conf}) for name in "ac"]
    before = State(release="2.14", environment=generate.ENVIRONMENT, resources=tuple(policies))
    after = replace(before, resources=(replace(policies[0], name="d"), policies[1]))
    found = _sequences(before, after)("MeshTimeout", TO)
    assert sorted(known.policy.name for known in found.known) == ["a", "d"]
    assert not _sequences(before, after)("MeshTimeout", INBOUND)


def test_policies_that_chance_orders_are_suspected() -> None:
    conf = [{"targetRef": {"kind": "Mesh"}, "default": {"connectionTimeout": "1s"}}]
    twice = [
        replace(generate.resource("MeshTimeout", "a", {"to": conf}), namespace=space)
        for space in ("x", "y")
    ]
    before = State(release="2.14", environment=generate.ENVIRONMENT, resources=tuple(twice))
    found = _sequences(before, before)("MeshTimeout", TO)
    assert {known.policy.namespace for known in found.known} == {"x", "y"}


@pytest.mark.parametrize("kind", ["MeshService", "MeshExternalService", "Dataplane", "MeshGateway"])
@pytest.mark.parametrize("comes", [True, False])
def test_what_is_no_policy_and_comes_or_goes_makes_everything_suspect(
    kind: str, comes: bool
) -> None:
    one = generate.resource("MeshTimeout", "a", {"to": [{"targetRef": {"kind": "Mesh"}}]})
    before = State(release="2.14", environment=generate.ENVIRONMENT, resources=(one,))
    after = replace(before, resources=(one, generate.resource(kind, "x", {})))
    sides = (before, after) if comes else (after, before)
    assert _sequences(*sides)("MeshTimeout", TO) is EVERY
    assert _sequences(before, before)("MeshTimeout", TO) is not EVERY


@pytest.mark.parametrize(("names", "suspect"), [("rr", True), ("rs", False)])
def test_what_is_on_one_of_two_routes_of_a_name_is_a_suspect(names: str, *, suspect: bool) -> None:
    """The order of the store decides which it is on, and no state says it."""
    web = [{"targetRef": {"kind": "MeshService", "name": "web"}, "rules": [{"default": {}}]}]
    routes = []
    for at, name in enumerate(names):
        made = generate.resource("MeshHTTPRoute", f"{name}{at}", {"to": web})
        routes.append(replace(made, labels={**made.labels, "kuma.io/display-name": name}))
    conf = {"http": {"requestTimeout": "3s"}}
    to = [{"targetRef": {"kind": "Mesh"}, "default": conf}]
    spec = {"targetRef": {"kind": "MeshHTTPRoute", "name": "r"}, "to": to}
    policy = generate.resource("MeshTimeout", "t", spec)
    state = State(release="2.14", resources=(*routes, policy))
    sides = [Side(state, "default", Contents()) for _ in range(2)]
    reaches = (Reach(sides[0]), Reach(sides[1]))
    found = Sequences(sides[0], sides[1], reaches).suspects("MeshTimeout", TO)
    assert bool(found) is suspect
