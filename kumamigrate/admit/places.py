"""Places in a value that a pattern names: `to[].default.http`, `matches[].spiffeID`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from kumamigrate.source.text import ENCRYPTED, FieldPath

_WHOLE = ("#@", ENCRYPTED)
"""How a value begins that ytt makes or sops has encrypted."""

Place = tuple[FieldPath, Any]


def places(value: Any, pattern: str) -> Iterator[Place]:
    """Yield path and value of everything present that the pattern names, in order.

    `name[]` stands for every item of a list. Null counts as absent, as in Kuma.
    """
    return iter(_follow(value, _steps(pattern)))


def _follow(value: Any, steps: tuple[tuple[str, bool], ...]) -> list[Place]:
    found: list[Place] = [] if value is None else [((), value)]
    for name, listed in steps:
        inner: list[Place] = []
        for path, outer in found:
            child = outer.get(name) if isinstance(outer, dict) else None
            if child is None:
                continue
            if not listed:
                inner.append(((*path, name), child))
            elif isinstance(child, list):
                items = ((i, item) for i, item in enumerate(child) if item is not None)
                inner.extend(((*path, name, i), item) for i, item in items)
        if not inner:
            return inner
        found = inner
    return found


@cache
def _steps(pattern: str) -> tuple[tuple[str, bool], ...]:
    parts = pattern.split(".") if pattern else []
    return tuple((part.removesuffix("[]"), part.endswith("[]")) for part in parts)


def present(value: Any, pattern: str) -> bool:
    """Tell whether the pattern names anything that is there."""
    return bool(_follow(value, _steps(pattern)))


def field_path(pattern: str) -> FieldPath:
    """Return a pattern without lists as a path."""
    return tuple(pattern.split("."))


def is_template(value: Any) -> bool:
    """Tell whether a value is filled in by a tool later, so that nobody knows it."""
    return isinstance(value, str) and (
        "{{" in value or "{%" in value or "${" in value or "<%" in value or value.startswith(_WHOLE)
    )
