"""The fields a release knows in a spec, as one tree; what it does not know it drops.

Those of a policy come from the tables of the model, those of other kinds with a schema from
`shapes.json`: `"name!"` must be given, `"name~"` has a default, `"int32 1-65535"` and
`"string 1-"` have bounds, `"one of A|B"` are words, `[…]` is a list, `"any"` anything, and
`"$part"` stands for a part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.model.packed import packed
from kumamigrate.model.policytype import Conf, Field, PolicyType
from kumamigrate.model.release import Release, release
from kumamigrate.model.versions import at_least
from kumamigrate.pattern import pattern
from kumamigrate.source.text import FieldPath

_MATCH = pattern(r"(\w+)\.(\w+)(?:\(([\w|]+)\))?")
_MAPS = ("tags", "labels")


@cache
def spec_shape(type_: str, release_name: str) -> Conf:
    """Return the fields of a policy's spec in one release. Raises KeyError for other kinds."""
    known = release(release_name)
    policy_type = known.policy_types[type_]
    shape = {"targetRef": _reference(known)}
    for section in policy_type.sections:
        shape[section] = _section(section, policy_type, known)
    return shape


@cache
def resource_shape(type_: str, release_name: str) -> Conf | None:
    """Return the fields in the spec of a kind that is no policy, where a schema has them."""
    found = None
    for row in packed("admit", "shapes.json")["specs"].get(type_, ()):
        if "since" not in row or at_least(release_name, row["since"]):
            found = row["fields"]
    return None if found is None else dict(_written_field(*row) for row in found.items())


def known_part(value: Any, fields: Conf) -> Any:
    """Return a mapping without the fields that the release drops, at any depth."""
    if not isinstance(value, dict):
        return value
    return {
        name: _known_value(inner, fields[name]) for name, inner in value.items() if name in fields
    }


def unknown_part(value: Any, fields: Conf, path: FieldPath = ()) -> Iterator[FieldPath]:
    """Yield the paths of the fields that the release drops, in order of writing."""
    if not isinstance(value, dict):
        return
    for name, inner in value.items():
        if name not in fields:
            yield (*path, name)
            continue
        field = fields[name]
        if field.type == "object":
            yield from unknown_part(inner, field.fields, (*path, name))
        elif field.type == "list<object>" and isinstance(inner, list):
            for index, item in enumerate(inner):
                yield from unknown_part(item, field.fields, (*path, name, index))


def other_letters(
    value: Any, fields: Conf, path: FieldPath = ()
) -> Iterator[tuple[FieldPath, str]]:
    """Yield the fields that are written in other letters, capital or small, with the right ones."""
    if not isinstance(value, dict):
        return
    for name, inner in value.items():
        field = fields.get(name)
        if field is None:
            folded = str(name).lower()
            yield from (((*path, name), one) for one in fields if one.lower() == folded)
        elif field.type == "object":
            yield from other_letters(inner, field.fields, (*path, name))
        elif field.type == "list<object>" and isinstance(inner, list):
            for index, item in enumerate(inner):
                yield from other_letters(item, field.fields, (*path, name, index))


def _known_value(value: Any, field: Field) -> Any:
    if field.type == "object":
        return known_part(value, field.fields)
    if field.type == "list<object>" and isinstance(value, list):
        return [known_part(item, field.fields) for item in value]
    return value


def _written_field(name: str, written: Any) -> tuple[str, Field]:
    bare = name.rstrip("!~")
    field = _written(bare, written)
    return bare, replace(field, required=name.endswith("!"), has_default=name.endswith("~"))


def _written(name: str, written: Any) -> Field:
    if isinstance(written, list):
        item = _written(name, written[0])
        return replace(item, type=f"list<{item.type}>")
    if isinstance(written, Mapping):
        fields = dict(_written_field(*row) for row in written.items())
        return _field(name, "object", fields=fields)
    if written.startswith("$"):
        return _written(name, packed("admit", "shapes.json")["parts"][written[1:]])
    if written.startswith("one of "):
        return _field(name, "string", enum=tuple(written.removeprefix("one of ").split("|")))
    type_, _, limits = written.partition(" ")
    return replace(_field(name, type_), bounds=dict(_bounds(type_, limits)))


def _bounds(type_: str, limits: str) -> Iterator[tuple[str, int]]:
    names = ("minLength", "maxLength") if type_ == "string" else ("min", "max")
    for bound, limit in zip(names, limits.split("-"), strict=False):
        if limit:
            yield bound, int(limit)


def _reference(known: Release) -> Field:
    names = {name for kind in known.target_ref_fields.values() for name in kind}
    fields = {"kind": _field("kind", "string")}
    for name in sorted(names):
        if name == "proxyTypes":
            items = ("Sidecar", "Gateway")
            fields[name] = _field(name, "list<string>", item_enum=items)
        else:
            fields[name] = _field(name, "map[string]string" if name in _MAPS else "string")
    return _field("targetRef", "object", fields=fields)


def _section(section: str, policy_type: PolicyType, known: Release) -> Field:
    conf = policy_type.conf(section)
    default = _field("default", "object", fields=conf)
    if section == "default":
        return default
    if section == "rules":
        fields = {"default": default}
        if policy_type.match_fields:
            matches = _matches(policy_type.match_fields)
            fields["matches"] = _field("matches", "list<object>", fields=matches)
        return _field("rules", "list<object>", fields=fields)
    fields = {"targetRef": _reference(known)}
    if policy_type.backend_kinds:
        fields |= _route(conf)
    else:
        fields["default"] = default
    return _field(section, "list<object>", fields=fields)


def _route(conf: Conf) -> Conf:
    """Return the fields of a route's entry; those of a TCP route are given from its rule on."""
    if "rules" in conf:
        return conf
    return {"rules": _field("rules", "list<object>", fields=conf)}


def _matches(written: tuple[str, ...]) -> Conf:
    parts: dict[str, dict[str, Field]] = {}
    for text in written:
        found = _MATCH.fullmatch(text)
        if found is not None:
            enum = tuple(found[3].split("|")) if found[3] else ()
            parts.setdefault(found[1], {})[found[2]] = _field(
                found[2], "string", enum=enum, required=True
            )
    return {name: _field(name, "object", fields=inner) for name, inner in parts.items()}


def _field(
    name: str,
    type_: str,
    *,
    fields: Conf | None = None,
    enum: tuple[str, ...] = (),
    item_enum: tuple[str, ...] = (),
    required: bool = False,
) -> Field:
    return Field(
        name=name,
        path=name,
        type=type_,
        merge="element",
        fields=fields or {},
        enum=enum,
        item_enum=item_enum,
        required=required,
    )
