"""Report every manifest that the target release refuses, field by field."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.admit.check import refusals_of
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.versions import at_least
from kumamigrate.rewrite.audit import audit_finding, owned
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.view import View


def plan(view: View) -> Iterator[Finding]:
    """Yield one finding for each reason."""
    name = view.target.name
    old_engine = not at_least(name, "3.0")
    # What stands in the state of a release was taken by it.
    taken = {id(one) for one in view.state.resources} if name == view.state.release else set()
    for resource in owned(view):
        if id(resource) in taken:
            continue
        problems = refusals_of(resource, release=name, environment=view.environment)
        if not problems and old_engine and resource.type in OLD_POLICIES:
            from kumamigrate.sourcedest.admit import refusals_of as old_refusals_of

            problems = old_refusals_of(resource)
        for problem in problems:
            yield audit_finding(view, resource, problem.path, problem=str(problem))
