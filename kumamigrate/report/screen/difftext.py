"""Differences for people: whose traffic, which setting, from what to what, and the lines.

What one line of a policy does to many connections is said once, with the first of them. Where a
policy comes or goes as a whole it is one difference, however many settings it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.effective.difference import Effect, Value, Witness, inbound_and_client
from kumamigrate.report.screen.counted import count
from kumamigrate.report.screen.fieldwords import CLIENT, SWITCHES, block_of, field_words
from kumamigrate.report.screen.gatewaywords import (
    DIRECTION,
    comes_or_goes,
    list_words,
    place_words,
)
from kumamigrate.report.screen.oneway import joined
from kumamigrate.report.screen.standing import Shown, Texts, shown
from kumamigrate.report.screen.valuewords import in_words, leaves_that_differ
from kumamigrate.report.styled import Line, line

_BY_TAG = "the same by tag, where a real service is to take its place"
"""What a route keeps that a mode switch should have led elsewhere."""
MOST = 10
MOST_PLACES = 1
MOST_LEAVES = 3
LONG = 120
CERTIFICATE = "certificate"
"""The field of what a client shows: a difference of its own, of nobody's traffic to it."""
NO_TEXTS = Texts(files={})
BUT_WHAT_STARTS = ", but for settings that start to work"
"""Ends the sentence that nothing changes, where what was ignored begins to count."""
IN_ENVOY_ALONE = (
    "change shows in Envoy's configuration and statistics alone; no traffic changes",
    "changes show in Envoy's configuration and statistics alone; no traffic changes",
)
"""What stands above differences of effect *name*, one or more: of routes, rules and filters that
get other names, and of what Envoy did by itself and is told now."""


@dataclass(frozen=True, kw_only=True)
class Sides:
    """The texts in which values stand, before and after, of one environment."""

    before: Texts = NO_TEXTS
    after: Texts = NO_TEXTS
    environment: str = ""
    verbose: bool = False


