"""What stands at an inbound of a proxy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumamigrate.effective.admitted import without_old
from kumamigrate.effective.fact import Fact
from kumamigrate.effective.reading import At, SlotKind
from kumamigrate.effective.readings import READINGS
from kumamigrate.model.conf import merge
from kumamigrate.model.protocols import UNKNOWN_PROTOCOL
from kumamigrate.targetref.entry import Found
from kumamigrate.targetref.inbound import InboundPoint
from kumamigrate.targetref.permission import PERMISSION
from kumamigrate.universe.side import Side


def inbound_fact(
    side: Side,
    policy_type: str,
    point: InboundPoint | None,
    *,
    identified: bool | None = False,
    certified: bool | None = False,
    reached: bool = True,
    always: bool = False,
    transparent: bool = True,
    protocol: str = UNKNOWN_PROTOCOL,
) -> Fact:
    """Return what an inbound reads of one policy type; `point` is None where nothing reaches.

    `identified` and `certified`: the proxy has its certificate from a MeshIdentity (None: it may
    have), as `At` tells them apart; `reached`: some policy of the type reaches the proxy.
    """
    reading = READINGS[policy_type]
    at = At(
        part=SlotKind.INBOUND,
        reached=reached,
        always=always,
        release=side.release.name,
        identified=identified,
        certified=certified,
        transparent=transparent,
        protocol=protocol,
        mesh_name=side.mesh,
        mesh=side.mesh_spec,
    )
    rules = [(r.match, _counted(side, policy_type, r.conf)) for r in point.rules] if point else []
    if reading.of_from is not None and not rules:
        return Fact(reading.of_from(_subsets(point), at), _all_from(point))
    assert reading.of_rules is not None
    found = _merged_inbound(side, policy_type, point)
    read = reading.of_rules(rules, None if found is None else found.conf, at)
    return Fact(read, found or _all_rules(point))


def _counted(side: Side, policy_type: str, conf: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what of a rule some client can meet."""
    return without_old(conf, side.state, side.mesh) if policy_type == PERMISSION else conf


def _merged_inbound(side: Side, policy_type: str, point: InboundPoint | None) -> Found | None:
    """Return the merge of the rules for every client; before 2.10, of the `from` items."""
    if point is None:
        return None
    kind = side.release.policy_types[policy_type]
    if "rules" not in kind.sections:
        whole = [rule for rule in point.from_rules if not rule.subset]
        if not whole:
            return None
        return Found(confs=(whole[0].conf,), entries=whole[0].entries, level="mesh")
    base = [rule for rule in point.rules if not rule.match]
    if not base:
        return None
    confs = merge([rule.conf for rule in base], kind.conf("rules"))
    entries = tuple(entry for rule in base for entry in rule.entries)
    return Found(confs=confs, entries=entries, level="mesh")


def _subsets(point: InboundPoint | None) -> list[tuple[Any, Mapping[str, Any]]]:
    if point is None:
        return []
    return [
        (sorted([t.key, t.value, t.negated] for t in rule.subset), rule.conf)
        for rule in point.from_rules
    ]


def _all_rules(point: InboundPoint | None) -> Found | None:
    if point is None or not point.rules:
        return None
    entries = tuple(entry for rule in point.rules for entry in rule.entries)
    return Found(confs=(point.rules[0].conf,), entries=entries, level="mesh")


def _all_from(point: InboundPoint | None) -> Found | None:
    if point is None or not point.from_rules:
        return None
    entries = tuple(dict.fromkeys(e for rule in point.from_rules for e in rule.entries))
    return Found(confs=(point.from_rules[0].conf,), entries=entries, level="mesh")
