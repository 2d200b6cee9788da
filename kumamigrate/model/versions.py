"""The order of release names, and the way between two of them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache


@cache
def version(name: str) -> tuple[int, ...]:
    """Return a release name as numbers: "2.9" comes before "2.14"."""
    return tuple(int(part) for part in name.split("."))


def at_least(name: str, floor: str) -> bool:
    """Say whether a release is `floor` or newer."""
    return version(name) >= version(floor)


def step_to(target: str, source: str) -> str:
    """Return what the way from one release to another is called."""
    return f"the {'upgrade' if at_least(target, source) else 'way back'} to {target}"


def is_past(name: str, line: str) -> bool:
    """Say whether a release comes after a line of releases: "3.0" is past "2.x", "2.15" is not."""
    major = line.removesuffix(".x")
    return version(name)[: len(version(major))] > version(major)


def newest_entry(names: Iterable[str], release: str) -> str:
    """Return the newest of some releases that is not newer than a release."""
    wanted = version(release)
    return max((name for name in names if version(name) <= wanted), key=version)
