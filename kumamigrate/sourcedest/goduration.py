"""Durations as Go and the old engine's reader have them (legacy-notes.md G6)."""

from __future__ import annotations

from kumamigrate.dataclass import dataclass
from kumamigrate.model.duration import UNITS, parse


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
        if self.ns < UNITS["s"]:
            unit = next(u for u in ("ms", "us", "ns") if self.ns % UNITS[u] == 0)
            return f"{self.ns // UNITS[unit]}{unit}"
        hours, rest = divmod(self.ns, UNITS["h"])
        minutes, rest = divmod(rest, UNITS["m"])
        text = (f"{hours}h" if hours else "") + (f"{minutes}m" if minutes else "")
        return text + (_seconds(rest) if rest else "")


ZERO = Duration(0)


def _seconds(ns: int) -> str:
    whole, rest = divmod(ns, UNITS["s"])
    if whole == 0 and rest % UNITS["ms"] == 0:
        return f"{rest // UNITS['ms']}ms"
    return f"{whole}s" if rest == 0 else f"{whole}.{rest:09d}".rstrip("0") + "s"


def parse_duration(text: str) -> Duration | None:
    """Return the duration that Go's parser reads, or None when it refuses the text."""
    ns = parse(text)
    return None if ns is None else Duration(ns)


def seconds(count: int) -> Duration:
    """Return a duration of whole seconds."""
    return Duration(count * UNITS["s"])
