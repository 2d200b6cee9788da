"""What changed between two sides of a mesh, and which types both engines decide together then."""

from __future__ import annotations

from typing import Any

from kumamigrate.effective.oldmade import OUTBOUND, successors
from kumamigrate.effective.picture import BY_ROUTE
from kumamigrate.model.resource import Resource
from kumamigrate.universe.side import ROUTES, Side

_SECTIONS = {"TrafficLog": "logging", "TrafficTrace": "tracing"}
"""Sections of the Mesh that an old kind reads."""


def changed_types(before: Side, after: Side) -> frozenset[str]:
    """Return the policy types whose input differs, routes counting for what stands on routes."""
    changed = set()
    for policy_type in {*before.kinds, *after.kinds}:
        if before.kinds.get(policy_type) != after.kinds.get(policy_type):
            changed.add(policy_type)
    if before.release != after.release:
        changed.update(before.types | after.types)
    if changed & set(ROUTES):
        # A policy that names no route reads nothing of them but which route a request takes.
        changed.update(set(BY_ROUTE) & (before.types | after.types))
    return frozenset(changed)


def covered_types(before: Side, after: Side, changed: frozenset[str]) -> frozenset[str]:
    """Return the new types that are compared together with the old kinds whose place they take.

    Where TrafficRoutes make outbounds, all that is written on them is: their clusters are not
    those that the new routes name.
    """
    there = {kind for side in (before, after) for kind in side.old.by_kind}
    found: set[str] = set()
    for kind in there:
        new = successors().get(kind, ())
        read = _SECTIONS.get(kind, "")
        section = read and mesh_spec(before, read) != mesh_spec(after, read)
        if changed & {kind, *new} or section:
            found.update(new)
    if "TrafficRoute" in there:
        found.update(OUTBOUND if changed & {"TrafficRoute", *ROUTES} else changed & set(OUTBOUND))
    if "MeshHealthCheck" in found and "MeshProxyPatch" in changed:
        found.add("MeshProxyPatch")  # it sets probes that no MeshHealthCheck can
    return frozenset(found)


def mesh_spec(side: Side, section: str) -> Any:
    """Return a section of the Mesh, None where there is none."""
    mesh: Resource | None = next(
        (r for r in side.state.of_type("Mesh") if r.name == side.mesh), None
    )
    return mesh.spec.get(section) if mesh is not None else None
