"""Which claims two scenes call for: what proxies read today, what a switch or an upgrade makes."""

from __future__ import annotations

from collections.abc import Iterable

from kumamigrate.dataclass import replace
from kumamigrate.effective.difference import HARMLESS
from kumamigrate.errors import UsageError
from kumamigrate.model.release import release
from kumamigrate.model.state import mesh_services_mode
from kumamigrate.prover import Effect, Proof
from kumamigrate.prover.claimed import CARRY, LIVE, RELEASE
from kumamigrate.scene.scene import Scene

NOTHING = "none"


def allowed(words: Iterable[str] | None) -> frozenset[Effect]:
    """Return the kinds of differences that may pass, as somebody wrote them down.

    Raises UsageError for a word that names none of them.
    """
    if words is None:
        return HARMLESS
    return _kinds(words, "--allow", "a changed value may never pass")


def left_for_later(words: Iterable[str] | None) -> frozenset[Effect]:
    """Return the kinds of differences whose changes are left for a change of their own.

    Raises UsageError for a word that names none of them.
    """
    return _kinds(words or (), "--hold", "a change that alters a value is never written")


def _kinds(words: Iterable[str], option: str, why: str) -> frozenset[Effect]:
    known = {effect.value: effect for effect in Effect if effect in HARMLESS}
    found = [word.strip() for one in words for word in one.split(",")]
    for word in found:
        if word not in known and word != NOTHING:
            choices = ", ".join([*known, NOTHING])
            raise UsageError(f"{option} {word}: may be {choices}; {why}")
    return frozenset(known[word] for word in found if word != NOTHING)


def claim_of(source: str, target: str) -> str:
    """Return the claim that decides: *release* where the target is another than the release in
    use, or what the upgrade breaks would hide behind what is safe today."""
    return LIVE if source == target else RELEASE


def claims_of(before: Scene, after: Scene) -> tuple[str, ...]:
    """Return the claims to prove: *carry* while a mode may still switch, or does just now."""
    meshes, switched = _meshes(before, after), switched_meshes(before, after)
    carry = (CARRY,) if not meshes or meshes - switched else ()
    return (LIVE, *carry, *((RELEASE,) if before.source != before.target else ()))


def switched_meshes(before: Scene, after: Scene) -> frozenset[str]:
    """Return the meshes of mode Exclusive on both sides: nothing is left to carry over."""
    states = [scene.state(scene.source)[0] for scene in (before, after)]
    return frozenset(
        mesh
        for mesh in _meshes(before, after)
        if all(mesh_services_mode(state, mesh) == "Exclusive" for state in states)
    )


def without_carry(proof: Proof, meshes: frozenset[str]) -> Proof:
    """Return a proof that does not speak of *carry* for some meshes."""
    return replace(
        proof,
        meshes={
            name: replace(mesh, claims={c: r for c, r in mesh.claims.items() if c != CARRY})
            if name in meshes
            else mesh
            for name, mesh in proof.meshes.items()
        },
    )


def resting_on(proof: Proof, before: Scene, after: Scene) -> Proof:
    """Return a proof that says what its releases and settings take for granted, too."""
    releases = dict.fromkeys((before.source, after.source, after.target))
    facts = [fact for name in releases for fact in release(name).assumed]
    return replace(
        proof,
        meshes={
            name: replace(mesh, assumptions=(*mesh.assumptions, *facts, *_by_flag(name, after)))
            for name, mesh in proof.meshes.items()
        },
    )


def _by_flag(mesh: str, scene: Scene) -> tuple[str, ...]:
    """Return that the mode of a mesh was said and not read, where it was."""
    state = scene.state(scene.source)[0]
    mode = scene.environment.mesh_services
    if mode is None or any(r.name == mesh for r in state.of_type("Mesh")):
        return ()
    return (f"mesh {mesh} runs in MeshService mode {mode} (--mesh-services)",)


def _meshes(before: Scene, after: Scene) -> frozenset[str]:
    return frozenset(m for one in (before, after) for m in one.state(one.source)[0].meshes())
