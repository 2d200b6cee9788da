"""Types, words and sizes: what the schema of a release says about each field by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.admit.places import is_template
from kumamigrate.model.duration import parse
from kumamigrate.model.policytype import Conf, Field
from kumamigrate.model.problem import Problem
from kumamigrate.pattern import pattern
from kumamigrate.source.text import FieldPath

_NULLABLE = ("any", "any JSON", "int-or-string", "json", "json.RawMessage")
_BASE64 = pattern(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_INTEGERS: Mapping[str, tuple[int, int]] = {
    "int": (-(2**63), 2**63 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint": (0, 2**64 - 1),
    "uint32": (0, 2**32 - 1),
}


def structure_of(value: Any, fields: Conf, path: FieldPath) -> Iterator[Problem]:
    """Yield what is wrong with the fields of a mapping, in table order.

    Null counts as absent only where there is a default, or no type.
    """
    if not isinstance(value, dict):
        yield Problem(path=path, message="must be a mapping")
        return
    for name, field in fields.items():
        inner = value.get(name)
        if inner is not None:
            yield from _value(inner, field, (*path, name))
        elif name in value:
            if not (field.has_default or field.type in _NULLABLE):
                yield Problem(path=(*path, name), message="must not be null: take it away")
        elif field.required:
            yield Problem(path=(*path, name), message="must be given", missing=True)


def _value(value: Any, field: Field, path: FieldPath) -> Iterator[Problem]:
    if is_template(value):
        return
    if field.is_list:
        yield from _list(value, field, path)
    elif field.type == "object":
        if field.fields:
            yield from structure_of(value, field.fields, path)
        elif not isinstance(value, dict):
            yield Problem(path=path, message="must be a mapping")
    elif field.type.startswith("map["):
        yield from _texts(value, path)
    else:
        yield from _scalar(value, field, path)


def _list(value: Any, field: Field, path: FieldPath) -> Iterator[Problem]:
    if not isinstance(value, list):
        yield Problem(path=path, message="must be a list")
        return
    least, most = field.bounds.get("minItems", 0), field.bounds.get("maxItems")
    if len(value) < least:
        yield Problem(path=path, message=f"needs at least {least} entries", missing=True)
    if most is not None and len(value) > most:
        yield Problem(path=path, message=f"takes at most {most} entries")
    for index, item in enumerate(value):
        at = (*path, index)
        if field.item_type == "object":
            yield from structure_of(item, field.fields, at)
        elif item is None or isinstance(item, dict | list | bool):
            yield Problem(path=at, message="must be a plain value")
        elif field.item_type in _INTEGERS:
            yield from _integer(item, field.item_type, field, at)
        elif not isinstance(item, str):
            yield Problem(path=at, message="must be a text")
        elif field.item_enum and item not in field.item_enum and not is_template(item):
            yield Problem(path=at, message=_choice(item, field.item_enum))


def _texts(value: Any, path: FieldPath) -> Iterator[Problem]:
    if not isinstance(value, dict):
        yield Problem(path=path, message="must be a mapping of texts")
        return
    for name, inner in value.items():
        if not isinstance(inner, str):
            yield Problem(path=(*path, name), message="must be a text: put it in quotes")


def _scalar(value: Any, field: Field, path: FieldPath) -> Iterator[Problem]:
    if field.type in _INTEGERS:
        yield from _integer(value, field.type, field, path)
    elif field.type == "bool":
        if not isinstance(value, bool):
            yield Problem(path=path, message="must be true or false")
    elif field.type == "int-or-string":
        if isinstance(value, bool) or not isinstance(value, int | str):
            yield Problem(path=path, message="must be a whole number or a text")
        elif isinstance(value, int):
            yield from _integer(value, "int32", field, path)
    elif field.type == "bytes":
        if not isinstance(value, str) or _BASE64.fullmatch(value) is None:
            yield Problem(path=path, message="must be base64")
    elif field.type in ("string", "duration"):
        yield from _text(value, field, path)


def _text(value: Any, field: Field, path: FieldPath) -> Iterator[Problem]:
    if not isinstance(value, str):
        what = "a duration such as 10s" if field.type == "duration" else "a text"
        yield Problem(path=path, message=f"must be {what}, not {_said(value)}")
    elif field.type == "duration" and parse(value) is None:
        yield Problem(path=path, message=f"{value!r} is no duration such as 10s or 1m30s")
    elif field.enum and value not in field.enum:
        yield Problem(path=path, message=_choice(value, field.enum))
    elif field.pattern and re.search(field.pattern, value) is None:
        yield Problem(path=path, message=f"{value!r} holds characters that are not allowed")
    elif len(value) < field.bounds.get("minLength", 0):
        yield Problem(path=path, message="must not be empty")
    elif len(value) > field.bounds.get("maxLength", len(value)):
        yield Problem(path=path, message=f"is longer than {field.bounds['maxLength']} characters")


def _integer(value: Any, type_: str, field: Field, path: FieldPath) -> Iterator[Problem]:
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole:
        yield Problem(path=path, message=f"must be a whole number, not {_said(value)}")
        return
    low, high = _INTEGERS[type_]
    low, high = max(low, field.bounds.get("min", low)), min(high, field.bounds.get("max", high))
    if not low <= value <= high:
        yield Problem(path=path, message=f"must lie between {low} and {high}")
    elif field.enum and str(value) not in {str(word) for word in field.enum}:
        yield Problem(path=path, message=_choice(str(value), field.enum))


def _choice(value: str, allowed: tuple[Any, ...]) -> str:
    return f"{value!r} is not one of {', '.join(str(word) for word in allowed)}"


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a mapping"
    return "a list" if isinstance(value, list) else str(value)
