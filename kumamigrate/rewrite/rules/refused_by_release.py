"""Report every manifest that the target release refuses, field by field."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.versions import at_least
from kumamigrate.rewrite.audit import audit_finding, is_taken, owned, refused
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.view import View


def plan(view: View) -> Iterator[Finding]:
    """Yield one finding for each reason."""
    old_engine = not at_least(view.target.name, "3.0")
    for resource in owned(view):
        if is_taken(view, resource):
            continue
        problems = refused(view, resource)
        if not problems and old_engine and resource.type in OLD_POLICIES:
            from kumamigrate.sourcedest.admit import refusals_of as old_refusals_of

            problems = old_refusals_of(resource)
        for problem in problems:
            yield audit_finding(view, resource, problem.path, problem=str(problem))
