"""Where a value comes from: the winning item, and those it overrules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from kumamigrate.dataclass import dataclass
from kumamigrate.model.conf import JsonConf, canonical
from kumamigrate.model.resource import Resource
from kumamigrate.source.text import FieldPath
from kumamigrate.targetref.entry import Entry

_APPENDED = "append"


class Merged(Protocol):
    """Anything merged from entries: SubsetRule, ResourceRule, InboundRule, Found."""

    @property
    def conf(self) -> JsonConf: ...

    @property
    def entries(self) -> tuple[Entry, ...]: ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ValueSource:
    """One place that gives a value.

    `path` leads from the policy's spec to the value; where the value is a default that nobody
    wrote, to the nearest object that is written, and `written` is false.
    """

    entry: Entry
    path: FieldPath
    value: Any
    written: bool

    @property
    def policy(self) -> Resource:
        """The policy the value stands in."""
        return self.entry.policy


def winner_of(rule: Merged, field_path: FieldPath) -> ValueSource | None:
    """Return the last contributor in merge order that sets a field of the merged conf.

    `field_path` leads from the conf down. None: no entry sets it.
    """
    found = sources(rule, field_path)
    return found[0] if found else None


def sources(rule: Merged, field_path: FieldPath) -> tuple[ValueSource, ...]:
    """Return every contributor that sets a field, strongest first."""
    out = []
    for entry, path in _places(rule, field_path):
        present, value = _get(entry.conf, path)
        if present:
            out.append(_source(entry, path, value))
    return tuple(reversed(out))


def _places(rule: Merged, field_path: FieldPath) -> list[tuple[Entry, FieldPath]]:
    """Return where in each entry's own conf the field stands, lowest first."""
    for depth, part in enumerate(field_path):
        if not isinstance(part, int):
            continue
        head, tail = field_path[:depth], field_path[depth + 1 :]
        _, merged = _get(rule.conf, head)
        if not isinstance(merged, list) or part >= len(merged):
            return []
        element = merged[part]
        if isinstance(element, Mapping) and "matches" in element and "default" in element:
            return _keyed(rule.entries, head, element, tail)
        if str(head[-1]).startswith(_APPENDED):
            return _appended(rule.entries, head, part, tail)
        break
    return [(entry, field_path) for entry in rule.entries]


def _keyed(
    entries: Sequence[Entry], head: FieldPath, element: Mapping[str, Any], tail: FieldPath
) -> list[tuple[Entry, FieldPath]]:
    key = canonical(element.get("matches"))
    return [
        (entry, (*head, at, *tail))
        for entry in entries
        for at, item in enumerate(_get(entry.conf, head)[1] or ())
        if canonical(item.get("matches")) == key
    ]


def _appended(
    entries: Sequence[Entry], head: FieldPath, index: int, tail: FieldPath
) -> list[tuple[Entry, FieldPath]]:
    for entry in entries:
        length = len(_get(entry.conf, head)[1] or ())
        if index < length:
            return [(entry, (*head, index, *tail))]
        index -= length
    return []


def _source(entry: Entry, path: FieldPath, value: Any) -> ValueSource:
    whole = (*entry.path, *path)
    written = len(whole)
    while written and not _get(entry.policy.spec, whole[:written])[0]:
        written -= 1
    return ValueSource(
        entry=entry, path=whole[:written], value=value, written=written == len(whole)
    )


def _get(value: Any, path: FieldPath) -> tuple[bool, Any]:
    for part in path:
        if isinstance(value, Mapping) and part in value:
            value = value[part]
            continue
        if not isinstance(value, list) or not isinstance(part, int) or part >= len(value):
            return False, None
        value = value[part]
    return True, value
