"""Meshes that still run over service tags."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import finding
from kumamigrate.rewrite.view import View, at_path


def plan(view: View) -> Iterator[Finding]:
    """Yield a finding for each Mesh whose mode is not Exclusive."""
    for mesh in view.of_type("Mesh"):
        mode = at_path(mesh.spec, ("meshServices", "mode")) or "Disabled"
        if mode != "Exclusive":
            path = (*mesh.spec_path, "meshServices", "mode")
            yield finding(view, mesh, path, mesh=mesh.name, mode=mode)
