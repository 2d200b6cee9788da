"""MeshRateLimit, and the RateLimit before it (legacy.md §1.8)."""

from __future__ import annotations

from kumamigrate.effective.reading import (
    At,
    Conf,
    Rules,
    SlotKind,
    TypeReading,
    Values,
    as_read,
    leaf,
    matched,
    read,
    said,
)
from kumamigrate.model.resource import Resource, mapping
from kumamigrate.sourcedest.oldconf import conf_of

HTTP, TCP = "local.http", "local.tcp"
FIELDS = {
    f"{HTTP}.disabled": leaf(),
    f"{HTTP}.requestRate.num": leaf(SlotKind.INBOUND),
    f"{HTTP}.requestRate.interval": leaf(SlotKind.INBOUND),
    f"{HTTP}.onRateLimit.status": leaf(SlotKind.INBOUND, default=429),
    f"{HTTP}.onRateLimit.headers": leaf(SlotKind.INBOUND),
    f"{TCP}.disabled": leaf(),
    f"{TCP}.connectionRate.num": leaf(SlotKind.INBOUND),
    f"{TCP}.connectionRate.interval": leaf(SlotKind.INBOUND),
}
_HEADERS = f"{HTTP}.onRateLimit.headers"


def of_conf(conf: Conf | None, at: At) -> Values:
    """Return the limits of a conf: of requests and of connections, each unless switched off."""
    found: Values = {}
    for name, rate in ((HTTP, "requestRate"), (TCP, "connectionRate")):
        block = mapping(said(conf, name))
        if block.get(rate) and block.get("disabled") is not True:
            found |= read(FIELDS, at.part, conf, f"{name}.")
    if _HEADERS in found:
        headers = mapping(found.pop(_HEADERS))
        kinds = ("add", "set")
        listed = [_header(kind == "add", h) for kind in kinds for h in headers.get(kind) or ()]
        found |= {_HEADERS: sorted(listed, key=repr)} if listed else {}
    return found


def _header(append: bool, header: Conf) -> Values:
    return {"append": append, "name": header.get("name"), "value": header.get("value")}


def of_rules(rules: Rules, merged: Conf | None, at: At) -> Values:
    """Return the limits of an inbound; rules with a match become routes of their own."""
    return {**of_conf(merged, at), **matched(rules)}


def of_old(policy: Resource | None, at: At) -> Values:
    """Return the limit of a RateLimit, which is one of HTTP requests."""
    http = conf_of(policy).get("http")
    if http is None:
        return {}
    limited = http.get("onRateLimit") or {}
    headers: dict[str, list[Conf]] = {"add": [], "set": []}
    for one in limited.get("headers") or ():
        kind = "add" if one.get("append") is True else "set"
        headers[kind].append({"name": one["key"], "value": one["value"]})
    rate = {"num": http["requests"], "interval": as_read(http["interval"])}
    on = {"status": limited.get("status") or None, "headers": headers}
    return of_conf({"local": {"http": {"requestRate": rate, "onRateLimit": on}}}, at)


READING = TypeReading(
    policy_type="MeshRateLimit",
    fields=FIELDS,
    of_conf=of_conf,
    of_rules=of_rules,
    old="RateLimit",
    old_parts=(SlotKind.INBOUND,),
    of_old=of_old,
)
