"""May one scene follow another? The claims of a rule, asked of the prover (product.md §5)."""

from __future__ import annotations

from collections.abc import Iterable

from kumamigrate.prove import Effect, Proof, prove
from kumamigrate.repository import Rejection
from kumamigrate.rewrite.rule import Rule
from kumamigrate.source.text import FieldPath
from kumamigrate.trial import Judge, Scene, Verdict

_HARMLESS = (Effect.ACTIVATION, Effect.NAME, Effect.RESIDUE)


def judge_of(rule: Rule, before: Scene, *, take_unknown: bool = False) -> Judge:
    """Return the judge for the changes of one rule.

    *live*: no value that a proxy reads today may change; values that had no effect before may
    take effect, and routes may be renamed. *carry* and *release*: where the changes touch
    something, it must be carried over from the state the run began with, and nothing that was
    carried over may be lost; what fails already for other reasons does not count.
    Nothing may be written that a control plane refuses. With `take_unknown` (`--accept`) an
    unknown verdict passes.
    """

    def judge(current: Scene, candidate: Scene) -> Verdict:
        refused = _newly_refused(current, candidate, upgrade=rule.upgrade)
        if refused:
            return Verdict(unknown=refused)
        verdicts = []
        touched: set[tuple[str, ...]] = set()
        if "live" in rule.claims:
            proof = _prove(current, candidate, "live")
            live = proof.witnesses("live")
            touched = {w.slot for w in live if w.effect is Effect.ACTIVATION}
            bad = tuple(w for w in live if w.effect not in _HARMLESS)
            verdicts.append(Verdict(witnesses=bad, unknown=proof.unknown("live")))
        for claim in ("carry", "release"):
            if claim in rule.claims:
                verdicts.append(_not_worse(claim, before, current, candidate, touched))
        return _together(verdicts, take_unknown=take_unknown)

    return judge


def _not_worse(
    claim: str,
    before: Scene,
    current: Scene,
    candidate: Scene,
    touched: set[tuple[str, ...]],
) -> Verdict:
    then, now = _prove(before, current, claim), _prove(before, candidate, claim)
    known = {witness.key for witness in then.witnesses(claim)}
    bad = tuple(
        witness
        for witness in now.witnesses(claim)
        if witness.effect not in _HARMLESS
        and (witness.key not in known or witness.slot in touched)
    )
    return Verdict(witnesses=bad, unknown=now.unknown(claim))


def _prove(before: Scene, after: Scene, claim: str) -> Proof:
    release = before.target if claim == "release" else before.source
    return prove(
        before.state(before.source)[0],
        after.state(release)[0],
        claims=(claim,),
        locate_before=before.locate,
        locate_after=after.locate,
    )


def _together(verdicts: Iterable[Verdict], *, take_unknown: bool) -> Verdict:
    listed = list(verdicts)
    witnesses = tuple(w for verdict in listed for w in verdict.witnesses)
    unknown = tuple(dict.fromkeys(u for verdict in listed for u in verdict.unknown))
    return Verdict(witnesses=witnesses, unknown=() if take_unknown else unknown)


def _newly_refused(current: Scene, candidate: Scene, *, upgrade: bool) -> tuple[str, ...]:
    """Say what a control plane would refuse after the changes and did not before."""
    releases = {candidate.target} if upgrade else {candidate.source, candidate.target}
    found = []
    for release in sorted(releases):
        rejected = current.state(release)[1]
        known = {fault for rejection in rejected for fault in _faults(rejection)}
        stored = {r.resource.identity for r in rejected} | {
            resource.identity for resource in current.state(release)[0].resources
        }
        # A half of a manifest that the target refuses anyway may have the other half's faults.
        inherited = {(one.resource.type, p.path) for one in rejected for p in one.problems}
        for rejection in candidate.state(release)[1]:
            name = rejection.resource
            half = name.identity not in stored and release != candidate.source
            for problem in rejection.problems:
                old = (name.identity, problem.path) in known
                if not old and not (half and (name.type, problem.path) in inherited):
                    where = f"{name.type} {name.name}"
                    found.append(f"{release} would refuse {where}: {problem.message}")
    return tuple(found)


def _faults(rejection: Rejection) -> set[tuple[tuple[str, str, str, str], FieldPath]]:
    return {(rejection.resource.identity, problem.path) for problem in rejection.problems}
