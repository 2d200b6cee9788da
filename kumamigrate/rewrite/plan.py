"""One rule asked about one state: its changes and findings. Rules are found, not registered."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from kumamigrate.model.versions import at_least
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.steps import plan_declarative
from kumamigrate.rewrite.view import View

Planner = Callable[[View], Iterable[Change | Finding]]


def plan(view: View) -> tuple[Change | Finding, ...]:
    """Return all that the view's rule has to say, in file order.

    A rule whose new form the target release does not accept yet says nothing, unless its
    module wants to explain that itself (`early = True`).
    """
    planner = planner_of(view.rule.id)
    rule = view.rule
    if rule.until and at_least(view.target_name, rule.until):
        return ()
    if rule.source_before and at_least(view.state.release, rule.source_before):
        return ()
    early = getattr(planner, "early", False)
    if rule.since and not early and not at_least(view.target_name, rule.since):
        return ()
    return tuple(planner(view))


@cache
def planner_of(rule_id: str) -> Planner:
    """Return the function behind a rule: its own module if it has one, else its steps."""
    name = f"kumamigrate.rewrite.rules.{rule_id.replace('-', '_')}"
    if find_spec(name) is not None:
        planner: Planner = import_module(name).plan
        return planner
    return plan_declarative
