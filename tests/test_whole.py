"""What a run comes to as a whole, from the proof of the sum."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumamigrate.effective.difference import HARMLESS
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.flow.verdict import Whole, breaks_today, changed_types, whole_of
from kumamigrate.prover import (
    ClaimResult,
    Effect,
    MeshProof,
    Proof,
    ProxyVerdict,
    Value,
    Verdict,
    Witness,
)
from kumamigrate.scene.repository import repository_of


def _proof(
    *effects: Effect,
    unknown: tuple[str, ...] = (),
    type_: str = "MeshRetry",
    claim: str = "release",
) -> Proof:
    witnesses = tuple(
        Witness(
            mesh="m",
            proxy="p",
            policy_type=type_,
            direction="outbound",
            field="http.numRetries",
            before=Value(value=1),
            after=Value(value=2),
            effect=effect,
        )
        for effect in effects
    )
    verdict = Verdict.DIFFERENT if witnesses else Verdict.EQUIVALENT
    proxy = ProxyVerdict(name="p", verdict=verdict, witnesses=witnesses)
    result = ClaimResult(verdict=verdict, proxies=(proxy,), unknown=unknown)
    mesh = MeshProof(mesh="m", claims={claim: result})
    return Proof(release_before="2.14", release_after="3.0", meshes={"m": mesh})


HARMLESS_ONES = (Effect.ACTIVATION, Effect.NAME, Effect.RESIDUE)


@pytest.mark.parametrize(
    ("proof", "switched", "whole"),
    [
        (_proof(), None, Whole.PROVEN),
        (_proof(*HARMLESS_ONES), None, Whole.PROVEN),
        # Whoever is behind a difference: the upgrade itself, as well.
        (_proof(Effect.VALUE, type_="MeshTrace"), None, Whole.DIFFERENT),
        (_proof(unknown=(Doubt(DoubtKind.UNREAD, "a file"),)), None, Whole.UNKNOWN),
        (_proof(Effect.VALUE), None, Whole.DIFFERENT),
        (_proof(Effect.VALUE), _proof(), Whole.AFTER_SWITCH),
        (_proof(Effect.VALUE), _proof(Effect.VALUE), Whole.DIFFERENT),
        # The difference is there, whatever is not known of the mesh once it is switched.
        (
            _proof(Effect.VALUE),
            _proof(unknown=(Doubt(DoubtKind.UNREAD, "a file"),)),
            Whole.DIFFERENT,
        ),
        (_proof(Effect.VALUE, unknown=(Doubt(DoubtKind.UNREAD, "a file"),)), None, Whole.DIFFERENT),
    ],
)
def test_the_sum_is_only_as_good_as_its_own_proof(
    proof: Proof, switched: Proof | None, whole: Whole
) -> None:
    assert whole_of(proof, switched, "release", HARMLESS) is whole


@pytest.mark.parametrize("effect", HARMLESS_ONES)
def test_what_is_not_allowed_is_different(effect: Effect) -> None:
    proof = _proof(effect)
    assert whole_of(proof, None, "release", HARMLESS - {effect}) is Whole.DIFFERENT
    assert whole_of(proof, None, "release", frozenset({effect})) is Whole.PROVEN


def test_what_was_written_breaks_something_today_or_it_does_not() -> None:
    proof = _proof(Effect.VALUE, claim="live")
    assert breaks_today(proof, {"MeshRetry"}, HARMLESS)
    assert not breaks_today(proof, {"MeshTimeout"}, HARMLESS)
    assert not breaks_today(_proof(Effect.NAME, claim="live"), {"MeshRetry"}, HARMLESS)
    # A route decides what every policy on routes does.
    assert breaks_today(proof, {"MeshHTTPRoute"}, HARMLESS)


def test_only_what_differs_counts_as_changed() -> None:
    text = b"type: MeshRetry\nname: r\nmesh: m\nspec: {to: []}\n---\ntype: Mesh\nname: m\n"
    old = repository_of({"a.yaml": text}, root=Path())
    assert changed_types(old, old) == frozenset()
    new = repository_of({"a.yaml": text.replace(b"[]", b"[{}]")}, root=Path())
    assert changed_types(old, new) == frozenset({"MeshRetry"})
