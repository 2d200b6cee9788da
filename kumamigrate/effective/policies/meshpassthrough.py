"""MeshPassthrough, and the Mesh before it: what a proxy lets out that is for no service."""

from __future__ import annotations

from kumamigrate.effective.policies.meshsections import passes_through
from kumamigrate.effective.reading import At, Conf, SlotKind, TypeReading, Values, leaf, read

MODE = "passthroughMode"
FIELDS = {MODE: leaf(SlotKind.PROXY), "appendMatch": leaf(SlotKind.PROXY)}


def of_conf(conf: Conf | None, at: At) -> Values:
    """Return what a transparent proxy lets out, as the Mesh has it where no conf says so."""
    by_mesh = "All" if passes_through(at.mesh) else "None"
    return {MODE: by_mesh, **read(FIELDS, at.part, conf)} if at.transparent else {}


READING = TypeReading(
    policy_type="MeshPassthrough",
    fields=FIELDS,
    of_conf=of_conf,
    of_mesh=("networking.outbound.passthrough",),
)
