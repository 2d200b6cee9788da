"""Meshes that rely on inbounds having no request timeout."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import finding, items
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import at_path


def plan(view: View) -> Iterator[Finding]:
    """Yield a finding for each Mesh without a mesh-wide request timeout for inbounds."""
    for mesh in view.of_type("Mesh"):
        said = any(
            at_path(entry, ("default", "http", "requestTimeout")) is not None
            for policy in view.state.of_type("MeshTimeout")
            if policy.mesh == mesh.name
            and at_path(policy.spec, ("targetRef", "kind")) in (None, "Mesh")
            for entry in (*items(policy.spec, ("from",)), *items(policy.spec, ("rules",)))
        )
        if not said:
            yield finding(view, mesh, (), mesh=mesh.name)
