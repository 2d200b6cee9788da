"""What is not known of the repository: listed once, with numbers by which the rest refers to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kumamigrate.prove.doubts.unreadreason import READ, unread_reason
from kumamigrate.report.exit import Exit
from kumamigrate.report.styled import Line, line
from kumamigrate.scene.repository import Repository
from kumamigrate.source.text import Reason, Refusal

MOST = 10
Numbers = Mapping[str, str]
"""How what was not read is called, by what a proof says of it."""


def not_read(repository: Repository) -> list[Refusal]:
    """Return what makes a result inconclusive: content unread or filled in by templates."""
    unknown = (Reason.TEMPLATE, Reason.NOT_MODELLED)
    return [r for r in repository.unread if r.hides or r.reason in unknown]


def exit_of_kinds(repositories: Iterable[Repository]) -> Exit:
    """Return the exit code for what the repositories hold of kinds that are not modelled."""
    reasons = {refusal.reason for one in repositories for refusal in one.unread}
    return Exit.INCONCLUSIVE if Reason.NOT_MODELLED in reasons else Exit.CLEAN


def unread_lines(repository: Repository) -> list[Line]:
    """Return what could not be read, and what templates fill in."""
    filled = [r for r in repository.unread if r.reason is Reason.TEMPLATE and not r.hides]
    foreign = [r for r in repository.unread if r.reason is Reason.NOT_MODELLED]
    hidden = _hidden(repository)
    unread = [r for r in hidden if r.reason not in READ]
    return [
        *_refusal_lines("Not read", unread, 1),
        *_refusal_lines("In doubt", hidden[len(unread) :], len(unread) + 1),
        *_refusal_lines("Filled in by templates, so not known", filled, None),
        *_refusal_lines("Not modelled, so not compared", foreign, None),
    ]


def numbers_of(repository: Repository) -> Numbers:
    """Return the numbers of what is listed."""
    listed = enumerate(_hidden(repository), start=1)
    return {unread_reason(refusal): f"[{number}]" for number, refusal in listed}


def with_numbers(reasons: Iterable[str], numbers: Numbers) -> list[str]:
    """Return why something cannot be told, what is listed said by its number."""
    called: list[str] = []
    others: list[str] = []
    for reason in reasons:
        number = numbers.get(reason)
        if number is None:
            others.append(reason)
        elif number not in called:
            called.append(number)
    if not called:
        return others
    return [f"it may depend on {_listed(called)}, which is not known", *others]


def _listed(called: Sequence[str]) -> str:
    more = f" and {len(called) - MOST} more" if len(called) > MOST else ""
    return ", ".join(called[:MOST]) + more


def _hidden(repository: Repository) -> list[Refusal]:
    hidden = [refusal for refusal in repository.unread if refusal.hides]
    return sorted(hidden, key=lambda refusal: refusal.reason in READ)


def _refusal_lines(title: str, refusals: Sequence[Refusal], first: int | None) -> list[Line]:
    """Return one line each: place, what, what to do; numbered from `first` on."""
    if not refusals:
        return []
    counted = f"{len(refusals)} place{'' if len(refusals) == 1 else 's'}"
    lines: list[Line] = [(), line((f"{title}: {counted}", "warn"))]
    for number, refusal in enumerate(refusals[:MOST], start=first or 0):
        place = f"{refusal.path}:{refusal.line}:{refusal.column}" if refusal.line else refusal.path
        advice = f"; {refusal.advice}" if refusal.advice else ""
        mark = f"[{number}] " if first is not None else ""
        lines.append(line(f"  {mark}", (place, "place"), f"  {refusal.detail}{advice}"))
    if len(refusals) > MOST:
        lines.append(line(f"  … and {len(refusals) - MOST} more; --format json has them all"))
    return lines
