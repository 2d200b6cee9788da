"""What a change owes: `after == goal or after == current`, slot by slot and proxy by proxy."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kumamigrate.model.resource import Resource
from kumamigrate.model.state import State
from kumamigrate.prover import Verdict
from kumamigrate.prover.owed import Begun
from kumamigrate.prover.prover import prove
from kumamigrate.prover.stages import searchslot
from tests.frontdoor import drawn
from tests.prove import generate
from tests.prove.test_laws import with_proxies

EASY = settings(max_examples=drawn(30), deadline=None, suppress_health_check=list(HealthCheck))
CLAIMS = st.sampled_from(["live", "carry"])
Steps = tuple[State, State, State]


def shown(claim: str, *states: State, standing: Begun | None = None) -> set[tuple[str, ...]]:
    return {w.key for w in prove(*states, claims=(claim,), standing=standing).witnesses(claim)}


@EASY
@given(generate.steps(), CLAIMS)
def test_what_stood_is_left_out_and_nothing_else(steps: Steps, claim: str) -> None:
    """Of known proxies: a value is the goal's, or that of the state before, or is shown."""
    goal, current, after = map(with_proxies, steps)
    every, stood = shown(claim, goal, after), shown(claim, goal, current)
    left = shown(claim, goal, after, standing=Begun(goal, current))
    assert left <= every - stood
    touched = {r.type for r in _changed(current, after)}
    missing = {key for key in every - stood - left if key[2] in touched}
    assert missing == set()


def _changed(old: State, new: State) -> Iterator[Resource]:
    for one, other in ((old, new), (new, old)):
        yield from (r for r in one.resources if r not in other.resources)


@settings(EASY, max_examples=drawn(40))
@given(generate.steps(), CLAIMS)
def test_made_up_proxies_find_what_any_proxy_shows(steps: Steps, claim: str) -> None:
    """The sets that are tried are enough for three states, where few are tried, too."""
    goal, current, after = map(with_proxies, steps)
    whole = prove(goal, after, claims=(claim,), standing=Begun(goal, current))
    if whole.verdict(claim) is not Verdict.DIFFERENT:
        return
    for few in (0, searchslot.FEW):
        with pytest.MonkeyPatch.context() as patching:
            patching.setattr(searchslot, "FEW", few)
            tried = prove(steps[0], steps[2], claims=(claim,), standing=Begun(*steps[:2]))
        assert tried.verdict(claim) is not Verdict.EQUIVALENT, few


@EASY
@given(generate.meshes(), generate.policies(most=3), CLAIMS)
def test_a_change_back_owes_nothing(state: State, more: tuple[Resource, ...], claim: str) -> None:
    """What no change touched since is as it was, and what the goal was is as it is wanted."""
    other = State(
        release=state.release,
        environment=state.environment,
        resources=tuple({r.identity: r for r in (*state.resources, *more)}.values()),
    )
    assert shown(claim, state, other, standing=Begun(state, other)) == set()


A, B, C = ({"version": "v1"}, {"team": "red"}, {"kuma.io/service": "web"})
FIXED = (generate.mesh("Exclusive"), *map(generate.service, generate.SERVICES))


def of(*policies: Resource) -> State:
    return State(release="2.14", environment=generate.ENVIRONMENT, resources=(*FIXED, *policies))


def says(name: str, tags: dict[str, str], number: int) -> Resource:
    item = {"targetRef": {"kind": "Mesh"}, "default": {"connectionLimits": {"maxRetries": number}}}
    top = {"kind": "MeshSubset", "tags": tags}
    return generate.resource("MeshCircuitBreaker", name, {"targetRef": top, "to": [item]})


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param(
            (
                of(says("m", C, 3), says("a", A, 9)),
                of(says("m", C, 3), says("a", B, 2)),
                of(says("m", B, 2), says("a", C, 3)),
            ),
            id="only all three together show it: 9 is wanted, 2 was there, 3 comes",
        ),
        pytest.param(
            (
                of(says("m", {}, 1)),
                of(says("m", {}, 5), says("a", A, 7)),
                of(says("m", {}, 5)),
            ),
            id="a policy that only the state in between has: 1 is wanted, 7 was there, 5 comes",
        ),
    ],
)
@pytest.mark.parametrize("few", [0, searchslot.FEW])
@pytest.mark.parametrize("world", [lambda state: state, with_proxies])
def test_what_three_states_tell_apart(
    steps: Steps, few: int, world: Callable[[State], State], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searchslot, "FEW", few)
    goal, current, after = map(world, steps)
    proof = prove(goal, after, claims=("live",), standing=Begun(goal, current))
    assert proof.verdict("live") is Verdict.DIFFERENT


def test_a_cluster_that_a_new_route_leads_to_is_as_it_stood_at_its_own_service() -> None:
    """A route that the state before left out; what web says of connections stood at web."""

    def to_web(number: int) -> Resource:
        conf = {"connectionTimeout": f"{number}s"}
        item = {"targetRef": {"kind": "MeshService", "name": "web"}, "default": conf}
        return generate.resource("MeshTimeout", "m", {"to": [item]})

    backend = [{"kind": "MeshService", "name": "web", "port": 80}]
    rule = {
        "matches": [{"path": {"type": "PathPrefix", "value": "/v1"}}],
        "default": {"backendRefs": backend},
    }
    item = {"targetRef": {"kind": "MeshService", "name": "backend"}, "rules": [rule]}
    route = generate.resource("MeshHTTPRoute", "r", {"to": [item]})
    standing = Begun(of(to_web(1)), of(to_web(5)))

    def places(number: int) -> set[bool]:
        states = of(to_web(1), route), of(to_web(number), route)
        found = prove(*states, claims=("live",), standing=standing).witnesses("live")
        return {">" in w.place for w in found}

    assert places(5) == set()
    assert places(6) == {False, True}


def test_where_a_value_begins_to_work_the_goal_is_owed() -> None:
    """What a change switches on for one proxy it may not leave behind for another."""
    goal, current = of(says("m", {}, 1)), of(says("m", {}, 5))
    after = of(says("m", {}, 5), says("z", C, 5))
    assert shown("live", goal, after, standing=Begun(goal, current)) == set()
    slots = frozenset(w.slot for w in prove(goal, current, claims=("live",)).witnesses("live"))
    begun = Begun(goal, current, activated=slots)
    assert shown("live", goal, after, standing=begun) == shown("live", goal, after) != set()
