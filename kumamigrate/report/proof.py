"""A proof for people and programs: the verdict, the smallest differences, what was not read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kumamigrate.prove import Proof, Verdict, to_json
from kumamigrate.report.exit import Exit
from kumamigrate.report.lines import Line, line
from kumamigrate.report.witnesses import difference_lines, doubts, harmless_lines
from kumamigrate.repository import Repository
from kumamigrate.source.text import Reason, Refusal

MOST = 10
_STYLE = {Verdict.EQUIVALENT: "good", Verdict.DIFFERENT: "bad", Verdict.UNKNOWN: "warn"}
_CLAIMS = {
    "live": "What proxies read today",
    "carry": "What moves to real-resource outbounds when the mode switches",
    "release": "What proxies read after the upgrade",
}


def exit_of_proof(proof: Proof) -> Exit:
    """Return the exit code of a verdict: *live* decides, and *release* where it was asked for.

    *carry* is the claim about a later switch; it is printed, and decides nothing here. What was
    not read leaves a result inconclusive, also where it bars no verdict.
    """
    claims = [claim for claim in proof.claims if claim != "carry"]
    verdicts = {proof.verdict(claim) for claim in claims}
    if Verdict.DIFFERENT in verdicts:
        return Exit.DIFFERENT
    doubtful = Verdict.UNKNOWN in verdicts or proof.unread
    return Exit.INCONCLUSIVE if doubtful else Exit.CLEAN


def proof_json(proof: Proof, repositories: Sequence[Repository]) -> dict[str, Any]:
    """Return the form `kumamigrate.proof/1` (product.md §5)."""
    return to_json(proof, coverage=coverage_json(repositories[-1]))


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


def proof_lines(proof: Proof, repositories: Sequence[Repository]) -> list[Line]:
    """Return verdict by claim and mesh, witnesses, assumptions, and unread content."""
    policies = len(repositories[-1].resources)
    meshes = len(proof.meshes)
    before, after = proof.release_before, proof.release_after
    kuma = f"Kuma {before}" if before == after else f"Kuma {before} → {after}"
    counted = f"{_count(meshes, 'mesh', 'meshes')}, {_count(policies, 'resource')}"
    lines = [line(f"{counted}.   {kuma}")]
    told: set[str] = set()
    for claim in proof.claims:
        lines += [(), line((_CLAIMS[claim], "strong"), f" ({claim})")]
        for name, mesh in proof.meshes.items():
            result = mesh.claims.get(claim)
            if result is None:
                continue
            scope = "for every possible proxy" if mesh.all_proxies else "for the listed proxies"
            word = (result.verdict.value, _STYLE[result.verdict])
            lines.append(
                line(
                    f"  {name}  ", word, f" {scope}" if result.verdict is Verdict.EQUIVALENT else ""
                )
            )
            lines += difference_lines(result.witnesses, indent="      ")
            lines += harmless_lines(result.witnesses, indent="      ")
            lines += _doubt_lines(doubts(result.reasons), told)
            for mode, verdict in result.modes.items():
                lines.append(line(f"      mode {mode}: ", (verdict.value, _STYLE[verdict])))
    lines += beyond_lines(proof)
    lines += [line(("  assumed: " + fact, "dim")) for fact in proof.assumptions[:MOST]]
    lines += [line(("  tie: " + tie, "dim")) for tie in proof.ties[:MOST]]
    lines += unread_lines(repositories[-1])
    return lines


def _doubt_lines(reasons: Sequence[str], told: set[str]) -> list[Line]:
    """Return what makes a verdict unknown; what another claim has said already is not repeated."""
    fresh = [reason for reason in reasons if reason not in told]
    told.update(fresh)
    lines = [line("      cannot tell: ", reason) for reason in fresh]
    if len(fresh) < len(reasons):
        lines.append(line("      cannot tell, as above"))
    return lines


def beyond_lines(proof: Proof) -> list[Line]:
    """Say why a verdict holds for the listed proxies only."""
    return [line((f"  not for every proxy: {why}", "dim")) for why in proof.beyond[:3]]


def not_read(repository: Repository) -> list[Refusal]:
    """Return what makes a result inconclusive: content unread or filled in by templates."""
    return [r for r in repository.unread if r.hides or r.reason is Reason.TEMPLATE]


def unread_lines(repository: Repository) -> list[Line]:
    """Return what could not be read, and what templates fill in."""
    unread = repository.unread
    hidden = [r for r in unread if r.hides]
    filled = [r for r in unread if r.reason is Reason.TEMPLATE and not r.hides]
    return [
        *_refusal_lines("Not read", hidden, "warn"),
        *_refusal_lines("Filled in by templates, so not known", filled, "warn"),
    ]


def _refusal_lines(title: str, refusals: Sequence[Refusal], style: str) -> list[Line]:
    """Return one line each: place, what, what to do."""
    if not refusals:
        return []
    lines: list[Line] = [(), line((f"{title}: {_count(len(refusals), 'place')}", style))]
    for refusal in refusals[:MOST]:
        place = f"{refusal.path}:{refusal.line}:{refusal.column}" if refusal.line else refusal.path
        advice = f"; {refusal.advice}" if refusal.advice else ""
        lines.append(line("  ", (place, "place"), f"  {refusal.detail}{advice}"))
    if len(refusals) > MOST:
        lines.append(line(f"  … and {len(refusals) - MOST} more; --format json has them all"))
    return lines


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
