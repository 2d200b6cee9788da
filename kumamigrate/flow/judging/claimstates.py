"""Two scenes as the states that a claim is about, and the proof of a claim about them."""

from __future__ import annotations

from collections.abc import Collection

from kumamigrate.dataclass import replace
from kumamigrate.flow.judging.notyetthere import comes_of, unsettled, without
from kumamigrate.model.meshservices import generated_services
from kumamigrate.model.state import State, mesh_services_mode
from kumamigrate.prover import Proof, prove
from kumamigrate.prover.owed import Begun
from kumamigrate.scene.scene import Scene
from kumamigrate.universe.contents import Contents

_EXCLUSIVE = "Exclusive"


def has_tag_outbounds(scene: Scene) -> bool:
    """Say whether some mesh has, or may have, outbounds by service tag."""
    state = scene.state(scene.source)[0]
    return any(mesh_services_mode(state, mesh) != _EXCLUSIVE for mesh in state.meshes())


def states_of(
    claim: str,
    before: Scene,
    after: Scene,
    current: Scene | None = None,
    *,
    exclusive: bool = False,
) -> tuple[State, State]:
    """Return what a claim compares: what it wants, as `before` says, and what `after` makes of it.

    What `current` has not left to another rule yet `after` may not leave.
    """
    release = before.target if claim == "release" else before.source
    old, (new, rejected) = before.state(before.source)[0], after.state(release)
    if claim == "release":
        # A policy that the target refuses or misreads is not settled: it counts on neither side.
        waiting = unsettled(after)
        if current is not None:
            earlier = unsettled(current)
            waiting = {k: r for k, r in waiting.items() if comes_of(r, earlier, current)}
        refused = (one.resource for one in rejected if one.resource.type == "MeshHTTPRoute")
        new = replace(new, resources=(*new.resources, *refused))
        old, new = without(old, waiting.keys()), without(new, waiting.keys())
    return (as_exclusive(old) if exclusive else old), new


def proof_of(before: Scene, after: Scene, claim: str) -> Proof:
    """Prove a claim about two scenes."""
    return proof_of_states(*states_of(claim, before, after), claim=claim, scenes=(before, after))


def proof_of_states(
    goal: State,
    after: State,
    *,
    claim: str,
    scenes: tuple[Scene, Scene],
    also: Scene | None = None,
    types: Collection[str] | None = None,
    standing: Begun | None = None,
) -> Proof:
    """Prove a claim about states of two scenes.

    That a service tag and its service disagree on their protocol is no change's doing: it
    differs whatever is written, and the proof of the sum says so.
    """
    before = scenes[0]
    release = before.target if claim == "release" else before.source
    return prove(
        goal,
        after,
        claims=(claim,),
        one_protocol=claim != "live",
        also=() if also is None else (before.state(before.source)[0], also.state(release)[0]),
        types=types,
        standing=standing,
        contents=contents_of(before),
        locate_before=before.locate,
        locate_after=scenes[1].locate,
    )


def contents_of(scene: Scene) -> Contents:
    """Return what proofs of a run keep for each other."""
    found: Contents = scene.kept.setdefault("contents", Contents())
    return found


def as_exclusive(state: State) -> State:
    """Return a state as if the mode of every mesh were Exclusive, with what that generates."""
    if "as exclusive" not in state.known:
        state.known["as exclusive"] = _as_exclusive(state)
    found: State = state.known["as exclusive"]
    return found


def _as_exclusive(state: State) -> State:
    mode = {"meshServices": {"mode": _EXCLUSIVE}}
    disabled = any(mesh_services_mode(state, mesh) == "Disabled" for mesh in state.meshes())
    made = generated_services(state, switched=True) if disabled else ()
    told = (replace(r, spec={**r.spec, **mode}) if r.type == "Mesh" else r for r in state.resources)
    return replace(
        state,
        environment=replace(state.environment, mesh_services=_EXCLUSIVE),
        resources=(*told, *made),
    )
