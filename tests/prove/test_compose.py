"""Proofs put together: nothing that one of them does not hold is held by all of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from kumamigrate.effective.difference import Effect, Value, Witness
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.prover.compose import chained, doubting, upon
from kumamigrate.prover.proof import (
    ClaimResult,
    MeshProof,
    Proof,
    ProxyVerdict,
    Verdict,
    doubted,
    gathered,
    worst,
)

SAME, UNKNOWN, DIFFERENT = Verdict.EQUIVALENT, Verdict.UNKNOWN, Verdict.DIFFERENT
TIE = Doubt(DoubtKind.TIE, "tie")
OTHER = Doubt(DoubtKind.MISSING, "missing")


def _witness(field: str = "x", effect: Effect = Effect.VALUE) -> Witness:
    return Witness(
        mesh="default",
        proxy="a",
        policy_type="MeshTimeout",
        direction="outbound",
        field=field,
        before=Value(value=1),
        after=Value(value=2),
        effect=effect,
    )


def _proxy(verdict: Verdict, name: str = "a", **more: Any) -> ProxyVerdict:
    return ProxyVerdict(name=name, verdict=verdict, **more)


def _live(*proxies: ProxyVerdict, verdict: Verdict = SAME, **more: Any) -> ClaimResult:
    return ClaimResult(verdict=verdict, proxies=proxies, **more)


def _mesh(live: ClaimResult | None = None, **more: Any) -> MeshProof:
    claims = {"live": live or _live()} | more.pop("claims", {})
    return MeshProof(mesh="default", claims=claims, **more)


def test_the_worst_counts() -> None:
    for verdicts in product(Verdict, repeat=3):
        found = worst(verdicts)
        want = DIFFERENT if DIFFERENT in verdicts else UNKNOWN if UNKNOWN in verdicts else SAME
        assert found is want
    assert worst(()) is SAME


@pytest.mark.parametrize(("one", "two"), list(product([True, False], repeat=2)))
def test_all_proxies_are_those_of_every_half(one: bool, two: bool) -> None:
    halves = _mesh(all_proxies=one), _mesh(all_proxies=two)
    assert chained(*halves).all_proxies is (one and two)
    assert gathered(halves, {}).all_proxies is (one and two)


def test_what_either_half_says_is_said_once() -> None:
    first = _mesh(beyond=("a", "b"), assumptions=("c",), ties=("d",))
    second = _mesh(beyond=("b",), assumptions=("e", "c"), ties=("f", "d"))
    for whole in (chained(first, second), gathered((first, second), {})):
        assert whole.beyond == ("a", "b")
        assert whole.assumptions == ("c", "e")
        assert whole.ties == ("d", "f")


def test_both_halves_of_a_proxy_are_one() -> None:
    first = _live(
        _proxy(DIFFERENT, witnesses=(_witness("x"),), unknown=(TIE,)),
        _proxy(SAME, "b"),
        verdict=DIFFERENT,
        unknown=(TIE,),
        modes={"Disabled": SAME, "Exclusive": UNKNOWN},
    )
    second = _live(
        _proxy(UNKNOWN, witnesses=(_witness("y"),), unknown=(TIE, OTHER)),
        _proxy(SAME, made_up=True),
        verdict=UNKNOWN,
        unknown=(OTHER,),
        modes={"Exclusive": SAME, "Everywhere": DIFFERENT},
    )
    live = chained(_mesh(first), _mesh(second)).claims["live"]
    assert live.verdict is DIFFERENT
    assert live.unknown == (TIE, OTHER)
    assert live.modes == {"Disabled": SAME, "Exclusive": UNKNOWN, "Everywhere": DIFFERENT}
    assert live.proxies == (
        _proxy(DIFFERENT, witnesses=(_witness("x"), _witness("y")), unknown=(TIE, OTHER)),
        _proxy(SAME, "b"),
        # One made up under the same name is another proxy.
        _proxy(SAME, made_up=True),
    )


@pytest.mark.parametrize(
    ("lived", "rests"),
    [
        (_live(), True),
        (_live(_proxy(DIFFERENT, witnesses=(_witness(effect=Effect.ACTIVATION),))), True),
        (_live(_proxy(DIFFERENT, witnesses=(_witness(),))), False),
        (_live(unknown=(TIE,)), False),
        (_live(_proxy(UNKNOWN, unknown=(TIE,))), False),
    ],
)
def test_a_later_claim_rests_on_what_is_read_today(lived: ClaimResult, rests: bool) -> None:
    later = _live(_proxy(SAME), _proxy(DIFFERENT, "b"))
    for claim, when in (("carry", "when the mode switches"), ("release", "after the upgrade")):
        found = upon(claim, later, lived)
        whole = chained(_mesh(lived), _mesh(claims={claim: later}), lived).claims[claim]
        assert found == whole
        if rests:
            assert found == later
            continue
        (doubt,) = found.unknown
        assert when in doubt.words
        assert found.verdict is UNKNOWN
        assert [proxy.verdict for proxy in found.proxies] == [UNKNOWN, DIFFERENT]


def test_what_the_first_half_changes_without_harm_is_told_of_the_whole_once() -> None:
    begins = _witness(effect=Effect.ACTIVATION)
    lived = _live(_proxy(DIFFERENT, witnesses=(begins,)), verdict=DIFFERENT)
    halves = _mesh(lived), _mesh(claims={"release": _live(_proxy(SAME))})
    untold = chained(*halves).claims["release"]
    assert untold.witnesses == (begins,)
    assert untold.verdict is DIFFERENT
    assert chained(*halves, lived).claims["release"] == _live(_proxy(SAME))


def test_a_doubt_makes_nothing_better() -> None:
    assert doubted(_proxy(SAME), (TIE,)) == _proxy(UNKNOWN, unknown=(TIE,))
    assert doubted(_proxy(DIFFERENT), (TIE,)) == _proxy(DIFFERENT)
    known = _proxy(UNKNOWN, unknown=(TIE,))
    assert doubted(known, (TIE,)) == known
    assert doubted(known, (OTHER, TIE)) == _proxy(UNKNOWN, unknown=(TIE, OTHER))
    assert doubted(_proxy(SAME), ()) == _proxy(SAME)


def test_what_is_not_known_of_a_mesh_is_of_the_claims_it_concerns() -> None:
    modes = {"Disabled": SAME, "Exclusive": DIFFERENT}
    mesh = _mesh(_live(modes=modes), claims={"carry": _live()})
    proof = Proof(
        release_before="2.14",
        release_after="2.14",
        meshes={"default": mesh, "other": replace(mesh, mesh="other")},
    )
    found = doubting(proof, {"other": ["why"]}, {"live"})
    assert found.meshes["default"] == mesh
    other = found.meshes["other"].claims
    assert other["carry"] == _live()
    assert (other["live"].verdict, [d.words for d in other["live"].unknown]) == (UNKNOWN, ["why"])
    assert other["live"].modes == {"Disabled": UNKNOWN, "Exclusive": DIFFERENT}
    # "" stands for all meshes.
    every = doubting(proof, {"": ["all"], "other": ["why"]}, {"live", "carry"})
    told = {name: [d.words for d in one.claims["carry"].unknown]
            for name, one in every.meshes.items()}  # fmt: skip
    assert told == {"default": ["all"], "other": ["all", "why"]}
