"""Findings by cause: each once, with the places it concerns, why, and the way out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kumamigrate.errors import REPORT_IT
from kumamigrate.model.resource import Resource
from kumamigrate.report.screen.causes import Heap, heaped, place_of, places_of
from kumamigrate.report.styled import Line, line
from kumamigrate.rewrite.finding import Danger, Finding
from kumamigrate.scene.storedstate import Rejection

WIDTH = 110
MOST_IN_FULL = 3
MOST_NOTES = 5
INDENT = "       "


def finding_lines(
    findings: Sequence[Finding], *, verbose: bool, heading: bool = False
) -> list[Line]:
    """Return findings by cause, the worst first, each cause with the places it concerns."""
    lines: list[Line] = []
    for danger in Danger:
        chosen = [finding for finding in findings if finding.danger is danger]
        if chosen and heading:
            lines += [(), line((_DANGERS[danger], "strong"), f"  {len(chosen)}")]
        for group in _by_rule(chosen):
            for heap in heaped(group, _without_itself):
                lines += _cause(heap, verbose)
    return lines


_DANGERS = {
    Danger.SILENT_LOSS: "Lost in silence",
    Danger.OTHER_MEANING: "Read differently",
    Danger.REFUSED: "Refused",
    Danger.DEPRECATED: "Deprecated",
    Danger.ADVICE: "Advice",
}


def _without_itself(finding: Finding) -> str:
    """Return what is said of a finding, whatever it is about."""
    return _with_it(f"{finding.message}\n{finding.action}", finding.resource)


def _with_it(said: str, own: Resource | None) -> str:
    """Return a text about a resource, "it" in the place of its name."""
    if own is None:
        return said
    name = f"{own.type} {own.name}"
    begun, *rest = said.split(name)
    for piece in rest:
        # A longer name may end or begin so: MeshRetry web, Retry web-2.
        goes_on = piece[:1].isalnum() or (piece[:1] in "-._" and piece[1:2].isalnum())
        begun += (name if begun[-1:].isalnum() or goes_on else "it") + piece
    return begun


def _by_rule(findings: Iterable[Finding]) -> list[list[Finding]]:
    by_rule: dict[str, list[Finding]] = {}
    for finding in findings:
        by_rule.setdefault(finding.rule, []).append(finding)
    return list(by_rule.values())


def _cause(heap: Heap[Finding], verbose: bool) -> list[Line]:
    """Return one cause: how often and what, where, why and the way out."""
    found = heap.things
    first = f"{found[0].message}\n{found[0].action}"
    message, _, action = (heap.said if len(found) > 1 else first).partition("\n")
    lines = [line(f"  {len(found):>3}  {message}   ", (found[0].rule, "dim"))]
    if verbose:
        lines += [one for finding in found for one in _in_full(finding, message)]
    elif len(found) == 1 and found[0].resource is not None:
        resource = found[0].resource
        named = f"   {resource.type} {resource.name}"
        lines.append(line(INDENT, (place_of(found[0]), "place"), named))
    else:
        lines.append(line(INDENT, (places_of(found, WIDTH - len(INDENT)), "place")))
    if not verbose:
        lines += _notes(found)
    if action:
        lines.append(line(f"{INDENT}→ {action}"))
    return lines


def _notes(found: Sequence[Finding]) -> list[Line]:
    """Return the notes of findings of one cause, each once; what is not said of all of them stands
    behind the places that it is about."""
    about: dict[str, list[Finding]] = {}
    for finding in found:
        for note in dict.fromkeys(finding.notes):
            said = note if len(found) == 1 else _with_it(note, finding.resource)
            about.setdefault(said, []).append(finding)
    notes = [*about.items()]
    if len(notes) > MOST_IN_FULL:
        notes = [
            (heap.said, [finding for _, mine in heap.things for finding in mine])
            for heap in heaped(about.items(), lambda one: one[0])
        ]
    lines = []
    for note, mine in notes[:MOST_NOTES]:
        everywhere = len({id(finding) for finding in mine}) == len(found)
        where = "" if everywhere else f"{places_of(mine, WIDTH // 3)}   "
        lines.append(line(INDENT, (where, "place"), note))
    more = len(notes) - MOST_NOTES
    return lines + [line(INDENT, (f"… and {more} more: --verbose", "dim"))] * (more > 0)


def _in_full(finding: Finding, said: str) -> list[Line]:
    resource = finding.resource
    named = f"   {resource.type} {resource.name}" if resource is not None else ""
    lines = [line(INDENT, (place_of(finding), "place"), named)]
    if finding.message != said:
        lines.append(line(f"{INDENT}    {finding.message}"))
    return lines + [line(f"{INDENT}    {note}") for note in finding.notes]


def fault_lines(rejections: Iterable[Rejection]) -> list[Line]:
    """Return what this tool failed on where it asked whether a release takes a resource."""
    lines = []
    for one in rejections:
        if one.fault:
            where, resource = one.resource.where, one.resource
            place = f"{where.path}:{where.line}" if where is not None else "(inventory)"
            said = f"   {resource.type} {resource.name}   {one.problems[0].message}; {REPORT_IT}"
            lines.append(line("  ", ("failed on ", "bad"), (place, "place"), said))
    return lines
