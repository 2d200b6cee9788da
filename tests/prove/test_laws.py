"""Laws of proofs, on generated meshes."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from kumamigrate.model.resource import Resource
from kumamigrate.model.state import State
from kumamigrate.prover import Verdict
from kumamigrate.prover.prover import prove
from kumamigrate.prover.stages import searchslot
from kumamigrate.universe.network import IsNamed, Network
from tests.frontdoor import drawn
from tests.prove import generate

EASY = settings(max_examples=drawn(60), deadline=None, suppress_health_check=list(HealthCheck))


def every_proxy() -> tuple[Resource, ...]:
    """All proxies that the generated policies can tell apart, two inbounds and more included."""
    sets: list[tuple[dict[str, str], ...]] = [()]
    single = [dict([tag]) for tag in generate.TAGS]
    single += [{"version": "v1", "team": "red"}]
    for size in range(1, len(single) + 1):
        sets += list(combinations(single, size))
    out = []
    for at, inbounds in enumerate(sets):
        for app in (None, {"app": "x"}):
            name = f"p{at}-{'x' if app else ''}"
            out.append(generate.dataplane(name, *inbounds, labels=app))
    return tuple(out)


PROXIES = every_proxy()


def with_proxies(state: State) -> State:
    return replace(state, complete=True, resources=(*state.resources, *PROXIES))


@EASY
@given(generate.meshes())
def test_a_state_is_equivalent_to_itself(state: State) -> None:
    assert prove(state, state, claims=("live",)).verdict("live") is Verdict.EQUIVALENT


@EASY
@given(generate.pairs())
def test_verdicts_do_not_depend_on_direction(pair: tuple[State, State]) -> None:
    there = prove(pair[0], pair[1], claims=("live",)).verdict("live")
    back = prove(pair[1], pair[0], claims=("live",)).verdict("live")
    assert there is back


@EASY
@given(generate.pairs(), st.randoms(use_true_random=False))
def test_the_order_of_files_does_not_matter(pair: tuple[State, State], random: Any) -> None:
    def shuffled(state: State) -> State:
        listed = list(state.resources)
        random.shuffle(listed)
        return replace(state, resources=tuple(listed))

    first = prove(pair[0], pair[1], claims=("live", "carry"))
    second = prove(shuffled(pair[0]), shuffled(pair[1]), claims=("live", "carry"))
    for claim in ("live", "carry"):
        assert first.verdict(claim) is second.verdict(claim)


@settings(EASY, max_examples=drawn(60))
@given(pair=generate.pairs())
def test_made_up_proxies_find_whatever_any_proxy_shows(pair: tuple[State, State]) -> None:
    """The sets that are tried are enough: where few are enough for all, the bounded ones, too."""
    whole = prove(with_proxies(pair[0]), with_proxies(pair[1]), claims=("live", "carry"))
    shown = tuple(c for c in ("live", "carry") if whole.verdict(c) is Verdict.DIFFERENT)
    for few in (0, searchslot.FEW) if shown else ():
        with pytest.MonkeyPatch.context() as patching:
            patching.setattr(searchslot, "FEW", few)
            tried = prove(pair[0], pair[1], claims=shown)
        assert [c for c in shown if tried.verdict(c) is Verdict.EQUIVALENT] == [], few


NOBODIES = (
    *(
        generate.service(f"nobody-{at}", spoken)
        for at, spoken in enumerate(["tcp", "http", "http"])
    ),
    replace(
        generate.resource(
            "MeshExternalService", "far", {"match": {"port": 80, "protocol": "http"}}
        ),
        labels={**generate.LABELS, "kuma.io/service": "far"},
    ),
)
"""Real services that no generated policy names, two of them alike."""


def _every_one(self: Network, _is_named: IsNamed, check: Any) -> tuple[Any, ...]:
    couples = (couple for alike in self._alike.values() for couple in alike)
    return tuple(one for couple in couples for one in check(*couple))


@EASY
@given(generate.pairs())
def test_of_destinations_that_read_the_same_one_stands_for_all(pair: tuple[State, State]) -> None:
    before, after = (replace(one, resources=(*one.resources, *NOBODIES)) for one in pair)
    claims = ("live", "carry")
    found = prove(before, after, claims=claims)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Network, "differing", _every_one)
        every = prove(before, after, claims=claims)
    for claim in claims:
        shown, all_shown = ({w.key for w in one.witnesses(claim)} for one in (found, every))
        assert shown == all_shown
        assert found.verdict(claim) is every.verdict(claim)


@EASY
@given(generate.meshes(), generate.policy(), st.integers(1, 5))
def test_a_changed_value_that_reaches_a_proxy_is_different(
    state: State, added: Resource, number: int
) -> None:
    """The strongest policy of its type on every proxy and service: its value is always read."""

    def strongest(value: str) -> Resource:
        top = {"kind": "MeshSubset", "tags": {}}
        item = {
            "targetRef": {"kind": "Mesh"},
            "default": {"connectionLimits": {"maxRetries": value}},
        }
        return generate.resource("MeshCircuitBreaker", "0", {"targetRef": top, "to": [item]})

    assume(added.name != "0")
    before = replace(state, resources=(*state.resources, strongest(number)))  # type: ignore[arg-type]
    after = replace(state, resources=(*state.resources, strongest(number + 1)))  # type: ignore[arg-type]
    assert prove(before, after, claims=("live",)).verdict("live") is Verdict.DIFFERENT


@EASY
@given(generate.meshes(), generate.policy())
def test_a_policy_that_reaches_nobody_changes_no_verdict(state: State, added: Resource) -> None:
    """In a complete mesh whose proxies lack what it asks for."""
    far = {"kind": "MeshSubset", "tags": {"nobody": "has-this"}}
    unreachable = replace(added, name="zz-far", spec={**added.spec, "targetRef": far})
    before = with_proxies(state)
    after = replace(before, resources=(*before.resources, unreachable))
    assert prove(before, after, claims=("live",)).verdict("live") is Verdict.EQUIVALENT
