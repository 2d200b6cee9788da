"""When and where an export was taken: a line at its top that people and this tool read alike."""

from __future__ import annotations

from datetime import UTC, datetime

from kumamigrate.dataclass import dataclass
from kumamigrate.pattern import pattern

_STAMP = pattern(
    r"# kumamigrate snapshot: (?P<count>\d+) resources?, taken (?P<taken>\S+) from (?P<source>.+)"
)
_TIME = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """One file of an inventory. `taken` and `source` are empty where it does not say them."""

    path: str
    resources: int
    taken: str = ""
    source: str = ""

    @property
    def day(self) -> str:
        """Return the day it was taken, empty where it is not known."""
        return self.taken.partition("T")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """What the first line of a snapshot says."""

    count: int
    taken: str
    source: str

    def line(self) -> str:
        """Return the line, without its line break."""
        noun = "resource" if self.count == 1 else "resources"
        said = "".join(c if c.isprintable() else "?" for c in self.source)
        return f"# kumamigrate snapshot: {self.count} {noun}, taken {self.taken} from {said}"


def time_text(moment: datetime) -> str:
    """Return a moment as a stamp says it."""
    return moment.astimezone(UTC).strftime(_TIME)


def stamp_of(text: str) -> Stamp | None:
    """Return the stamp of an export, None where it has none."""
    match = _STAMP.match(text.partition("\n")[0].rstrip("\r"))
    if match is None:
        return None
    return Stamp(count=int(match["count"]), taken=match["taken"], source=match["source"].strip())