def difference_lines(witnesses: Iterable[Witness], sides: Sides, *, indent: str) -> list[Line]:
    """Return differences, one line each, those of one written line together."""
    kinds = _by_kind(grouped(witnesses, sides), sides.verbose)
    each = max(1, MOST // max(1, len(kinds)))
    lines: list[Line] = []
    for kind in kinds[: len(kinds) if sides.verbose else MOST]:
        most = len(kind) if sides.verbose else each
        lines += [one for entry in kind[:most] for one in _lines(entry, sides, indent)]
        if len(kind) > most:
            of_kind = " of this kind" if len(kinds) > 1 else ""
            lines.append(line(f"{indent}… and {len(kind) - most} more{of_kind}: --verbose"))
    if len(kinds) > MOST and not sides.verbose:
        others = count(len(kinds) - MOST, "more kind", "more kinds")
        lines.append(line(f"{indent}… and {others} of difference: --verbose"))
    return lines


def _by_kind(groups: list[list[Witness]], verbose: bool) -> list[list[list[Witness]]]:
    """Return differences kind by kind where not all can stand: many alike hide no other."""
    if verbose or len(groups) <= MOST:
        return [groups] if groups else []
    kinds: dict[Any, list[list[Witness]]] = {}
    for group in groups:
        first = group[0]
        ends = first.before.value is None, first.after.value is None
        kind = first.policy_type, _setting(first), first.direction, first.effect, *ends
        kinds.setdefault(kind, []).append(group)
    return list(kinds.values())


def _setting(witness: Witness) -> str:
    """Return the field that a difference is about, whichever client meets it."""
    return CLIENT if witness.field.startswith(CLIENT) else witness.field


def number_of(witnesses: Iterable[Witness], sides: Sides | None = None) -> int:
    """Return how many differences are shown."""
    return len(grouped(witnesses, replace(sides or Sides(), verbose=False)))


def grouped(witnesses: Iterable[Witness], sides: Sides) -> list[list[Witness]]:
    """Return differences by what makes them: the same lines, the same values.

    Each connection stands once in a group, in the order found.
    """
    told = joined(witnesses)
    told = told if sides.verbose else [w for part in _by_policy(told) for w in _as_one(part)]
    groups: dict[Any, list[Witness]] = {}
    for witness in told:
        if witness.field == CERTIFICATE and not sides.verbose:  # whose names are its own
            ends = witness.before.value is None, witness.after.value is None
            groups.setdefault((witness.mesh, CERTIFICATE, *ends), []).append(witness)
            continue
        texts = (repr(witness.before.value), repr(witness.after.value))
        was, now = _both(witness, sides)
        # Without a line of its own a default is the same only for the same setting and place; what
        # only the old engine did is gone wherever it was.
        anywhere = was.place or now.place or witness.effect is Effect.RESIDUE
        here = "" if anywhere else (witness.place, repr(witness.route))
        setting = (witness.policy_type, _setting(witness), witness.direction, *texts)
        key = (*setting, was.source, now.source, here)
        groups.setdefault(key, []).append(witness)
    return list(groups.values())


def _both(witness: Witness, sides: Sides) -> tuple[Shown, Shown]:
    return (
        shown(witness, witness.before, sides.before, sides.environment),
        shown(witness, witness.after, sides.after, sides.environment),
    )


def _by_policy(witnesses: Iterable[Witness]) -> list[list[Witness]]:
    parts: dict[Any, list[Witness]] = {}
    for one in witnesses:
        where = (one.mesh, one.proxy, one.policy_type, one.direction, one.place, repr(one.route))
        parts.setdefault((*where, one.effect), []).append(one)
    return list(parts.values())


def _as_one(part: Sequence[Witness]) -> list[Witness]:
    """Return the differences of one type at one place; a block that comes or goes is one."""
    blocks: dict[str, list[Witness]] = {}
    for witness in part:
        blocks.setdefault(block_of(witness.field), []).append(witness)
    return [one for block in blocks.values() for one in _switched(block)]


def _switched(block: Sequence[Witness]) -> list[Witness]:
    gone = all(w.after.value is None for w in block)
    if len(block) == 1 or not (gone or all(w.before.value is None for w in block)):
        return list(block)
    switch = [w for w in block if w.field in SWITCHES and w.policy_type in ("MeshRetry", "Retry")]
    if switch:
        return switch
    first = block[0]
    side = "before" if gone else "after"
    values = {w.field.rsplit(".", 1)[-1]: getattr(w, side).value for w in block}
    whole = replace(getattr(first, side), value=values)
    return [replace(first, field=block_of(first.field), **{side: whole})]


def _lines(group: Sequence[Witness], sides: Sides, indent: str) -> list[Line]:
    first = group[0]
    was, now = _both(first, sides)
    what = _about(group, sides.verbose)
    who = _connections(group, sides.verbose)
    about = f"{who}   {what}" if what else f"{who}:"
    if first.effect is Effect.NAME:
        was = Shown(_route_name(first.before), place=was.place)
        now = Shown(_route_name(first.after), place=now.place)
    if comes_or_goes(first):
        was, now = (Shown(list_words(side.value)) for side in (first.before, first.after))
    if first.field == "backendRefs" and first.before.value == first.after.value:
        now = replace(now, words=_BY_TAG)
    leaves = _leaves(first, sides.verbose)
    place = now.place or was.place
    tail = _origins(was, now)
    if leaves:
        head = line(f"{indent}{about}   ", (place, "place"), tail)
        return [head, *(line(f"{indent}    {said}") for said in leaves)]
    good = "good" if first.effect is not Effect.VALUE else "strong"
    said = (was.words, ""), (" → ", ""), (now.words, good)
    if len(was.words) + len(now.words) > LONG:
        return [
            line(f"{indent}{about}   ", (place, "place"), tail),
            line(f"{indent}    ", (was.words, "")),
            line(f"{indent}    → ", (now.words, good)),
        ]
    return [line(f"{indent}{about}  ", *said, "   ", (place, "place"), tail)]


def _origins(was: Shown, now: Shown) -> str:
    """Say where the values come from, beyond the place that is named."""
    if now.place:
        other = f"from {was.place}" if was.place and was.place != now.place else was.origin
        return f" ({was.words}: {other})" if other else ""
    said = [f"{side.words}: {side.origin}" for side in (was, now) if side.origin]
    return f" ({'; '.join(said)})" if said else ""


def _leaves(witness: Witness, verbose: bool) -> list[str]:
    """Return what differs inside two structures, where that says less than both of them."""
    before, after = witness.before.value, witness.after.value
    nested = isinstance(before, list | dict) and isinstance(after, list | dict)
    if not nested or witness.field in ("from", "rules.allow", "rules.deny", "backendRefs"):
        return []
    leaves = list(leaves_that_differ(before, after))
    whole = len(in_words(before)) + len(in_words(after))
    if whole <= LONG // 2 or not all(path for path, *_ in leaves):
        return []
    most = len(leaves) if verbose else MOST_LEAVES
    said = [f"{path}  {in_words(old)} → {in_words(new)}" for path, old, new in leaves[:most]]
    more = len(leaves) - len(said)
    return [*said, f"… and {more} more: --verbose"] if more else said


def _about(group: Sequence[Witness], verbose: bool) -> str:
    """Say which setting differs, and for which clients, where it is for some."""
    first = group[0]
    if _setting(first) != CLIENT:
        return field_words(first.policy_type, first.field)
    clients = _first_of((w.field.removeprefix(CLIENT) for w in group), verbose)
    return field_words(first.policy_type, CLIENT + clients)


def _first_of(words: Iterable[str], verbose: bool) -> str:
    """Say the first of some things, and how many more there are."""
    said = list(dict.fromkeys(words))
    most = len(said) if verbose else MOST_PLACES
    more = f" and {len(said) - most} more" if len(said) > most else ""
    return f"{', '.join(said[:most])}{more}"


def _connections(group: Sequence[Witness], verbose: bool) -> str:
    """Say whose traffic to where: the first ones, and how many more."""
    return _first_of(map(_connection, group), verbose)


def _connection(witness: Witness) -> str:
    if witness.field == CERTIFICATE:
        return f"client {witness.destination}"
    who = proxy_words(witness.proxy)
    route = f" {route_words(witness.route)}" if witness.route is not None else ""
    if witness.direction == "inbound":
        address, client = inbound_and_client(witness)
        at = f" at {address}" if address else ""
        at += f", {client if ' client' in client else f'client {client}'}" if client else ""
        service = who.removeprefix(_BY_SERVICE)
        who = who if " and " in service else service
        return f"inbound of {who or 'any proxy'}{at}{route}"
    to = witness.destination
    to = place_words(to) if witness.direction == DIRECTION else to
    way = f" → {to}" if to else ""
    return f"{who}{way}{route}".strip() or f"mesh {witness.mesh}"


_BY_SERVICE = "any proxy with kuma.io/service="


def proxy_words(name: str) -> str:
    """Return what a proxy is called, a tag and a label that say the same said once."""
    kind, said, parts = name.partition(" with ")
    listed = dict.fromkeys(part for one in parts.split(" and ") for part in one.split(", "))
    return f"{kind}{said}{' and '.join(listed)}"


def route_words(match: Mapping[str, Any]) -> str:
    """Return a route match in a few words: method and path, then how much more there is."""
    path = match.get("path") or {}
    words = [str(match["method"])] if match.get("method") else []
    words.append(str(path.get("value", "/")))
    more = len(match.get("headers") or ()) + len(match.get("queryParams") or ())
    conditions = f" (+{more} condition{'' if more == 1 else 's'})" if more else ""
    return " ".join(words) + conditions


def _route_name(side: Value) -> str:
    """Return the name of a route without what Envoy puts around it."""
    text = side.value
    parts = text.split("_") if isinstance(text, str) and text.startswith("kri_") else []
    return parts[5] if len(parts) == 7 else in_words(text)
