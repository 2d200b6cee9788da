"""The type of a log or trace backend is that of the one field set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import Json, change, finding, items, put
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import FieldPath, at_path


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield a change for each policy with a backend or format whose type can be told."""
    for policy in view.of_type("MeshAccessLog", "MeshTrace"):
        body: Json = policy.body
        settled = []
        for path, types in _untyped(view, policy):
            found = at_path(policy.body, path)
            told = [types[key] for key in found if key in types]
            if len(told) != 1:
                yield finding(view, policy, path)
                continue
            body = put(body, path, {"type": told[0], **at_path(body, path)})
            settled.append(finding(view, policy, path, pending=True))
        if settled:
            yield change(view, policy, [body], settled)


def _untyped(view: View, policy: Resource) -> Iterator[tuple[FieldPath, Mapping[str, str]]]:
    backends, formats = view.rule.table["backends"], view.rule.table["formats"]
    for path in _backends(policy):
        backend = at_path(policy.body, path)
        if not isinstance(backend, Mapping):
            continue
        if "type" not in backend:
            yield path, backends
        for key in ("tcp", "file"):
            found = at_path(backend, (key, "format"))
            if isinstance(found, Mapping) and "type" not in found:
                yield (*path, key, "format"), formats


def _backends(policy: Resource) -> Iterator[FieldPath]:
    for section in ("default", "to", "from", "rules"):
        inner = policy.spec.get(section)
        places: list[FieldPath] = [(section,)]
        if isinstance(inner, list):
            places = [(section, index, "default") for index in range(len(inner))]
        for at in places:
            for number in range(len(items(policy.spec, (*at, "backends")))):
                yield (*policy.spec_path, *at, "backends", number)
