"""Over a state in between: what holds from A to B (*live*) and from B to C holds from A to C.

What old policies say only claim *live* compares, on one release. What moves when the mode
switches, or with an upgrade, is compared from a state on in which new policies say it; which one
that is does not matter to the proof (halfstates.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kumamigrate.effective.difference import HARMLESS
from kumamigrate.model.state import State
from kumamigrate.prover.claimed import LIVE
from kumamigrate.prover.compose import chained
from kumamigrate.prover.halfstates import halfway
from kumamigrate.prover.proof import ClaimResult, MeshProof, Verdict, gathered, worst

Ask = Callable[[State, State, State | None, Sequence[str]], MeshProof]
"""Proves some claims about two states of one mesh, the later also as another release stores it."""


def over_midway(
    found: MeshProof, before: State, after: State, upgraded: State | None, ask: Ask
) -> MeshProof:
    """Return a proof with each claim that the way over a state in between tells more of.

    Where the first half is harmless, the second says what holds of the whole.
    """
    for middle in halfway(before, after, after if upgraded is None else upgraded):
        left = [name for name, result in found.claims.items() if _is_open(name, result)]
        if not left:
            break
        first = ask(before, middle, None, (LIVE,))
        if _is_good(first.claims[LIVE]):
            second = ask(middle, after, upgraded, left)
            found = _better(found, chained(first, second, found.claims.get(LIVE)))
    return found


def _is_open(claim: str, result: ClaimResult) -> bool:
    """Say whether a claim may come out better: what is read today and differs does so whichever
    way is looked at."""
    known = (Verdict.EQUIVALENT, Verdict.DIFFERENT) if claim == LIVE else (Verdict.EQUIVALENT,)
    return result.allowing(HARMLESS) not in known


def _better(found: MeshProof, other: MeshProof) -> MeshProof:
    """Return a proof with the claims of another one that it says more of."""
    better = {n: result for n, result in other.claims.items() if _is_worse(found.claims[n], result)}
    return gathered((found, other), {**found.claims, **better}) if better else found


def _is_good(result: ClaimResult) -> bool:
    return result.allowing(HARMLESS) is Verdict.EQUIVALENT


def _is_worse(one: ClaimResult, other: ClaimResult) -> bool:
    """Say whether another result says more: a better verdict, or fewer differences, since what a
    state in between shows as well is no difference of the whole way."""
    verdict = other.allowing(HARMLESS)
    if one.allowing(HARMLESS) is verdict is Verdict.DIFFERENT:
        return _harm(other) < _harm(one)
    return worst((one.allowing(HARMLESS), verdict)) is not verdict


def _harm(result: ClaimResult) -> int:
    return sum(witness.effect not in HARMLESS for witness in result.witnesses)
