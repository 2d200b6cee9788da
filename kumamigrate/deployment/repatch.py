"""A patch of a manifest that was edited: the same patch of what it became.

JSON 6902 operations follow their path, a strategic merge its fields. A patch that replaces a
part as a whole follows where it has the structure of what it replaces. All else is `Gone`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumamigrate.deployment.moves import (
    Gone,
    Moves,
    exists,
    paths,
    pointer,
    pointer_path,
)
from kumamigrate.source.node import JSON
from kumamigrate.source.text import FieldPath, at_path
from kumamigrate.source.value import Moved, Value

Patched = tuple[Value, int]
"""A patch as it has to be, and which of the new manifests it is for."""
_IDENTITY = (("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace"))
_WITH_VALUE = ("add", "replace", "test")


def operations(ops: list[Any], moves: Moves) -> Patched:
    """Return JSON 6902 operations for what a manifest became. Raises Gone."""
    found: list[Value] = []
    home: set[int] = set()
    for at, op in enumerate(ops):
        if not isinstance(op, Mapping) or not isinstance(op.get("path"), str):
            raise Gone(())
        new: dict[str, Value] = dict(op)
        path = pointer_path(op["path"], moves.old)
        if op.get("op") in _WITH_VALUE and _in_pieces(path, moves):
            spot, value = _rebuilt(path, op.get("value"), (at, "value"), moves)
            new |= {"path": pointer(spot[1]), "value": Moved((at, "value"), value)}
        else:
            spot = moves.where(path)
            new["path"] = pointer(spot[1])
        home.add(spot[0])
        if isinstance(op.get("from"), str):
            spot = moves.where(pointer_path(op["from"], moves.old))
            new["from"] = pointer(spot[1])
            home.add(spot[0])
        found.append(new)
    return found, _one(home)


def merge(patch: Mapping[str, Any], moves: Moves) -> Patched:
    """Return a strategic merge patch for what a manifest became. Raises Gone."""
    found: dict[str, Any] = {}
    home: set[int] = set()
    _merge(patch, (), moves, found, home)
    at = _one(home)
    if at:
        name = at_path(moves.new[at], ("metadata", "name"))
        _put(found, ("metadata", "name"), Moved(("metadata", "name"), str(name)))
    return found, at


def _merge(
    patch: Mapping[str, Any],
    above: FieldPath,
    moves: Moves,
    found: dict[str, Any],
    home: set[int],
) -> None:
    for key, value in patch.items():
        path = (*above, key)
        if path in _IDENTITY or key.startswith("$"):
            _put(found, path, Moved(path))
        elif isinstance(value, Mapping) and (path == ("metadata",) or _in_pieces(path, moves)):
            _merge(value, path, moves, found, home)
        elif _in_pieces(path, moves):
            spot, new = _rebuilt(path, value, path, moves)
            home.add(spot[0])
            _put(found, spot[1], Moved(path, new))
        elif path in moves.spots and moves.spots[path] is None:
            if value != at_path(moves.old, path):
                raise Gone(path)
        else:
            at, goal = moves.where(path)
            home.add(at)
            _put(found, goal, Moved(path))


def _in_pieces(path: FieldPath, moves: Moves) -> bool:
    """Say whether what stood at a path does not stand anywhere as a whole."""
    whole = any(path[:length] in moves.spots for length in range(len(path) + 1))
    return exists(moves.old, path) and not whole


def _rebuilt(
    path: FieldPath, value: JSON, source: FieldPath, moves: Moves
) -> tuple[tuple[int, FieldPath], Value]:
    """Return where a part that a patch replaces as a whole is now, and what it has to be there.

    `source` is where the patch says the value. Its structure has to be that of the part.
    """
    pieces = {p: spot for p, spot in moves.spots.items() if p[: len(path)] == path}
    spots = [spot for spot in pieces.values() if spot is not None]
    at, goal = _container(path, spots, moves)
    new: Any = _copy(at_path(moves.new[at], goal))
    for piece, spot in pieces.items():
        inside = piece[len(path) :]
        there = exists(value, inside)
        if spot is None:
            if there and at_path(value, inside) != at_path(moves.old, piece):
                raise Gone(piece)
        elif not there:
            raise Gone(piece)
        else:
            _put(new, spot[1][len(goal) :], Moved((*source, *inside)))
    known = {piece[len(path) :] for piece in pieces}
    for inside in paths(value):
        below = any(inside[:n] in known for n in range(len(inside) + 1))
        if not below and not exists(at_path(moves.old, path), inside):
            raise Gone((*path, *inside))
    return (at, goal), new


def _container(
    path: FieldPath, spots: list[tuple[int, FieldPath]], moves: Moves
) -> tuple[int, FieldPath]:
    """Return the part of a new manifest that holds all pieces of an old one."""
    homes = {at for at, _ in spots}
    if len(homes) != 1:
        raise Gone(path)
    at = homes.pop()
    goal = path if exists(moves.new[at], path) else spots[0][1][: len(path)]
    if any(spot[: len(goal)] != goal for _, spot in spots):
        raise Gone(path)
    return at, goal


def _one(home: set[int]) -> int:
    if len(home) > 1:
        raise Gone(())
    return home.pop() if home else 0


def _put(value: Any, path: FieldPath, new: Value) -> None:
    """Put something at a path of a fresh value; mappings on the way are made."""
    for part in path[:-1]:
        value = value.setdefault(part, {}) if isinstance(value, dict) else value[part]
    if not path or isinstance(value, Moved):
        raise Gone(path)
    value[path[-1]] = new


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(inner) for key, inner in value.items()}
    return [_copy(inner) for inner in value] if isinstance(value, list) else value
