"""A proof for programs and for the shell: its JSON, its exit code."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

from kumamigrate.prover import Effect, Proof, Verdict, to_json
from kumamigrate.report.exit import Exit, worst
from kumamigrate.scene.repository import Repository
from kumamigrate.source.text import Refusal

_EXITS = {
    Verdict.EQUIVALENT: Exit.CLEAN,
    Verdict.UNKNOWN: Exit.INCONCLUSIVE,
    Verdict.DIFFERENT: Exit.DIFFERENT,
}


def exit_of_proof(proof: Proof, claim: str, allow: Set[Effect]) -> Exit:
    """Return the exit code of the claim that decides; the others are printed.

    What was not read leaves a result inconclusive, also where it bars no verdict.
    """
    unread = Exit.INCONCLUSIVE if proof.unread else Exit.CLEAN
    return worst([_EXITS[proof.allowing(claim, allow)], unread])


def proof_json(
    proof: Proof,
    repositories: Sequence[Repository],
    claim: str,
    allow: Set[Effect],
    *,
    qualified: bool = False,
) -> dict[str, Any]:
    """Return the form `kumamigrate.proof/1` (product.md §5)."""
    told = to_json(proof, coverage_json(repositories[-1]), allow, qualified=qualified)
    return {**told, "decides": claim}


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
