"""Which objects of the Gateway API Kuma serves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.model.resource import Resource
from kumamigrate.model.state import State
from kumamigrate.rewrite.manifest import items

GROUP = "gateway.networking.k8s.io"
CONTROLLER = "gateways.kuma.io/controller"
_KUMA_CLASS = "kuma"


def kuma_classes(state: State) -> frozenset[str]:
    """Return the names of GatewayClasses that Kuma's controller serves."""
    named = {
        resource.name
        for resource in state.of_type("GatewayClass")
        if resource.spec.get("controllerName") == CONTROLLER
    }
    return frozenset({_KUMA_CLASS, *named})


def is_kumas(resource: Resource, state: State) -> bool:
    """Say whether a GatewayClass, Gateway or HTTPRoute is Kuma's.

    A route is if its parent is a Service, or a Gateway of the state that is Kuma's.
    """
    if not str(resource.body.get("apiVersion", "")).startswith(GROUP + "/"):
        return False
    match resource.type:
        case "GatewayClass":
            return resource.spec.get("controllerName") == CONTROLLER
        case "Gateway":
            return str(resource.spec.get("gatewayClassName")) in kuma_classes(state)
        case "HTTPRoute":
            return has_service_parent(resource) or bool(gateway_parents(resource, state))
        case _:
            return False


def has_service_parent(route: Resource) -> bool:
    """Say whether a route belongs to a Service, not to a Gateway."""
    return any(parent.get("kind") == "Service" for parent in _parents(route))


def gateway_parents(route: Resource, state: State) -> list[Resource]:
    """Return the Gateways of Kuma that a route hangs on."""
    wanted = {
        (str(parent.get("namespace") or route.namespace), str(parent.get("name")))
        for parent in _parents(route)
        if parent.get("kind", "Gateway") == "Gateway"
    }
    return [
        gateway
        for gateway in state.of_type("Gateway")
        if (gateway.namespace, gateway.name) in wanted and is_kumas(gateway, state)
    ]


def _parents(route: Resource) -> Iterator[Mapping[str, Any]]:
    return (p for p in items(route.spec, ("parentRefs",)) if isinstance(p, Mapping))
