"""Report every form that the target release takes with a warning."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.admit.check import refusals_of, warnings_of
from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.audit import audit_finding, owned
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import FieldPath


def plan(view: View) -> Iterator[Finding]:
    """Yield one finding for each warning."""
    for resource in owned(view):
        warned = warnings_of(resource, release=view.target.name)
        refused = _refused(view, resource) if warned else frozenset()
        for problem in warned:
            if problem.path not in refused:
                yield audit_finding(view, resource, problem.path, problem=str(problem))


def _refused(view: View, resource: Resource) -> frozenset[FieldPath]:
    """Return the fields that the release refuses: nobody is warned of what is not taken."""
    problems = refusals_of(resource, release=view.target.name, environment=view.environment)
    return frozenset(problem.path for problem in problems)
