"""What every form says of a finding: how bad it is, in which words, and by what it is known."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.model.shown import value_words

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
    yield from _marked([*left, *map(_not_read, report["coverage"]["unread"])], seen)


def proposed_findings(report: Mapping[str, Any]) -> Iterator[tuple[Entry, str]]:
    """Yield what a run would change that has written nothing yet."""
    if "whole" in report and not report["written"]:
        would = {"danger": "advice", "action": "kumamigrate run writes it"}
        fixed = [entry for entry in report["findings"] if entry["status"] == "fixed"]
        yield from _marked([{**entry, **would} for entry in fixed], Counter(["fixed"]))


def _marked(entries: Iterable[Entry], seen: Counter[str]) -> Iterator[tuple[Entry, str]]:
    for entry in entries:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonCause:
    """What one rule says or asks of several places for one reason."""

    rule: str
    why: str
    action: str
    entries: tuple[Entry, ...]


def by_cause(entries: Iterable[Entry], report: Mapping[str, Any]) -> list[CommonCause]:
    """Return each cause once, with all places below it."""
    causes: dict[tuple[str, str, str], list[Entry]] = {}
    for entry in entries:
        key = (entry["rule"], entry["action"], _why_held(entry, report))
        causes.setdefault(key, []).append(entry)
    return [
        CommonCause(rule=rule, why=held or _message(same), action=action, entries=tuple(same))
        for (rule, action, held), same in causes.items()
    ]


def _message(same: list[Entry]) -> str:
    """Return what is said of all places; where that names each, what the rule is about."""
    first = same[0]
    if all(entry["message"] == first["message"] for entry in same):
        return str(first["message"])
    from kumamigrate.rewrite.rulebook import rulebook

    titles = (rule.title for rule in rulebook() if rule.id == first["rule"])
    return next(titles, str(first["message"]))


_LEFT = {
    "activation": "left for later, since a setting that is ignored today would start to work",
    "name": "left for later, since a route would get another name in Envoy",
    "residue": "left for later, since a setting that only the old engine made would be gone",
    "skipped": "skipped",
    "refused": "left as before, since the target would refuse what it becomes",
    "warned": "left as before, since it would write more of a form that the target warns about",
}
"""What is said of a change that could be written, by what it was left for."""


def _why_held(entry: Entry, report: Mapping[str, Any]) -> str:
    """Return what stood against a change: the first difference, or what cannot be told."""
    if entry["status"] != "held":
        return ""
    held = _held_with(entry, report)
    if held is None:
        return ""
    later = _LEFT.get(held.get("cause", ""), "")
    if later and not held["witnesses"]:
        return ": ".join((later, *held["unknown"][:1]))
    for witness in held["witnesses"]:
        before, after = (value_words(witness[s]["value"]) for s in ("before", "after"))
        what = f"{witness['policyType']} {witness['field']} {before} → {after}"
        return f"{later or 'would change what proxies get'}: {what}"
    if held["unknown"]:
        return f"cannot tell: {held['unknown'][0]}"
    if held["refused"]:
        return f"cannot be edited without loss: {held['refused'][0]['message']}"
    return ""


def _held_with(entry: Entry, report: Mapping[str, Any]) -> Entry | None:
    """Return the change that would settle a finding; one about its resource, where an earlier
    pass put it in other words."""
    mine: list[Entry] = [one for one in report.get("held", ()) if one["rule"] == entry["rule"]]
    for keys in (("resource", "message"), ("resource",)):
        about = {key: entry[key] for key in keys}
        for one in mine:
            if any({key: said[key] for key in keys} == about for said in one["about"]):
                return one
    return None
