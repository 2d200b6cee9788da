"""Report every field that the target release drops without a word and the one in use knows."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.admit.check import unknown_fields_of
from kumamigrate.rewrite.audit import audit_finding, owned, refused
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.view import View


def plan(view: View) -> Iterator[Finding]:
    """Yield one finding for each field; a manifest that is refused as a whole has none."""
    name = view.target.name
    for resource in owned(view):
        fields = unknown_fields_of(resource, name)
        if fields and not refused(view, resource):
            for path in fields:
                yield audit_finding(view, resource, path)
