"""What a run comes to as a whole, from the proof of the sum."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumamigrate.prove import (
    ClaimResult,
    Effect,
    MeshProof,
    Proof,
    ProxyVerdict,
    Value,
    Verdict,
    Witness,
)
from kumamigrate.repository import repository_of
from kumamigrate.whole import Whole, changed_types, whole_of


def _proof(*effects: Effect, unknown: tuple[str, ...] = (), type_: str = "MeshRetry") -> Proof:
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
    proxy = ProxyVerdict(name="p", verdict=Verdict.DIFFERENT, witnesses=witnesses)
    result = ClaimResult(verdict=Verdict.DIFFERENT, proxies=(proxy,), unknown=unknown)
    mesh = MeshProof(mesh="m", claims={"release": result})
    return Proof(release_before="2.14", release_after="3.0", meshes={"m": mesh})


CHANGED = frozenset({"MeshRetry"})


@pytest.mark.parametrize(
    ("proof", "switched", "whole"),
    [
        (_proof(), None, Whole.PROVEN),
        (_proof(Effect.ACTIVATION, Effect.NAME, Effect.RESIDUE), None, Whole.PROVEN),
        (_proof(Effect.VALUE, type_="MeshTrace"), None, Whole.PROVEN),
        (_proof(unknown=("a file",)), None, Whole.UNKNOWN),
        (_proof(Effect.VALUE), None, Whole.DIFFERENT),
        (_proof(Effect.VALUE), _proof(), Whole.AFTER_SWITCH),
        (_proof(Effect.VALUE), _proof(Effect.VALUE), Whole.DIFFERENT),
        (_proof(Effect.VALUE), _proof(unknown=("a file",)), Whole.UNKNOWN),
        (_proof(Effect.VALUE, unknown=("a file",)), None, Whole.DIFFERENT),
    ],
)
def test_the_sum_is_only_as_good_as_its_own_proof(
    proof: Proof, switched: Proof | None, whole: Whole
) -> None:
    assert whole_of(proof, switched, "release", CHANGED) is whole


def test_a_changed_route_may_be_behind_any_difference() -> None:
    proof = _proof(Effect.VALUE, type_="MeshTimeout")
    assert whole_of(proof, None, "release", frozenset({"MeshHTTPRoute"})) is Whole.DIFFERENT


def test_only_what_differs_counts_as_changed() -> None:
    text = b"type: MeshRetry\nname: r\nmesh: m\nspec: {to: []}\n---\ntype: Mesh\nname: m\n"
    old = repository_of({"a.yaml": text}, root=Path())
    assert changed_types(old, old) == frozenset()
    new = repository_of({"a.yaml": text.replace(b"[]", b"[{}]")}, root=Path())
    assert changed_types(old, new) == frozenset({"MeshRetry"})
