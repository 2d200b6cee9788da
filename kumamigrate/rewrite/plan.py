"""One rule asked about one state: its changes and findings. Rules are found, not registered."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec

from kumamigrate.dataclass import replace
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import State
from kumamigrate.model.versions import at_least
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.concerned import concerns
from kumamigrate.rewrite.declarative.steps import plan_declarative
from kumamigrate.rewrite.faulty import Planner, without_faulty
from kumamigrate.rewrite.finding import Finding, Status
from kumamigrate.rewrite.rule import Rule
from kumamigrate.rewrite.view import View


def plan(view: View) -> tuple[Change | Finding, ...]:
    """Return all that the view's rule has to say, in file order.

    A rule whose new form the target release does not accept yet says nothing, unless its
    module wants to explain that itself (`early = True`).
    """
    rule = view.rule
    if not may_speak(rule, view.state, view.refused, view.target_name):
        return ()
    planner = planner_of(rule.id, rule.planner)
    early = getattr(planner, "early", False)
    if rule.since and not early and not at_least(view.target_name, rule.since):
        return ()
    try:
        said = tuple(planner(view))
    except Exception as error:
        said = without_faulty(planner, view, error)
    return tuple(one for all_of in said for one in _within(view, all_of))


def may_speak(rule: Rule, state: State, refused: tuple[Resource, ...], target: str) -> bool:
    """Say whether a rule may have something to say of a state, on the way to a release."""
    if rule.until and at_least(target, rule.until):
        return False
    if rule.source_before and at_least(state.release, rule.source_before):
        return False
    return concerns(rule, state, refused)


def _within(view: View, said: Change | Finding) -> tuple[Change | Finding, ...]:
    """Return what a rule says; of a change of files that may not be written what it waits for."""
    edits = said.edits if isinstance(said, Change) else ()
    outside = sorted({e.where.path for e in edits} - view.editable)
    if not isinstance(said, Change) or not outside:
        return (said,)
    return tuple(
        replace(
            finding,
            status=Status.MANUAL,
            message=f"it waits: with it {', '.join(outside)} changes, outside of the paths given",
            action="run on the whole repository, or name that file as well",
        )
        for finding in said.findings
        if finding.resource is not None and view.owns(finding.resource)
    )


@cache
def planner_of(rule_id: str, shared: str = "") -> Planner:
    """Return the function behind a rule: the shared one that it names, its own module, or its
    steps."""
    own = f"kumamigrate.rewrite.rules.{_module(rule_id)}"
    name = f"kumamigrate.rewrite.planners.{_module(shared)}" if shared else own
    if shared or find_spec(name) is not None:
        planner: Planner = import_module(name).plan
        return planner
    return plan_declarative


def _module(name: str) -> str:
    return name.replace("-", "_")
