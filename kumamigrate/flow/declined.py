"""Changes that somebody said no to: known again in whatever pass, and in whatever form."""

from __future__ import annotations

from collections.abc import Iterable

from kumamigrate.flow.circles import Subject, subject_of
from kumamigrate.rewrite.change import Change
from kumamigrate.scene.held import Cause, Held

Refused = tuple[str, Subject, frozenset[str]]
"""A rule, what it would change, and the files in which."""


def refused(change: Change) -> Refused:
    """Return what is refused with a change: the same rule about the same things, in any form."""
    return change.rule, subject_of(change), frozenset(edit.where.path for edit in change.edits)


def held_by_choice(changes: Iterable[Change], skip: frozenset[Refused]) -> list[Held]:
    """Return the changes that somebody said no to, held."""
    return [Held(change=c, cause=Cause.SKIPPED) for c in changes if refused(c) in skip]


def each_once(held: Iterable[Held]) -> tuple[Held, ...]:
    """Return held changes, of those that were skipped in several passes the last."""
    last: dict[object, Held] = {}
    for at, one in enumerate(held):
        last[refused(one.change) if one.cause is Cause.SKIPPED else at] = one
    return tuple(last.values())
