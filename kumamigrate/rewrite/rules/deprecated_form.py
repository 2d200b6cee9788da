"""Report every form that the target release takes with a warning."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.admit.check import warnings_of
from kumamigrate.rewrite.audit import audit_finding, owned, refused
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.view import View


def plan(view: View) -> Iterator[Finding]:
    """Yield one finding for each warning."""
    for resource in owned(view):
        warned = warnings_of(resource, release=view.target.name)
        # Nobody is warned of a field that is not taken.
        fields = {problem.path for problem in refused(view, resource)} if warned else set()
        for problem in warned:
            if problem.path not in fields:
                yield audit_finding(view, resource, problem.path, problem=str(problem))
