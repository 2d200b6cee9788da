"""Doubts as values: what keeps a verdict from being given, about whom, and where that stands.

The words are for people. Nothing reads them back: two doubts are one if they say the same of the
same, wherever it stands now.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from itertools import zip_longest

from kumamigrate.dataclass import dataclass, field, replace
from kumamigrate.model.resource import Resource
from kumamigrate.source.text import Reason, Refusal

READ = (Reason.DUPLICATE_IDENTITY, Reason.NOT_APPLIED, Reason.NO_NAMESPACE)
"""Reasons why something is in doubt although its text could be read."""


class DoubtKind(StrEnum):
    """What a doubt comes from."""

    UNREAD = "unread"
    TEMPLATE = "template"
    NOT_MODELLED = "not modelled"
    MISSING = "missing"
    TIE = "tie"
    COMBINATIONS = "combinations"
    GATEWAY = "gateway"
    PROTOCOL = "protocol"
    NAME = "name"
    CERTIFICATE = "certificate"
    RELEASE = "release"
    WORKLOAD = "workload"
    WORLD = "world"
    CLAIM = "claim"
    REFUSED = "refused"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Doubt:
    """One thing that is not known. `subject` are those it is about, `at` where they stand.

    `concerns` is the policy type that it is a doubt about, if about one.
    """

    kind: DoubtKind
    words: str
    subject: tuple[str, ...] = ()
    at: tuple[str, ...] = field(default=(), compare=False)
    concerns: str = ""

    def __str__(self) -> str:
        """Return a sentence for people."""
        if not self.subject:
            return self.words
        pairs = zip_longest(self.subject, self.at[: len(self.subject)], fillvalue="")
        named = " and ".join(f"{name} ({at})" if at else name for name, at in pairs)
        return f"{named}{self.words}" if self.words.startswith(":") else f"{named} {self.words}"


def merged(doubts: Iterable[Doubt]) -> tuple[Doubt, ...]:
    """Return doubts, each once, with all the places where those stand that it is about."""
    found: dict[Doubt, Doubt] = {}
    for doubt in doubts:
        known = found.get(doubt)
        found[doubt] = doubt if known is None else replace(known, at=_places(known.at, doubt.at))
    return tuple(found.values())


def _places(known: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    pairs = zip_longest(known, more, fillvalue="")
    return tuple(a if b in a.split(", ") else f"{a}, {b}" if a else b for a, b in pairs)


def doubt_of(kind: DoubtKind, resource: Resource, words: str) -> Doubt:
    """Return a doubt about a resource."""
    return Doubt(kind, words, (f"{resource.type} {resource.name}",), (place_of_text(resource),))


def place_of_text(resource: Resource) -> str:
    """Return `file:line` of a resource, or nothing."""
    return f"{resource.where.path}:{resource.where.line}" if resource.where is not None else ""


def unread_reason(refusal: Refusal) -> Doubt:
    """Return what makes a verdict unknown where something was not read."""
    at = f"{refusal.path}:{refusal.line}:{refusal.column}" if refusal.line else refusal.path
    advice = f"; {refusal.advice}" if refusal.advice else ""
    words = f"{at} was not read ({refusal.detail}){advice}"
    if refusal.reason in READ:
        words = f"{at}: {refusal.detail}{advice}"
    return Doubt(DoubtKind.UNREAD, words)
