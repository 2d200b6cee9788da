"""Which engine answers where old and new policies meet (legacy.md §3), and `policyEngine` (§4)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.model.resource import Resource
from kumamigrate.sourcedest.oldconf import table


class Engine(StrEnum):
    """Who sets what a proxy does."""

    OLD = "old"
    NEW = "new"
    BOTH = "both"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """What happens where an old kind and its successor reach the same thing.

    `scope` is what one of them takes over as a whole. `else_old`: where the new one comes to
    nothing, the old one shows through. `always`: parts the new engine writes even unasked.
    """

    old: str
    new: str
    scope: str
    answer: Engine
    detail: str
    rest: str = ""
    else_old: bool = False
    always: tuple[str, ...] = ()
    leaks: tuple[str, ...] = ()


def meeting(old: str, release: str, new: str = "") -> Meeting | None:
    """Return the rule of one release for an old kind, or None for a kind without one.

    `new` chooses among several successors (TrafficRoute); else the first is taken.
    """
    for pair in table("coexistence.json")["pairs"]:
        if pair["old"] == old and new in ("", pair["new"]):
            return _meeting(pair, release)
    return None


def answering_engine(
    old: str, release: str, *, old_reaches: bool, new_reaches: bool, new: str = ""
) -> Engine:
    """Say which engine sets what a kind sets, where these policies reach (in `meeting`'s scope).

    From 3.0 on old policies reach nothing. A kind without a successor answers for itself.
    """
    removed = table("coexistence.json")["removedIn"]
    if order(release) >= order(removed):
        old_reaches = False
    if not (old_reaches and new_reaches):
        return Engine.OLD if old_reaches else Engine.NEW if new_reaches else Engine.NONE
    rule = meeting(old, release, new)
    return Engine.OLD if rule is None else rule.answer


def _meeting(pair: Mapping[str, Any], release: str) -> Meeting:
    merged = dict(pair)
    for since in sorted(pair.get("from", {}), key=order):
        if order(since) <= order(release):
            merged.update(pair["from"][since])
    return Meeting(
        old=merged["old"],
        new=merged["new"],
        scope=merged["scope"],
        answer=Engine(merged["answer"]),
        detail=merged["detail"],
        rest=merged.get("rest", ""),
        else_old=merged.get("elseOld", False),
        always=tuple(merged.get("always", ())),
        leaks=tuple(merged.get("leaks", ())),
    )


def order(release: str) -> tuple[int, ...]:
    """Return a release name as numbers that compare."""
    return tuple(int(part) for part in release.split(".")[:2])


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
    rules = table("coexistence.json")["policyEngine"]
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
