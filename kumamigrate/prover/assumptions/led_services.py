"""Services that a route leads to, and that a Dataplane which lists its outbounds does not list.

Breakers, probes and balancers look for clusters of service tags among the outbounds of a proxy, so
that they say nothing of such a service by tag, and do of the real one (legacy-notes C14). Made-up
proxies are transparent: they have an outbound to every service.
"""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.effective.outboundfacts import BY_OUTBOUND
from kumamigrate.model.resource import Form, Resource, mapping, mappings
from kumamigrate.universe.askedservices import backend_refs
from kumamigrate.universe.side import ROUTES, Side


def all_listed(before: Side) -> Iterator[str]:
    """Yield what is taken for granted of the Dataplanes that a state does not hold."""
    read = any(before.state.of_type(*BY_OUTBOUND))
    routes = [route for route in before.state.of_type(*ROUTES) if route.form is Form.UNIVERSAL]
    if before.state.complete or not read or not any(map(_leads_away, routes)):
        return
    yield "Dataplanes that list their outbounds list all to which routes lead what they send"


def _leads_away(route: Resource) -> bool:
    return any(
        ref.get("name") != mapping(entry.get("targetRef")).get("name")
        for entry in mappings(route.spec.get("to"))
        for ref in backend_refs(entry.get("rules"))
    )
