"""The destinations of a mesh, so that those nobody names are looked at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

from kumamigrate.model.kri import Kri
from kumamigrate.targetref.route import Destination, ServiceTag
from kumamigrate.universe.side import Side


class Named(NamedTuple):
    """Destinations that some policies are about in particular."""

    tags: Set[str]
    kris: Set[Kri]


class Network:
    """All destinations that a transparent proxy reaches on both sides.

    Destinations of one kind and protocol that no policy names read the same.
    """

    def __init__(self, before: Side, after: Side, destinations: Sequence[Destination]) -> None:
        self.destinations = tuple(destinations)
        self._alike: dict[tuple[bool, str, str], list[Destination]] = {}
        for destination in self.destinations:
            tag = isinstance(destination, ServiceTag)
            protocols = (before.protocol(destination), after.protocol(destination))
            self._alike.setdefault((tag, *protocols), []).append(destination)

    def grouped(self, named: Named) -> Iterator[Sequence[Destination]]:
        """Yield each named destination alone, and the others in groups that read the same."""
        for alike in self._alike.values():
            others = []
            for destination in alike:
                if is_named(destination, named):
                    yield (destination,)
                else:
                    others.append(destination)
            if others:
                yield others


def is_named(destination: Destination, named: Named) -> bool:
    """Whether some policy is about a destination in particular."""
    if isinstance(destination, ServiceTag):
        return destination.service in named.tags
    return destination.kri.of_section("") in named.kris
