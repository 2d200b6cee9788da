"""`policyEngine` of a Mesh: what it says, and that no release reads it (legacy.md §4).

Which engine answers where old and new policies meet is `effective/bothengines/whoanswers.py`.
"""

from __future__ import annotations

from kumamigrate.dataclass import dataclass
from kumamigrate.model.resource import Resource
from kumamigrate.sourcedest.oldconf import table


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyEngine:
    """`Mesh.policyEngine` as written, what it would have meant, and whether a release reads it."""

    written: str
    result: str
    effective: bool
    reason: str


def policy_engine(mesh: Resource, release: str, default: str = "TargetRef") -> PolicyEngine | None:
    """Return what `policyEngine` of a Mesh says, or None when the Mesh does not carry it.

    `default` is `KUMA_DEFAULTS_POLICY_ENGINE`. An unknown value counts as Undefined.
    """
    if "policyEngine" not in mesh.spec:
        return None
    rules = table("policyengine.json")
    written = str(mesh.spec["policyEngine"])
    known = {row["field"] for row in rules["results"]}
    field = written if written in known else "Undefined"
    result = next(
        row["engine"]
        for row in rules["results"]
        if row["default"] == default and row["field"] == field
    )
    return PolicyEngine(
        written=written,
        result=result,
        effective=release in rules["effectiveIn"],
        reason=rules["inert"],
    )
