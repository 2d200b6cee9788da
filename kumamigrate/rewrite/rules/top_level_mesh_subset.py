"""Top-level MeshSubset becomes Dataplane with labels."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.topref import plan_kinds
from kumamigrate.rewrite.view import View


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield one change or finding per policy, changes of a type and mesh in one group."""
    return plan_kinds(view, ("MeshSubset",))
