"""Owner references to a Mesh that is not the resource's own go."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import Json, change, cut, finding, items
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import at_path


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield a change for each resource with such an owner."""
    for resource in view.manifests():
        if not resource.mesh:
            continue
        body: Json = resource.body
        settled: list[Finding] = []
        owners = items(resource.body, ("metadata", "ownerReferences"))
        for index in reversed(range(len(owners))):
            owner = at_path(owners, (index, "name"))
            if at_path(owners, (index, "kind")) == "Mesh" and owner != resource.mesh:
                path = ("metadata", "ownerReferences", index)
                body = cut(body, path)
                words = {"owner": owner, "mesh": resource.mesh}
                settled.insert(0, finding(view, resource, path, pending=True, **words))
        if settled:
            yield change(view, resource, [body], settled)
