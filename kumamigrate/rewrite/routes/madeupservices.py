"""Made-up services for routes whose destinations the repository does not hold (product.md §5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.model.digits import is_number
from kumamigrate.model.release import release
from kumamigrate.model.resource import DISPLAY_NAME, MESH, NAMESPACE, ORIGIN, ZONE, Resource
from kumamigrate.model.state import State
from kumamigrate.model.targetref import TargetRef
from kumamigrate.rewrite.routes.routes import ROUTE
from kumamigrate.targetref.items import to_entries
from kumamigrate.targetref.resolve import REAL, index_of, resolve


def with_destinations(state: State) -> State:
    """Return the state with a service for every destination of a route that it lacks.

    Kuma generates most services, so Git rarely holds them. One that labels choose has just these.
    """
    made = {service.identity: service for service in _missing(state)}
    return replace(state, resources=(*state.resources, *made.values())) if made else state


def _missing(state: State) -> Iterator[Resource]:
    known = release(state.release)
    index = index_of(state)
    for route in state.of_type(ROUTE):
        for entry in to_entries(route, known.policy_types[ROUTE], known):
            target = entry.target
            if target is None or target.kind not in REAL or resolve(route, target, index, known):
                continue
            if target.name:
                yield _service(route, target, target.name)
            elif target.labels:
                yield _labelled(route, target, dict(target.labels))


def _labelled(route: Resource, target: TargetRef, labels: Mapping[str, str]) -> Resource:
    name = labels.get(DISPLAY_NAME, "")
    return Resource(
        type=target.kind,
        mesh=route.mesh,
        name=name or "-".join(f"{key}={value}" for key, value in sorted(labels.items())),
        namespace=labels.get(NAMESPACE, ""),
        labels={MESH: route.mesh, **labels},
        spec={"ports": _ports(target.section_name or "")},
        made_up=True,
    )


def _service(route: Resource, target: TargetRef, name: str) -> Resource:
    namespace, port = target.namespace or route.namespace_label, target.section_name or ""
    parts = name.split("_")
    if target.kind == "MeshService" and not port and len(parts) in (3, 4):
        name, namespace, port = parts[0], parts[1], parts[3] if len(parts) == 4 else ""
    places = {NAMESPACE: namespace, ZONE: route.zone, ORIGIN: route.labels.get(ORIGIN, "")}
    labels = {MESH: route.mesh, DISPLAY_NAME: name, **{k: v for k, v in places.items() if v}}
    return Resource(
        type=target.kind,
        mesh=route.mesh,
        name=name,
        namespace=namespace,
        labels=labels,
        spec={"ports": _ports(port)},
        made_up=True,
    )


def _ports(port: str) -> list[dict[str, Any]]:
    if is_number(port):
        return [{"port": int(port)}]
    return [{"name": port, "port": 0}] if port else []
