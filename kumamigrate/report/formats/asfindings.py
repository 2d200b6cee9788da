"""A proof as findings, for code hosts that know nothing else: a difference is said on its line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.report.formats.differences import ShownDifference, decides, differences

Report = Mapping[str, Any]
_WHOLE = {"equivalent": "proven", "different": "different", "unknown": "unknown"}


def with_findings(report: Report) -> Report:
    """Return what `prove` said in the shape of what `run` says."""
    claim = report["claims"].get(decides(report), {})
    allowed = report["allow"]
    counted = [one for one in differences(report) if one.effect not in allowed]
    found = [_different(one) for one in counted]
    return {
        **report,
        "target": report["release"]["after"],
        "from": report["release"]["before"],
        "whole": _WHOLE[claim.get("allowing", "equivalent")],
        "written": False,
        "findings": [*found, *_untold(claim)],
    }


def _different(one: ShownDifference) -> dict[str, Any]:
    said = f"{one.field}: {one.before.value} → {one.after.value}"
    message = f"{one.traffic}   {one.policy_type} {said}"
    was = f"before: {one.before.policy} {one.before.at}".rstrip()
    return {**_place(one.at), **_words("proof-different", message), "notes": [was]}


def _untold(claim: Report) -> Iterator[dict[str, Any]]:
    for reason in claim.get("unknown", ()) if claim.get("allowing") == "unknown" else ():
        yield {**_place(""), **_words("proof-unknown", f"cannot tell: {reason}"), "notes": []}


def _words(rule: str, message: str) -> dict[str, Any]:
    kinds = {"status": "manual", "safety": "manual", "danger": "other-meaning"}
    return {"rule": rule, "message": message, "action": "", "resource": None, **kinds}


def _place(at: str) -> dict[str, Any]:
    file, line, column = at.rsplit(":", 2) if at.count(":") >= 2 else (at, "0", "0")
    if not (line.isdigit() and column.isdigit()):
        return {"file": at, "line": 0, "column": 0}
    return {"file": file, "line": int(line), "column": int(column)}
