"""Suppressions: `# kumamigrate: ignore[rule-id] reason` on or above what a finding points at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from kumamigrate.rewrite.finding import Danger, Finding, Safety, Status
from kumamigrate.source.text import SourceFile

_MARK = re.compile(r"#\s*kumamigrate:\s*ignore\[([^\]#]*+)\]")
UNUSED = "unused-suppression"


@dataclass(frozen=True, slots=True)
class Mark:
    """One suppression comment. It covers its own line or, standing alone, the next that has
    more than a comment."""

    file: str
    line: int
    covers: int
    rules: tuple[str, ...]


def marks(files: Mapping[str, SourceFile]) -> tuple[Mark, ...]:
    """Return all suppression comments, in path and line order."""
    return tuple(mark for path in sorted(files) for mark in _marks_of(files[path]))


def _marks_of(file: SourceFile) -> list[Mark]:
    if "kumamigrate:" not in file.text:
        return []
    starts = file.line_starts
    lines = [file.text[a:b] for a, b in zip(starts, (*starts[1:], None), strict=True)]
    found = []
    content = _next_content(lines)
    for number, line in enumerate(lines, start=1):
        match = _MARK.search(line)
        if match is None:
            continue
        covers = content[number - 1]
        rules = tuple(rule.strip() for rule in match[1].split(",") if rule.strip())
        found.append(Mark(file=file.path, line=number, covers=covers, rules=rules))
    return found


def _next_content(lines: Sequence[str]) -> list[int]:
    """Return for each line the number of the first one from there on with more than a comment."""
    found = [0] * len(lines)
    number = len(lines) + 1
    for at in range(len(lines) - 1, -1, -1):
        if lines[at].lstrip()[:1] not in ("#", ""):
            number = at + 1
        found[at] = number
    return found


def suppressed(finding: Finding, all_marks: Iterable[Mark]) -> Mark | None:
    """Return the mark that silences a finding, None if there is none."""
    for mark in all_marks:
        if mark.file == finding.file and finding.line == mark.covers and finding.rule in mark.rules:
            return mark
    return None


def suppress(
    findings: Iterable[Finding], files: Mapping[str, SourceFile], *, report_unused: bool = True
) -> tuple[Finding, ...]:
    """Mark suppressed findings as such, and add a finding for every mark nothing needed."""
    all_marks = marks(files)
    used: set[Mark] = set()
    settled = []
    for finding in findings:
        mark = suppressed(finding, all_marks)
        if mark is not None:
            used.add(mark)
            finding = replace(finding, status=Status.SUPPRESSED)
        settled.append(finding)
    if report_unused:
        settled.extend(_unused(mark) for mark in all_marks if mark not in used)
    return tuple(settled)


def _unused(mark: Mark) -> Finding:
    return Finding(
        rule=UNUSED,
        resource=None,
        message=f"nothing to ignore here for {', '.join(mark.rules) or 'no rule'}",
        action="remove the comment",
        status=Status.MANUAL,
        safety=Safety.MANUAL,
        danger=Danger.DEPRECATED,
        file=mark.file,
        line=mark.line,
        column=1,
    )
