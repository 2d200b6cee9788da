"""External services in a mesh whose proxies have no identity."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import finding
from kumamigrate.rewrite.view import View


def plan(view: View) -> Iterator[Finding]:
    """Yield one finding for each such mesh, at its first external service."""
    told = {identity.mesh for identity in view.state.of_type("MeshIdentity")}
    for service in view.of_type("MeshExternalService"):
        if service.mesh not in told:
            told.add(service.mesh)
            yield finding(view, service, (), mesh=service.mesh)
