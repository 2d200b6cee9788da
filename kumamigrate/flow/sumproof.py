"""The proof of the sum: two scenes as wholes, with everything that was kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Set
from functools import partial

from kumamigrate.dataclass import replace
from kumamigrate.flow.claims import (
    claims_of,
    resting_on,
    switched_meshes,
    without_carry,
)
from kumamigrate.flow.judging.byzone import in_every_zone, viewers_of
from kumamigrate.flow.judging.claimstates import as_exclusive, contents_of, has_tag_outbounds
from kumamigrate.flow.judging.everywhere import merged
from kumamigrate.flow.judging.everyworld import in_every_world
from kumamigrate.flow.judging.updates import refused_updates
from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.flow.verdict import whole_of
from kumamigrate.model.state import mesh_services_mode
from kumamigrate.prover import Effect, Proof, Verdict
from kumamigrate.prover.claimed import CARRY, LIVE, RELEASE
from kumamigrate.prover.compose import doubting
from kumamigrate.prover.prover import prove
from kumamigrate.scene.scene import Scene


def as_a_whole(outcome: Outcome) -> Outcome:
    """Return the outcome with the proof of everything that was kept, and what it comes to."""
    claim, allow = outcome.claim, outcome.options.allow
    sites = [
        (old, new)
        for old, new in zip(outcome.began.sites, outcome.ended.sites, strict=True)
        # Nothing of an environment that was not touched changes on one release.
        if new is not old or claim == RELEASE or len(outcome.began.sites) == 1
    ]
    proofs = [prove_scenes(old.applied, new.applied) for old, new in sites]
    proof = merged((old.name, found) for (old, _), found in zip(sites, proofs, strict=True))
    differs = claim == RELEASE and proof.allowing(claim, allow) is Verdict.DIFFERENT
    once_switched = differs and all(
        _holds_once_switched(old.applied, new.applied, found, allow)
        for (old, new), found in zip(sites, proofs, strict=True)
    )
    return replace(outcome, proof=proof, whole=whole_of(proof, claim, allow, once_switched))


def _holds_once_switched(before: Scene, after: Scene, proof: Proof, allow: Set[Effect]) -> bool:
    """Say whether the upgrade is proven for meshes that have switched to mode Exclusive first.

    One mesh that differs even then is enough for a no, so those are asked first that differ now,
    small ones before; where no outbound is by service tag, a switch changes nothing.
    """
    found = {name: one.claims[RELEASE].allowing(allow) for name, one in proof.meshes.items()}
    differing = {name for name, verdict in found.items() if verdict is Verdict.DIFFERENT}
    state = before.state(before.source)[0]
    modes = {mesh_services_mode(state, mesh) for mesh in differing}
    if differing and ("Exclusive" in modes or not has_tag_outbounds(before)):
        return False
    if viewers_of(before, after) != (None,):
        return False
    sizes = Counter(resource.mesh for resource in state.resources)
    order = sorted(found, key=lambda name: (name not in differing, sizes[name]))
    ask = partial(_proof, before, after, (RELEASE,), exclusive=True)
    proofs = (ask(only=frozenset({mesh})) for mesh in order)
    return all(one.allowing(RELEASE, allow) is Verdict.EQUIVALENT for one in proofs)


def prove_scenes(before: Scene, after: Scene) -> Proof:
    """Prove the claims that matter: live, carry where a mode may still switch, and release where
    the target is another release."""
    return in_every_zone(before, after, _prove_scenes)


def _prove_scenes(before: Scene, after: Scene) -> Proof:
    claims = claims_of(before, after)
    proof = _proof(before, after, claims)
    today = _refused_changes(before, after, before.source)
    proof = doubting(proof, today, {LIVE, CARRY})
    proof = doubting(proof, refused_updates(before, after), {LIVE, CARRY, RELEASE})
    if RELEASE in claims:
        upgraded = _refused_changes(before, after, before.target)
        proof = doubting(proof, upgraded, {RELEASE})
    proof = without_carry(proof, switched_meshes(before, after))
    return resting_on(proof, before, after)


def _refused_changes(before: Scene, after: Scene, later: str) -> dict[str, list[str]]:
    """Return by mesh what changed among resources that a release refuses: before the one in use,
    after it a `later` one.

    They take no part in the comparison. One that an earlier release took is still in effect, so
    nobody knows what its change does.
    """
    found: dict[str, list[str]] = {}
    for side, other, release_ in ((before, after, before.source), (after, before, later)):
        there = {resource.canonical_body for resource in other.repository.resources}
        for rejection in side.state(release_)[1]:
            one = rejection.resource
            if one.canonical_body not in there:
                found.setdefault(one.mesh, []).append(
                    f"{one.type} {one.name} is refused by {release_} and not compared:"
                    f" {rejection.problems[0].message}"
                )
    return found


def _proof(
    before: Scene,
    after: Scene,
    claims: tuple[str, ...],
    *,
    exclusive: bool = False,
    only: frozenset[str] | None = None,
) -> Proof:
    """Prove some claims, about some meshes `only`; with `exclusive`, as if the mesh had switched
    first: where old policies say nothing, so no state in which they are converted helps."""

    def one(
        before: Scene, after: Scene, claims: tuple[str, ...], meshes: Collection[str] | None
    ) -> Proof:
        asked = meshes if only is None else only if meshes is None else only.intersection(meshes)
        old = before.state(before.source)[0]
        return prove(
            as_exclusive(old) if exclusive else old,
            after.state(before.source)[0],
            claims=claims,
            upgraded=after.state(before.target)[0] if RELEASE in claims else None,
            only=asked,
            same_unread=_same_unread(before, after),
            halfway=not exclusive,
            contents=contents_of(before),
            locate_before=before.locate,
            locate_after=after.locate,
        )

    return in_every_world(before, after, claims, one)


def _same_unread(before: Scene, after: Scene) -> bool:
    """Say whether what could not be read is the same text in both scenes, in the same order.

    Two folders are compared as well as two states of one: what the paths begin with is no matter.
    """
    old, new = before.repository, after.repository
    if old.data is new.data:
        return True  # one repository, edited: what was refused cannot be
    texts = [
        [side.data.get(path) for path in sorted({refusal.path for refusal in side.unread})]
        for side in (old, new)
    ]
    return texts[0] == texts[1] and None not in texts[0]
