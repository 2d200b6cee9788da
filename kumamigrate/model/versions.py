"""The order of release names, and the way between two of them."""

from __future__ import annotations

from collections.abc import Iterable

LAST_TWO = "2.14"
"""The last release of the 2.x line: the newest that reads old and new forms alike."""


def version(name: str) -> tuple[int, ...]:
    """Return a release name as numbers: "2.9" comes before "2.14"."""
    return tuple(int(part) for part in name.split("."))


def at_least(name: str, floor: str) -> bool:
    """Say whether a release is `floor` or newer."""
    return version(name) >= version(floor)


def newest_entry(names: Iterable[str], release: str) -> str:
    """Return the newest of some releases that is not newer than a release."""
    wanted = version(release)
    return max((name for name in names if version(name) <= wanted), key=version)


def newest_two(target: str) -> str:
    """Return the default of `--from`: the newest 2.x that is not newer than the target."""
    return target if not at_least(target, LAST_TWO) else LAST_TWO
