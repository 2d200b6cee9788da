"""What denies or limits: nobody's guard goes because a tool finds that it changes nothing.

A permission that denies, a limit or a fault that is redundant today is what stays when the others
are gone. Its removal may be right, and is for somebody to look at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.model.resource import Resource, Where, mapping, sequence
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Safety
from kumamigrate.source.value import Moved, Unchanged

_OLD = ("FaultInjection", "RateLimit")
_FAMILY = {
    "FaultInjection": "fault",
    "MeshFaultInjection": "fault",
    "MeshRateLimit": "limit",
    "MeshTrafficPermission": "denial",
    "RateLimit": "limit",
}
_ENTRIES = ("to", "from", "rules")
CONVERSIONS = "legacy-"
"""Rules with such an id make one policy of several: their planner says what has no successor."""


def takes_restraint_away(change: Change, standing: Mapping[Where, Resource]) -> bool:
    """Say whether something that denied or limited has no successor in a change."""
    if any(finding.safety is Safety.REVIEW for finding in change.findings):
        return True
    if change.rule.startswith(CONVERSIONS):
        return False
    before: set[str] = set()
    after: set[str] = set()
    for edit in change.edits:
        old = standing.get(edit.where)
        if old is not None:
            before |= set(_restraints(old.type, old.spec))
            for manifest in edit.manifests:
                body = _settled(manifest, old.body)
                if isinstance(body, Mapping):
                    kind = str(body.get("kind") if "apiVersion" in body else body.get("type"))
                    after |= set(_restraints(kind, body.get("spec")))
    return not before <= after


def restrains(resource: Resource) -> bool:
    """Say whether a resource denies or limits something."""
    return any(_restraints(resource.type, resource.spec))


def _restraints(kind: str, spec: Any) -> Iterator[str]:
    """Yield what a policy does that denies or limits, once for each of its entries."""
    family = _FAMILY.get(kind)
    if family is None or not isinstance(spec, Mapping):
        return
    if kind in _OLD:
        conf = spec.get("conf")
        yield from [family] if isinstance(conf, Mapping) and any(conf.values()) else []
        return
    for name in _ENTRIES:
        for entry in sequence(spec.get(name)):
            conf = mapping(entry).get("default")
            if isinstance(conf, Mapping) and _restrains(family, conf):
                yield family


def _restrains(family: str, conf: Mapping[str, Any]) -> bool:
    if family == "denial":
        return str(conf.get("action", "")).lower() == "deny" or bool(conf.get("deny"))
    if family == "fault":
        return bool(conf.get("http"))
    local = conf.get("local")
    limits = local.values() if isinstance(local, Mapping) else ()
    return any(isinstance(one, Mapping) and one.get("disabled") is not True for one in limits)


def _settled(value: Any, old: Any) -> Any:
    """Return a manifest with what moves in it put in its place."""
    if isinstance(value, Moved):
        if not isinstance(value.value, Unchanged):
            return _settled(value.value, old)
        for part in value.path:
            found = isinstance(old, (Mapping, list))
            old = old[part] if found else None
        return old
    if isinstance(value, Mapping):
        return {key: _settled(inner, old) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_settled(inner, old) for inner in value]
    return value
