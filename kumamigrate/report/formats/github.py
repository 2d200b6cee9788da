"""Workflow commands of GitHub Actions: annotations beside the lines of a pull request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumamigrate.report.formats.findings import (
    Entry,
    level_of,
    name_of,
    open_findings,
    proposed_findings,
    text_of,
    verdict_of,
)

_WORDS = {"error": "error", "warning": "warning", "note": "notice"}


def github(report: Mapping[str, Any]) -> str:
    """Return one workflow command a line; text from files can start none of its own."""
    found = (*open_findings(report), *proposed_findings(report))
    lines = [_command(entry) for entry, _ in found]
    verdict = verdict_of(report)
    lines += [f"::error title=kumamigrate::{_data(verdict)}"] if verdict else []
    return "".join(f"{line}\n" for line in lines)


def _command(entry: Entry) -> str:
    place = ""
    if entry["file"]:
        line, column = max(1, entry["line"]), max(1, entry["column"])
        place = f"file={_property(entry['file'])},line={line},col={column},"
    title = f"{entry['rule']}: {name_of(entry)}".rstrip(": ")
    word = _WORDS[level_of(entry)]
    return f"::{word} {place}title={_property(title)}::{_data(text_of(entry))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
