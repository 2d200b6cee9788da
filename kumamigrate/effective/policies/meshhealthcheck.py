"""MeshHealthCheck, and the HealthCheck before it (legacy.md §1.6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kumamigrate.effective.reading import (
    At,
    Conf,
    SlotKind,
    TypeReading,
    Values,
    as_read,
    leaf,
    number,
    read,
)
from kumamigrate.model.protocols import UNKNOWN_PROTOCOL
from kumamigrate.model.resource import Resource, mapping
from kumamigrate.sourcedest.oldconf import OldConf, conf_of
from kumamigrate.sourcedest.targets import UNKNOWN

_CLUSTER = SlotKind.CLUSTER
FIELDS = {
    "interval": leaf(_CLUSTER, default="1m0s"),
    "timeout": leaf(_CLUSTER, default="15s"),
    "unhealthyThreshold": leaf(_CLUSTER, default=5),
    "healthyThreshold": leaf(_CLUSTER, default=1),
    "initialJitter": leaf(_CLUSTER, default="0s"),
    "intervalJitter": leaf(_CLUSTER, default="0s"),
    "intervalJitterPercent": leaf(_CLUSTER, default=0),
    "healthyPanicThreshold": leaf(_CLUSTER, default=50),
    "failTrafficOnPanic": leaf(_CLUSTER, default=False),
    "eventLogPath": leaf(_CLUSTER, default=""),
    "alwaysLogHealthCheckFailures": leaf(_CLUSTER, default=False),
    "noTrafficInterval": leaf(_CLUSTER, default="1m0s"),
    "reuseConnection": leaf(_CLUSTER, default=True),
    "tcp": leaf(_CLUSTER),
    "http": leaf(_CLUSTER),
    "grpc": leaf(_CLUSTER),
}
PANIC = ("healthyPanicThreshold", "failTrafficOnPanic")
"""What counts for a cluster that is not probed, too."""
UNPROBED = ("kafka", UNKNOWN)
"""Protocols that no MeshHealthCheck probes."""
BLOCKS = ("tcp", "http", "grpc")
MORE = "more probes"
_NATIVE = {"http": "http", "http2": "http", "grpc": "grpc", "tcp": "tcp"}


def of_conf(conf: Conf | None, at: At) -> Values:
    """Return the probe of a service by its own protocol, and when a cluster panics."""
    found = read(FIELDS, at.part, conf)
    panic = _panic(found)
    if at.protocol == UNKNOWN_PROTOCOL:
        blocks = {name: found[name] for name in BLOCKS if found.get(name) is not None}
        return {**found, **panic} if blocks else panic
    block = _block(conf or {}, at.protocol)
    return {**_timing(found), **block, **panic} if block else panic


def _panic(found: Values) -> Values:
    return {PANIC[0]: number(found[PANIC[0]]), PANIC[1]: found[PANIC[1]]}


def _timing(found: Values) -> Values:
    return {name: value for name, value in found.items() if name not in (*BLOCKS, *PANIC)}


def _block(conf: Conf, protocol: str) -> Values:
    """Return what to probe with: TCP where the block of the protocol is there and switched off."""
    native = _NATIVE.get(protocol, "")
    block = conf.get(native)
    if isinstance(block, Mapping) and native != "tcp" and block.get("disabled") is True:
        native, block = "tcp", conf.get("tcp")
    if not isinstance(block, Mapping) or block.get("disabled") is True:
        return {}
    if native == "http":
        added = mapping(block.get("requestHeadersToAdd"))
        headers = [
            _header(kind == "add", h.get("name"), h.get("value"))
            for kind in ("add", "set")
            for h in added.get(kind) or ()
        ]
        return http_probe(block.get("path", "/"), block.get("expectedStatuses"), headers)
    if native == "grpc":
        names = ("serviceName", "authority")
        return {"probe": native, **{f"grpc.{n}": str(block.get(n) or "") for n in names}}
    return tcp_probe(str(block.get("send") or ""), [str(p) for p in block.get("receive") or ()])


def tcp_probe(send: str, receive: Sequence[str]) -> Values:
    """Return a probe that connects, sends and waits for an answer."""
    return {"probe": "tcp", "tcp.send": send, "tcp.receive": list(receive)}


def http_probe(path: Any, statuses: Sequence[int] | None, headers: Sequence[Values]) -> Values:
    """Return a probe that asks for a path."""
    return {
        "probe": "http",
        "http.path": path,
        "http.expectedStatuses": sorted(statuses or (200,)),
        "http.requestHeadersToAdd": sorted(headers, key=repr),
    }


def _header(append: bool, name: Any, value: Any) -> Values:
    return {"append": append, "name": name, "value": value or ""}


def of_old(policy: Resource | None, at: At) -> Values:
    """Return what a HealthCheck comes to: a probe of TCP, unless it says http."""
    panic = _panic(read(FIELDS, at.part, None))
    return panic if policy is None else {**panic, **_old_probe(conf_of(policy), at)}


def _old_probe(conf: OldConf, at: At) -> Values:
    said = {name: as_read(value) for name, value in conf.value.items() if name not in BLOCKS}
    found = read(FIELDS, at.part, said)
    http = conf.get("http")
    if http is None:
        tcp = conf.get("tcp") or {}
        received = [as_read(part) for part in tcp.get("receive") or ()]
        return {**found, **tcp_probe(as_read(tcp.get("send", b"")), received)}
    headers = [
        _header(h.get("append", True), h["header"]["key"], h["header"].get("value"))
        for h in http.get("requestHeadersToAdd") or ()
    ]
    return {**found, **http_probe(http.get("path"), http.get("expectedStatuses"), headers)}


def probed(checks: Sequence[Values], policy: Resource | None, conf: Conf | None, at: At) -> Values:
    """Return probes as one: those of a patch (checks), which replace all others, or of both
    policies; panic as a conf says, if it says so (§3)."""
    old = of_old(policy, at)
    new = of_conf(conf, at)
    said = {name: new[name] for name in PANIC if (conf or {}).get(name) is not None}
    panic = {**{name: old[name] for name in PANIC}, **said}
    found = list(checks) or [one for one in (old, new) if "probe" in one]
    probes = [{k: v for k, v in one.items() if k not in PANIC} for one in found]
    first = probes[0] if probes else {}
    return {**first, **panic, **({MORE: probes[1:]} if probes[1:] else {})}


READING = TypeReading(
    policy_type="MeshHealthCheck",
    fields=FIELDS,
    of_conf=of_conf,
    old="HealthCheck",
    old_parts=(SlotKind.CLUSTER,),
    of_old=of_old,
)
