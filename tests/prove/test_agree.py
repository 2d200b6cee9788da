"""Several worlds, one verdict: only what holds in each of them holds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kumamigrate.effective.difference import Effect, Value, Witness
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.prover.agree import MOST, agreed, apart
from kumamigrate.prover.claimproof import together
from kumamigrate.prover.compose import chained, upon
from kumamigrate.prover.proof import ClaimResult, MeshProof, ProxyVerdict, Verdict

IDLE = Witness(
    mesh="default",
    proxy="web",
    policy_type="MeshTimeout",
    direction="inbound",
    field="idleTimeout",
    before=Value(value="9m"),
    after=Value(value="2h", policy="mesh-timeout-all-default"),
)
ACTIVE = replace(IDLE, effect=Effect.ACTIVATION)
NAMED = replace(IDLE, field="name", effect=Effect.NAME)


def proof(*witnesses: Witness, unknown: tuple[Doubt, ...] = (), made_up: bool = False) -> MeshProof:
    """Return the proof of a mesh with one proxy."""
    verdict = Verdict.DIFFERENT if witnesses else Verdict.UNKNOWN if unknown else Verdict.EQUIVALENT
    proxy = ProxyVerdict(
        name="web", verdict=verdict, witnesses=witnesses, unknown=unknown, made_up=made_up
    )
    return MeshProof(
        mesh="default", claims={"live": ClaimResult(verdict=verdict, proxies=(proxy,))}
    )


SAME, UNSURE = proof(), proof(unknown=(Doubt(DoubtKind.UNREAD, "who knows"),))


@pytest.mark.parametrize("made_up", [False, True])
@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ((SAME, SAME), Verdict.EQUIVALENT),
        ((SAME, proof(IDLE)), Verdict.UNKNOWN),
        ((proof(IDLE), SAME), Verdict.UNKNOWN),
        ((proof(IDLE), proof(IDLE)), Verdict.DIFFERENT),
        ((proof(IDLE), UNSURE), Verdict.UNKNOWN),
        ((SAME, UNSURE), Verdict.UNKNOWN),
        ((proof(ACTIVE), proof(IDLE)), Verdict.UNKNOWN),
        ((SAME, SAME, proof(IDLE)), Verdict.UNKNOWN),
    ],
)
def test_a_verdict_is_that_of_every_world(
    parts: tuple[MeshProof, ...], verdict: Verdict, made_up: bool
) -> None:
    worlds = dict(zip(("none", "2.5", "2.6"), (_as(p, made_up) for p in parts), strict=False))
    claim = agreed(worlds).claims["live"]
    assert claim.verdict is verdict
    assert {proxy.verdict for proxy in claim.proxies} == {verdict}


@pytest.mark.parametrize(
    ("others", "verdict"),
    [
        ({"Exclusive": Verdict.EQUIVALENT}, Verdict.EQUIVALENT),
        ({"Exclusive": Verdict.DIFFERENT}, Verdict.UNKNOWN),
        ({}, Verdict.EQUIVALENT),
    ],
)
def test_a_mode_is_what_the_worlds_that_have_it_say(
    others: dict[str, Verdict], verdict: Verdict
) -> None:
    modes = ({"Exclusive": Verdict.EQUIVALENT}, others)
    claims = [replace(SAME.claims["live"], modes=one) for one in modes]
    worlds = {str(at): replace(SAME, claims={"live": one}) for at, one in enumerate(claims)}
    assert agreed(worlds).claims["live"].modes == {"Exclusive": verdict}


def _as(found: MeshProof, made_up: bool) -> MeshProof:
    claim = found.claims["live"]
    proxies = tuple(replace(proxy, made_up=made_up) for proxy in claim.proxies)
    return replace(found, claims={"live": replace(claim, proxies=proxies)})


def test_harmless_differences_of_all_worlds_are_listed_and_make_nothing_unknown() -> None:
    claim = agreed({"none": proof(ACTIVE), "2.6": proof(NAMED)}).claims["live"]
    assert claim.verdict is Verdict.DIFFERENT
    assert {w.effect for w in claim.witnesses} == {Effect.ACTIVATION, Effect.NAME}
    assert claim.doubts == ()


def test_where_worlds_disagree_no_difference_is_left_that_would_decide() -> None:
    claim = agreed({"none": SAME, "2.6": proof(IDLE, NAMED)}).claims["live"]
    assert [w.effect for w in claim.witnesses] == [Effect.NAME]


def test_a_made_up_proxy_of_one_world_alone_is_not_called_equivalent() -> None:
    """The first world's `web` shows nothing; another proxy differs there, as `web` does later."""
    other = replace(proof(IDLE, made_up=True).claims["live"].proxies[0], name="db")
    first = _as(SAME, made_up=True)
    claim = first.claims["live"]
    first = replace(
        first,
        claims={"live": replace(claim, verdict=Verdict.DIFFERENT, proxies=(*claim.proxies, other))},
    )
    found = agreed({"none": first, "2.6": proof(IDLE, made_up=True)}).claims["live"]
    assert {p.name: p.verdict for p in found.proxies} == {
        "web": Verdict.UNKNOWN,
        "db": Verdict.DIFFERENT,
    }


