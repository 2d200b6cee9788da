"""MeshPassthrough: what a proxy lets out that is for no service of the mesh."""

from __future__ import annotations

from kumamigrate.effective.reading import At, Conf, Part, Reading, Values, flat, leaf

FIELDS = {"passthroughMode": leaf(Part.PROXY), "appendMatch": leaf(Part.PROXY)}


def of_conf(conf: Conf | None, at: At) -> Values:
    """Return what a transparent proxy lets out; no other is asked."""
    return flat(conf) if at.transparent else {}


READING = Reading(policy_type="MeshPassthrough", fields=FIELDS, of_conf=of_conf)
