"""Proofs as values: what was claimed, for which proxies, and what speaks against it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from enum import StrEnum
from typing import Any

from kumamigrate.dataclass import dataclass, field, replace
from kumamigrate.effective.difference import HARMLESS, Effect, Value, Witness
from kumamigrate.effective.doubted import Doubt, merged
from kumamigrate.source.text import Refusal

MOST_WITNESSES = 50
"""So many witnesses of one proxy are printed; the rest is counted."""


class Verdict(StrEnum):
    """What a claim comes to. Worst wins: different, unknown, equivalent."""

    EQUIVALENT = "equivalent"
    UNKNOWN = "unknown"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyVerdict:
    """The verdict for one Dataplane, or for one made-up proxy that stands for many."""

    name: str
    verdict: Verdict
    witnesses: tuple[Witness, ...] = ()
    unknown: tuple[Doubt, ...] = ()
    made_up: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimResult:
    """One claim for one mesh. `modes` holds a verdict for each mode the mesh may have."""

    verdict: Verdict
    proxies: tuple[ProxyVerdict, ...] = ()
    unknown: tuple[Doubt, ...] = ()
    modes: Mapping[str, Verdict] = field(default_factory=dict)

    @property
    def witnesses(self) -> tuple[Witness, ...]:
        """All witnesses, proxy by proxy."""
        return tuple(w for proxy in self.proxies for w in proxy.witnesses)

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """All that made something unknown, each once."""
        inner = (reason for proxy in self.proxies for reason in proxy.unknown)
        return tuple(dict.fromkeys((*self.unknown, *inner)))

    def allowing(self, effects: Set[Effect]) -> Verdict:
        """Return the verdict as if differences of some kinds were none."""
        witnesses = self.witnesses
        if any(w.effect not in effects for w in witnesses):
            return Verdict.DIFFERENT
        if self.verdict is Verdict.DIFFERENT and not witnesses:
            return Verdict.DIFFERENT
        known = self.verdict is not Verdict.UNKNOWN and not self.doubts
        return Verdict.EQUIVALENT if known else Verdict.UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class MeshProof:
    """What was proved about one mesh. `all_proxies`: for every proxy that could exist.

    `beyond` says why the verdict holds only for the listed proxies; `environment` in which of
    several it stands.
    """

    mesh: str
    environment: str = ""
    claims: Mapping[str, ClaimResult]
    all_proxies: bool = True
    beyond: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    ties: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """The proof for two states, mesh by mesh."""

    release_before: str
    release_after: str
    meshes: Mapping[str, MeshProof] = field(default_factory=dict)
    unread: tuple[Refusal, ...] = ()

    @property
    def claims(self) -> tuple[str, ...]:
        """The names of the claims, in the order asked."""
        return tuple(dict.fromkeys(c for m in self.meshes.values() for c in m.claims))

    @property
    def proxies(self) -> str:
        """Either "all" or "listed" (product.md §5)."""
        return "all" if all(m.all_proxies for m in self.meshes.values()) else "listed"

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Facts taken for granted, each once."""
        return tuple(dict.fromkeys(a for m in self.meshes.values() for a in m.assumptions))

    @property
    def ties(self) -> tuple[str, ...]:
        """Ties that Kuma leaves to chance, each once."""
        return tuple(dict.fromkeys(t for m in self.meshes.values() for t in m.ties))

    @property
    def beyond(self) -> tuple[str, ...]:
        """Why the verdict holds only for the listed proxies, each reason once."""
        return tuple(dict.fromkeys(b for m in self.meshes.values() for b in m.beyond))

    def verdict(self, claim: str) -> Verdict:
        """Return the worst verdict of a claim over all meshes."""
        return worst(m.claims[claim].verdict for m in self.meshes.values() if claim in m.claims)

    def allowing(self, claim: str, effects: Set[Effect]) -> Verdict:
        """Return the worst verdict of a claim as if differences of some kinds were none."""
        found = (m.claims[claim] for m in self.meshes.values() if claim in m.claims)
        return worst(result.allowing(effects) for result in found)

    def witnesses(self, claim: str) -> tuple[Witness, ...]:
        """Return all witnesses of a claim."""
        found = (m.claims[claim].witnesses for m in self.meshes.values() if claim in m.claims)
        return tuple(w for witnesses in found for w in witnesses)

    def unknown(self, claim: str) -> tuple[str, ...]:
        """Return all that made a claim unknown, in words."""
        return tuple(map(str, self.doubts(claim)))

    def doubts(self, claim: str) -> tuple[Doubt, ...]:
        """Return all that made a claim unknown, each doubt once."""
        found = (m.claims[claim].doubts for m in self.meshes.values() if claim in m.claims)
        return merged(doubt for doubts in found for doubt in doubts)

    def modes(self, claim: str) -> dict[str, Verdict]:
        """Return the verdict for each mode that some mesh of unknown mode may have."""
        modes: dict[str, list[Verdict]] = {}
        for mesh in self.meshes.values():
            for mode, verdict in (mesh.claims[claim].modes if claim in mesh.claims else {}).items():
                modes.setdefault(mode, []).append(verdict)
        return {mode: worst(verdicts) for mode, verdicts in modes.items()}


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the worst of some verdicts; none at all is equivalent."""
    order = list(Verdict)
    return max(verdicts, key=order.index, default=Verdict.EQUIVALENT)


def gathered(proofs: Iterable[MeshProof], claims: Mapping[str, ClaimResult]) -> MeshProof:
    """Return what several proofs of a mesh say of some claims, as one."""
    every = tuple(proofs)
    return replace(
        every[0],
        claims=claims,
        all_proxies=all(proof.all_proxies for proof in every),
        beyond=tuple(dict.fromkeys(b for proof in every for b in proof.beyond)),
        assumptions=tuple(dict.fromkeys(a for proof in every for a in proof.assumptions)),
        ties=tuple(dict.fromkeys(t for proof in every for t in proof.ties)),
    )


def only_listed(what: str) -> str:
    """Return that the Dataplanes of the states were compared, and something else was not."""
    return f"compared for the Dataplanes of the state, not for {what}"


def doubted(proxy: ProxyVerdict, doubts: Iterable[Doubt]) -> ProxyVerdict:
    """Return the verdict of a proxy with more that is not known: of what differs, no less is."""
    added = tuple(dict.fromkeys((*proxy.unknown, *doubts)))
    if proxy.verdict is Verdict.DIFFERENT or added == proxy.unknown:
        return proxy
    return replace(proxy, verdict=Verdict.UNKNOWN, unknown=added)


def to_json(
    proof: Proof,
    coverage: Mapping[str, Any] | None = None,
    allow: Set[Effect] = HARMLESS,
    *,
    qualified: bool = False,
) -> dict[str, Any]:
    """Return the proof in the form `kumamigrate.proof/1` (product.md §5).

    `verdict` says whether anything differs at all, `allowing` whether anything does that is not
    allowed. Dataplanes are called by their mesh as well where two have one name, or `qualified`.
    """
    return {
        "schema": "kumamigrate.proof/1",
        "release": {"before": proof.release_before, "after": proof.release_after},
        "proxies": proof.proxies,
        "allow": sorted(effect.value for effect in allow),
        "claims": {
            claim: _claim_json(proof, claim, allow, qualified=qualified) for claim in proof.claims
        },
        "beyond": list(proof.beyond),
        "assumptions": list(proof.assumptions),
        "ties": list(proof.ties),
        "coverage": dict(coverage) if coverage is not None else {"unread": _unread(proof.unread)},
    }


def _claim_json(proof: Proof, claim: str, allow: Set[Effect], *, qualified: bool) -> dict[str, Any]:
    dataplanes: dict[str, Any] = {}
    for called, mesh in proof.meshes.items():
        for proxy in mesh.claims[claim].proxies if claim in mesh.claims else ():
            alone = not qualified and proxy.name not in dataplanes
            name = proxy.name if alone else f"{called}/{proxy.name}"
            dataplanes[name] = _proxy_json(proxy)
    out: dict[str, Any] = {
        "verdict": proof.verdict(claim).value,
        "allowing": proof.allowing(claim, allow).value,
        "dataplanes": dataplanes,
    }
    if proof.unknown(claim):
        out["unknown"] = list(proof.unknown(claim))
    if proof.modes(claim):
        out["modes"] = {mode: verdict.value for mode, verdict in proof.modes(claim).items()}
    return out


def _proxy_json(proxy: ProxyVerdict) -> dict[str, Any]:
    printed = proxy.witnesses[:MOST_WITNESSES]
    out: dict[str, Any] = {
        "verdict": proxy.verdict.value,
        "witnesses": [witness_json(w) for w in printed],
    }
    if proxy.made_up:
        out["madeUp"] = True
    if len(printed) < len(proxy.witnesses):
        out["moreWitnesses"] = len(proxy.witnesses) - len(printed)
    if proxy.unknown:
        out["unknown"] = list(map(str, proxy.unknown))
    return out


def witness_json(witness: Witness) -> dict[str, Any]:
    """Return one witness in the form of `kumamigrate.proof/1`."""
    out: dict[str, Any] = {"policyType": witness.policy_type, "direction": witness.direction}
    if witness.destination:
        out["destination"] = witness.destination
    if witness.outbound is not None:
        out["outbound"] = witness.outbound.value
    if witness.route is not None:
        out["route"] = witness.route
    out["field"] = witness.field
    out["before"] = _value_json(witness.before)
    out["after"] = _value_json(witness.after)
    out["effect"] = witness.effect.value
    return out


def _value_json(value: Value) -> dict[str, Any]:
    out = {"value": value.value}
    if value.policy:
        out["policy"] = value.policy
    if value.at:
        out["at"] = value.at
    return out


def _unread(refusals: Iterable[Refusal]) -> list[dict[str, Any]]:
    return [
        {"path": r.path, "line": r.line, "column": r.column, "reason": str(r.reason)}
        for r in refusals
    ]
