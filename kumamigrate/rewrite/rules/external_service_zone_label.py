"""External services that a label binds to one zone."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.model.resource import ZONE, Form
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import finding
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import at_path


def plan(view: View) -> Iterator[Finding]:
    """Yield one finding for each external service whose manifest names a zone."""
    for service in view.of_type("MeshExternalService"):
        above = ("metadata",) if service.form is Form.KUBERNETES else ()
        path = (*above, "labels", ZONE)
        zone = at_path(service.body, path)
        if zone:
            yield finding(view, service, path, zone=zone)
