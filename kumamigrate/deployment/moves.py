"""Where the fields of a manifest are after an edit: read off its value before and after.

A rule does not say what it moved. What is found here is only tried: whatever follows from it is
built and proven together with the edit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from kumamigrate.dataclass import dataclass
from kumamigrate.source.node import JSON
from kumamigrate.source.text import FieldPath, at_path, common_end

Spot = tuple[int, FieldPath]
"""One of the manifests after the edit, and a path in it."""


class Gone(Exception):  # noqa: N818  # an answer, not a fault
    """A field of the old manifest is nowhere in the new ones."""

    def __init__(self, path: FieldPath) -> None:
        self.path = path
        super().__init__(path)


@dataclass(frozen=True)
class Moves:
    """What one manifest became: any number of them, the first under its old name."""

    old: JSON
    new: Sequence[JSON]

    @cached_property
    def spots(self) -> dict[FieldPath, Spot | None]:
        """Return for the largest parts of the old manifest that stand somewhere in the new ones
        where that is, and None for fields that stand nowhere."""
        found: dict[FieldPath, Spot | None] = {}
        taken: set[Spot] = set()
        waiting: list[FieldPath] = []
        self._stay((), found, taken, waiting)
        free = [spot for spot in self._spots() if not _within(spot, taken)]
        for path in waiting:
            self._move(path, free, found)
        return found

    def where(self, path: FieldPath) -> Spot:
        """Return where a field is now that was, or would have been, at a path. Raises Gone."""
        lengths = range(len(path), -1, -1)
        for length in lengths:
            head, rest = path[:length], path[length:]
            if head in self.spots:
                spot = self.spots[head]
                if spot is None:
                    raise Gone(head)
                return spot[0], (*spot[1], *rest)
        # What stands in pieces, or is new in something that does, may only be where it was.
        above = next(path[:length] for length in lengths if exists(self.old, path[:length]))
        kinds = (dict,) if above != path else (dict, list)
        for at, one in enumerate(self.new):
            if isinstance(at_path(self.old, above), kinds) and exists(one, above):
                return at, path
        raise Gone(path)

    def _stay(
        self,
        path: FieldPath,
        found: dict[FieldPath, Spot | None],
        taken: set[Spot],
        waiting: list[FieldPath],
    ) -> None:
        """Find the parts that are where they were; the others wait."""
        value = at_path(self.old, path)
        for at, one in enumerate(self.new):
            if exists(one, path) and at_path(one, path) == value:
                found[path] = (at, path)
                taken.add((at, path))
                return
        children = list(_children(value))
        if any(exists(one, path) for one in self.new) and children:
            for key in children:
                self._stay((*path, key), found, taken, waiting)
        else:
            waiting.append(path)

    def _move(
        self, path: FieldPath, free: Sequence[Spot], found: dict[FieldPath, Spot | None]
    ) -> None:
        value = at_path(self.old, path)
        alike = [spot for spot in free if at_path(self.new[spot[0]], spot[1]) == value]
        children = list(_children(value))
        if not children:
            alike = [spot for spot in alike if spot[1][-1:] == path[-1:]]
        best = _nearest(path, alike)
        if best is not None:
            found[path] = best
        elif children:
            for key in children:
                self._move((*path, key), free, found)
        else:
            found[path] = None

    def _spots(self) -> Iterator[Spot]:
        for at, one in enumerate(self.new):
            for path in paths(one):
                yield at, path


def _nearest(path: FieldPath, alike: Sequence[Spot]) -> Spot | None:
    """Return the place whose last keys have most in common with those of a path, if it is one."""
    if not alike:
        return None
    ranks = [common_end(path, spot[1]) for spot in alike]
    best = max(ranks)
    return alike[ranks.index(best)] if ranks.count(best) == 1 else None


def _within(spot: Spot, taken: set[Spot]) -> bool:
    at, path = spot
    return any((at, path[:length]) in taken for length in range(len(path) + 1))


def _children(value: JSON) -> Iterator[str | int]:
    if isinstance(value, Mapping):
        yield from value
    elif isinstance(value, list):
        yield from range(len(value))


def paths(value: JSON, above: FieldPath = ()) -> Iterator[FieldPath]:
    """Yield the paths of a value and of all that stands in it."""
    yield above
    for key in _children(value):
        yield from paths(at_path(value, (key,)), (*above, key))


def exists(value: JSON, path: FieldPath) -> bool:
    """Say whether something stands at a path."""
    for part in path:
        keys = list(_children(value))
        if part not in keys:
            return False
        value = at_path(value, (part,))
    return True


def pointer_path(pointer: str, value: JSON) -> FieldPath:
    """Return the path of a JSON pointer; what counts in a list is a number there."""
    path: list[str | int] = []
    for word in pointer.split("/")[1:]:
        key = word.replace("~1", "/").replace("~0", "~")
        inside = at_path(value, tuple(path))
        number = isinstance(inside, list) and key.isdigit()
        path.append(int(key) if number else key)
    return tuple(path)


def pointer(path: FieldPath) -> str:
    """Return the JSON pointer of a path."""
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in path)
