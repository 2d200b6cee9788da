"""What the user takes on their own word: a rule (`--accept RULE`), or a rule at one place."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kumamigrate.dataclass import dataclass
from kumamigrate.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A rule at one place, as a report names it: `RULE@file:line`.

    `file` is relative to the root. Lines are those of the text on the disk: `text` is that, when
    a run has begun.
    """

    rule: str
    file: str
    line: int
    text: bytes = b""

    def __str__(self) -> str:
        return f"{self.rule}@{self.file}:{self.line}"


def accepted_of(
    words: Iterable[str], *, root: Path, home: Path | None = None
) -> tuple[tuple[str, ...], tuple[Accepted, ...]]:
    """Return the rules accepted everywhere, and those accepted at one place.

    A file is looked for from the current folder, from the root, and from the folder of the
    settings. Raises UsageError for what is neither a rule nor a place.
    """
    rules: list[str] = []
    places: list[Accepted] = []
    for word in words:
        rule, at, place = word.partition("@")
        if not at:
            rules.append(rule)
            continue
        file, line = _split(place)
        if not rule or not file or line < 1:
            raise UsageError(f"--accept {word}: write RULE or RULE@file:line")
        places.append(Accepted(rule=rule, file=_below(root, file, home), line=line))
    return tuple(rules), tuple(places)


def _split(place: str) -> tuple[str, int]:
    """Return file and line of `file:line`, or of `file:line:column` as reports have it."""
    parts = place.rsplit(":", 2)
    if len(parts) == 3 and parts[1].isdecimal() and parts[2].isdecimal():
        return parts[0], int(parts[1])
    file, _, line = place.rpartition(":")
    return file, int(line) if line.isdecimal() else 0


def _below(root: Path, file: str, home: Path | None) -> str:
    """Return what a file is called from the root; what is nowhere keeps its name."""
    top = root.resolve()
    for folder in (Path(), top, *([home] if home is not None else [])):
        real = (folder / file).resolve()
        if real.is_file() and real.is_relative_to(top):
            return real.relative_to(top).as_posix()
    return Path(file).as_posix()
