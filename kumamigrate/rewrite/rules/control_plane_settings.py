"""Settings in Helm values and control plane configuration that a release gives up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kumamigrate.model.kinds import CONTROL_PLANE_CONFIG, HELM_VALUES, WORKLOADS
from kumamigrate.model.resource import Resource
from kumamigrate.model.versions import at_least
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import finding
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import FieldPath, at_path

_KEYS = {HELM_VALUES: "helm", CONTROL_PLANE_CONFIG: "config"}
_Variable = tuple[FieldPath, str, Any]
"""Where a variable stands, its name and its value."""


def plan(view: View) -> Iterator[Finding]:
    """Yield a finding for each setting that the table names for the target release."""
    table = [s for s in view.rule.table["settings"] if at_least(view.target_name, s["since"])]
    for resource in view.of_type(HELM_VALUES, CONTROL_PLANE_CONFIG, *WORKLOADS):
        variables = list(_environment(resource)) if resource.type not in _KEYS else []
        for setting in table:
            for path, value in (*_found(resource, setting), *_among(variables, setting)):
                wanted = setting.get("value")
                if wanted is None or str(value).lower() == str(wanted).lower():
                    words = {"what": setting["what"], "advice": setting["advice"]}
                    yield finding(view, resource, path, **words)


def _found(resource: Resource, setting: Mapping[str, Any]) -> Iterator[tuple[FieldPath, Any]]:
    """Yield where a setting stands: as a value, or as a variable of the environment."""
    key = _KEYS.get(resource.type, "")
    for text in setting.get(key, ()):
        path = (*resource.spec_path, *text.split("."))
        value = at_path(resource.body, path)
        if value is not None:
            yield path, value
    if resource.type == HELM_VALUES:
        for name in setting.get("env", ()):
            path = (*resource.spec_path, "controlPlane", "envVars", name)
            if at_path(resource.body, path) is not None:
                yield path, at_path(resource.body, path)


def _among(
    variables: Iterable[_Variable], setting: Mapping[str, Any]
) -> Iterator[tuple[FieldPath, Any]]:
    """Yield where a setting stands among the variables of the environment."""
    names = setting.get("env", ())
    yield from ((path, value) for path, name, value in variables if name in names)


def _environment(resource: Resource) -> Iterator[_Variable]:
    """Yield the variables that containers anywhere in a manifest are given."""
    yield from _below(resource.body, ())


def _below(value: Any, at: FieldPath) -> Iterator[_Variable]:
    if isinstance(value, (dict, Mapping)):
        for key, inner in value.items():
            if key == "env" and isinstance(inner, list):
                for index, entry in enumerate(inner):
                    if isinstance(entry, Mapping) and isinstance(entry.get("name"), str):
                        yield (*at, "env", index), entry["name"], entry.get("value")
            else:
                yield from _below(inner, (*at, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _below(inner, (*at, index))
