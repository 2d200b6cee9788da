"""Which selectors of old policies a 2.x control plane refuses: whom they are for, by tags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.model.problem import Problem
from kumamigrate.model.resource import SERVICE, mapping
from kumamigrate.pattern import pattern
from kumamigrate.source.text import FieldPath
from kumamigrate.sourcedest.proxy import PROTOCOL
from kumamigrate.sourcedest.selector import tags_of

_TAG_NAME = pattern(r"[a-zA-Z0-9.\-_:/]+")
_TAG_VALUE = pattern(r"[a-zA-Z0-9.\-_:/]*|\*")
_Found = Iterator[Problem]


def selectors_refused(spec: Mapping[str, Any], field: str, rule: Mapping[str, Any]) -> _Found:
    """Yield why the selectors of a field of an old policy are refused."""
    items = spec.get(field)
    if items is None or items == []:
        if rule.get("required"):
            yield Problem(path=(field,), message="must have at least one element")
        return
    if not isinstance(items, list):
        yield Problem(path=(field,), message="must be a list")
        return
    for index, item in enumerate(items):
        match = mapping(item).get("match")
        if match is not None and not isinstance(match, Mapping):
            yield Problem(path=(field, index, "match"), message="must be a map of tags")
        else:
            yield from tags_refused(tags_of(match), rule, (field, index, "match"))


def tags_refused(tags: Mapping[str, str], rule: Mapping[str, Any], path: FieldPath) -> _Found:
    """Yield why the tags of one selector, or of a destination, are refused."""
    if not tags:
        yield Problem(path=path, message="must have at least one tag")
    if rule.get("serviceOnly") and tags and set(tags) != {SERVICE}:
        yield Problem(path=path, message=f'must consist of exactly one tag "{SERVICE}"')
    protocols = rule.get("protocols")
    if protocols and tags.get(PROTOCOL) not in protocols:
        allowed = ", ".join(protocols)
        yield Problem(path=path, message=f"{PROTOCOL} must be one of {allowed}")
    if rule.get("service") and SERVICE not in tags:
        yield Problem(path=path, message=f'mandatory tag "{SERVICE}" is missing')
    for key, value in tags.items():
        if not _TAG_NAME.fullmatch(key):
            yield Problem(path=path, message=f'tag name "{key}" has a character not allowed')
        if value == "":
            yield Problem(path=(*path, key), message="tag value must be non-empty")
        elif not _TAG_VALUE.fullmatch(value):
            yield Problem(path=(*path, key), message="tag value has a character not allowed")
