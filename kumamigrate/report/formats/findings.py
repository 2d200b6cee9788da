"""What every form says of a finding: how bad it is, in which words, and by what it is known."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

Entry = Mapping[str, Any]
OPEN = ("pending", "held", "manual")
_ERRORS = ("silent-loss", "other-meaning", "refused")
_VERDICTS = {
    "different": "not proved: what proxies get changes",
    "after-switch": "not proved as long as MeshService mode Exclusive does not come first",
    "unknown": "not proved: there is something that cannot be told",
}


def open_findings(report: Mapping[str, Any]) -> Iterator[tuple[Entry, str]]:
    """Yield what is left to do, with a fingerprint that does not move with the lines."""
    seen: Counter[str] = Counter()
    left = [entry for entry in report["findings"] if entry["status"] in OPEN]
    for entry in (*left, *map(_not_read, report["coverage"]["unread"])):
        named = entry["resource"] or {}
        parts = (entry["rule"], *(f"{k}={named[k]}" for k in sorted(named)), entry["message"])
        key = "\0".join((entry["file"], *parts))
        seen[key] += 1
        yield entry, hashlib.sha256(f"{key}\0{seen[key]}".encode(errors="replace")).hexdigest()[:40]


def _not_read(refusal: Entry) -> Entry:
    """Return what could not be read as a finding: of it nothing else will be said."""
    said = {key: refusal[key] for key in ("file", "line", "column", "message", "action")}
    words = {"rule": "not-read", "status": "manual", "safety": "manual", "danger": "refused"}
    return {**said, **words, "resource": None, "notes": [refusal["reason"]]}


def level_of(entry: Entry) -> str:
    """Return error, warning or note."""
    if entry["danger"] in _ERRORS:
        return "error"
    return "note" if entry["danger"] == "advice" else "warning"


def text_of(entry: Entry) -> str:
    """Return what is to be said: what, notes, what to do."""
    action = (f"What to do: {entry['action']}",) if entry["action"] else ()
    return "\n".join((entry["message"], *entry["notes"], *action))


def name_of(entry: Entry) -> str:
    """Return the resource in words."""
    named = entry["resource"]
    return f"{named['type']} {named['name']}" if named else ""


def verdict_of(report: Mapping[str, Any]) -> str:
    """Return in words why a run is not proven, empty where it is or nothing was proven."""
    said = _VERDICTS.get(report.get("whole", ""), "")
    return f"Kuma {report['from']} → {report['target']}: {said}" if said else ""
