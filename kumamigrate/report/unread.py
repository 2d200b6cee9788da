"""What is not known of the repository: each cause once, with the places it concerns.

The rest of a report refers to a cause by its number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kumamigrate.dataclass import dataclass
from kumamigrate.effective.doubted import READ, unread_reason
from kumamigrate.report.exit import Exit
from kumamigrate.report.screen.causes import Heap, fitting, heaped
from kumamigrate.report.styled import Line, line
from kumamigrate.scene.repository import Repository
from kumamigrate.source.text import Reason, Refusal

MOST = 10
MOST_CAUSES = 5
WIDTH = 110
Numbers = Mapping[str, str]
"""How what was not read is called, by what a proof says of it."""


@dataclass(frozen=True)
class _Kind:
    title: str
    heaps: list[Heap[Refusal]]
    numbered: bool


def not_read(repository: Repository) -> list[Refusal]:
    """Return what makes a result inconclusive: content unread or filled in by templates."""
    unknown = (Reason.TEMPLATE, Reason.NOT_MODELLED)
    return [r for r in repository.unread if r.hides or r.reason in unknown]


def exit_of_kinds(repositories: Iterable[Repository]) -> Exit:
    """Return the exit code for what the repositories hold of kinds that are not modelled."""
    reasons = {refusal.reason for one in repositories for refusal in one.unread}
    return Exit.INCONCLUSIVE if Reason.NOT_MODELLED in reasons else Exit.CLEAN


def unread_lines(repository: Repository, *, verbose: bool = False, indent: str = "") -> list[Line]:
    """Return what could not be read, and what templates fill in."""
    lines: list[Line] = []
    number = 0
    for kind in _kinds(repository):
        places = sum(len(heap.things) for heap in kind.heaps)
        counted = f"{kind.title}: {places} place{'' if places == 1 else 's'}"
        lines.append(line(indent, (counted, "warn")))
        most = len(kind.heaps) if verbose else MOST_CAUSES
        for at, heap in enumerate(kind.heaps, start=1):
            number += kind.numbered
            if at <= most:
                mark = f"[{number}] " if kind.numbered else ""
                lines += _heap_lines(heap, f"{indent}  {mark}", verbose)
        if len(kind.heaps) > most:
            more = f"{indent}  … and {len(kind.heaps) - most} more: --verbose"
            lines.append(line((more, "dim")))
    return lines


def numbers_of(repository: Repository) -> Numbers:
    """Return the numbers of what is listed."""
    listed = (heap for kind in _kinds(repository) if kind.numbered for heap in kind.heaps)
    return {
        str(unread_reason(refusal)): f"[{number}]"
        for number, heap in enumerate(listed, start=1)
        for refusal in heap.things
    }


def with_numbers(reasons: Iterable[str], numbers: Numbers) -> list[str]:
    """Return why something cannot be told, what is listed said by its number."""
    called: dict[str, list[str]] = {}
    others: list[str] = []
    for reason in reasons:
        found = next((known for known in numbers if reason.endswith(known)), None)
        if found is None:
            others.append(reason)
            continue
        # What stands before it says in which of several worlds that is so.
        known = called.setdefault(reason.removesuffix(found), [])
        if numbers[found] not in known:
            known.append(numbers[found])
    said = [
        f"{where}the answer may depend on {_listed(known)}, which"
        f" {'is' if len(known) == 1 else 'are'} not known"
        for where, known in called.items()
    ]
    return [*said, *others]


def _listed(called: Sequence[str]) -> str:
    more = f" and {len(called) - MOST} more" if len(called) > MOST else ""
    return ", ".join(called[:MOST]) + more


def _kinds(repository: Repository) -> list[_Kind]:
    """Return what is not known, kind by kind, those of one cause together."""
    hidden = [refusal for refusal in repository.unread if refusal.hides]
    filled = [r for r in repository.unread if r.reason is Reason.TEMPLATE and not r.hides]
    foreign = [r for r in repository.unread if r.reason is Reason.NOT_MODELLED]
    kinds = (
        ("Not read", [r for r in hidden if r.reason not in READ], True),
        ("In doubt", [r for r in hidden if r.reason in READ], True),
        ("Filled in by templates, so not known", filled, False),
        ("Not modelled, so not compared", foreign, False),
    )
    return [
        _Kind(title, heaped(found, _words), numbered) for title, found, numbered in kinds if found
    ]


def _words(refusal: Refusal) -> str:
    advice = f"; {refusal.advice}" if refusal.advice else ""
    return f"{refusal.detail}{advice}"


def _heap_lines(heap: Heap[Refusal], head: str, verbose: bool) -> list[Line]:
    """Return one line for one place; for more the cause, and the places below it."""
    places = [_place(refusal) for refusal in heap.things]
    if len(places) == 1:
        return [line(head, (places[0], "place"), f"  {heap.said}")]
    below = " " * (len(head) + 2)
    if verbose:
        rows = zip(places, heap.things, strict=True)
        said = [line(below, (p, "place"), f"  {r.detail}") for p, r in rows]
    else:
        said = [line(below, (fitting(places, WIDTH), "place"))]
    return [line(head, f"{len(places)} places: {heap.said}"), *said]


def _place(refusal: Refusal) -> str:
    if not refusal.line:
        return refusal.path
    return f"{refusal.path}:{refusal.line}:{refusal.column}"
