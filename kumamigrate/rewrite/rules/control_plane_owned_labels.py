"""Manifests that come from an export: one finding for each file."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.model.kinds import KUBERNETES
from kumamigrate.model.resource import ZONE, Form, Resource
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import finding
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import FieldPath, at_path


def plan(view: View) -> Iterator[Finding]:
    """Yield a finding at the first such manifest of a file, saying how many more there are."""
    found: dict[str, list[tuple[Resource, list[FieldPath]]]] = {}
    for resource in view.manifests():
        owned = _owned(view, resource)
        if owned and resource.where is not None:
            found.setdefault(resource.where.path, []).append((resource, owned))
    for resources in found.values():
        (first, paths), *others = resources
        what = ", ".join(str(path[-1]) for path in paths)
        more = f"; and so do {len(others)} more in this file" if others else ""
        yield finding(view, first, paths[0], what=what, more=more)


def _owned(view: View, resource: Resource) -> list[FieldPath]:
    """Return the paths of what the control plane owns in a manifest of Kuma's."""
    if resource.type in KUBERNETES:
        return []
    table = view.rule.table
    above: FieldPath = ("metadata",) if resource.form is Form.KUBERNETES else ()
    if above and not str(resource.body.get("apiVersion", "")).startswith("kuma.io/"):
        return []
    paths = [(*above, "labels", name) for name in table["labels"]]
    paths += [(*above, name) for name in table[resource.form.value]]
    bound = resource.type == "MeshExternalService"  # rule external-service-zone-label speaks of it
    return [
        path
        for path in paths
        if at_path(resource.body, path) is not None and not (bound and path[-1] == ZONE)
    ]
