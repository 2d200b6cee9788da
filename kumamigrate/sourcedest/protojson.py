"""Values as protobuf's JSON is read: typed, or refused with a reason.

Both `camelCase` and `snake_case` name a field, numbers may be quoted, null is absence, and unknown
fields are dropped; here they are listed, because a user who wrote one thinks that it does
something. A shape is the name of a scalar (with `?` where absence differs from zero), a list of
one shape, `{"enum": [...]}`, `{"*": shape}` for a map, or a mapping of fields.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any

from kumamigrate.model.duration import parse
from kumamigrate.model.problem import Problem
from kumamigrate.source.text import FieldPath


class ProtobufReading:
    """One reading of one value: collects what is wrong on the way."""

    def __init__(self) -> None:
        """Begin with nothing wrong."""
        self.problems: list[Problem] = []
        self.unknown: list[FieldPath] = []

    def node(self, shape: Any, value: Any, path: FieldPath) -> Any:
        """Return a value as its shape has it, or None where it is refused."""
        if value is None:
            return _zero(shape)
        if isinstance(shape, str):
            return self._scalar(shape, value, path)
        if isinstance(shape, list):
            return self._list(shape[0], value, path)
        if "enum" in shape:
            return self._enum(shape["enum"], value, path)
        return self._message(shape, value, path)

    def _refuse(self, path: FieldPath, message: str) -> None:
        self.problems.append(Problem(path=path, message=message))

    def _message(self, shape: Mapping[str, Any], value: Any, path: FieldPath) -> Any:
        if not isinstance(value, Mapping):
            return self._refuse(path, "must be an object")
        if "*" in shape:
            return {str(k): self.node(shape["*"], v, (*path, str(k))) for k, v in value.items()}
        names = {**{_snake(name): name for name in shape}, **{name: name for name in shape}}
        result = {}
        for key, inner in value.items():
            name = names.get(str(key))
            if name is None:
                self.unknown.append((*path, str(key)))
            elif inner is not None:
                result[name] = self.node(shape[name], inner, (*path, str(key)))
        return {key: inner for key, inner in result.items() if inner is not None}

    def _list(self, shape: Any, value: Any, path: FieldPath) -> Any:
        if not isinstance(value, list):
            return self._refuse(path, "must be a list")
        return [self.node(shape, inner, (*path, index)) for index, inner in enumerate(value)]

    def _enum(self, names: list[str], value: Any, path: FieldPath) -> Any:
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(names):
            return names[value]
        if value in names:
            return value
        return self._refuse(path, f"{value!r} is none of {', '.join(names)}")

    def _scalar(self, shape: str, value: Any, path: FieldPath) -> Any:
        if shape == "any":
            return value
        if shape == "tags":
            return self._tags(value, path)
        name = shape.removesuffix("?")
        read = getattr(self, f"_{name}")(value)
        return self._refuse(path, f"{value!r} is no {name}") if read is None else read

    def _tags(self, value: Any, path: FieldPath) -> Any:
        from kumamigrate.sourcedest.selector import tags_of

        return tags_of(value) if isinstance(value, Mapping) else self._refuse(path, "must be tags")

    @staticmethod
    def _struct(value: Any) -> Any:
        return value if isinstance(value, Mapping) else None

    @staticmethod
    def _time(value: Any) -> Any:
        return value if isinstance(value, str) and parse(value) is not None else None

    @staticmethod
    def _duration(value: Any) -> Any:
        from kumamigrate.sourcedest.goduration import parse_duration

        return parse_duration(value) if isinstance(value, str) else None

    @staticmethod
    def _bool(value: Any) -> Any:
        return value if isinstance(value, bool) else None

    @staticmethod
    def _string(value: Any) -> Any:
        return value if isinstance(value, str) else None

    @staticmethod
    def _uint32(value: Any) -> Any:
        return _whole(value, 2**32)

    @staticmethod
    def _uint64(value: Any) -> Any:
        return _whole(value, 2**64)

    @staticmethod
    def _double(value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            return None
        try:
            number = float(value)
        except ValueError:
            return None
        return number if number - number == 0 else None

    @staticmethod
    def _bytes(value: Any) -> Any:
        if not isinstance(value, str):
            return None
        try:
            return base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
        except (binascii.Error, ValueError):
            return None


def _zero(shape: Any) -> Any:
    """Return what null in a list or a map stands for."""
    if isinstance(shape, str):
        return "" if shape == "string" else None
    return {} if isinstance(shape, Mapping) and "enum" not in shape else None


def _whole(value: Any, limit: int) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,40}", value):
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and 0 <= value < limit else None


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)([A-Z])", lambda found: "_" + found[1].lower(), name)
