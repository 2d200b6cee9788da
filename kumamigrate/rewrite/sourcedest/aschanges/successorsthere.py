"""Which successors of an old kind stand there, and what the kind would become without them."""

from __future__ import annotations

from kumamigrate.dataclass import replace
from kumamigrate.effective.bothengines.whoanswers import successors
from kumamigrate.effective.policies.patched import PATCH, only_probes
from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.sourcedest.besidenew import INBOUND, names_inbounds, services_named
from kumamigrate.rewrite.sourcedest.conversion import Conversion
from kumamigrate.rewrite.sourcedest.convert import CONVERTERS
from kumamigrate.rewrite.sourcedest.known import KnownWorld

_OF_FIELDS = {
    "Mesh.metrics": ("MeshMetric",),
    "Mesh.networking.outbound.passthrough": ("MeshPassthrough",),
    "Mesh.routing.localityAwareLoadBalancing": ("MeshLoadBalancingStrategy",),
}
_MESH_FIELD = "Mesh."
"""Begins the kinds that are a field of the Mesh."""


def successors_there(world: KnownWorld, kind: str) -> list[Resource]:
    """Return the policies of the new types that an old kind has become or may become.

    Beside TrafficRoutes none count: they are converted last.
    """
    known = {**successors(), **_OF_FIELDS}
    types = () if kind == "TrafficRoute" else known.get(kind, ())
    present = [policy for type_ in types for policy in world.existing(type_)]
    if kind == "HealthCheck":
        present += [r for r in world.existing(PATCH) if only_probes(r)]
    return present


def as_if_alone(world: KnownWorld, kind: str) -> Conversion | None:
    """Return what the old policies of a kind, or a field of the Mesh, would become without the new
    ones that are there, None where none are."""
    present = successors_there(world, kind)
    stands = world.old.of(kind) or (kind.startswith(_MESH_FIELD) and world.mesh_resource)
    if not present or not stands:
        return None
    hidden = {r.identity for r in present}
    rest = tuple(r for r in world.state.resources if r.identity not in hidden)
    return CONVERTERS[kind](replace(world, state=replace(world.state, resources=rest)))


def already_converted(world: KnownWorld, kind: str) -> Conversion | None:
    """Return what the old policies of a kind would become if all of that stands there already.

    That is so after stage expand, and where some of a kind had to stay with the old engine.
    """
    present, done = successors_there(world, kind), as_if_alone(world, kind)
    if done is None:
        return None
    there = [(r.type, r.spec) for r in present]
    if not done.writable or any((p.type, p.spec) not in there for p in done.policies):
        return None
    if kind.startswith(_MESH_FIELD) and not done.policies:
        return None
    explained = {m.resource.identity for m in done.manual} | {r.identity for r in done.removed()}
    return done if all(p.identity in explained for p in world.old.of(kind)) else None


def or_why(done: Conversion, world: KnownWorld) -> Conversion:
    """Return a conversion; where a part of the kind stayed, with what it stayed for."""
    present = successors_there(world, done.kind) if not done.writable else []
    apart = names_inbounds(present) if done.kind in INBOUND else bool(services_named(present))
    why = as_if_alone(world, done.kind) if present and apart else None
    if why is None or why.writable:
        return done
    return replace(done, manual=tuple(m for m in why.manual if m.blocking), ties=why.ties)
