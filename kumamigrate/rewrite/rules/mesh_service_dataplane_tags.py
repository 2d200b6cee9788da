"""A MeshService selects Dataplanes by labels where the known ones have the tags as labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.dataplanes import tag_paths
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import change, cut, finding, put
from kumamigrate.rewrite.view import View, at_path
from kumamigrate.source.value import Moved


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield a change where tags and labels select the same known Dataplanes, else a finding."""
    for service in view.of_type("MeshService"):
        at = (*service.spec_path, "selector")
        path = (*at, "dataplaneTags")
        tags = at_path(service.body, path)
        if not isinstance(tags, Mapping) or not tags:
            continue
        reason = _obstacle(view, service.mesh, tags)
        if reason:
            yield finding(view, service, path, reason=reason)
            continue
        body = cut(service.body, path)
        body = put(body, (*at, "dataplaneLabels", "matchLabels"), Moved(path))
        yield change(view, service, [body], [finding(view, service, path, pending=True)])


def _obstacle(view: View, mesh: str, tags: Mapping[str, Any]) -> str:
    known = [d for d in view.state.of_type("Dataplane") if d.mesh == mesh]
    tagged = [d for d in known if _has_tags(d, tags)]
    labelled = [d for d in known if all(d.labels.get(k) == str(v) for k, v in tags.items())]
    if not tagged:
        return "No Dataplane with these tags is known."
    if tagged != labelled:
        unlike = next(d for d in known if (d in tagged) != (d in labelled))
        return f"Tags and labels of {unlike.name} differ."
    return ""


def _has_tags(dataplane: Resource, tags: Mapping[str, Any]) -> bool:
    return any(
        all(str(at_path(dataplane.body, (*path, key))) == str(value) for key, value in tags.items())
        for path in tag_paths(dataplane)
    )
