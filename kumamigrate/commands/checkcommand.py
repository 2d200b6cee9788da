"""`check`: findings, and nothing changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kumamigrate.commands.given import Given, alone, loaded
from kumamigrate.commands.printed import tell, with_stats
from kumamigrate.dataclass import replace
from kumamigrate.flow.pipeline import check as check_estate
from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.library import Sources, read
from kumamigrate.report.baselinetext import baseline_json, baseline_lines
from kumamigrate.report.exit import Exit
from kumamigrate.report.exitcode import exit_of_check
from kumamigrate.report.forms import TEXT, Answer, Forms, forms_of
from kumamigrate.report.invocation import invocation
from kumamigrate.report.screen.deadtext import dead_lines, is_dead
from kumamigrate.report.screen.userpaths import from_here
from kumamigrate.report.stats import PLANNING, REPORT, Stopwatch
from kumamigrate.report.styled import Line
from kumamigrate.world.estate import Estate
from kumamigrate.world.scope import Extent

if TYPE_CHECKING:
    from kumamigrate.cache.remembered import Remembered


def check(given: Given, *, printed: str, saved: Sequence[str]) -> Exit:
    """Print findings; change nothing."""
    forms = forms_of(printed, saved)
    watch = Stopwatch()
    sources = _checked(given)
    before = _asked_before(given, sources)
    answer = None if before is None else before.answer()
    if answer is None:
        answer, estate = _answered(given, forms, sources, watch)
        if before is not None:
            before.keep(answer, estate)
    tell(forms, answer.data, answer.lines)
    return answer.code


def _asked_before(given: Given, sources: Sources) -> Remembered | None:
    """Return a check as one that may have been asked before. That of some files costs less than
    to look it up."""
    if sources.scope.world is Extent.NAMED:
        return None
    from kumamigrate.cache.remembered import remembered

    return remembered(sources, given)


def _answered(
    given: Given, forms: Forms, sources: Sources, watch: Stopwatch
) -> tuple[Answer, Estate]:
    """Return what a check says, and of what."""
    reading = read(sources)
    watch.begin(PLANNING)
    outcome = check_estate(reading.estate, sources.options)
    watch.begin(REPORT)
    data = _data(given, outcome) if forms.needs_data else None
    lines = _lines(given, outcome) if forms.printed == TEXT else []
    data = with_stats(given, data, watch, reading.estate)
    return Answer(code=exit_of_check(outcome), lines=lines, data=data), reading.estate


def _data(given: Given, outcome: Outcome) -> dict[str, Any]:
    from kumamigrate.report.outcome import check_json  # no hook needs it

    command = {"command": invocation("check", given)}
    return {**check_json(outcome), **command, **baseline_json(outcome)}


def _lines(given: Given, outcome: Outcome) -> list[Line]:
    from kumamigrate.report.screen.checkscreen import check_lines

    alive = replace(outcome, findings=tuple(f for f in outcome.findings if not is_dead(f)))
    told = check_lines(
        alive,
        verbose=bool(given.get("verbose")),
        command=invocation("run", {**given, "dead": False}),
        later=_asked_later(outcome),
    )
    told += dead_lines(outcome.findings) if given.get("dead") else []
    return from_here([*told, *baseline_lines(outcome)], outcome.began)


def _asked_later(outcome: Outcome) -> int:
    """Return how much a later release asks for, which a hook has no time to find out."""
    scope = outcome.began.scope
    if scope is None or scope.world is Extent.NAMED:
        return 0
    from kumamigrate.flow.later import asked_later

    return asked_later(outcome)


def _checked(given: Given) -> Sources:
    """Return what a check reads. A pre-commit hook names files and has a moment's time: they
    are read by themselves; a folder is read with all of its repository."""
    paths = [Path(path) for path in given.get("paths") or ()]
    if not paths or not all(path.is_file() for path in paths):
        return loaded(given)
    return alone(given, *paths)
