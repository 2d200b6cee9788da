"""MeshFaultInjection, and the FaultInjection before it (legacy.md §1.7)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kumamigrate.effective.reading import (
    At,
    Conf,
    Rules,
    SlotKind,
    Subsets,
    TypeReading,
    Values,
    as_read,
    leaf,
    number,
    rule,
)
from kumamigrate.model.protocols import UNKNOWN_PROTOCOL
from kumamigrate.model.resource import Resource
from kumamigrate.model.versions import at_least
from kumamigrate.sourcedest.oldconf import conf_of

FAULT = "MeshFaultInjection"
HTTP, FAULTS = "http", "faults"
GRPC_SINCE = "2.10"
"""Since then faults reach inbounds of gRPC, too (asked of 2.9 and 2.14, read of those between)."""
FILTER_NAME = "filter name"
"""A field that no policy sets: what Envoy calls a filter. Its change concerns no traffic."""
SPARED = "spared"
"""A field that no policy sets: which inbounds faults do not reach, where theirs is not known."""
FIELDS = {HTTP: leaf(SlotKind.INBOUND)}
_SECTIONS = ("delay", "abort", "responseBandwidth")


def of_conf(conf: Conf | None, _at: At) -> Values:
    """Return the faults of a conf, in order."""
    found = [_fault(one) for one in (conf or {}).get(HTTP) or ()]
    return {HTTP: found} if found else {}


def of_rules(rules: Rules, _merged: Conf | None, at: At) -> Values:
    """Return the faults of an inbound: each rule by itself, in order."""
    found = [rule(match, of_conf(conf, at)) for match, conf in rules]
    return _on(at, {"rules": found} if found else {})


def of_from(subsets: Subsets, at: At) -> Values:
    """Return the faults of clients by their tags; `from` for all has a filter of another name."""
    if not any(subset for subset, _ in subsets):
        found = of_rules([(None, conf) for _, conf in subsets], None, at)
        return {**found, FILTER_NAME: "envoy.filters.http.fault"} if found else {}
    faults = [{"from": subset, "conf": of_conf(conf, at)} for subset, conf in subsets]
    return _on(at, {"from": faults})


def _on(at: At, faults: Values) -> Values:
    """Return the faults of an inbound, of whichever protocol that may be."""
    if not faults or at_least(at.release, GRPC_SINCE):
        return faults
    if at.protocol == UNKNOWN_PROTOCOL:
        return {**faults, SPARED: "inbounds of gRPC"}
    return {} if at.protocol == "grpc" else faults


def faults_of(confs: Iterable[Conf]) -> list[Values]:
    """Return the faults of confs that a client meets one after the other."""
    return [_fault(one) for conf in confs for one in conf.get(HTTP) or ()]


def old_faults(policies: Sequence[Resource]) -> list[Values]:
    """Return the faults of FaultInjections that a client meets one after the other."""
    return [_fault(conf_of(policy).value) for policy in policies]


def same_but_for_units(one: Any, other: Any) -> bool:
    """Whether faults differ in how units of bandwidth are spelled alone."""
    texts = (json.dumps(faults, sort_keys=True, default=str) for faults in (one, other))
    first, second = (t.replace("mbps", "Mbps").replace("gbps", "Gbps") for t in texts)
    return first == second


def _fault(values: Mapping[str, Any]) -> Values:
    result: Values = {}
    for name in _SECTIONS:
        section = values.get(name)
        if section:
            share = number(section.get("percentage", 0))
            result[name] = {k: as_read(v) for k, v in section.items()} | {"percentage": share}
    return result


READING = TypeReading(
    policy_type=FAULT,
    fields=FIELDS,
    of_conf=of_conf,
    of_rules=of_rules,
    of_from=of_from,
)
