"""What a run comes to as a whole: step by step proven is not enough to say so of the sum."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from kumamigrate.model.conf import canonical
from kumamigrate.model.kinds import KUBERNETES
from kumamigrate.prove import Effect, Proof, Witness
from kumamigrate.repository import Repository
from kumamigrate.rewrite.change import Change, Rollout


class Whole(StrEnum):
    """The verdict on everything that a run wrote.

    AFTER_SWITCH: proven for a mesh that is switched to MeshService mode Exclusive before the
    upgrade; as it is now, the upgrade itself makes differences.
    """

    PROVEN = "proven"
    AFTER_SWITCH = "after-switch"
    UNKNOWN = "unknown"
    DIFFERENT = "different"


def claim_of(kept: Iterable[Change], proof: Proof) -> str:
    """Return the claim that speaks for a run: *release* if a part goes out with the upgrade."""
    upgrade = any(change.rollout is not Rollout.NOW for change in kept)
    return "release" if upgrade and "release" in proof.claims else "live"


def whole_of(proof: Proof, switched: Proof | None, claim: str, changed: frozenset[str]) -> Whole:
    """Return the verdict on a run that changed resources of some types."""
    if _own(proof.witnesses(claim), changed):
        if switched is None or _own(switched.witnesses(claim), changed):
            return Whole.DIFFERENT
        return Whole.UNKNOWN if switched.unknown(claim) else Whole.AFTER_SWITCH
    return Whole.UNKNOWN if proof.unknown(claim) else Whole.PROVEN


def own_differences(proof: Proof, claim: str, changed: frozenset[str]) -> tuple[Witness, ...]:
    """Return the changed values that what was written may have to do with."""
    return _own(proof.witnesses(claim), changed)


def changed_types(before: Repository, after: Repository) -> frozenset[str]:
    """Return the types of the resources that differ between two states of a repository."""
    old, new = (
        {(r.type, r.identity, canonical(r.body)) for r in side.resources}
        for side in (before, after)
    )
    return frozenset(type_ for type_, *_ in old ^ new)


def _own(witnesses: Iterable[Witness], changed: frozenset[str]) -> tuple[Witness, ...]:
    # A route decides what every policy on routes does, so a changed one may be behind anything.
    routes = bool(changed & {"MeshHTTPRoute", "MeshTCPRoute"})
    if changed & KUBERNETES:
        changed |= {"Dataplane"}  # which these make
    return tuple(
        w for w in witnesses if w.effect is Effect.VALUE and (routes or w.policy_type in changed)
    )
