"""Facts of two sides become differences: the field, both values, and who gave them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.effective.difference import Locate, Value
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.effective.fact import NOTHING, SHARED, Fact, Facts, Key
from kumamigrate.effective.mtlsmode import MTLS_UNKNOWN
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

    @property
    def begins(self) -> bool:
        """Whether what an old policy says, and its release does not hear, begins to work."""
        unheard = {} if self.now.unheard else self.was.unheard
        return self.field in unheard and self.after == unheard[self.field]


def differences(before: Facts, after: Facts, *, common: bool = False) -> Iterator[Difference]:
    """Yield every field that differs; with `common`, only at places that both sides have.

    Of what is undecided on a side nobody knows whether it differs (`undecided`).
    """
    for key in dict.fromkeys((*before, *after)):
        if common and (key not in before or key not in after):
            continue
        was, now = before.get(key, NOTHING), after.get(key, NOTHING)
        if was.settings == now.settings or was.others or now.others:
            continue
        for field in dict.fromkeys((*was.settings, *now.settings)):
            old, new = was.settings.get(field), now.settings.get(field)
            if old != new or (field in was.settings) != (field in now.settings):
                yield Difference(key=key, field=field, before=old, after=new, was=was, now=now)


def undecided(policy_type: str, was: Fact, now: Fact) -> Doubt | None:
    """Return why nobody knows whether two facts differ, None where it is known.

    Whoever of the same policies wins on one side wins on the other.
    """
    if not (was.others or now.others):
        return None
    if was.options == now.options and _said(was.old) == _said(now.old):
        return None
    tied = was if was.others else now
    if tied.why == MTLS_UNKNOWN:
        words = f"{policy_type}: {MTLS_UNKNOWN}; give an inventory with the Mesh (--inventory)"
        return Doubt(DoubtKind.CERTIFICATE, words, concerns=policy_type)
    advice = (
        "give an inventory with the Dataplanes"
        if tied.why == SHARED
        else "give an inventory with creation times (--inventory)"
    )
    words = f"{called_all(tied.old)}: {tied.why} decides between them; {advice}"
    return Doubt(DoubtKind.MISSING, words, concerns=policy_type)


def too_many_ways(policy_type: str) -> Doubt:
    """Return that nobody can try all that old policies of a type tell apart."""
    words = (
        f"{policy_type}: old policies choose proxies or clients in more ways than can be tried;"
        " simplify their selectors"
    )
    return Doubt(DoubtKind.COMBINATIONS, words, concerns=policy_type)


def _said(policies: Sequence[Resource]) -> list[str]:
    return sorted(repr((p.identity, p.created, p.spec)) for p in policies)


def called_all(policies: Sequence[Resource]) -> str:
    """Return the names of policies for a sentence."""
    return " and ".join(sorted({f"{p.type} {p.name}" for p in policies}))


def value_of(
    fact: Fact,
    field: str,
    value: Any,
    locate: Locate,
    *,
    of_route: bool = False,
    whole: bool = False,
) -> Value:
    """Return a value with the policy that gives it, and the place in its file.

    `of_route` says that the route itself gives it; `whole` that the last policy does of which no
    field is the one.
    """
    routed = of_route and fact.route is not None
    place = _route_place(fact) if routed else _place(fact, field, whole=whole)
    if place is None:
        return Value(value=value)
    policy, path, written = place
    at = locate(policy, (*policy.spec_path, *path)) if not policy.made_up else ""
    return Value(value=value, policy=policy.name, at=at, filled=not written)


_OF_WHOLE = ("rules", "from", "rules.deny", "rules.allow", "backends")
_OF_CLIENTS = ("allowed", "shadow denied", "faults")
"""Fields that all entries of an inbound give together."""


_Place = tuple[Resource, FieldPath, bool]
"""A policy, a path of its spec, and whether what is sought stands there."""


def _place(fact: Fact, field: str, *, whole: bool) -> _Place | None:
    if fact.found is None:
        return (fact.old[0], ("conf",), True) if len(fact.old) == 1 else None
    source = winner_of(fact.found, tuple(field.split(".")))
    if source is not None:
        return source.policy, source.path, source.written
    if whole or field in (*_OF_WHOLE, *_OF_CLIENTS) or field.startswith("client "):
        entry = fact.found.entries[-1]
        return entry.policy, entry.path, True
    return None


def _route_place(fact: Fact) -> _Place | None:
    if fact.route is None or fact.route.entry is None:
        return None
    return fact.route.entry.policy, fact.route.entry.path, True


def match_of(fact: Fact, other: Fact) -> Mapping[str, Any] | None:
    """Return the match of the route that a fact belongs to."""
    route = fact.route or other.route
    return None if route is None else dict(route.match)
