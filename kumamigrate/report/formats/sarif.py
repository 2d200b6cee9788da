"""SARIF 2.1.0, for code scanning."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from kumamigrate import __version__
from kumamigrate.report.formats.findings import (
    Entry,
    level_of,
    name_of,
    open_findings,
    proposed_findings,
    text_of,
    verdict_of,
)
from kumamigrate.rewrite.rulebook import rulebook

_TOOL = {
    "name": "kumamigrate",
    "version": __version__,
    "informationUri": "https://github.com/kumamigrate/kumamigrate",
}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(report: Mapping[str, Any]) -> str:
    """Return one run; a verdict that is no proof is a notification of the run."""
    found = [*open_findings(report), *proposed_findings(report)]
    verdict = verdict_of(report)
    notes = [{"level": "error", "message": {"text": verdict}}] if verdict else []
    rules = _rules({entry["rule"] for entry, _ in found})
    order = {rule["id"]: at for at, rule in enumerate(rules)}
    run = {
        "tool": {"driver": {**_TOOL, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notes}],
        "results": list(_results(found, order, report.get("replacements", {}))),
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


def _results(
    found: Iterable[tuple[Entry, str]],
    order: Mapping[str, int],
    replacements: Mapping[str, Sequence[Mapping[str, Any]]],
) -> Iterator[dict[str, Any]]:
    """Yield the results; the first that is proposed for a file brings what changes in it."""
    told = set()
    for entry, mark in found:
        result, file = _result(entry, mark, order), entry["file"]
        if entry["status"] == "fixed" and file in replacements and file not in told:
            told.add(file)
            result["fixes"] = [_fix(file, replacements[file])]
        yield result


def _fix(file: str, replaced: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    parts = [
        {
            "deletedRegion": {"charOffset": one["at"], "charLength": one["length"]},
            "insertedContent": {"text": one["text"]},
        }
        for one in replaced
    ]
    change = {"artifactLocation": {"uri": _uri(file)}, "replacements": parts}
    return {"description": {"text": f"All that changes in {file}"}, "artifactChanges": [change]}


def _uri(file: str) -> str:
    return quote(file.encode("utf-8", "surrogateescape"))


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
        place = {"artifactLocation": {"uri": _uri(entry["file"])}, "region": region}
        result["locations"] = [{"physicalLocation": place}]
    return result
