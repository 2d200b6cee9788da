"""Identities by tag leave the list; an empty list goes as well."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import Json, change, cut, finding, items
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import at_path


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield a change for each service with such identities."""
    for service in view.of_type("MeshService"):
        body: Json = service.body
        settled: list[Finding] = []
        identities = items(service.spec, ("identities",))
        for index in reversed(range(len(identities))):
            if at_path(identities, (index, "type")) == "ServiceTag":
                path = (*service.spec_path, "identities", index)
                body = cut(body, path)
                settled.insert(0, finding(view, service, path, pending=True))
        if settled:
            yield change(view, service, [body], settled)
