"""Names of old kinds leave the list of policies not to create."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import Json, change, cut, finding, items
from kumamigrate.rewrite.view import View

_FIELD = "skipCreatingInitialPolicies"


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield a change for each Mesh whose list names old kinds."""
    for mesh in view.of_type("Mesh"):
        body: Json = mesh.body
        settled: list[Finding] = []
        names = items(mesh.spec, (_FIELD,))
        for index in reversed(range(len(names))):
            if str(names[index]) in OLD_POLICIES:
                path = (*mesh.spec_path, _FIELD, index)
                body = cut(body, path)
                settled.insert(0, finding(view, mesh, path, pending=True))
        if settled:
            yield change(view, mesh, [body], settled)
