"""Route tables of both engines in one form, compared by what they do with requests (§1.2).

Requests are made up from all that the matches of both tables mention, so that any two requests
which some match tells apart are both there: every value, every prefix, each with more behind it.
A regular expression that is no quoted prefix is a coin: it may hold for any request or not.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.model.resource import SERVICE

MOST_REQUESTS = 20_000
OTHER = "\x00"
"""Put behind a value, something that no match mentions."""

Test = tuple[str, str]
"""("exact" | "prefix" | "regex" | "present" | "absent", value)."""
Action = tuple[frozenset[tuple[str, Fraction]], tuple[Any, ...]]
Request = Mapping[tuple[str, str], str | None]


@dataclass(frozen=True, slots=True)
class RouteRule:
    """Tests by subject, all of which must hold, and what happens then.

    Subjects are ("path", ""), ("method", ""), ("header", name), ("param", name).
    """

    tests: tuple[tuple[tuple[str, str], Test], ...]
    action: Action


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """What an outbound does with requests. `family`: "http", "grpc", "tcp", or "" if it is dead.

    `clusters` are the tags of all that it may lead to.
    """

    family: str
    rules: tuple[RouteRule, ...] = ()
    clusters: tuple[Mapping[str, str], ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and first_difference(self, other) is None

    __hash__ = None  # type: ignore[assignment]


def first_difference(one: Table, two: Table) -> tuple[str, str, str] | None:
    """Return a request with what each table does with it, or None if they never differ."""
    if not one.family or not two.family:
        if one.family == two.family:
            return None
        return ("any request", one.family or "nothing", two.family or "nothing")
    if (one.family == "tcp") != (two.family == "tcp"):
        return ("any request", f"treated as {one.family}", f"treated as {two.family}")
    if [(r.tests, r.action) for r in one.rules] == [(r.tests, r.action) for r in two.rules]:
        return None
    requests = made_up(one, two)
    if requests is None:
        return ("too many kinds of request", "not compared", "not compared")
    for request in requests:
        left, right = decided(one, request), decided(two, request)
        if left != right:
            return (_shown(request), _action(left), _action(right))
    return None


def decided(table: Table, request: Request) -> Action | None:
    """Return what the first rule that holds for a request does."""
    for rule in table.rules:
        if all(_holds(test, request.get(subject), request) for subject, test in rule.tests):
            return rule.action
    return None


def _holds(test: Test, value: str | None, request: Request) -> bool:
    kind, wanted = test
    if kind == "coin":
        return request.get(("coin", wanted)) == "yes"
    if kind == "absent":
        return value is None
    if value is None:
        return False
    if kind == "exact":
        return value == wanted
    return kind == "present" or value.startswith(wanted)


def made_up(one: Table, two: Table) -> list[Request] | None:
    """Return requests that hold every combination of tests there can be; None: too many."""
    values: dict[tuple[str, str], dict[str | None, None]] = {}
    for table in (one, two):
        for rule in table.rules:
            for subject, (kind, wanted) in rule.tests:
                if kind == "coin":
                    values.setdefault(("coin", wanted), {"no": None, "yes": None})
                    continue
                found = values.setdefault(subject, {"/" + OTHER: None})
                if subject[0] in ("header", "param"):
                    found[None] = None
                if kind in ("exact", "prefix"):
                    found |= {wanted: None, wanted + OTHER: None}
    total = 1
    for found in values.values():
        total *= len(found)
    if total > MOST_REQUESTS:
        return None
    subjects = list(values)
    return [
        dict(zip(subjects, chosen, strict=True))
        for chosen in product(*(values[s] for s in subjects))
    ]


def _shown(request: Request) -> str:
    parts = []
    for (kind, name), value in request.items():
        if value is None:
            continue
        text = value.replace(OTHER, "…")
        parts.append(f"{kind} {name} {text}".replace("  ", " "))
    return ", ".join(parts) or "any request"


def _action(action: Action | None) -> str:
    if action is None:
        return "nothing"
    shares, filters = action
    where = ", ".join(
        f"{name.replace(SERVICE + '=', '')} {float(w):.3g}" for name, w in sorted(shares)
    )
    return f"{where} {list(filters)}" if filters else where
