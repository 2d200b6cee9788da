"""What proxies see of a run: nothing, what starts to work, what differs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from kumamigrate.effective.difference import Effect, Witness
from kumamigrate.flow.verdict import Whole
from kumamigrate.model.versions import step_to
from kumamigrate.prover import Verdict
from kumamigrate.prover.claimed import LIVE, RELEASE
from kumamigrate.report.screen.counted import count, is_on_word
from kumamigrate.report.screen.difftext import (
    BUT_WHAT_STARTS,
    difference_lines,
    number_of,
)
from kumamigrate.report.screen.harmlesstext import (
    HEADINGS,
    Heading,
    by_heading,
    harmless_of,
    heading_line,
)
from kumamigrate.report.screen.onscreen import OnScreen
from kumamigrate.report.screen.restblock import IF_TCP, about_protocol
from kumamigrate.report.screen.switchtext import switch_lines
from kumamigrate.report.screen.waitingtext import waiting_lines
from kumamigrate.report.styled import Line, line
from kumamigrate.rewrite.finding import Status


def verdict_lines(screen: OnScreen) -> list[Line]:
    """Say what proxies see of it: nothing, what starts to work, what differs."""
    proof, claim = screen.outcome.proof, screen.outcome.claim
    if proof is None:
        return []
    lines = _sentence(screen)
    lines += waiting_lines(screen)
    lines += _found(screen, claim)
    lines += _modes(screen, claim)
    lines += switch_lines(screen)
    if claim == RELEASE:
        known = {witness.slot for witness in proof.witnesses(RELEASE)}
        today = [w for w in proof.witnesses(LIVE) if w.slot not in known]
        said = harmless_lines(today, screen, indent="    ")
        before = f"  Before the upgrade, on {screen.outcome.before.source}:"
        lines += [line(before), *said] if said else []
    return lines


def _sentence(screen: OnScreen) -> list[Line]:
    """Say what the run comes to as a whole."""
    outcome = screen.outcome
    target = outcome.before.target
    upgrade = outcome.claim != LIVE
    where = f" with {step_to(target, outcome.before.source)}" if upgrade else ""
    match outcome.whole:
        case Whole.PROVEN:
            assert outcome.proof is not None
            told = (w.effect for w in outcome.proof.witnesses(outcome.claim))
            but = BUT_WHAT_STARTS if Effect.ACTIVATION in told else ""
            same = f": no live value changes{where} {_for_whom(screen)}{but}."
            return [line(("Proved", "good"), same)]
        case Whole.AFTER_SWITCH:
            first = "Nothing changes if MeshService mode Exclusive comes first, on"
            return [_different(screen), line((f"{first} {outcome.before.source}.", "good"))]
        case Whole.UNKNOWN:
            said = f": cannot tell whether a live value changes{where}; why is under LEFT."
            return [line(("Not proved", "warn"), said)]
        case Whole.DIFFERENT:
            return [_different(screen)]


def _for_whom(screen: OnScreen) -> str:
    proof = screen.outcome.proof
    assert proof is not None
    limits = [why for why in proof.beyond if not about_protocol(why)]
    tail = IF_TCP if len(limits) < len(proof.beyond) else ""
    if proof.proxies == "all" or (tail and not limits):
        return f"for any possible proxy{tail}"
    claims = (m.claims[screen.outcome.claim] for m in proof.meshes.values())
    listed = any(not p.made_up for result in claims for p in result.proxies)
    by_files = all(any(fact in why for fact in proof.assumptions) for why in limits)
    if by_files:
        return f"for any proxy that these files allow for{tail}"
    if listed:
        return f"for the proxies listed{tail}"
    return f"for any proxy but those named under RESTS ON{tail}"


def _different(screen: OnScreen) -> Line:
    outcome = screen.outcome
    assert outcome.proof is not None
    counted = set(Effect) - outcome.options.allow
    witnesses = [w for w in outcome.proof.witnesses(outcome.claim) if w.effect in counted]
    number = number_of(witnesses, screen.sides())
    found = f"{count(number, 'difference')} left" if number else "see LEFT"
    if outcome.claim == LIVE:
        said = f": what proxies read today is not the same, {found}."
        return line(("Not proved", "bad"), said)
    fixed = (f for f in outcome.findings if f.status is Status.FIXED)
    edits = sum(1 for f in fixed if not is_on_word(outcome, f.rule))
    one_by_one = (
        f"{count(edits, 'edit')} {'is' if edits == 1 else 'are'} safe one by one; " if edits else ""
    )
    upgrade = f"{step_to(outcome.before.target, outcome.before.source)} is not safe yet"
    return line(("Not proved", "bad"), f": {one_by_one}{upgrade}: {found}.")


def _found(screen: OnScreen, claim: str) -> list[Line]:
    """Return the differences of a claim, kind by kind; where not all environments have the same,
    with those they are in."""
    proof = screen.outcome.proof
    assert proof is not None
    known: dict[str, list[Witness]] = {mesh.environment: [] for mesh in proof.meshes.values()}
    for mesh in proof.meshes.values():
        known[mesh.environment] += mesh.claims[claim].witnesses if claim in mesh.claims else ()
    lines: list[Line] = []
    parts = {place: by_heading(found) for place, found in known.items()}
    for heading, mine in by_heading(w for found in known.values() for w in found).items():
        told = {
            place: _differences(part.get(heading, []), screen, place)
            for place, part in parts.items()
        }
        lines += _heading(heading, mine, screen)
        lines += _in_places({place: found for place, found in told.items() if found}, known)
    return lines


def _differences(witnesses: Sequence[Witness], screen: OnScreen, place: str) -> list[Line]:
    return difference_lines(witnesses, screen.sides(place), indent="  ")


def _heading(heading: Heading, mine: Sequence[Witness], screen: OnScreen) -> list[Line]:
    """Return what stands above the differences of one kind; those that count need nothing."""
    if heading[0] not in HEADINGS:
        return []
    number, allow = number_of(mine, screen.sides()), screen.outcome.options.allow
    return [heading_line(heading, number, mine, allow, hint=_hint(screen))]


def _in_places(told: Mapping[str, list[Line]], places: Collection[str]) -> list[Line]:
    """Return what is told of environments; what is so in all of them once."""
    if len(told) == len(places) and len({tuple(found) for found in told.values()}) == 1:
        return next(iter(told.values()))
    return [(*line(f"  {place}:"), *one) for place, found in told.items() for one in found]


def _hint(screen: OnScreen) -> str:
    pending = screen.outcome.texts and not screen.written
    return "" if not pending else " (--hold activation keeps that out of this change)"


def harmless_lines(
    witnesses: Iterable[Witness], screen: OnScreen, *, indent: str = ""
) -> list[Line]:
    """Return the harmless differences of a run, those of one kind below one heading."""
    allow = screen.outcome.options.allow
    return harmless_of(witnesses, screen.sides(), allow, indent=indent, hint=_hint(screen))


def _modes(screen: OnScreen, claim: str) -> list[Line]:
    """Say in which of the modes that a mesh may have nothing differs at all."""
    proof = screen.outcome.proof
    assert proof is not None
    modes = proof.modes(claim)
    same = [mode for mode, verdict in modes.items() if verdict is Verdict.EQUIVALENT]
    if not same or len(same) == len(modes):
        return []
    others = ", ".join(mode for mode in modes if mode not in same)
    idle = f"in MeshService mode {', '.join(same)} none of this; in {others} as said"
    return [line(f"  {idle}; the Mesh, an inventory or --mesh-services tells which it is")]
