"""Differences that harm nobody, those of one kind below one heading."""

from __future__ import annotations

from collections.abc import Iterable, Set

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


def harmless_of(
    witnesses: Iterable[Witness],
    sides: Sides,
    allow: Set[Effect],
    *,
    indent: str,
    hint: str = "",
) -> list[Line]:
    """Return the harmless differences, those of one kind below one heading."""
    known = list(witnesses)
    lines: list[Line] = []
    for effect in HEADINGS:
        mine = [w for w in known if w.effect is effect]
        number = number_of(mine, sides)
        if number:
            heading = heading_line(effect, number, allow, hint=hint, timeouts=are_timeouts(mine))
            lines += [(*line(indent), *heading)]
            lines += difference_lines(mine, sides, indent=f"{indent}  ")
    return lines


def are_timeouts(witnesses: Iterable[Witness]) -> bool:
    return all(w.policy_type == "MeshTimeout" for w in witnesses)


def heading_line(
    effect: Effect, number: int, allow: Set[Effect], *, hint: str = "", timeouts: bool = False
) -> Line:
    """Return what stands above harmless differences of one kind."""
    one, many = HEADINGS[effect]
    words = one if number == 1 else many
    if effect is Effect.RESIDUE and timeouts:
        words = words.replace("setting", "timeout", 1)
    refused = "" if effect in allow else " (which --allow does not let pass)"
    more = hint if effect is Effect.ACTIVATION and not refused else ""
    return line(f"{number} {words}", (refused, "warn"), (more, "dim"), ":")
