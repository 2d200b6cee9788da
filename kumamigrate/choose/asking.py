"""`run -i`: change by change, somebody says what is written.

Whatever was refused is held, and the rest is proven again without it: what was accepted may have
rested on it. A change that comes out otherwise then is asked about again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from kumamigrate.choose.hunk import Hunk, hunk_lines, hunks, why_lines
from kumamigrate.dataclass import dataclass, field, replace
from kumamigrate.errors import UsageError
from kumamigrate.flow.declined import refused
from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.library import Reading, migrate
from kumamigrate.report.styled import Line, line, show
from kumamigrate.rewrite.change import Change

MOST_ROUNDS = 20
"""After so many what was not accepted yet is refused."""
_QUESTION = "accept, skip, why, quit [a/s/w/q]? "


class Reply(StrEnum):
    """What somebody says about a change."""

    ACCEPT = "accept"
    SKIP = "skip"
    WHY = "why"
    QUIT = "quit"


_MORE = {"y": Reply.ACCEPT, "yes": Reply.ACCEPT, "n": Reply.SKIP, "no": Reply.SKIP}
_WORDS = {word: one for one in Reply for word in (one.value, one.value[0])} | _MORE


@dataclass(kw_only=True)
class Asker:
    """Somebody who answers, line by line; where the lines end, they are done."""

    lines: Iterator[str]
    tell: Callable[[Iterable[Line]], None]
    gone: bool = field(default=False, init=False)

    def ask(self) -> Reply:
        """Return the next answer that is one."""
        while True:
            self.tell([line(_QUESTION)])
            word = next(self.lines, "quit").strip().lower()
            if word in _WORDS:
                return _WORDS[word]
            self.tell([line("a: write it · s: leave it · w: say why · q: leave this and the rest")])


def asker_of(given: Mapping[str, Any]) -> Asker:
    """Return who answers: somebody at a terminal, or a file. Raises UsageError for nobody."""
    answers = given.get("answers")
    if answers is None and not sys.stdin.isatty():
        raise UsageError(
            "-i asks at a terminal, and this is none; --answers FILE takes the answers from a file,"
            " one a line, --answers - from what comes in"
        )
    if answers is None or str(answers) == "-":
        return Asker(lines=iter(sys.stdin.readline, ""), tell=_on_stderr)
    try:
        text = Path(answers).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{answers}: {error}") from error
    return Asker(lines=iter(text.splitlines()), tell=_on_stderr)


def _on_stderr(lines: Iterable[Line]) -> None:
    show(lines, sys.stderr)


def migrate_asking(reading: Reading, asker: Asker) -> Outcome:
    """Return what is proven of the changes that somebody accepts."""
    accepted: set[str] = set()
    skip: frozenset[Any] = reading.options.skip
    for number in range(MOST_ROUNDS + 1):
        outcome = migrate(_without(reading, skip))
        if number == MOST_ROUNDS:
            asker.gone = True
        refusals = _asked(outcome, asker, accepted)
        if not refusals:
            return outcome
        skip |= refusals
    return migrate(_without(reading, skip | {refused(c) for c in outcome.kept}))


def _without(reading: Reading, skip: frozenset[Any]) -> Reading:
    return replace(reading, options=replace(reading.options, skip=skip, interactive=True))


def _asked(outcome: Outcome, asker: Asker, accepted: set[str]) -> frozenset[Any]:
    """Ask about what was not accepted yet; return what is refused."""
    refusals = set()
    open_hunks = [one for one in hunks(outcome) if _content(one.change) not in accepted]
    for number, hunk in enumerate(open_hunks, start=1):
        if not asker.gone:
            asker.tell(hunk_lines(hunk, number, len(open_hunks)))
        answer = _answer(hunk, asker)
        if answer is Reply.ACCEPT:
            accepted.add(_content(hunk.change))
        else:
            refusals.add(refused(hunk.change))
    return frozenset(refusals)


def _answer(hunk: Hunk, asker: Asker) -> Reply:
    if asker.gone:
        return Reply.SKIP
    while (answer := asker.ask()) is Reply.WHY:
        asker.tell(why_lines(hunk))
    asker.gone = answer is Reply.QUIT
    return answer


def _content(change: Change) -> str:
    """Return what was accepted with a change: these edits, of these resources."""
    edits = [(edit.where.path, edit.manifests) for edit in change.edits]
    names = sorted(str(one) for one in refused(change)[1])
    return json.dumps([change.rule, names, edits], sort_keys=True, default=repr)
