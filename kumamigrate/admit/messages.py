"""Resources that are protobuf messages and no policies: read by `shapes.json` as Kuma reads them.

Absent, empty and zero are one for a plain field, so what is read has no such fields: a constraint
sees a port 0 as none. A map keeps its empty values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from kumamigrate.admit.places import is_template, places
from kumamigrate.model.packed import packed
from kumamigrate.model.problem import Problem
from kumamigrate.source.text import FieldPath, at_path
from kumamigrate.sourcedest.protojson import ProtobufReading

_ZEROS: tuple[Any, ...] = ("", 0)
"""What a message leaves out as if it were not said; to Python, `False` is 0."""


def read_message(type_: str, spec: Mapping[str, Any]) -> tuple[Any, list[Problem]]:
    """Return what a control plane reads of a spec, and what it cannot read."""
    read, problems = _read(message_shape(type_), spec, ())
    for row in _confs(type_):
        for pattern in row["at"] if isinstance(row["at"], list) else (row["at"],):
            for path, holder in places(read, pattern):
                if _is_of(holder, row["type"]) and holder.get("conf") is not None:
                    holder["conf"], found = _read(row["conf"], holder["conf"], (*path, "conf"))
                    problems += found
    return read, [one for one in problems if not is_template(at_path(spec, one.path))]


@cache
def message_shape(type_: str) -> Any:
    """Return the shape of a kind, without names of parts; None for other kinds."""
    return whole(table()["messages"].get(type_))


@cache
def _confs(type_: str) -> tuple[Mapping[str, Any], ...]:
    rows = (row for row in table()["confs"] if type_ in row["kinds"])
    return tuple({**row, "conf": whole(row["conf"])} for row in rows)


@cache
def table() -> Mapping[str, Any]:
    """Return the shapes of all kinds."""
    loaded: Mapping[str, Any] = packed("admit", "shapes.json")
    return loaded


def whole(shape: Any) -> Any:
    """Return a shape with its parts in the place of their names."""
    if isinstance(shape, str):
        return whole(table()["parts"][shape[1:]]) if shape.startswith("$") else shape
    if isinstance(shape, list):
        return [whole(inner) for inner in shape]
    if isinstance(shape, Mapping) and "enum" not in shape:
        return {name: whole(inner) for name, inner in shape.items()}
    return shape


def _read(shape: Any, value: Any, path: FieldPath) -> tuple[Any, list[Problem]]:
    reading = ProtobufReading()
    read = reading.node(shape, value, path)
    return _without_zeros(shape, read), reading.problems


def _without_zeros(shape: Any, value: Any) -> Any:
    if isinstance(value, list) and isinstance(shape, list):
        return [_without_zeros(shape[0], inner) for inner in value]
    if not isinstance(value, Mapping) or not isinstance(shape, Mapping) or "*" in shape:
        return value
    return dict(_kept(shape, value))


def _kept(shape: Mapping[str, Any], value: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, inner in value.items():
        field = shape[name]
        plain = isinstance(field, str) and not field.endswith("?")
        if not (plain and inner in _ZEROS):
            yield name, _without_zeros(field, inner)


def _is_of(holder: Any, type_: str) -> bool:
    return isinstance(holder, Mapping) and holder.get("type") == type_
