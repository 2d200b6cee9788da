"""MeshAccessLog, and the TrafficLog before it with the backends of the Mesh (legacy.md §1.9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumamigrate.effective.policies.meshsections import backend_of
from kumamigrate.effective.reading import (
    At,
    Conf,
    Rules,
    SlotKind,
    Subsets,
    TypeReading,
    Values,
    leaf,
    rule,
)
from kumamigrate.model.protocols import HTTP_LIKE, UNKNOWN_PROTOCOL
from kumamigrate.model.resource import Resource, mapping

BACKENDS = "backends"
FIELDS = {BACKENDS: leaf(SlotKind.ROUTE, SlotKind.LISTENER, SlotKind.INBOUND)}
_BLOCKS = {"File": ("file", "path"), "Tcp": ("tcp", "address")}


def of_conf(conf: Conf | None, at: At) -> Values:
    """Return where a listener or a route logs, in order; nowhere is the same as nothing said."""
    return _logged(conf, _default(at, at.protocol))


def _logged(conf: Conf | None, default: Values) -> Values:
    found = [
        _written_out(mapping(backend), default) for backend in (conf or {}).get(BACKENDS) or ()
    ]
    return {BACKENDS: found} if found else {}


def _default(at: At, protocol: str) -> Values:
    """Return the format that goes without saying on an outbound that the old engine knows.

    Its TrafficLogs go by the protocol that it gives the outbound, where TrafficRoutes lead to
    another service that one's; new policies by that of the service.
    """
    told = at.part is SlotKind.LISTENER and at.treated != UNKNOWN_PROTOCOL
    return {"format": {"default": "HTTP" if protocol in HTTP_LIKE else "TCP"}} if told else {}


def _written_out(backend: Mapping[str, Any], default: Values) -> Values:
    """Return a backend without what says no more than leaving it out: an empty format."""
    out: Values = {}
    for name, value in backend.items():
        block = dict(value) if isinstance(value, Mapping) else value
        if isinstance(block, dict) and _is_plain(mapping(block.get("format"))):
            text = block.pop("format", {}).get("plain")
            block |= {"format": {"type": "Plain", "plain": text}} if text else default
        out[name] = block
    return out


def _is_plain(form: Mapping[str, Any]) -> bool:
    return form.get("type", "Plain") == "Plain" and form.get("omitEmptyValues") is not True


def of_rules(rules: Rules, _merged: Conf | None, at: At) -> Values:
    """Return the logs of an inbound: each rule by itself, in order."""
    found = [rule(match, of_conf(conf, at)) for match, conf in rules]
    return {"rules": found} if found else {}


def of_from(subsets: Subsets, at: At) -> Values:
    """Return the logs of an inbound by `from`, which is for all clients."""
    return of_rules([(None, conf) for _, conf in subsets], None, at)


def of_old(policy: Resource | None, at: At) -> Values:
    """Return where the old engine logs a connection."""
    backend = backend_of(policy, at.mesh, "logging")
    if backend is None:
        return {}
    conf = mapping(backend.get("conf"))
    kind = "File" if backend.get("type") == "file" else str(backend.get("type") or "").capitalize()
    block, target = _BLOCKS.get(kind, (kind.lower(), "address"))
    said = {target: str(conf.get(target) or ""), "format": {"plain": backend.get("format")}}
    return _logged({BACKENDS: [{"type": kind, block: said}]}, _default(at, at.treated))


def beside(policy: Resource | None, conf: Conf, at: At) -> Values:
    """Return what both come to: both log (§3)."""
    found = [b for one in (of_old(policy, at), of_conf(conf, at)) for b in one.get(BACKENDS, ())]
    return {BACKENDS: found} if found else {}


READING = TypeReading(
    policy_type="MeshAccessLog",
    fields=FIELDS,
    of_conf=of_conf,
    of_rules=of_rules,
    of_from=of_from,
    old="TrafficLog",
    old_parts=(SlotKind.LISTENER,),
    of_old=of_old,
    beside=beside,
    of_mesh=("logging",),
)
