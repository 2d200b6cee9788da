"""A proof for people and programs: verdict first, then the smallest witnesses, then what is unread."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from kumamigrate.prove import Effect, Proof, Verdict, Witness, to_json
from kumamigrate.report.exit import Exit
from kumamigrate.report.lines import Line, line
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

    *carry* is the claim about a later switch; it is printed, and decides nothing here.
    """
    claims = [claim for claim in proof.claims if claim != "carry"]
    verdicts = {proof.verdict(claim) for claim in claims}
    if Verdict.DIFFERENT in verdicts:
        return Exit.DIFFERENT
    return Exit.INCONCLUSIVE if Verdict.UNKNOWN in verdicts else Exit.CLEAN


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
    lines = [line(f"{_count(meshes, 'mesh', 'meshes')}, {_count(policies, 'resource')}")]
    for claim in proof.claims:
        lines += [(), line((_CLAIMS[claim], "strong"), f" ({claim})")]
        for name, mesh in proof.meshes.items():
            result = mesh.claims.get(claim)
            if result is None:
                continue
            scope = "for every possible proxy" if mesh.all_proxies else "for the listed proxies"
            word = (result.verdict.value, _STYLE[result.verdict])
            lines.append(line(f"  {name}  ", word, f" {scope}" if result.verdict is Verdict.EQUIVALENT else ""))
            lines += witness_lines(result.witnesses, indent="      ")
            lines += [line("      cannot tell: ", reason) for reason in result.reasons]
            for mode, verdict in result.modes.items():
                lines.append(line(f"      mode {mode}: ", (verdict.value, _STYLE[verdict])))
    lines += [line(("  assumed: " + fact, "dim")) for fact in proof.assumptions[:MOST]]
    lines += [line(("  tie: " + tie, "dim")) for tie in proof.ties[:MOST]]
    lines += unread_lines(repositories[-1])
    return lines


def witness_lines(witnesses: Sequence[Witness], *, indent: str) -> list[Line]:
    """Return up to ten differences, one line each, equal ones of several proxies together."""
    grouped: dict[tuple[str, ...], list[Witness]] = {}
    for witness in witnesses:
        grouped.setdefault(witness.key[1:], []).append(witness)
    lines = [_witness_line(group, indent) for group in list(grouped.values())[:MOST]]
    if len(grouped) > MOST:
        lines.append(line(f"{indent}… and {len(grouped) - MOST} more; --format json has them all"))
    return lines


def _witness_line(group: Sequence[Witness], indent: str) -> Line:
    first = group[0]
    names = sorted({witness.proxy for witness in group})
    who = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
    way = f" → {first.destination}" if first.destination else ""
    route = f" {route_words(first.route)}" if first.route is not None else ""
    places = [f" ({side.at})" if side.at else "" for side in (first.before, first.after)]
    kind = "" if first.effect is Effect.VALUE else f" [{first.effect.value}]"
    return line(
        f"{indent}{who}{way}{route}  {first.policy_type} {first.field}  ",
        (value_words(first.before.value), "bad"),
        (places[0], "dim"),
        " → ",
        (value_words(first.after.value), "good"),
        (places[1], "dim"),
        kind,
    )


def route_words(match: Any) -> str:
    """Return a route match in a few words: method and path, then how much more there is."""
    path = match.get("path") or {}
    words = [str(match["method"])] if match.get("method") else []
    words.append(str(path.get("value", "/")))
    more = len(match.get("headers") or ()) + len(match.get("queryParams") or ())
    return " ".join(words) + (f" (+{more} conditions)" if more else "")


def value_words(value: Any) -> str:
    """Return a value as a reader wants it: none, a word, or compact JSON."""
    if value is None:
        return "none"
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "…"


def not_read(repository: Repository) -> list[Refusal]:
    """Return what makes a result inconclusive: content unread or filled in by templates."""
    return [r for r in repository.unread if r.hides or r.reason is Reason.TEMPLATE]


def unread_lines(repository: Repository) -> list[Line]:
    """Return what could not be read, one line each: place, what, what to do."""
    hidden = not_read(repository)
    if not hidden:
        return []
    lines: list[Line] = [(), line((f"Not read: {_count(len(hidden), 'place')}", "warn"))]
    for refusal in hidden[:MOST]:
        place = f"{refusal.path}:{refusal.line}:{refusal.column}" if refusal.line else refusal.path
        advice = f"; {refusal.advice}" if refusal.advice else ""
        lines.append(line("  ", (place, "place"), f"  {refusal.detail}{advice}"))
    if len(hidden) > MOST:
        lines.append(line(f"  … and {len(hidden) - MOST} more; --format json has them all"))
    return lines


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
