"""Confs as Kuma reads them, and how it merges them (matcher.md (e), matcher-notes §1.9)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from kumamigrate.model import duration
from kumamigrate.model.policytype import Conf, Field

JsonConf = dict[str, Any]
_FREE = ("any JSON", "json.RawMessage")


def normal(conf: Any, fields: Conf, *, defaults: bool) -> JsonConf:
    """Return a conf in Go's form: unknown fields gone, durations as Go prints them.

    A value of a wrong shape goes too: what holds one is refused by the control plane. With
    `defaults`, schema defaults are filled in inside every object that is present. Keys come in the
    order of the table, which is the order Go serialises in. null counts as absent.
    """
    return _object(conf if isinstance(conf, Mapping) else {}, fields, defaults=defaults)


def merge(confs: Sequence[JsonConf], fields: Conf) -> tuple[JsonConf, ...]:
    """Merge normal confs, lowest precedence first; one result for each partition (hostname).

    Objects merge deep, the rest is replaced; append fields are concatenated; lists with a merge
    key are united. Nothing given gives nothing.
    """
    partition = next((f for f in fields.values() if f.merge == "partition"), None)
    if partition is None:
        return (_merge_group(confs, fields),) if confs else ()
    groups: dict[str, list[JsonConf]] = {}
    for conf in confs:
        for value in conf.get(partition.name) or ("",):
            alone = {k: v for k, v in conf.items() if k != partition.name}
            if value:
                alone[partition.name] = [value]
            groups.setdefault(value, []).append(alone)
    return tuple(_merge_group(group, fields) for group in groups.values())


def patch(low: Mapping[str, Any], high: Mapping[str, Any]) -> JsonConf:
    """Return the RFC 7396 merge of `high` over `low`."""
    out = dict(low)
    for key, value in high.items():
        if value is None:
            out.pop(key, None)
        elif isinstance(value, Mapping):
            below = out.get(key)
            out[key] = patch(below if isinstance(below, Mapping) else {}, value)
        else:
            out[key] = value
    return out


def _merge_group(confs: Sequence[JsonConf], fields: Conf) -> JsonConf:
    merged: JsonConf = {}
    for conf in confs:
        merged = patch(merged, conf)
    return _append(merged, confs, fields)


def _append(merged: JsonConf, confs: Sequence[JsonConf], fields: Conf) -> JsonConf:
    """Rebuild append fields and keyed lists, in structs only, never below a list."""
    out = dict(merged)
    for name, field in fields.items():
        if name not in out:
            continue
        below = [conf[name] for conf in confs if conf.get(name) is not None]
        if field.merge == "append":
            out[name] = [item for value in below for item in value]
        elif field.merge == "by-key":
            out[name] = _by_key([item for value in below for item in value], field)
        elif field.type == "object" and field.fields:
            out[name] = _append(out[name], below, field.fields)
    return out


def _by_key(items: Sequence[JsonConf], field: Field) -> list[JsonConf]:
    """Unite items of equal key; a united item stands where its last one stood."""
    key = next(f.name for f in field.fields.values() if f.merge == "key")
    value = next(f for f in field.fields.values() if f.name == "default")
    found: dict[str, list[JsonConf]] = {}
    for item in items:
        text = canonical(item.get(key))
        found[text] = [*found.pop(text, ()), item]
    return [
        {**same[-1], value.name: merge([i.get(value.name) or {} for i in same], value.fields)[0]}
        for same in found.values()
    ]


def canonical(value: Any) -> str:
    """Return text that is equal exactly for equal JSON values."""
    return _ENCODER.encode(value)


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def _object(value: Mapping[str, Any], fields: Conf, *, defaults: bool) -> JsonConf:
    out: JsonConf = {}
    for name, field in fields.items():
        given = _value(value.get(name), field, defaults=defaults)
        if given is None and defaults and field.has_default:
            given = field.default
        if given is None and field.always_serialised and field.type == "object":
            given = _object({}, field.fields, defaults=defaults)
        if field.type == "duration" and isinstance(given, str):
            given = duration.normal(given)
        if given is not None and not _is_dropped(given, field):
            out[name] = given
    return out


def _is_dropped(value: Any, field: Field) -> bool:
    """Whether Go leaves an explicit empty value out (matcher.md Traps 18)."""
    if field.empty_list_dropped and value == []:
        return True
    return field.zero_value_dropped and value in ("", 0, False)


def _value(given: Any, field: Field, *, defaults: bool) -> Any:
    """Return a value of the shape the field has; None for any other shape, which Kuma refuses."""
    if field.is_list:
        return _list(given, field, defaults=defaults) if isinstance(given, list) else None
    if field.type == "object":
        if not isinstance(given, Mapping):
            return None
        return _object(given, field.fields, defaults=defaults)
    if field.type.startswith("map["):
        return given if isinstance(given, Mapping) else None
    if field.type in _FREE:
        return given
    return None if isinstance(given, Mapping | list) else given


def _list(given: list[Any], field: Field, *, defaults: bool) -> list[Any]:
    if field.item_type != "object":
        return [item for item in given if not isinstance(item, Mapping | list)]
    return [
        _object(item, field.fields, defaults=defaults)
        for item in given
        if isinstance(item, Mapping)
    ]
