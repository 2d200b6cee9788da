"""Whether two orders of the same routes can be told apart by any request.

Envoy takes the first route that matches. Routes of which no request can match both may change
places: that is a difference in Envoy's configuration, and none for traffic.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

Keys = Sequence[Sequence[Any]]
"""Routes as `routing.routing_facts` lists them: the match as text, and which of equal ones."""


def only_turned(before: Keys, after: Keys) -> bool:
    """Say whether two lists hold the same routes, and what turned excludes each other."""
    old, new = [tuple(key) for key in before], [tuple(key) for key in after]
    if old == new or sorted(old) != sorted(new):
        return False
    return all(_exclude(json.loads(a[1]), json.loads(b[1])) for a, b in _turned(old, new))


def _turned(
    old: Sequence[tuple[Any, ...]], new: Sequence[tuple[Any, ...]]
) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    place = {key: at for at, key in enumerate(new)}
    return ((a, b) for a, b in combinations(old, 2) if place[a] > place[b])


def _exclude(one: Any, other: Any) -> bool:
    """Say whether no request has what both matches ask for."""
    (path, rest), (path_of_other, rest_of_other) = one, other
    return _paths_exclude(path, path_of_other) or _methods_exclude(rest, rest_of_other)


def _paths_exclude(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return False
    (kind, value), (other_kind, other_value) = one, other
    match (kind, other_kind):
        case ("exact", "exact"):
            return bool(value != other_value)
        case ("exact", "prefix"):
            return not value.startswith(other_value)
        case ("prefix", "exact"):
            return not other_value.startswith(value)
        case ("prefix", "prefix"):
            return not value.startswith(other_value) and not other_value.startswith(value)
    return False


def _methods_exclude(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return bool(one.get("method") and other.get("method") and one["method"] != other["method"])
