"""Kinds, names and fields that come and go with releases, policies aside (`kinds.json`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from kumamigrate.admit.places import is_template, places
from kumamigrate.model.packed import packed
from kumamigrate.model.problem import Problem
from kumamigrate.model.resource import Form, Resource
from kumamigrate.model.versions import is_past, version
from kumamigrate.pattern import pattern
from kumamigrate.source.text import FieldPath

_PART = pattern(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LABEL = pattern(r"[a-z]([-a-z0-9]*[a-z0-9])?")


def kind_problems(resource: Resource, *, release_name: str) -> Iterator[Problem]:
    """Yield a problem where the release does not have the kind of the resource.

    Kinds that no release is known to have give nothing: they may be somebody's own.
    """
    path: FieldPath = ("kind",) if resource.form is Form.KUBERNETES else ("type",)
    span = _table()["kinds"].get(resource.type)
    if span is None:
        return
    wanted = version(release_name)
    if "until" in span and is_past(release_name, span["until"]):
        message = f"{resource.type} is gone: {span['until']} is the last that has it"
        yield Problem(path=path, message=message)
    elif "since" in span and wanted < version(span["since"]):
        yield Problem(path=path, message=f"{resource.type} came with {span['since']}")


def name_problems(
    resource: Resource, *, release_name: str, warn: bool = False
) -> Iterator[Problem]:
    """Yield what is wrong with the name of a Kuma resource, or, with `warn`, what will be."""
    name, path = resource.display_name, _name_path(resource)
    if not resource.name or is_template(resource.name):
        return
    names, wanted = _table()["names"], version(release_name)
    every, label = names["every"], names["label"]
    if wanted >= version(every["since"]) or resource.form is Form.KUBERNETES:
        wrong = _PART.fullmatch(name) is None or len(name) > every["most"]
        if wrong and not warn:
            message = f"{name!r} is no valid name: lower-case letters, digits, `-` and `.` only"
            yield Problem(path=path, message=message)
        if wrong:
            return
    if resource.type not in label["kinds"]:
        return
    begins = version(label["warn"] if warn else label["since"])
    wrong = _LABEL.fullmatch(name) is None or len(name) > label["most"]
    if wrong and begins <= wanted and (not warn or wanted < version(label["since"])):
        message = (
            f"{name!r} must begin with a letter, have only lower-case letters, digits and `-`, "
            f"and at most {label['most']} characters from 3.0 on"
        )
        yield Problem(path=path, message=message)


def dropped_fields(resource: Resource, *, release_name: str) -> Iterator[FieldPath]:
    """Yield the fields of a resource that is no policy which the release ignores."""
    wanted = version(release_name)
    for row in _table()["dropped"]:
        if resource.type in row["kinds"] and wanted >= version(row["since"]):
            for pattern in row["fields"]:
                for path, _ in places(resource.spec, pattern):
                    yield (*resource.spec_path, *path)


def _name_path(resource: Resource) -> FieldPath:
    return ("metadata", "name") if resource.form is Form.KUBERNETES else ("name",)


@cache
def _table() -> Mapping[str, Any]:
    table: Mapping[str, Any] = packed("admit", "kinds.json")
    return table
