"""The panic threshold of a health check joins the circuit breaker of the same destination."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.change import Change, ResourceEdit
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import Json, change, cut, finding, items, put
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import FieldPath, at_path

_FIELD = "healthyPanicThreshold"


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield one change per health check: its thresholds go, circuit breakers receive them.

    A threshold without a circuit breaker to join is reported.
    """
    breakers = list(view.of_type("MeshCircuitBreaker"))
    for check in view.of_type("MeshHealthCheck"):
        body: Json = check.body
        settled: list[Finding] = []
        joined: dict[int, Json] = {}
        for index, entry in enumerate(items(check.spec, ("to",))):
            path = (*check.spec_path, "to", index, "default", _FIELD)
            value = at_path(check.body, path)
            if value is None:
                continue
            place = _place(check, entry, breakers)
            if place is None:
                yield finding(view, check, path)
                continue
            at, field = place
            if at_path(breakers[at].body, field) is None:
                joined[at] = put(joined.get(at, breakers[at].body), field, value)
            body = cut(body, path)
            settled.append(finding(view, check, path, pending=True))
        if settled:
            others = [_edit(breakers[at], changed) for at, changed in joined.items()]
            yield change(view, check, [body], settled, others=others)


def _place(
    check: Resource, entry: Mapping[str, Any], breakers: list[Resource]
) -> tuple[int, FieldPath] | None:
    """Return the circuit breaker and field for a threshold: same selection, same destination."""
    for at, breaker in enumerate(breakers):
        same = (breaker.mesh, breaker.namespace) == (check.mesh, check.namespace)
        if not same or breaker.spec.get("targetRef") != check.spec.get("targetRef"):
            continue
        for index, other in enumerate(items(breaker.spec, ("to",))):
            found = at_path(other, ("default", "outlierDetection"))
            able = isinstance(found, Mapping) and found.get("detectors")
            if able and not found.get("disabled") and _to(other) == _to(entry):
                path = ("to", index, "default", "outlierDetection", _FIELD)
                return at, (*breaker.spec_path, *path)
    return None


def _to(entry: Any) -> Any:
    return at_path(entry, ("targetRef",))


def _edit(resource: Resource, body: Json) -> ResourceEdit:
    assert resource.where is not None
    return ResourceEdit(where=resource.where, manifests=(body,))
