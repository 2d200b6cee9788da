"""MeshTrafficPermission: whom an inbound lets in, by `from` and by `rules` (matcher-notes §3.8)."""

from __future__ import annotations

import json
from typing import Any

from kumamigrate.effective.reading import (
    At,
    Conf,
    Rules,
    SlotKind,
    Subsets,
    TypeReading,
    Values,
    leaf,
)
from kumamigrate.model.resource import mapping
from kumamigrate.targetref.permission import PERMISSION

FIELDS = {
    "action": leaf(SlotKind.INBOUND),
    "deny": leaf(SlotKind.INBOUND),
    "allow": leaf(SlotKind.INBOUND),
    "allowWithShadowDeny": leaf(SlotKind.INBOUND),
}


def of_conf(_conf: Conf | None, _at: At) -> Values:
    """Return nothing: only the rules of an inbound together say whom it lets in."""
    return {}


def of_from(subsets: Subsets, at: At) -> Values:
    """Return what the old rules let in, which a proxy with an identity does not read.

    Where it only may have one, what it would read either way is said. Deny is the default, so rules
    that deny are nothing, and neither is their order anything.
    """
    if at.identified:
        return of_rules((), None, at)
    allowed = [
        {"from": subset, "action": conf.get("action")}
        for subset, conf in subsets
        if conf.get("action") not in (None, "Deny", "DENY")
    ]
    unique = {_text(one): one for one in allowed}
    found = of_rules((), None, at) if at.identified is None else {}
    return {"from": [unique[k] for k in sorted(unique)], **found} if unique else found


def of_rules(rules: Rules, _merged: Conf | None, at: At) -> Values:
    """Return the matchers of rules: all that deny, then the others.

    An inbound with rules, even empty ones, no longer reads `from`. Rules that deny the whole mesh
    and allow nobody let in whom `from` lets in that only denies: nobody.
    """
    denied: dict[str, Any] = {}
    allowed: list[Any] = []
    for _, conf in rules:
        denied.update({_text(m): m for m in conf.get("deny") or ()})
        for key in ("allow", "allowWithShadowDeny"):
            allowed.extend({key: match} for match in conf.get(key) or ())
    if not allowed and any(_is_all(match, at.mesh_name) for match in denied.values()):
        return {}
    return {"rules.deny": [denied[k] for k in sorted(denied)], "rules.allow": allowed}


def _is_all(match: Any, mesh: str) -> bool:
    spiffe = mapping(match).get("spiffeID")
    everybody = {"type": "Prefix", "value": f"spiffe://{mesh}"}
    return set(match) == {"spiffeID"} and spiffe == everybody


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


READING = TypeReading(
    policy_type=PERMISSION, fields=FIELDS, of_conf=of_conf, of_rules=of_rules, of_from=of_from
)
