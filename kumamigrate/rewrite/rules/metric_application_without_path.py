"""The path that Kuma 2.9 assumes depends on the form of the manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import Json, change, finding, items, put
from kumamigrate.rewrite.view import View


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield a change for each MeshMetric with applications that say no path."""
    for policy in view.of_type("MeshMetric"):
        body: Json = policy.body
        assumed = view.rule.table[policy.form.value]
        settled = []
        for index, found in enumerate(items(policy.spec, ("default", "applications"))):
            path = (*policy.spec_path, "default", "applications", index)
            if isinstance(found, Mapping) and "path" not in found:
                body = put(body, (*path, "path"), assumed)
                settled.append(finding(view, policy, path, pending=True, default=assumed))
        if settled:
            yield change(view, policy, [body], settled)
