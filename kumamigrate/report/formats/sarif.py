"""SARIF 2.1.0, for code scanning."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from kumamigrate import __version__
from kumamigrate.report.formats.findings import (
    Entry,
    level_of,
    name_of,
    open_findings,
    text_of,
    verdict_of,
)
from kumamigrate.rewrite.rulebook import rulebook

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(report: Mapping[str, Any]) -> str:
    """Return one run; a verdict that is no proof is a notification of the run."""
    found = list(open_findings(report))
    verdict = verdict_of(report)
    notes = [{"level": "error", "message": {"text": verdict}}] if verdict else []
    rules = _rules({entry["rule"] for entry, _ in found})
    order = {rule["id"]: at for at, rule in enumerate(rules)}
    run = {
        "tool": {"driver": {"name": "kumamigrate", "version": __version__, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notes}],
        "results": [_result(entry, mark, order) for entry, mark in found],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _rules(ids: set[str]) -> list[dict[str, Any]]:
    known = {rule.id: rule for rule in rulebook()}
    return [
        {
            "id": one,
            "shortDescription": {"text": known[one].title if one in known else one},
            "fullDescription": {"text": known[one].why.strip() if one in known else one},
        }
        for one in sorted(ids)
    ]


def _result(entry: Entry, fingerprint: str, order: Mapping[str, int]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": entry["rule"],
        "ruleIndex": order[entry["rule"]],
        "level": level_of(entry),
        "message": {"text": f"{name_of(entry)}: {text_of(entry)}".lstrip(": ")},
        "partialFingerprints": {"kumamigrate/v1": fingerprint},
        "properties": {key: entry[key] for key in ("status", "safety", "danger")},
    }
    if entry["file"]:
        region = {"startLine": max(1, entry["line"]), "startColumn": max(1, entry["column"])}
        uri = quote(entry["file"].encode("utf-8", "surrogateescape"))
        place = {"artifactLocation": {"uri": uri}, "region": region}
        result["locations"] = [{"physicalLocation": place}]
    return result
