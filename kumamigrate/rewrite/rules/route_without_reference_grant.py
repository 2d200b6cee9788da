"""Routes that use Services of another namespace get a grant from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.gatewayapi import GROUP, has_service_parent
from kumamigrate.rewrite.manifest import Json, change, finding, items
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import FieldPath, at_path


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield a change for each route that adds the grants it lacks, one for each namespace."""
    for route in view.of_type("HTTPRoute"):
        if not has_service_parent(route):
            continue
        settled: list[Finding] = []
        services: dict[str, dict[str, None]] = {}
        for path, reference in _references(route):
            namespace, name = str(reference.get("namespace", "")), str(reference.get("name", ""))
            if namespace in ("", route.namespace) or _granted(view, route, namespace, name):
                continue
            services.setdefault(namespace, {})[name] = None
            words = {"namespace": namespace, "own": route.namespace}
            settled.append(finding(view, route, path, pending=True, **words))
        if settled:
            grants = [_grant(view, route, ns, list(names)) for ns, names in services.items()]
            yield change(view, route, [route.body, *grants], settled)


def _references(route: Resource) -> Iterator[tuple[FieldPath, Mapping[str, Any]]]:
    for rule in range(len(items(route.spec, ("rules",)))):
        at = ("rules", rule)
        paths: list[FieldPath] = [
            (*at, "backendRefs", index)
            for index in range(len(items(route.spec, (*at, "backendRefs"))))
        ]
        paths += [
            (*at, "filters", index, "requestMirror", "backendRef")
            for index in range(len(items(route.spec, (*at, "filters"))))
        ]
        for path in paths:
            reference = at_path(route.spec, path)
            if isinstance(reference, Mapping) and reference.get("kind", "Service") == "Service":
                yield (*route.spec_path, *path), reference


def _granted(view: View, route: Resource, namespace: str, name: str) -> bool:
    for grant in view.state.of_type("ReferenceGrant"):
        if grant.namespace != namespace:
            continue
        to_it = any(
            at_path(to, ("kind",)) == "Service" and at_path(to, ("name",)) in (None, name)
            for to in items(grant.spec, ("to",))
        )
        from_it = any(
            at_path(source, ("kind",)) == "HTTPRoute"
            and at_path(source, ("namespace",)) == route.namespace
            for source in items(grant.spec, ("from",))
        )
        if to_it and from_it:
            return True
    return False


def _grant(view: View, route: Resource, namespace: str, services: list[str]) -> Json:
    name = f"{route.name}-from-{route.namespace}"
    taken = {g.name for g in view.state.of_type("ReferenceGrant") if g.namespace == namespace}
    while name in taken:
        name += "-2"
    return {
        "apiVersion": f"{GROUP}/v1beta1",
        "kind": "ReferenceGrant",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "from": [{"group": GROUP, "kind": "HTTPRoute", "namespace": route.namespace}],
            "to": [{"group": "", "kind": "Service", "name": service} for service in services],
        },
    }
