"""What could be written and was left: settings that start to work, changes that were skipped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kumamigrate.report.styled import Line, line
from kumamigrate.report.witnesses import harmless_lines
from kumamigrate.rewrite.finding import Finding
from kumamigrate.scene.trial import Cause, Held

MOST = 40
_HEADINGS = {
    Cause.ACTIVATION: "settings that have no effect today would start to work",
    Cause.NAME: "routes would get other names in Envoy",
    Cause.RESIDUE: "settings that only the old engine made would be gone",
    Cause.SKIPPED: "skipped",
}
_NEXT = {
    Cause.ACTIVATION: "Review them in a change of their own: the same command without --hold",
    Cause.NAME: "Review them in a change of their own: the same command without --hold",
    Cause.RESIDUE: "Review them in a change of their own: the same command without --hold",
    Cause.SKIPPED: "They are offered again by the next run",
}


def left_lines(held: Iterable[Held]) -> list[Line]:
    """Return what was left for a change of its own, by cause."""
    listed = [one for one in held if one.cause is not None]
    lines: list[Line] = []
    for cause, words in _HEADINGS.items():
        mine = [one for one in listed if one.cause is cause]
        if mine:
            number = f"{len(mine)} change{'' if len(mine) == 1 else 's'}"
            lines += [(), line((f"Left {number}", "warn"), f" for later: {words}")]
            lines += _listed(mine)
            lines.append(line(f"  → {_NEXT[cause]}"))
    return lines


def _listed(held: Sequence[Held]) -> list[Line]:
    lines: list[Line] = []
    for one in held[:MOST]:
        lines += [_place(finding) for finding in one.change.findings[:3]]
        lines += harmless_lines(one.witnesses, indent="      ")
    if len(held) > MOST:
        lines.append(line(f"  … and {len(held) - MOST} more"))
    return lines


def _place(finding: Finding) -> Line:
    resource = finding.resource
    name = f"{resource.type} {resource.name}" if resource is not None else ""
    where = f"{finding.file}:{finding.line}"
    return line("  ", (where, "place"), f"   {name}   ", (finding.rule, "dim"))