def test_reasons_name_the_worlds_the_values_and_what_settles_it() -> None:
    found = apart({"none": (), "2.5": (), "2.6": (IDLE,)}, {"none": (), "2.5": (), "2.6": ()})
    first, *rest = map(str, found)
    assert "--initial-policies none|2.5|2.6" in first
    assert rest == [
        "MeshTimeout idleTimeout (inbound): with none or those up to 2.5 nothing changes;"
        " with those since 2.6 it goes 9m → 2h (mesh-timeout-all-default)"
    ]


def test_a_doubt_of_every_world_depends_on_none() -> None:
    rain, snow = (Doubt(DoubtKind.UNREAD, f"it {falls}") for falls in ("rains", "snows"))
    found = apart({"none": (), "2.6": ()}, {"none": (rain,), "2.6": (rain, snow)})
    assert list(map(str, found[1:])) == ["with those since 2.6: it snows", "it rains"]


def test_long_lists_are_counted() -> None:
    many = tuple(replace(IDLE, field=f"f{at}") for at in range(MOST + 5))
    reasons = apart({"none": (), "2.6": many}, {"none": (), "2.6": ()})
    assert str(reasons[-1]) == "5 more settings depend on it as well"
    assert len(reasons) == MOST + 2


def test_several_modes_are_told_in_their_order() -> None:
    rain, snow = (proof(unknown=(Doubt(DoubtKind.UNREAD, why),)) for why in ("rain", "snow"))
    told = together([rain.claims["live"], snow.claims["live"]])
    assert [str(doubt) for proxy in told.proxies for doubt in proxy.unknown] == ["rain", "snow"]


@pytest.mark.parametrize(
    ("lived", "rests"),
    [
        (SAME.claims["live"], True),
        (proof(ACTIVE).claims["live"], True),
        (proof(ACTIVE, IDLE).claims["live"], False),
        (replace(SAME.claims["live"], unknown=(Doubt(DoubtKind.UNREAD, "who knows"),)), False),
    ],
)
def test_a_claim_about_later_rests_on_what_is_read_today(lived: ClaimResult, rests: bool) -> None:
    later = SAME.claims["live"]
    found = upon("carry", later, lived)
    assert (found == later) is rests
    assert found.verdict is (Verdict.EQUIVALENT if rests else Verdict.UNKNOWN)


@pytest.mark.parametrize("halves", [(proof(IDLE), SAME), (SAME, proof(IDLE))])
def test_a_difference_of_either_half_of_the_way_is_one_of_the_whole(
    halves: tuple[MeshProof, MeshProof],
) -> None:
    live = chained(*halves).claims["live"]
    assert live.verdict is Verdict.DIFFERENT
    assert live.witnesses == (IDLE,)
