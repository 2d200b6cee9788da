"""What became of examples in Markdown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kumamigrate.flow.guides import Guide
from kumamigrate.report.outcome import finding_json, held_json
from kumamigrate.report.styled import Line, line
from kumamigrate.rewrite.finding import Finding, Status


def guide_lines(guides: Iterable[Guide], *, written: bool) -> list[Line]:
    """Return what changed in each file, and what did not and why."""
    lines: list[Line] = []
    for guide in guides:
        lines += [(), line((guide.path, "place"), f"   {_word(guide, written=written)}")]
        for finding in _findings(guide, Status.FIXED):
            lines.append(line(f"  {_called(finding)}   ", (finding.rule, "dim")))
        for finding in _findings(guide, Status.HELD):
            lines.append(line(f"  {_called(finding)}   ", (finding.rule, "dim"), "   held"))
    return lines


def guides_json(guides: Iterable[Guide]) -> list[dict[str, Any]]:
    """Return the same for programs."""
    return [
        {
            "file": guide.path,
            "changed": guide.new != guide.old,
            "problem": guide.problem or None,
            "findings": [finding_json(f) for one in guide.outcomes for f in one.findings],
            "held": [held_json(held) for one in guide.outcomes for held in one.held],
        }
        for guide in guides
    ]


def _word(guide: Guide, *, written: bool) -> str:
    if guide.problem:
        return f"left alone: {guide.problem}"
    if guide.new == guide.old:
        return "stays as it is"
    return "examples changed" if written else "examples would change"


def _findings(guide: Guide, status: Status) -> list[Finding]:
    return [f for one in guide.outcomes for f in one.findings if f.status is status]


def _called(finding: Finding) -> str:
    resource = finding.resource
    name = f"{resource.type} {resource.name}" if resource is not None else ""
    return f"{finding.file}:{finding.line}   {name}"
