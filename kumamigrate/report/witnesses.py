"""Differences for people: which proxy, to where, which setting, from what to what, and whence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from typing import Any

from kumamigrate.effective.difference import HARMLESS
from kumamigrate.model.shown import value_words
from kumamigrate.prove import Effect, Value, Witness
from kumamigrate.report.styled import Line, line

MOST = 10
MOST_NAMES = 3
_HEADINGS = {
    Effect.ACTIVATION: (
        "setting in the files has no effect today and starts to work, as it is written",
        "settings in the files have no effect today and start to work, as they are written",
    ),
    Effect.NAME: (
        "route gets another name in Envoy's configuration and statistics; no traffic changes",
        "routes get other names in Envoy's configuration and statistics; no traffic changes",
    ),
    Effect.RESIDUE: (
        "setting that only the old engine made will be gone; no policy can express it",
        "settings that only the old engine made will be gone; no policy can express them",
    ),
}
_PLACE = re.compile(r" \(([^()\s]*:\d+(?::\d+)?)\)")


def harmless_lines(
    witnesses: Sequence[Witness], *, indent: str, allow: Set[Effect] = HARMLESS
) -> list[Line]:
    """Return the harmless differences, those of one kind below one heading."""
    lines: list[Line] = []
    for effect, (one, many) in _HEADINGS.items():
        groups = _groups(w for w in witnesses if w.effect is effect)
        if groups:
            heading = f"{len(groups)} {one if len(groups) == 1 else many}"
            refused = "" if effect in allow else " (which --allow does not let pass)"
            lines.append(line(indent, heading, (refused, "warn")))
            lines += _listed([[_short_line(group, f"{indent}    ")] for group in groups], indent)
    return lines


def difference_lines(witnesses: Sequence[Witness], *, indent: str) -> list[Line]:
    """Return the differences that count: what differs, and which policy wins on each side."""
    groups = _groups(w for w in witnesses if w.effect is Effect.VALUE)
    return _listed([_long_lines(group, indent) for group in groups], indent)


def number_of(witnesses: Iterable[Witness], *effects: Effect) -> int:
    """Return how many differences are shown: equal ones of several proxies are one."""
    return len(_groups(w for w in witnesses if w.effect in effects))


def doubts(reasons: Iterable[str]) -> list[str]:
    """Return what makes a verdict unknown, each once, with the places before and after."""
    places: dict[str, list[str]] = {}
    for reason in reasons:
        found = _PLACE.findall(reason)
        known = places.setdefault(_PLACE.sub(" (@)", reason) if len(found) == 1 else reason, [])
        known += [place for place in found if place not in known]
    return [
        text.replace(" (@)", f" ({', '.join(known[:4])}{', …' if len(known) > 4 else ''})")
        for text, known in places.items()
    ]


def _groups(witnesses: Iterable[Witness]) -> list[list[Witness]]:
    grouped: dict[tuple[str, ...], list[Witness]] = {}
    for witness in witnesses:
        grouped.setdefault(witness.key[1:], []).append(witness)
    return list(grouped.values())


def _listed(entries: Sequence[Sequence[Line]], indent: str) -> list[Line]:
    lines = [one for entry in entries[:MOST] for one in entry]
    if len(entries) > MOST:
        more = f"… and {len(entries) - MOST} more; --format json has them all"
        lines.append(line(f"{indent}{more}"))
    return lines


def _short_line(group: Sequence[Witness], indent: str) -> Line:
    first = group[0]
    before, after = _value(first, first.before), _value(first, first.after)
    place = first.after.at or first.before.at
    where = f"   {place}" if place else ""
    return line(f"{indent}{_about(group)}  {before} → ", (after, "good"), (where, "place"))


def _long_lines(group: Sequence[Witness], indent: str) -> list[Line]:
    first = group[0]
    before, after = _value(first, first.before), _value(first, first.after)
    lines = [line(f"{indent}{_about(group)}  ", (before, "bad"), " → ", (after, "good"))]
    if first.before.at or first.after.at:
        sides = (first.before, first.after)
        names = [_policy(side) for side in sides]
        width = max(map(len, names))
        for word, name, side in zip(("before", "after"), names, sides, strict=True):
            lines.append(line(f"{indent}    {word:<6}  {name:<{width}}  ", (side.at, "place")))
    return lines


def _policy(side: Value) -> str:
    """Return the policy that wins on one side, or that none says anything."""
    nothing = "no policy sets it" if side.value is None else "Kuma's default"
    return side.policy.rsplit("/", 1)[-1] or ("" if side.at else nothing)


def _about(group: Sequence[Witness]) -> str:
    first = group[0]
    names = sorted({proxy_words(witness.proxy) for witness in group})
    who = ", ".join(names[:MOST_NAMES])
    if len(names) > MOST_NAMES:
        who += f" and {_count(len(names) - MOST_NAMES, 'more proxy', 'more proxies')}"
    way = f" → {first.destination}" if first.destination else ""
    route = f" {route_words(first.route)}" if first.route is not None else ""
    return f"{who}{way}{route}   {first.policy_type} {first.field}"


def proxy_words(name: str) -> str:
    """Return what a proxy is called, a tag and a label that say the same said once."""
    kind, said, parts = name.partition(" with ")
    listed = dict.fromkeys(part for one in parts.split(" and ") for part in one.split(", "))
    return f"{kind}{said}{' and '.join(listed)}"


def _value(witness: Witness, side: Value) -> str:
    """Return a value in words; the identifier of a route is shown as its name."""
    text = side.value
    if witness.effect is Effect.NAME and isinstance(text, str) and text.startswith("kri_"):
        parts = text.split("_")
        if len(parts) == 7:
            namespace, name = parts[4], parts[5]
            return f"{namespace}/{name}" if namespace else name
    return value_words(text)


def route_words(match: Any) -> str:
    """Return a route match in a few words: method and path, then how much more there is."""
    path = match.get("path") or {}
    words = [str(match["method"])] if match.get("method") else []
    words.append(str(path.get("value", "/")))
    more = len(match.get("headers") or ()) + len(match.get("queryParams") or ())
    return " ".join(words) + (f" (+{_count(more, 'condition', 'conditions')})" if more else "")


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
