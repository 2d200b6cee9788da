"""Which part of a new policy carries on which field of the old one, so that comments go along."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.model.resource import Resource
from kumamigrate.source.text import FieldPath
from kumamigrate.source.value import Moved
from kumamigrate.sourcedest.goduration import parse_duration

_NAMES = {
    "connectTimeout": "connectionTimeout", "maxConnectAttempts": "maxConnectAttempt",
    "thresholds": "connectionLimits", "totalErrors": "totalFailures",
    "gatewayErrors": "gatewayFailures", "localErrors": "localOriginFailures",
    "standardDeviation": "successRate", "failure": "failurePercentage",
    "factor": "standardDeviationFactor", "requests": "num",
}  # fmt: skip


def carried(spec: Mapping[str, Any], home: Resource) -> dict[str, Any]:
    """Return a spec in which values that stand in the conf of its home are moved from there.

    A field carries on another if it has its name (or the one that took its place) and means the
    same; each old field goes to the first that does, one below the same parent first.
    """
    taken: dict[FieldPath, FieldPath] = {}
    leaves = list(_leaves(spec))
    for old_path, old in _leaves(home.spec.get("conf")):
        wanted = tuple(_NAMES.get(k, k) if isinstance(k, str) else k for k in old_path)
        fits = [
            path
            for path, new in leaves
            if path not in taken and path[-1] == wanted[-1] and _same(old, new)
        ]
        best = max(fits, key=lambda path: _shared(path, wanted), default=None)
        if best is not None:
            taken[best] = (*home.spec_path, "conf", *old_path)
    result: dict[str, Any] = _moved(spec, (), taken)
    return result


def _moved(node: Any, path: FieldPath, taken: Mapping[FieldPath, FieldPath]) -> Any:
    if path in taken:
        return Moved(taken[path], node)
    if isinstance(node, Mapping):
        return {key: _moved(value, (*path, key), taken) for key, value in node.items()}
    if isinstance(node, list):
        return [_moved(value, (*path, at), taken) for at, value in enumerate(node)]
    return node


def _leaves(node: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, Any]]:
    if isinstance(node, Mapping):
        for key, value in node.items():
            yield from _leaves(value, (*path, str(key)))
    elif isinstance(node, list):
        for at, value in enumerate(node):
            yield from _leaves(value, (*path, at))
    elif path and isinstance(path[-1], str):
        yield path, node


def _shared(one: FieldPath, two: FieldPath) -> int:
    """Return how many keys at the end of two paths are the same."""
    count = 0
    for a, b in zip(reversed(one), reversed(two), strict=False):
        if a != b:
            break
        count += 1
    return count


def _same(old: Any, new: Any) -> bool:
    if isinstance(old, bool) or isinstance(new, bool):
        return old is new
    if isinstance(old, str) and isinstance(new, str):
        spans = parse_duration(old), parse_duration(new)
        return old.lower() == new.lower() or (spans[0] is not None and spans[0] == spans[1])
    return str(old) == str(new)
