"""One kind of source/destination policy, or one field of the Mesh: what becomes of it."""

from __future__ import annotations

from collections.abc import Iterable

from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.sourcedest.aschanges.plankind import plan_kind
from kumamigrate.rewrite.view import View


def plan(view: View) -> Iterable[Change | Finding]:
    """Yield one change for each mesh that holds the table's `kind`, and what stands in its way."""
    return plan_kind(view, view.rule.table["kind"])
