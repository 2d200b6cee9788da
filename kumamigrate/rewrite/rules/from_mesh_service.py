"""A client named as MeshService is one with that kuma.io/service tag."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kumamigrate.model.resource import SERVICE
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import Json, change, finding, items, put
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import at_path
from kumamigrate.source.value import Moved

_TYPES = ("MeshTrafficPermission", "MeshFaultInjection")


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield a change for each policy with such clients."""
    for policy in view.of_type(*_TYPES):
        body: Json = policy.body
        settled = []
        for index, entry in enumerate(items(policy.spec, ("from",))):
            reference = at_path(entry, ("targetRef",))
            if not isinstance(reference, Mapping) or reference.get("kind") != "MeshService":
                continue
            path = (*policy.spec_path, "from", index, "targetRef")
            tags = {SERVICE: Moved((*path, "name"))}
            body = put(body, path, {"kind": "MeshSubset", "tags": tags})
            settled.append(finding(view, policy, path, pending=True))
        if settled:
            yield change(view, policy, [body], settled)
