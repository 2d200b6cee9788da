"""What got worse: claims *carry* and *release* of a change (prover.md §2).

`after == goal or after == current`, slot by slot and proxy by proxy.
"""

from __future__ import annotations

from collections.abc import Set
from functools import partial

from kumamigrate.effective.difference import HARMLESS
from kumamigrate.flow.judging.claimstates import (
    as_exclusive,
    contents_of,
    has_tag_outbounds,
    proof_of_states,
    states_of,
)
from kumamigrate.flow.judging.touched import filled_in, written_types
from kumamigrate.model.release import release as release_of
from kumamigrate.prover import Effect, prove
from kumamigrate.prover.owed import Begun
from kumamigrate.scene.held import HeldVerdict
from kumamigrate.scene.scene import Scene

_BY_ALL = {"MeshHTTPRoute", "MeshTCPRoute"}
"""Policy types that decide what others reach."""


def not_worse(
    claim: str,
    before: Scene,
    current: Scene,
    candidate: Scene,
    passing: Set[Effect],
    activated: frozenset[tuple[str, ...]],
) -> HeldVerdict:
    """Return what got worse. For *release* a mesh that still has service-tag outbounds may be
    read in two ways: as it is, so that real services take over from tags with the upgrade, or
    as it will be once its mode is Exclusive, which comes before the upgrade."""
    worsened = partial(_worsened, claim, before, current, candidate, passing, activated)
    found = worsened()
    if claim != "release" or found.good or not has_tag_outbounds(before):
        return found
    switched = worsened(exclusive=True)
    lost = tuple(w for w in found.witnesses if w.before.policy in _removed(current, candidate))
    # What no outbound of that mode reads is still there today: it may not just go.
    return switched if switched.good and not lost else found


def shifted(current: Scene, candidate: Scene) -> HeldVerdict:
    """Return what real services would read otherwise, where there are none yet.

    On the way to a release that has nothing else it counts already, or a change that goes out
    now, unseen, would be the ground that later ones are compared with. Of old policies real
    services read nothing.
    """
    written = written_types(current, candidate)
    policies = written <= release_of(candidate.source).policy_types.keys()
    if not policies or not has_tag_outbounds(current):
        return HeldVerdict()
    old, new = (as_exclusive(one.state(one.source)[0]) for one in (current, candidate))
    proof = prove(
        old,
        new,
        claims=("live",),
        contents=contents_of(current),
        locate_before=current.locate,
        locate_after=candidate.locate,
    )
    bad = (w for w in proof.witnesses("live") if w.effect not in HARMLESS)
    return HeldVerdict(witnesses=tuple(bad))


def _removed(current: Scene, candidate: Scene) -> set[str]:
    """Return the names of the policies that the changes take away."""
    kept = {resource.identity for resource in candidate.repository.resources}
    return {r.name for r in current.repository.resources if r.identity not in kept}


def _worsened(
    claim: str,
    before: Scene,
    current: Scene,
    candidate: Scene,
    passing: Set[Effect],
    activated: frozenset[tuple[str, ...]],
    *,
    exclusive: bool = False,
) -> HeldVerdict:
    """Return what is neither as the claim wants it nor as it was (prover.md §2).

    That is `after == goal or after == current`, slot by slot and proxy by proxy. Where values
    begin to work (`activated`) the goal is owed. A doubt that stood is no new one.
    """
    written = written_types(current, candidate)
    # What others rest on may be behind a difference of any type.
    everything = not written <= release_of(candidate.source).policy_types.keys() - _BY_ALL
    types = None if everything else frozenset(written)
    goal, after = states_of(claim, before, candidate, current, exclusive=exclusive)
    standing = Begun(*states_of(claim, before, current, exclusive=exclusive), activated)
    asked = partial(proof_of_states, claim=claim, scenes=(before, candidate), types=types)
    now = asked(goal, after, also=current, standing=standing)
    bad = tuple(
        w
        for w in now.witnesses(claim)
        if w.effect not in passing and (everything or w.policy_type in written)
    )
    doubts = now.doubts(claim)
    if doubts:
        stood = set(asked(standing.goal, standing.current, also=candidate).doubts(claim))
        doubts = tuple(doubt for doubt in doubts if doubt not in stood)
    return HeldVerdict(witnesses=bad, unknown=(*doubts, *filled_in(current, candidate)))
