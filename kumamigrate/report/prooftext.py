"""A proof for people and programs: the verdict, the smallest differences, what was not read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import Any

from kumamigrate.effective.difference import HARMLESS
from kumamigrate.flow.claims import LIVE
from kumamigrate.prove import Effect, MeshProof, Proof, Verdict, to_json
from kumamigrate.prove.proof import ProxyVerdict
from kumamigrate.report.exit import Exit, worst
from kumamigrate.report.styled import Line, line
from kumamigrate.report.unread import Numbers, numbers_of, unread_lines, with_numbers
from kumamigrate.report.witnesses import difference_lines, doubts, harmless_lines, number_of
from kumamigrate.scene.repository import Repository
from kumamigrate.source.text import Refusal

MOST = 10
_STYLE = {Verdict.EQUIVALENT: "good", Verdict.DIFFERENT: "bad", Verdict.UNKNOWN: "warn"}
_WORDS = {
    Verdict.EQUIVALENT: "Equivalent",
    Verdict.UNKNOWN: "Cannot tell",
    Verdict.DIFFERENT: "Different",
}
_EXITS = {
    Verdict.EQUIVALENT: Exit.CLEAN,
    Verdict.UNKNOWN: Exit.INCONCLUSIVE,
    Verdict.DIFFERENT: Exit.DIFFERENT,
}
_CLAIMS = {
    "live": "What proxies read today",
    "carry": "What moves to real-resource outbounds when the mode switches",
    "release": "What proxies read after the upgrade",
}


def exit_of_proof(proof: Proof, claim: str, allow: Set[Effect]) -> Exit:
    """Return the exit code of the claim that decides; the others are printed.

    What was not read leaves a result inconclusive, also where it bars no verdict.
    """
    unread = Exit.INCONCLUSIVE if proof.unread else Exit.CLEAN
    return worst([_EXITS[proof.allowing(claim, allow)], unread])


def proof_json(
    proof: Proof, repositories: Sequence[Repository], claim: str, allow: Set[Effect]
) -> dict[str, Any]:
    """Return the form `kumamigrate.proof/1` (product.md §5)."""
    return {**to_json(proof, coverage_json(repositories[-1]), allow), "decides": claim}


def coverage_json(repository: Repository) -> dict[str, Any]:
    """Return what was read and what was not."""
    documents = [d for file in repository.files.values() for d in file.documents if d.holds]
    return {
        "files": repository.examined,
        "documents": len(documents),
        "kuma": len(repository.resources),
        "unread": [refusal_json(refusal) for refusal in repository.unread],
    }


def refusal_json(refusal: Refusal) -> dict[str, Any]:
    """Return a refusal with its place, reason and advice."""
    return {
        "file": refusal.path,
        "line": refusal.line,
        "column": refusal.column,
        "reason": refusal.reason.value,
        "message": refusal.detail,
        "action": refusal.advice,
    }


def proof_lines(
    proof: Proof,
    repositories: Sequence[Repository],
    claim: str = LIVE,
    allow: Set[Effect] = HARMLESS,
) -> list[Line]:
    """Return the verdict that decides, then every claim mesh by mesh with its witnesses, what
    was taken for granted, and unread content."""
    counted = f"{_count(len(repositories[-1].resources), 'resource')}"
    before, after = proof.release_before, proof.release_after
    kuma = f"Kuma {before}" if before == after else f"Kuma {before} → {after}"
    meshes = _meshes(proof)
    lines = [_verdict_line(proof, claim, allow), line(f"{meshes}, {counted}.   {kuma}")]
    lines += unread_lines(repositories[-1])
    numbers = numbers_of(repositories[-1])
    told: set[str] = set()
    for name in proof.claims:
        lines += [(), line((_CLAIMS[name], "strong"), f" ({name})")]
        for mesh in proof.meshes.values():
            if name in mesh.claims:
                lines += _claim_lines(mesh, name, allow, told, numbers)
    lines += resting_lines(proof)
    lines += [line(("  tie: " + tie, "dim")) for tie in proof.ties[:MOST]]
    return lines


def _verdict_line(proof: Proof, claim: str, allow: Set[Effect]) -> Line:
    """Say the result first: the verdict, what it is about, and how much is different."""
    verdict = proof.allowing(claim, allow)
    witnesses = proof.witnesses(claim)
    counted = _count(number_of(witnesses, *Effect), "difference")
    about = _CLAIMS[claim][0].lower() + _CLAIMS[claim][1:]
    match verdict:
        case Verdict.EQUIVALENT if witnesses:
            said = f" but for {counted} that may pass: {about}"
        case Verdict.EQUIVALENT:
            said = f": {about}"
        case Verdict.DIFFERENT:
            said = f": {about}, {counted}"
        case _:
            said = f": {about}"
    return line((_WORDS[verdict], _STYLE[verdict]), said)


def _claim_lines(
    mesh: MeshProof, claim: str, allow: Set[Effect], told: set[str], numbers: Numbers
) -> list[Line]:
    result = mesh.claims[claim]
    verdict = result.allowing(allow)
    scope = scope_words(result.proxies, every=mesh.all_proxies)
    excepted = ", except" if result.witnesses else ""
    tail = f"{scope}{excepted}" if verdict is Verdict.EQUIVALENT else ""
    where = f" in {mesh.environment}" if mesh.environment else ""
    lines = [line(f"  {mesh.mesh}{where}  ", (verdict.value, _STYLE[verdict]), tail)]
    lines += difference_lines(result.witnesses, indent="      ")
    lines += harmless_lines(result.witnesses, indent="      ", allow=allow)
    lines += _doubt_lines(doubts(with_numbers(result.reasons, numbers)), told)
    for mode, found in result.modes.items():
        lines.append(line(f"      mode {mode}: ", (found.value, _STYLE[found])))
    return lines


def found_lines(proof: Proof, claim: str, allow: Set[Effect]) -> list[Line]:
    """Return the differences of a claim, with where they are if not all environments have them."""
    places = dict.fromkeys(mesh.environment for mesh in proof.meshes.values())
    alike: dict[tuple[Line, ...], list[str]] = {}
    for place in places:
        meshes = [m for m in proof.meshes.values() if m.environment == place]
        witnesses = [w for m in meshes if claim in m.claims for w in m.claims[claim].witnesses]
        found = difference_lines(witnesses, indent="      ")
        found += harmless_lines(witnesses, indent="  ", allow=allow)
        if found:
            alike.setdefault(tuple(found), []).append(place)
    lines: list[Line] = []
    for told, where in alike.items():
        if len(where) == len(places):
            lines += told
            continue
        lines += [line(f"  in {', '.join(where)}"), *((*line("  "), *one) for one in told)]
    return lines


def scope_words(proxies: Iterable[ProxyVerdict], *, every: bool) -> str:
    """Say which proxies a verdict is about. Where none is listed, only its limits can be named."""
    if every:
        return " for every possible proxy"
    if any(not proxy.made_up for proxy in proxies):
        return " for the listed proxies"
    return " within the limits below"


def resting_lines(proof: Proof) -> list[Line]:
    """Say what a verdict rests on: why it is not for every proxy, and what is taken for granted."""
    lines = [line((f"  not for every proxy: {why}", "dim")) for why in proof.beyond[:MOST]]
    lines += _rest(proof.beyond)
    # Why it is not for every proxy may be just what is taken for granted.
    facts = [f for f in proof.assumptions if not any(f in why for why in proof.beyond)]
    if len(facts) == 1:
        return [*lines, line((f"  taken for granted: {facts[0]}", "dim"))]
    lines += [line(("  taken for granted:", "dim"))] if facts else []
    lines += [line((f"    {fact}", "dim")) for fact in facts[:MOST]]
    return lines + _rest(facts)


def _rest(facts: Sequence[str]) -> list[Line]:
    more = len(facts) - MOST
    return [line((f"  … and {more} more; --format json has them all", "dim"))] if more > 0 else []


def _doubt_lines(reasons: Sequence[str], told: set[str]) -> list[Line]:
    """Return what makes a verdict unknown; what another claim has said already is not repeated."""
    fresh = [reason for reason in reasons if reason not in told]
    told.update(fresh)
    lines = [line("      cannot tell: ", reason) for reason in fresh]
    if len(fresh) < len(reasons):
        lines.append(line("      cannot tell, as above"))
    return lines


def _meshes(proof: Proof) -> str:
    """Count the meshes, and the environments that hold them where there are several."""
    meshes = _count(len({m.mesh for m in proof.meshes.values()}), "mesh", "meshes")
    environments = {m.environment for m in proof.meshes.values()}
    if len(environments) < 2:
        return meshes
    return f"{meshes} in {_count(len(environments), 'environment')}"


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
