"""The subset algebra behind the old rules (matcher.md (h))."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from kumamigrate.model.resource import SERVICE
from kumamigrate.model.targetref import TargetRef

ROUTE_HASH = "__rule-matches-hash__"


class Tag(NamedTuple):
    """A tag an element must have, or with `negated` must not have."""

    key: str
    value: str
    negated: bool = False


Subset = tuple[Tag, ...]
"""Tags, each once. The empty subset is everything."""

Element = Mapping[str, str | None]


def subset_of(target: TargetRef) -> Subset | None:
    """Return the subset a to- or from-target means; None for kinds outside this model.

    A MeshService chosen by labels counts as the service named "" (matcher-notes §1.6).
    """
    tags = tuple(Tag(k, v) for k, v in target.tags or ())
    match target.kind:
        case "Mesh":
            return ()
        case "MeshSubset":
            return tags
        case "MeshService":
            return (Tag(SERVICE, target.name or ""),)
        case "MeshServiceSubset":
            return (Tag(SERVICE, target.name or ""), *tags)
        case _:
            return None


def covers(whole: Subset, part: Subset) -> bool:
    """Whether an item of subset `whole` takes part in the rule of subset `part`."""
    for tag in whole:
        same_key = [t for t in part if t.key == tag.key]
        if not same_key or not all(_agrees(tag, t) for t in same_key):
            return False
    return True


def _agrees(tag: Tag, other: Tag) -> bool:
    if tag.negated == other.negated:
        return tag.value == other.value
    return tag.negated and tag.value != other.value


def intersect(a: Subset, b: Subset) -> bool:
    """Whether two subsets share an element; only positive tags count."""
    mine: dict[str, set[str]] = {}
    for tag in (*a, *b):
        if not tag.negated:
            mine.setdefault(tag.key, set()).add(tag.value)
    return all(len(values) == 1 for values in mine.values())


def contains(subset: Subset, element: Element) -> bool:
    """Whether a look-up for `element` stops at the rule of `subset`."""
    return all((element.get(tag.key) == tag.value) != tag.negated for tag in subset)


def as_json(subset: Iterable[Tag]) -> list[dict[str, Any]]:
    """Return the printed form of a subset."""
    return [{"Key": t.key, "Value": t.value, "Not": t.negated} for t in subset]
