"""MeshMetric: what a proxy tells of itself and of its applications."""

from __future__ import annotations

from kumamigrate.effective.reading import At, Conf, Part, Reading, Values, leaf, read

FIELDS = {
    "sidecar.regex": leaf(Part.PROXY),
    "sidecar.includeUnused": leaf(Part.PROXY, default=False),
    "sidecar.profiles": leaf(Part.PROXY),
    "applications": leaf(Part.PROXY),
    "backends": leaf(Part.PROXY),
}


def of_conf(conf: Conf | None, at: At) -> Values:
    """Return what a conf has a proxy tell; without one it tells nothing."""
    return {} if conf is None else read(FIELDS, at.part, conf)


READING = Reading(policy_type="MeshMetric", fields=FIELDS, of_conf=of_conf)
