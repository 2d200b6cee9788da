"""What a run comes to know only at its end and leaves alone from the beginning, then.

Rules that would go on for ever: what they disagree on is held, and the rest is finished. So is
what would end as a document that the target refuses (unfinished.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

from kumamigrate.dataclass import dataclass
from kumamigrate.model.resource import Identity
from kumamigrate.rewrite.change import Change
from kumamigrate.scene.held import Cause, Held

Subject = frozenset[Identity]
"""What a change is about: the resources that its findings name, wherever they stand by now."""


@dataclass(frozen=True, slots=True)
class Left:
    """Why something is left alone; with a `cause` where nothing of a proof stands against it."""

    reason: str
    cause: Cause | None = None


Circles = dict[tuple[str, Subject], Left]
"""What is left alone, by all rules (`ALL`) or by one, with the reason."""

ALL = ""


def subject_of(change: Change) -> Subject:
    """Return what a change is about."""
    return frozenset(f.resource.identity for f in change.findings if f.resource is not None)


def circles_in(last: Iterable[Change]) -> Circles:
    """Return what rules still change although they were asked often enough to be done."""
    rules: dict[Subject, dict[str, None]] = defaultdict(dict)
    for change in last:
        rules[subject_of(change)][change.rule] = None
    return {(ALL, subject): Left(_reason(list(by))) for subject, by in rules.items()}


def held_for_circles(
    changes: Iterable[Change], circles: Mapping[tuple[str, Subject], Left]
) -> list[Held]:
    """Return the changes that are about something that is left alone, held."""
    found = ((change, _why(change, circles)) for change in changes)
    return [Held(change=c, unknown=(why.reason,), cause=why.cause) for c, why in found if why]


def form_left(
    change: Change,
    circles: Mapping[tuple[str, Subject], Left],
    may_try: Callable[[Change], bool],
) -> Change:
    """Return a change; of one that is left alone another form, if there is one that is not."""
    form: Change | None = change
    while form is not None and _why(form, circles):
        form = form.otherwise
    return form if form is not None and may_try(form) else change


def _why(change: Change, circles: Mapping[tuple[str, Subject], Left]) -> Left | None:
    subject = subject_of(change)
    return circles.get((ALL, subject)) or circles.get((change.rule, subject))


def _reason(rules: list[str]) -> str:
    others = f"{', '.join(rules[:-1])} and {rules[-1]} undo" if len(rules) > 1 else ""
    said = f"{others} each other's work" if others else f"{rules[0]} would change it for ever"
    return f"{said}; finish it by hand"
