"""Meshes that still run over service tags, and the field that 3.0 has no use for."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.dataclass import replace
from kumamigrate.rewrite.finding import Danger, Finding
from kumamigrate.rewrite.manifest import finding
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import at_path


def plan(view: View) -> Iterator[Finding]:
    """Yield a finding for each Mesh: a decision unless its mode is Exclusive, else advice."""
    for mesh in view.of_type("Mesh"):
        mode = at_path(mesh.spec, ("meshServices", "mode")) or "Disabled"
        path = (*mesh.spec_path, "meshServices", "mode")
        said = finding(view, mesh, path, mesh=mesh.name, mode=mode)
        if mode == "Exclusive":
            said = replace(
                said,
                danger=Danger.ADVICE,
                message=f"mesh {mesh.name} needs meshServices while a 2.x reads it, not for 3.0",
                action="remove it when every control plane runs 3.0",
            )
        yield said
