"""Durations as Go and the old engine's reader have them (legacy-notes.md G6)."""

from __future__ import annotations

from kumamigrate.dataclass import dataclass
from kumamigrate.model.duration import parse

_UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "m": 60_000_000_000, "h": 3_600_000_000_000}
_SECOND = 1_000_000_000


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A length of time in whole nanoseconds."""

    ns: int

    def __str__(self) -> str:
        """Return the shortest Go text: `25ms`, `1h`, `1m30s`, `0s`."""
        if self.ns < 0:
            return "-" + str(Duration(-self.ns))
        if self.ns == 0:
            return "0s"
        if self.ns < _SECOND:
            unit = next(u for u in ("ms", "us", "ns") if self.ns % _UNITS[u] == 0)
            return f"{self.ns // _UNITS[unit]}{unit}"
        hours, rest = divmod(self.ns, _UNITS["h"])
        minutes, rest = divmod(rest, _UNITS["m"])
        text = (f"{hours}h" if hours else "") + (f"{minutes}m" if minutes else "")
        return text + (_seconds(rest) if rest else "")


ZERO = Duration(0)


def _seconds(ns: int) -> str:
    whole, rest = divmod(ns, _SECOND)
    if whole == 0 and rest % _UNITS["ms"] == 0:
        return f"{rest // _UNITS['ms']}ms"
    return f"{whole}s" if rest == 0 else f"{whole}.{rest:09d}".rstrip("0") + "s"


def parse_duration(text: str) -> Duration | None:
    """Return the duration that Go's parser reads, or None when it refuses the text."""
    ns = parse(text)
    return None if ns is None else Duration(ns)


def seconds(count: int) -> Duration:
    """Return a duration of whole seconds."""
    return Duration(count * _SECOND)
