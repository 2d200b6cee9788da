"""Which policy types read something else on two sides of a mesh: policies, routes, the Mesh."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from kumamigrate.effective.outboundfacts import BY_ROUTE
from kumamigrate.effective.policies.meshsections import backends
from kumamigrate.effective.reading import said
from kumamigrate.effective.readings import READINGS
from kumamigrate.model.resource import mapping
from kumamigrate.universe.side import ROUTES, Side

MTLS, MODE = "mtls", "MeshTLS"
MESH = "Mesh"
_FIELDS = {
    "metrics": "MeshMetric",
    "tracing": "MeshTrace",
    "logging": "MeshAccessLog",
    "networking": "MeshPassthrough",
}
"""Fields of a Mesh that say what policies of a type say as well, and nothing else."""
_BACKENDS = ("mtls.backends",)


def changed_types(before: Side, after: Side) -> frozenset[str]:
    """Return the policy types whose input differs, routes counting for what stands on routes."""
    changed = set(moved_types(before, after))
    for policy_type in {*before.kinds, *after.kinds}:
        if before.kinds.get(policy_type) != after.kinds.get(policy_type):
            changed.add(policy_type)
    if before.release != after.release:
        changed.update(before.types | after.types)
    if changed & set(ROUTES):
        # A policy that names no route reads nothing of them but which route a request takes.
        changed.update(set(BY_ROUTE) & (before.types | after.types))
    return frozenset(changed)


def moved_types(before: Side, after: Side) -> frozenset[str]:
    """Return the policy types of which the Mesh itself says something else than before.

    Of mTLS that is only the mode; whoever changes more of it changes the Mesh.
    """
    left, right = before.mesh_spec, after.mesh_spec
    found = {
        kind
        for kind, reading in READINGS.items()
        if kind != MODE and any(said(left, p) != said(right, p) for p in reading.of_mesh)
    }
    return frozenset({*found, MODE} if mode_moved(before, after) else found)


def instead_of_mesh(
    changed: Set[str], before: Mapping[str, Any], after: Mapping[str, Any]
) -> frozenset[str]:
    """Return types that changed, for a Mesh of which nothing but such fields did those that the
    fields stand for."""
    moved = {key for key in {*before, *after} if before.get(key) != after.get(key)}
    if MESH not in changed or moved - _FIELDS.keys():
        return frozenset(changed)
    return frozenset({*changed, *(_FIELDS[key] for key in moved)} - {MESH})


def slots_of_mesh(before: Side, after: Side) -> frozenset[str]:
    """Return the fields of the Mesh that are compared in the slots of policies."""
    found = {path for kind, one in READINGS.items() if kind != MODE for path in one.of_mesh}
    return frozenset({*found, *_BACKENDS} if mode_moved(before, after) else found)


def mode_moved(before: Side, after: Side) -> bool:
    """Say whether of mTLS the modes of backends differ, and nothing else."""
    left, right = before.mesh_spec, after.mesh_spec
    return left.get(MTLS) != right.get(MTLS) and _without_modes(left) == _without_modes(right)


def _without_modes(spec: Any) -> Any:
    bare = [{k: v for k, v in mapping(b).items() if k != "mode"} for b in backends(spec, MTLS)]
    return {**mapping(spec.get(MTLS)), "backends": bare}
