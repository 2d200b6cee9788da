"""Differences that harm nobody, those of one kind below one heading."""

from __future__ import annotations

from collections.abc import Iterable, Set

from kumamigrate.effective.bothengines.comeorgone import OUTBOUND_ITSELF
from kumamigrate.effective.difference import Effect, Witness
from kumamigrate.report.screen.difftext import (
    IN_ENVOY_ALONE,
    Sides,
    difference_lines,
    number_of,
)
from kumamigrate.report.styled import Line, line

HEADINGS = {
    Effect.ACTIVATION: (
        "setting stands in Git and is ignored by this mesh today; it starts to work",
        "settings stand in Git and are ignored by this mesh today; they start to work",
    ),
    Effect.NAME: IN_ENVOY_ALONE,
    Effect.RESIDUE: (
        "setting that only the old engine made will be gone, and no new policy can set it",
        "settings that only the old engine made will be gone, and no new policy can set them",
    ),
}
Heading = tuple[Effect, bool]
"""An effect, and whether it is of an outbound that comes, which is no setting."""
_OUTBOUNDS = (
    "outbound is not made today and comes",
    "outbounds are not made today and come",
)


def by_heading(witnesses: Iterable[Witness]) -> dict[Heading, list[Witness]]:
    """Return differences by what stands above them, which may be nothing, in order."""
    found: dict[Heading, list[Witness]] = {}
    for witness in witnesses:
        comes = witness.effect is Effect.ACTIVATION and witness.field == OUTBOUND_ITSELF
        found.setdefault((witness.effect, comes), []).append(witness)
    order = list(Effect)
    return dict(sorted(found.items(), key=lambda one: (order.index(one[0][0]), one[0][1])))


def harmless_of(
    witnesses: Iterable[Witness],
    sides: Sides,
    allow: Set[Effect],
    *,
    indent: str,
    hint: str = "",
) -> list[Line]:
    """Return the harmless differences, those of one kind below one heading."""
    lines: list[Line] = []
    for heading, mine in by_heading(w for w in witnesses if w.effect in HEADINGS).items():
        number = number_of(mine, sides)
        lines += [(*line(indent), *heading_line(heading, number, mine, allow, hint=hint))]
        lines += difference_lines(mine, sides, indent=f"{indent}  ")
    return lines


def heading_line(
    heading: Heading,
    number: int,
    mine: Iterable[Witness],
    allow: Set[Effect],
    *,
    hint: str = "",
) -> Line:
    """Return what stands above harmless differences of one kind, of which so many are shown."""
    effect, comes = heading
    one, many = _OUTBOUNDS if comes else HEADINGS[effect]
    words = one if number == 1 else many
    if effect is Effect.RESIDUE and all(w.policy_type == "MeshTimeout" for w in mine):
        words = words.replace("setting", "timeout", 1)
    refused = "" if effect in allow else " (which --allow does not let pass)"
    more = hint if effect is Effect.ACTIVATION and not refused else ""
    return line(f"{number} {words}", (refused, "warn"), (more, "dim"), ":")
