"""What a run comes to as a whole: step by step proven is not enough to say so of the sum."""

from __future__ import annotations

from collections.abc import Set
from enum import StrEnum

from kumamigrate.model.kinds import KUBERNETES
from kumamigrate.prover import Effect, Proof, Verdict
from kumamigrate.prover.claimed import LIVE
from kumamigrate.scene.repository import Repository


class Whole(StrEnum):
    """The verdict on the state that a run leaves.

    AFTER_SWITCH: proven for a mesh that is switched to MeshService mode Exclusive before the
    upgrade; as it is now, the upgrade itself makes differences.
    """

    PROVEN = "proven"
    AFTER_SWITCH = "after-switch"
    UNKNOWN = "unknown"
    DIFFERENT = "different"


_OF_VERDICT = {
    Verdict.EQUIVALENT: Whole.PROVEN,
    Verdict.UNKNOWN: Whole.UNKNOWN,
    Verdict.DIFFERENT: Whole.DIFFERENT,
}


def whole_of(proof: Proof, claim: str, allow: Set[Effect], once_switched: bool) -> Whole:
    """Return the verdict on all types, whoever is behind a difference. `once_switched`: it holds
    for meshes that have switched to MeshService mode Exclusive first.

    What is not known of those takes nothing from a difference that is shown.
    """
    found = proof.allowing(claim, allow)
    if found is Verdict.DIFFERENT and once_switched:
        return Whole.AFTER_SWITCH
    return _OF_VERDICT[found]


def breaks_today(proof: Proof, changed: Set[str], allow: Set[Effect]) -> bool:
    """Say whether what was written changes a value that a proxy reads today."""
    # A route decides what every policy on routes does, so a changed one may be behind anything.
    everything = bool(changed & {"MeshHTTPRoute", "MeshTCPRoute"})
    made = changed | {"Dataplane"} if changed & KUBERNETES else changed
    return any(
        w.effect not in allow and (everything or w.policy_type in made)
        for w in proof.witnesses(LIVE)
    )


def changed_types(before: Repository, after: Repository) -> frozenset[str]:
    """Return the types of the resources that differ between two states of a repository."""
    old, new = (
        {(r.type, r.identity, r.canonical_body) for r in side.resources} for side in (before, after)
    )
    return frozenset(type_ for type_, *_ in old ^ new)
