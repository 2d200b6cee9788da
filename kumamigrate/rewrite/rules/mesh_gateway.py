"""Everything that belongs to built-in gateways, with what hangs on each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.gatewayapi import gateway_parents, has_service_parent, is_kumas
from kumamigrate.rewrite.manifest import finding, items
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import at_path

_KINDS = ("MeshGateway", "MeshGatewayRoute", "MeshGatewayInstance", "MeshGatewayConfig")
_REPLACE = (
    "Choose a delegated gateway, deploy it on 2.x with kuma.io/gateway: enabled, move what is"
    " listed below to it, switch traffic over, then delete this before the upgrade."
)


def plan(view: View) -> Iterator[Finding]:
    """Yield a finding for each gateway resource, and for each policy bound to a gateway."""
    for resource in view.manifests():
        if resource.type in _KINDS:
            what = f"{resource.type} {resource.name} does not exist in 3.0"
            notes = _attached(view, resource) if resource.type == "MeshGateway" else ()
            yield finding(view, resource, (), what=what, advice=_REPLACE, notes=notes)
        elif at_path(resource.spec, ("targetRef", "kind")) == "MeshGateway":
            path = (*resource.spec_path, "targetRef", "kind")
            name = at_path(resource.spec, ("targetRef", "name"))
            what = (
                f"{resource.type} is bound to MeshGateway {name}, which 3.0 does not know: it is"
                " refused, and a stored one does nothing"
            )
            advice = (
                "Move it to the delegated gateway that takes over, or delete it with the gateway."
            )
            yield finding(view, resource, path, what=what, advice=advice)
        elif resource.type in ("Gateway", "GatewayClass") and is_kumas(resource, view.state):
            what = f"{resource.type} {resource.name} is served by Kuma; 3.0 serves none"
            yield finding(view, resource, (), what=what, advice=_REPLACE)
        elif resource.type == "HTTPRoute" and not has_service_parent(resource):
            for gateway in gateway_parents(resource, view.state):
                what = f"HTTPRoute {resource.name} hangs on Gateway {gateway.name}: 3.0 ignores it"
                advice = "Give it the gateway that takes over as parent."
                path = ("spec", "parentRefs")
                yield finding(view, resource, path, what=what, advice=advice)


def _attached(view: View, gateway: Resource) -> list[str]:
    """Name every policy and route of the state that is bound to a gateway."""
    services = {
        str(at_path(selector, ("match", SERVICE)))
        for selector in items(gateway.spec, ("selectors",))
    }
    found = []
    for resource in view.state.resources:
        if resource.mesh != gateway.mesh:
            continue
        top = at_path(resource.spec, ("targetRef",))
        bound = (
            isinstance(top, Mapping)
            and top.get("kind") == "MeshGateway"
            and top.get("name") in (gateway.name, gateway.display_name)
        )
        if resource.type == "MeshGatewayRoute":
            bound = any(
                str(at_path(selector, ("match", SERVICE))) in services
                for selector in items(resource.spec, ("selectors",))
            )
        if bound:
            place = f" at {resource.where.path}:{resource.where.line}" if resource.where else ""
            found.append(f"{resource.type} {resource.name}{place} is bound to it")
    return found
