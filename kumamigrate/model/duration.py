"""Durations as Kuma reads and prints them: Go text, whole nanoseconds."""

from __future__ import annotations

from functools import lru_cache

from kumamigrate.pattern import pattern

UNITS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_PART = pattern(r"([0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(ns|us|µs|μs|ms|s|m|h)")
_LIMIT = 2**63 - 1
_DIGITS = 30
"""So many digits of a number are read: more before the point are beyond the limit, and those
further behind it are no part of a nanosecond."""


@lru_cache(maxsize=1024)
def parse(text: str) -> int | None:
    """Return nanoseconds, or None where Go's parser refuses the text.

    Reads `1h30m`, `1.5s`, `-2ms`, `0`. Parts may come in any order and repeat, as in Go.
    """
    sign = -1 if text.startswith("-") else 1
    rest = text[1:] if text[:1] in ("-", "+") else text
    if rest == "0":
        return 0
    total, at = 0, 0
    while at < len(rest):
        part = _PART.match(rest, at)
        if part is None:
            return None
        whole, _, fraction = part[1].partition(".")
        whole, fraction, unit = whole.lstrip("0"), fraction[:_DIGITS], UNITS[part[2]]
        if len(whole) > _DIGITS:
            return None
        total += int(whole or 0) * unit + int(fraction or 0) * unit // 10 ** len(fraction)
        at = part.end()
    return sign * total if rest and total <= _LIMIT else None


def render(nanoseconds: int) -> str:
    """Return Go's text: `1m0s`, `1.5s`, `20ms`, `0s`."""
    if nanoseconds == 0:
        return "0s"
    sign, ns = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    for unit, size in (("ns", 1_000), ("µs", 1_000_000), ("ms", 1_000_000_000)):
        if ns < size:
            return sign + _decimal(ns, UNITS[unit]) + unit
    minutes, ns = divmod(ns, UNITS["m"])
    hours, minutes = divmod(minutes, 60)
    text = _decimal(ns, UNITS["s"]) + "s"
    if hours or minutes:
        text = f"{minutes}m{text}"
    return sign + (f"{hours}h{text}" if hours else text)


def normal(text: str) -> str:
    """Return Go's text of a duration; a text that is none stays as it is."""
    value = parse(text)
    return text if value is None else render(value)


def _decimal(ns: int, unit: int) -> str:
    whole, rest = divmod(ns, unit)
    if not rest:
        return str(whole)
    return f"{whole}.{rest:0{len(str(unit)) - 1}d}".rstrip("0")
