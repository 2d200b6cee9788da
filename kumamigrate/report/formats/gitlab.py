"""GitLab's code quality report: a JSON list, one entry a finding."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kumamigrate.report.formats.findings import (
    Entry,
    level_of,
    name_of,
    open_findings,
    proposed_findings,
    text_of,
)

_SEVERITIES = {"error": "critical", "warning": "minor", "note": "info"}


def gitlab(report: Mapping[str, Any]) -> str:
    """Return the report; what stands in no file is said of the repository's root."""
    entries = [
        {
            "description": _description(entry),
            "check_name": entry["rule"],
            "fingerprint": fingerprint,
            "severity": _SEVERITIES[level_of(entry)],
            "location": {
                "path": entry["file"] or ".",
                "lines": {"begin": max(1, entry["line"])},
            },
        }
        for entry, fingerprint in (*open_findings(report), *proposed_findings(report))
    ]
    return json.dumps(entries, indent=1) + "\n"


def _description(entry: Entry) -> str:
    """Return what is to be said, and of what, unless it says so itself."""
    name, said = name_of(entry), text_of(entry)
    return f"{name}: {said}" if name and name not in entry["message"] else said
