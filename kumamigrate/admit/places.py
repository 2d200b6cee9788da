"""Places in a value that a pattern names: `to[].default.http`, `matches[].spiffeID`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.source.text import FieldPath

Place = tuple[FieldPath, Any]


def places(value: Any, pattern: str, path: FieldPath = ()) -> Iterator[Place]:
    """Yield path and value of everything present that the pattern names, in order.

    `name[]` stands for every item of a list. Null counts as absent, as in Kuma.
    """
    if not pattern:
        if value is not None:
            yield path, value
        return
    head, _, rest = pattern.partition(".")
    name = head.removesuffix("[]")
    inner = value.get(name) if isinstance(value, Mapping) else None
    if inner is None:
        return
    if name == head:
        yield from places(inner, rest, (*path, name))
    elif isinstance(inner, list):
        for index, item in enumerate(inner):
            yield from places(item, rest, (*path, name, index))


def present(value: Any, pattern: str) -> bool:
    """Tell whether the pattern names anything that is there."""
    return next(places(value, pattern), None) is not None


def field_path(pattern: str) -> FieldPath:
    """Return a pattern without lists as a path."""
    return tuple(pattern.split(".")) if pattern else ()


def is_template(value: Any) -> bool:
    """Tell whether a value is filled in by a tool later, so that nobody knows it."""
    return isinstance(value, str) and ("{{" in value or "{%" in value or "${" in value)
