"""Proofs one after the other: what holds from A to B and from B to C holds from A to C."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from kumamigrate.dataclass import replace
from kumamigrate.effective.difference import HARMLESS, Effect, Witness
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.prover.claimed import CARRY, LIVE, RELEASE
from kumamigrate.prover.proof import (
    ClaimResult,
    MeshProof,
    Proof,
    ProxyVerdict,
    Verdict,
    doubted,
    worst,
)


def chained(first: MeshProof, second: MeshProof, told: ClaimResult | None = None) -> MeshProof:
    """Return the proof of the whole way in a mesh. `first` proves claim *live* alone.

    Differences of both halves are differences of the whole, even if they should cancel out. The
    other claims of `second` start in the middle; they hold from the beginning where *live* does,
    and what the first half changes without harm they change as well. `told` is what is said of
    claim *live* for the whole way: what stands there need not be said again.
    """
    lived = first.claims[LIVE]
    fresh = _without(lived, told)
    claims = {
        name: _both(lived, result)
        if name == LIVE
        else replace(_both(fresh, upon(name, result, lived)), modes=result.modes)
        for name, result in second.claims.items()
    }
    return MeshProof(
        mesh=first.mesh,
        claims=claims,
        all_proxies=first.all_proxies and second.all_proxies,
        beyond=tuple(dict.fromkeys((*first.beyond, *second.beyond))),
        assumptions=tuple(dict.fromkeys((*first.assumptions, *second.assumptions))),
        ties=tuple(dict.fromkeys((*first.ties, *second.ties))),
    )


def _without(lived: ClaimResult, told: ClaimResult | None) -> ClaimResult:
    """Return the differences of a claim but for those that are told, and no doubts.

    What begins to work is told of each proxy and place, the rest once.
    """
    known = {_said(witness) for witness in told.witnesses} if told is not None else set()
    proxies = []
    for proxy in lived.proxies:
        left = tuple(w for w in proxy.witnesses if _said(w) not in known)
        if left:
            proxies.append(replace(proxy, verdict=Verdict.DIFFERENT, witnesses=left, unknown=()))
    verdict = Verdict.DIFFERENT if proxies else Verdict.EQUIVALENT
    return ClaimResult(verdict=verdict, proxies=tuple(proxies))


def _said(witness: Witness) -> tuple[str, ...]:
    """Return what tells two differences apart; what harms nobody is told once for all places."""
    if witness.effect is Effect.ACTIVATION:
        return witness.key
    return (witness.policy_type, witness.field, *witness.values)


def _both(first: ClaimResult, second: ClaimResult) -> ClaimResult:
    proxies: dict[tuple[str, bool], ProxyVerdict] = {}
    for verdict in (*first.proxies, *second.proxies):
        key = (verdict.name, verdict.made_up)
        known = proxies.get(key)
        if known is not None:
            verdict = replace(
                verdict,
                verdict=worst((known.verdict, verdict.verdict)),
                witnesses=(*known.witnesses, *verdict.witnesses),
                unknown=tuple(dict.fromkeys((*known.unknown, *verdict.unknown))),
            )
        proxies[key] = verdict
    modes = {
        mode: worst(r.modes[mode] for r in (first, second) if mode in r.modes)
        for mode in dict.fromkeys((*first.modes, *second.modes))
    }
    return ClaimResult(
        verdict=worst((first.verdict, second.verdict)),
        proxies=tuple(proxies.values()),
        unknown=tuple(dict.fromkeys((*first.unknown, *second.unknown))),
        modes=modes,
    )


_WHEN = {CARRY: "when the mode switches", RELEASE: "after the upgrade"}


def upon(claim: str, result: ClaimResult, lived: ClaimResult) -> ClaimResult:
    """Return a claim about a later state as one about an earlier: it rests on *live*."""
    if not lived.doubts and all(w.effect in HARMLESS for w in lived.witnesses):
        return result
    doubt = Doubt(
        DoubtKind.CLAIM,
        f"what is read {_WHEN[claim]} was compared by what is read today where old policies may be,"
        " and that is not the same",
    )
    return _doubted(result, (doubt,))


def _doubted(result: ClaimResult, reasons: Sequence[Doubt]) -> ClaimResult:
    """Return a claim with more that is not known, of the mesh and so of each proxy."""
    return replace(
        result,
        verdict=worst((result.verdict, Verdict.UNKNOWN)),
        proxies=tuple(doubted(proxy, reasons) for proxy in result.proxies),
        unknown=tuple(dict.fromkeys((*result.unknown, *reasons))),
    )


def doubting(proof: Proof, reasons: Mapping[str, Sequence[str]], claims: Set[str]) -> Proof:
    """Return a proof that does not know more of some claims, by mesh; "" stands for all meshes."""

    def doubtful(mesh: MeshProof) -> MeshProof:
        said = (*reasons.get("", ()), *reasons.get(mesh.mesh, ()))
        why = tuple(Doubt(DoubtKind.CLAIM, one) for one in said)
        if not why:
            return mesh
        results = {
            name: replace(
                _doubted(result, why),
                modes={mode: worst((v, Verdict.UNKNOWN)) for mode, v in result.modes.items()},
            )
            if name in claims
            else result
            for name, result in mesh.claims.items()
        }
        return replace(mesh, claims=results)

    return replace(proof, meshes={name: doubtful(mesh) for name, mesh in proof.meshes.items()})
