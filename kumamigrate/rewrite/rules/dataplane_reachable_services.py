"""Reachable services of a Universal Dataplane become references as well."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import change, finding, items, put
from kumamigrate.rewrite.references.reachable import EVERYTHING, references
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import at_path


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield a change for each Dataplane whose list can be read, a finding for others."""
    for dataplane in view.of_type("Dataplane"):
        at = (*dataplane.spec_path, "networking", "transparentProxying")
        path = (*at, "reachableServices")
        services = [str(service) for service in items(dataplane.body, path)]
        there = at_path(dataplane.body, (*at, "reachableBackends")) is not None
        if not services or EVERYTHING in services or there:
            continue
        found, unread = references(services, view.state, dataplane.mesh)
        for service in unread:
            yield finding(view, dataplane, (*path, services.index(service)))
        if not unread:
            body = put(dataplane.body, (*at, "reachableBackends", "refs"), found)
            yield change(view, dataplane, [body], [finding(view, dataplane, path, pending=True)])
