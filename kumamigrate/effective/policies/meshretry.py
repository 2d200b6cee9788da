"""MeshRetry, and the Retry before it (legacy.md §1.4, matcher-notes §3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.effective.reading import (
    At,
    Conf,
    SlotKind,
    TypeReading,
    Values,
    as_read,
    leaf,
    read,
    said,
)
from kumamigrate.model import duration
from kumamigrate.model.protocols import HTTP_LIKE
from kumamigrate.model.resource import Resource
from kumamigrate.sourcedest.oldconf import conf_of

ATTEMPTS = "tcp.maxConnectAttempt"
FIELDS = {
    ATTEMPTS: leaf(SlotKind.LISTENER, default=1),
    "http.numRetries": leaf(SlotKind.ROUTE, default=1),
    "http.perTryTimeout": leaf(SlotKind.ROUTE),
    "http.backOff.baseInterval": leaf(SlotKind.ROUTE, default="25ms"),
    "http.backOff.maxInterval": leaf(SlotKind.ROUTE),
    "http.rateLimitedBackOff": leaf(SlotKind.ROUTE),
    "http.retryOn": leaf(SlotKind.ROUTE),
    "http.retriableResponseHeaders": leaf(SlotKind.ROUTE),
    "http.retriableRequestHeaders": leaf(SlotKind.ROUTE),
    "http.hostSelection": leaf(SlotKind.ROUTE),
    "http.hostSelectionMaxAttempts": leaf(SlotKind.ROUTE),
    "grpc.numRetries": leaf(SlotKind.ROUTE, default=1),
    "grpc.perTryTimeout": leaf(SlotKind.ROUTE),
    "grpc.backOff.baseInterval": leaf(SlotKind.ROUTE, default="25ms"),
    "grpc.backOff.maxInterval": leaf(SlotKind.ROUTE),
    "grpc.rateLimitedBackOff": leaf(SlotKind.ROUTE),
    "grpc.retryOn": leaf(SlotKind.ROUTE),
}
_LONGEST = 10
"""So many times the base interval is the longest where none is said: Envoy's default."""
_ON_HTTP = ("GatewayError", "ConnectFailure", "RefusedStream")
_OLD_CONDITIONS = {
    "all_5xx": "5xx", "gateway_error": "GatewayError", "reset": "Reset",
    "connect_failure": "ConnectFailure", "envoy_ratelimited": "EnvoyRatelimited",
    "retriable_4xx": "Retriable4xx", "refused_stream": "RefusedStream",
    "http3_post_connect_failure": "Http3PostConnectFailure", "cancelled": "Cancelled",
    "deadline_exceeded": "DeadlineExceeded", "internal": "Internal",
    "resource_exhausted": "ResourceExhausted", "unavailable": "Unavailable",
}  # fmt: skip


def of_conf(conf: Conf | None, at: At) -> Values:
    """Return the retries of the blocks that a service of this protocol may read.

    No retries asked for is no retry policy, whatever else is set.
    """
    if at.part is SlotKind.LISTENER:
        # Of those that speak TCP only such as say so are retried.
        tcp = at.tcp and at.may_speak("tcp", *HTTP_LIKE)
        attempts = said(conf, ATTEMPTS) if tcp else None
        return {ATTEMPTS: attempts} if attempts not in (None, 1) else {}
    found: Values = {}
    if at.may_speak("http", "http2"):
        found |= _block("http", conf)
    if at.may_speak("grpc"):
        found |= _block("grpc", conf)
    return found


def _block(name: str, conf: Conf | None) -> Values:
    block = said(conf, name)
    if not block or block.get("numRetries") == 0:
        return {}
    found = read(FIELDS, SlotKind.ROUTE, conf, f"{name}.")
    longest = f"{name}.backOff.maxInterval"
    found.setdefault(longest, _longest(found[f"{name}.backOff.baseInterval"]))
    found.pop(f"{name}.retryOn", None)
    on = _conditions(name, block.get("retryOn") or ())
    return {**found, f"{name}.retryOn": on} if on else found


def _longest(base: Any) -> Any:
    read_as = duration.parse(base) if isinstance(base, str) else None
    return base if read_as is None else duration.render(read_as * _LONGEST)


def _conditions(name: str, given: Sequence[Any]) -> list[str]:
    """Return when to retry: statuses and methods narrow what is there besides (§1.4)."""
    names = [str(one) for one in dict.fromkeys(given)]
    codes = [n for n in names if n.isdigit()]
    methods = [n for n in names if n.startswith("HttpMethod")]
    plain = [n for n in names if n not in codes and n not in methods]
    if name == "http" and not plain:
        plain = list(_ON_HTTP)
    return [*plain, *codes, *methods]


def of_old(policy: Resource | None, at: At) -> Values:
    """Return what a Retry comes to; no service of http2 is retried by either engine."""
    conf = conf_of(policy)
    if at.treated in ("http", "grpc"):
        section = conf.get(at.treated)
        return {} if section is None else _block(at.treated, {at.treated: _as_block(section)})
    attempts = conf.get("tcp", "maxConnectAttempts") or 1
    return {ATTEMPTS: attempts} if at.treated != "http2" and attempts > 1 else {}


def _as_block(section: Conf) -> Values:
    """Return a section of a Retry as a block of a MeshRetry says it."""
    on = [_OLD_CONDITIONS[n] for n in section.get("retryOn") or () if n in _OLD_CONDITIONS]
    on += [str(code) for code in section.get("retriableStatusCodes") or ()]
    on += [f"HttpMethod{method.capitalize()}" for method in section.get("retriableMethods") or ()]
    times = {k: as_read(v) for k, v in (section.get("backOff") or {}).items()}
    given = {"perTryTimeout": as_read(section.get("perTryTimeout")), "backOff": times}
    return {"numRetries": section.get("numRetries", 1), "retryOn": on, **given}


def beside(policy: Resource | None, conf: Conf, at: At) -> Values:
    """Return what both come to: what a MeshRetry leaves without retries keeps the old ones."""
    http = at.treated in HTTP_LIKE
    fits = http == (at.protocol in HTTP_LIKE) and at.protocol != "http2"
    new = (
        of_conf(conf, replace(at, part=SlotKind.ROUTE if http else SlotKind.LISTENER))
        if fits
        else {}
    )
    return new or of_old(policy, at)


READING = TypeReading(
    policy_type="MeshRetry",
    fields=FIELDS,
    of_conf=of_conf,
    old="Retry",
    old_parts=(SlotKind.LISTENER,),
    of_old=of_old,
    beside=beside,
)
