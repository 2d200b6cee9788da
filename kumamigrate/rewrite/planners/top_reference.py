"""A top-level reference that chooses by tags becomes Dataplane with labels."""

from __future__ import annotations

from collections.abc import Iterable

from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.references.topref import plan_kinds
from kumamigrate.rewrite.view import View


def plan(view: View) -> Iterable[Change | Finding]:
    """Yield for each policy whose reference is of the table's `kinds` its change, or what lacks."""
    return plan_kinds(view, view.rule.table["kinds"])
