"""The destinations of a mesh, so that those nobody names are looked at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from kumamigrate.targetref.route import Destination, ServiceTag
from kumamigrate.universe.side import Side

_T = TypeVar("_T")
Couple = tuple[Destination, Destination]


IsNamed = Callable[[Destination], bool]
"""Whether some policy in question is about a destination in particular."""


class Network:
    """All destinations of a transparent proxy, each before with the one that it is held to after.

    Those of one kind and protocol that no policy names read the same.
    """

    def __init__(self, before: Side, after: Side, couples: Sequence[Couple]) -> None:
        self._alike: dict[tuple[str, ...], list[Couple]] = {}
        for old, new in couples:
            protocols = (before.protocol(old), after.protocol(new))
            alike = (_kind(old), _kind(new), *protocols)
            self._alike.setdefault(alike, []).append((old, new))

    def differing(
        self, is_named: IsNamed, check: Callable[[Destination, Destination], tuple[_T, ...]]
    ) -> tuple[_T, ...]:
        """Return what a check finds; of those that read the same one may stand for all."""
        found: tuple[_T, ...] = ()
        for couples in self._alike.values():
            clean = False
            for couple in couples:
                alone = len(couples) > 1 and any(map(is_named, couple))
                if alone or not clean:
                    here = check(*couple)
                    clean = clean or not (here or alone)
                    found += here
        return found


def same(destinations: Iterable[Destination]) -> list[Couple]:
    """Return destinations that are held to themselves."""
    return [(one, one) for one in destinations]


def _kind(destination: Destination) -> str:
    return "" if isinstance(destination, ServiceTag) else destination.kri.type
