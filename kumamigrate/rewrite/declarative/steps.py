"""Declarative rules: select fields by type, path and value, and change them literally.

Anything that needs an *if*, a loop or a second resource is a module in `rewrite/rules/`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.model.resource import Resource, sequence
from kumamigrate.rewrite.change import Change, ResourceEdit, Rollout
from kumamigrate.rewrite.finding import Finding, Safety, Status
from kumamigrate.rewrite.rule import Rule, Step
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import FieldPath, path_text
from kumamigrate.source.value import Moved

_ABSENT = object()


def plan_declarative(view: View) -> Iterator[Change | Finding]:
    """Yield what a rule with `select` says about every resource of the repository.

    One change per resource, with a finding for each field hit. A rule without steps, or one
    that is manual, only reports.
    """
    rule = view.rule
    assert rule.select is not None
    types = rule.select.types
    policies = view.policies() if "policy" in types else iter(())
    for resource in (*policies, *view.of_type(*types)):
        hits = hit_paths(rule, resource.spec)
        if not hits:
            continue
        findings = tuple(_finding(rule, resource, path) for path in hits)
        if not rule.steps or rule.safety is Safety.MANUAL or resource.where is None:
            yield from findings
            continue
        spec: Any = resource.spec
        for path in reversed(hits):
            spec = edited(spec, path, rule.steps, above=(*resource.spec_path, *path))
        yield Change(
            rule=rule.id,
            mesh=resource.mesh,
            group=f"{resource.type} {resource.mesh}",
            edits=(ResourceEdit(where=resource.where, manifests=(with_spec(resource, spec),)),),
            findings=findings,
            rollout=Rollout.WITH_UPGRADE if rule.upgrade else Rollout.NOW,
        )


def hit_paths(rule: Rule, spec: Any) -> list[FieldPath]:
    """Return the paths inside a spec that the rule's selector hits, in text order."""
    assert rule.select is not None
    return [
        path
        for pattern in rule.select.fields
        for path, value in _matches(spec, _parts(pattern), ())
        if (isinstance(value, Mapping) or "value" in rule.select.where or not rule.select.unless)
        and _holds(value, rule.select.where)
        and not _excluded(value, rule.select.unless)
    ]


def with_spec(resource: Resource, spec: Any) -> dict[str, Any]:
    """Return the manifest of a resource with another spec, everything else as it is."""
    body = dict(resource.body)
    if resource.spec_path:
        return {key: spec if key == resource.spec_path[0] else value for key, value in body.items()}
    kept = {k: v for k, v in body.items() if k not in resource.spec or k in spec}
    return {**{key: spec.get(key, value) for key, value in kept.items()}, **spec}


def edited(value: Any, path: FieldPath, steps: tuple[Step, ...], *, above: FieldPath) -> Any:
    """Return a copy of plain JSON in which the steps were taken at a path.

    `above` is the same path from the root of the resource: what moves takes its text along.
    """
    if not path:
        for step in steps:
            value = _take(value, step, above)
        return value
    head, rest = path[0], path[1:]
    if isinstance(value, list):
        return [
            edited(v, rest, steps, above=above) if i == head else v for i, v in enumerate(value)
        ]
    return {k: edited(v, rest, steps, above=above) if k == head else v for k, v in value.items()}


def _take(value: Any, step: Step, above: FieldPath) -> Any:
    match step.verb:
        case "set":
            return (
                {**value, **step.arguments} if isinstance(step.arguments, dict) else step.arguments
            )
        case "rename":
            return {step.arguments.get(key, key): inner for key, inner in value.items()}
        case "remove":
            return {key: inner for key, inner in value.items() if key not in step.arguments}
        case "map":
            return step.arguments.get(value, value)
        case "default":
            return {**value, **{k: v for k, v in step.arguments.items() if k not in value}}
        case "trim":
            return {
                key: inner.rstrip(step.arguments[key]) if key in step.arguments else inner
                for key, inner in value.items()
            }
        case "move":
            source, goal = _keys(step.arguments["from"]), _keys(step.arguments["to"])
            return _moved(value, source, goal, Moved((*above, *source)))
    raise AssertionError(step.verb)


def _keys(path: str | list[str]) -> list[str]:
    """Take a path apart; a list is for keys that hold a dot themselves."""
    return path.split(".") if isinstance(path, str) else path


def _moved(value: Any, source: list[str], goal: list[str], moved: Moved) -> Any:
    inner = value
    for key in source:
        if not isinstance(inner, dict) or key not in inner:
            return value
        inner = inner[key]
    return _put(_without(value, source), goal, moved)


def _without(value: dict[str, Any], path: list[str]) -> dict[str, Any]:
    """Remove a key, and every mapping that is empty without it."""
    if len(path) == 1:
        return {key: inner for key, inner in value.items() if key != path[0]}
    inner = _without(value[path[0]], path[1:])
    return {k: inner if k == path[0] else v for k, v in value.items() if k != path[0] or inner}


def _put(value: dict[str, Any], path: list[str], new: Any) -> dict[str, Any]:
    if len(path) == 1:
        return {**value, path[0]: new}
    return {**value, path[0]: _put(value.get(path[0], {}), path[1:], new)}


def _parts(pattern: str) -> list[str]:
    return [part for part in pattern.replace("[]", ".[]").split(".") if part]


def _matches(value: Any, parts: list[str], at: FieldPath) -> Iterator[tuple[FieldPath, Any]]:
    if not parts:
        yield at, value
    elif parts[0] == "[]":
        for index, inner in enumerate(sequence(value)):
            yield from _matches(inner, parts[1:], (*at, index))
    elif isinstance(value, Mapping) and parts[0] in value:
        yield from _matches(value[parts[0]], parts[1:], (*at, parts[0]))


def _holds(value: Any, tests: Mapping[str, Any]) -> bool:
    return all(_passes(value, key, wanted) for key, wanted in tests.items())


def _excluded(value: Any, tests: Mapping[str, Any]) -> bool:
    return bool(tests) and any(_passes(value, key, wanted) for key, wanted in tests.items())


def _passes(value: Any, key: str, wanted: Any) -> bool:
    found = value.get(key, _ABSENT) if isinstance(value, Mapping) else value
    if not isinstance(value, Mapping) and key != "value":
        return False
    if isinstance(wanted, Mapping) and "pattern" not in wanted:
        return isinstance(found, Mapping) and _holds(found, wanted)
    if isinstance(wanted, Mapping):
        return isinstance(found, str) and re.search(wanted["pattern"], found) is not None
    if isinstance(wanted, bool) and not isinstance(found, bool):
        return (found is not _ABSENT) is wanted
    return found in wanted if isinstance(wanted, list) else bool(found == wanted)


def _finding(rule: Rule, resource: Resource, path: FieldPath) -> Finding:
    full = (*resource.spec_path, *path)
    value = resource.spec
    for part in path:
        value = value[part]  # type: ignore[index]  # the path was found in this very spec
    words = {"field": path_text(full), "value": value if isinstance(value, (str, int)) else ""}
    assert rule.select is not None
    tested = [key for key in rule.select.where if isinstance(value, Mapping) and key in value]
    return Finding(
        rule=rule.id,
        resource=resource,
        path=(*full, *tested[:1]),
        message=rule.message.format(**words),
        action=rule.action.format(**words),
        status=Status.PENDING if rule.steps else Status.MANUAL,
        safety=rule.safety,
        danger=rule.danger,
    )
