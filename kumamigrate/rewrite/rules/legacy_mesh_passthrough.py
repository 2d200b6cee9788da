"""passthrough in the Mesh: what becomes of it."""

from __future__ import annotations

from collections.abc import Iterable

from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.legacy.bind import plan_kind
from kumamigrate.rewrite.view import View


def plan(view: View) -> Iterable[Change | Finding]:
    """Yield one change for each mesh, and what stands in its way."""
    return plan_kind(view, "Mesh.networking.outbound.passthrough")
