"""Facts of two sides become differences: the field, both values, and who gave them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kumamigrate.effective.difference import Locate, Value
from kumamigrate.effective.picture import NOTHING, Fact, Facts, Key
from kumamigrate.model.resource import Resource
from kumamigrate.source.text import FieldPath
from kumamigrate.targetref.explain import winner_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One field at one place that two sides do not agree on."""

    key: Key
    field: str
    before: Any
    after: Any
    was: Fact
    now: Fact


def differences(before: Facts, after: Facts, *, common: bool = False) -> Iterator[Difference]:
    """Yield every field that differs; with `common`, only at places that both sides have."""
    for key in dict.fromkeys((*before, *after)):
        if common and (key not in before or key not in after):
            continue
        was, now = before.get(key, NOTHING), after.get(key, NOTHING)
        if was.settings == now.settings:
            continue
        for field in dict.fromkeys((*was.settings, *now.settings)):
            old, new = was.settings.get(field), now.settings.get(field)
            if old != new or (field in was.settings) != (field in now.settings):
                yield Difference(key=key, field=field, before=old, after=new, was=was, now=now)


def value_of(
    fact: Fact, field: str, value: Any, locate: Locate, *, of_route: bool = False
) -> Value:
    """Return a value with the policy that gives it, and the place in its file.

    `of_route` says that the route itself gives it.
    """
    place = _route_place(fact) if of_route else _place(fact, field)
    if place is None:
        return Value(value=value)
    policy, path = place
    at = locate(policy, (*policy.spec_path, *path)) if not policy.made_up else ""
    return Value(value=value, policy=policy.name, at=at)


def _place(fact: Fact, field: str) -> tuple[Resource, FieldPath] | None:
    if fact.found is None:
        return None
    source = winner_of(fact.found, tuple(field.split(".")))
    if source is not None:
        return source.policy, source.path
    whole = ("rules", "from", "rules.deny", "rules.allow", "backends")
    if field in whole or field.startswith("client "):
        entry = fact.found.entries[-1]
        return entry.policy, entry.path
    return None


def _route_place(fact: Fact) -> tuple[Resource, FieldPath] | None:
    if fact.route is None or fact.route.entry is None:
        return None
    return fact.route.entry.policy, fact.route.entry.path


def match_of(fact: Fact, other: Fact) -> Mapping[str, Any] | None:
    """Return the match of the route that a fact belongs to."""
    route = fact.route or other.route
    return None if route is None else dict(route.match)


__all__ = ["Difference", "differences", "match_of", "value_of"]
