"""The conf of a HealthCheck as that of a MeshHealthCheck, and as Envoy has it (legacy.md §1.6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumamigrate.rewrite.sourcedest.confnotes import Notes
from kumamigrate.rewrite.sourcedest.conversion import Json
from kumamigrate.rewrite.sourcedest.intorstring import int_or_text
from kumamigrate.sourcedest.goduration import Duration
from kumamigrate.sourcedest.oldconf import OldConf

_PROBE_OFF: Json = {"disabled": True}
_HEALTH_FIELDS = (
    "interval", "timeout", "unhealthyThreshold", "healthyThreshold", "initialJitter",
    "intervalJitter", "intervalJitterPercent", "failTrafficOnPanic", "eventLogPath",
    "alwaysLogHealthCheckFailures", "noTrafficInterval", "reuseConnection",
)  # fmt: skip


def mesh_health_check(conf: OldConf, notes: Notes) -> Json:
    """Return the MeshHealthCheck conf (§1.6)."""
    result: Json = {}
    for name in _HEALTH_FIELDS:
        value = conf.get(name)
        if value is not None and value != "":
            result[name] = str(value) if isinstance(value, Duration) else value
    panic = conf.get("healthyPanicThreshold")
    if panic is not None:
        result["healthyPanicThreshold"] = int_or_text(panic)
    if (conf.get("intervalJitterPercent") or 0) > 100:
        notes.lost("must be between 0 and 100 now", "intervalJitterPercent")
    http = conf.get("http")
    if http is None:
        return {**result, "tcp": _tcp_probe(conf, notes), "http": _PROBE_OFF, "grpc": _PROBE_OFF}
    return {**result, "http": _http_probe(http, notes)}


def _tcp_probe(conf: OldConf, notes: Notes) -> Json:
    tcp = conf.get("tcp") or {}
    result: Json = {}
    if "send" in tcp:
        result["send"] = _text(tcp["send"], notes, "tcp", "send")
    if tcp.get("receive"):
        result["receive"] = [
            _text(part, notes, "tcp", "receive", index) for index, part in enumerate(tcp["receive"])
        ]
    return result


def _text(data: bytes, notes: Notes, *path: str | int) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        notes.lost("bytes that are no text cannot be written in a MeshHealthCheck", *path)
        return ""


def _http_probe(http: Mapping[str, Any], notes: Notes) -> Json:
    result: Json = {"path": http["path"]}
    if http.get("expectedStatuses"):
        result["expectedStatuses"] = list(http["expectedStatuses"])
    added: dict[str, list[Json]] = {}
    for index, header in enumerate(http.get("requestHeadersToAdd") or ()):
        at = ("http", "requestHeadersToAdd", index)
        if "append" not in header:
            notes.warn("without append this health check never worked; taken as append", *at)
        value = header["header"].get("value", "")
        if "," in value:
            notes.lost("a comma would split this header into several values", *at)
        entry = {"name": header["header"]["key"], "value": value}
        added.setdefault("add" if header.get("append", True) else "set", []).append(entry)
    if added:
        result["requestHeadersToAdd"] = added
        notes.warn("probes carry the header x-kuma-tags too now", "http", "requestHeadersToAdd")
    return result


def mesh_health_check_unprobed(conf: OldConf, notes: Notes) -> Json:
    """Return the MeshHealthCheck conf for a service that it does not probe: the panic settings.

    The probe stands there too, for the day it does, as far as it can be written.
    """
    tried = Notes()
    result = mesh_health_check(conf, tried)
    unwritten = [note for note in tried.items if note.path[:2] == ("conf", "tcp")]
    notes.items += [note for note in tried.items if note not in unwritten]
    return {**result, "tcp": _PROBE_OFF} if unwritten else result


def envoy_health_check(conf: OldConf) -> Json:
    """Return the TCP health check that Envoy gets for a HealthCheck, as JSON (§1.6)."""
    result: Json = {}
    for name in _HEALTH_FIELDS:
        value = conf.get(name)
        if value is not None and value != "" and name != "failTrafficOnPanic":
            result[name] = _proto_text(value) if isinstance(value, Duration) else value
    tcp = conf.get("tcp") or {}
    probe: Json = {}
    if "send" in tcp:
        probe["send"] = {"text": tcp["send"].hex()}
    if tcp.get("receive"):
        probe["receive"] = [{"text": part.hex()} for part in tcp["receive"]]
    return {**result, "tcpHealthCheck": probe}


def _proto_text(duration: Duration) -> str:
    """Return a duration in the JSON of Protobuf: seconds with 0, 3, 6 or 9 decimals."""
    whole, rest = divmod(duration.ns, 1_000_000_000)
    digits = f"{rest:09d}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return f"{whole}.{digits}s" if digits else f"{whole}s"
