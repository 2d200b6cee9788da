"""Numbers with their nouns, and the first of many things."""

from __future__ import annotations

from collections.abc import Iterable

from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.flow.word import may_take
from kumamigrate.report.styled import Line, line

RUN = "kumamigrate run"


def count(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def some(words: Iterable[str], most: int, *, width: int = 0) -> str:
    """Return the first of some words, as far as they fit, and how many more there are."""
    listed = list(words)
    shown: list[str] = []
    for word in listed[:most]:
        if shown and width and len(", ".join([*shown, word])) > width:
            break
        shown.append(word)
    more = len(listed) - len(shown)
    return ", ".join(shown) + (f" … and {more} more" if more else "")


def is_on_word(outcome: Outcome, rule: str) -> bool:
    """Say whether the user took what a rule writes on their own word, at some place at least."""
    return may_take(outcome.options, rule)


def nothing_line() -> Line:
    """Say that there is nothing to look at, which a path that is not the right one has, too."""
    said = ": no YAML or JSON is in the folder that was given; is it the right path?"
    return line(("Nothing was looked at", "warn"), said)


def scope_words(outcome: Outcome) -> str:
    """Say how many resources were looked at, in how many files."""
    repository = outcome.before.repository
    holding, examined = len(repository.files), repository.examined
    files = count(examined, "file")
    within = files if holding == examined else f"{holding} of {files}"
    return f" ({count(len(repository.resources), 'resource')} in {within})"
