"""Dead settings, each with the line that overrules it: that is what people ask for."""

from __future__ import annotations

from collections.abc import Iterable

from kumamigrate.flow.quiet import DEAD
from kumamigrate.report.screen.causes import place_of
from kumamigrate.report.styled import Line, line
from kumamigrate.rewrite.finding import OPEN, Finding

_HEADINGS = {
    "unreached-policy": "reach nobody",
    "overruled-setting": "are overruled everywhere",
    "repeated-setting": "repeat what holds without them",
}
_UNDECIDED = "undecided-setting"
_REST = "rests on: "


def is_dead(finding: Finding) -> bool:
    """Say whether a finding tells of a dead setting, or of one of which that is not known."""
    return finding.rule in DEAD


def dead_lines(findings: Iterable[Finding]) -> list[Line]:
    """Return the dead settings by why they are dead, then what that rests on, each once."""
    found = [f for f in findings if is_dead(f) and f.status in OPEN]
    dead = [f for f in found if f.rule != _UNDECIDED]
    number = f"  {len(dead)}: no proxy would notice if they were gone" if dead else "  none found"
    lines: list[Line] = [(), line(("Dead settings", "strong"), number)]
    for rule, words in _HEADINGS.items():
        mine = [f for f in dead if f.rule == rule]
        lines += [line(f"  {len(mine):>3}  {words}   ", (rule, "dim"))] if mine else []
        for finding in mine:
            lines += _of_one(finding)
    facts = dict.fromkeys(
        note.removeprefix(_REST) for f in dead for note in f.notes if note.startswith(_REST)
    )
    lines += [line(f"  rests on  {fact}") for fact in facts]
    for finding in found:
        if finding.rule == _UNDECIDED:
            lines.append(line("  ", (place_of(finding), "place"), f"   {finding.message}"))
    return lines


def _of_one(finding: Finding) -> list[Line]:
    resource = finding.resource
    name = f"{resource.type} {resource.name}" if resource is not None else ""
    field, _, why = finding.message.partition(": ")
    what = "" if field == name else f"   {field}"
    return [
        line("       ", (place_of(finding), "place"), f"   {name}{what}"),
        line(f"           {why}"),
        *(
            []
            if finding.action.startswith("it can be")
            else [line(f"           → {finding.action}")]
        ),
    ]
