"""Report every field of a Universal resource that counts although its letters are others."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.admit.check import other_letters_of
from kumamigrate.rewrite.audit import audit_finding, owned
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.view import View


def plan(view: View) -> Iterator[Finding]:
    """Yield one finding for each field, which says what it is taken for."""
    for resource in owned(view):
        for path, field in other_letters_of(resource, view.target.name):
            yield audit_finding(view, resource, path, problem=field)
