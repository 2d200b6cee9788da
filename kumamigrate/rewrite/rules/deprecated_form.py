"""Report every form that the target release takes with a warning."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.admit.check import warnings_of
from kumamigrate.rewrite.audit import audit_finding, owned
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.view import View


def plan(view: View) -> Iterator[Finding]:
    """Yield one finding for each warning."""
    for resource in owned(view):
        for problem in warnings_of(resource, release=view.target.name):
            yield audit_finding(view, resource, problem.path, problem=str(problem))
