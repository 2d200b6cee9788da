"""A MeshService selects Dataplanes by labels where the known ones have the tags as labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.model.state import State
from kumamigrate.rewrite.change import Change, Rollout
from kumamigrate.rewrite.dataplanes import tag_paths
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import change, cut, finding, put
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import FieldPath, at_path
from kumamigrate.source.value import Moved
from kumamigrate.targetref.share import mirrors, named_by_custom

WORKLOAD = "kuma.io/workload"

Tags = Mapping[str, Any]


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield a change where labels select the Dataplanes that tags select, else a finding."""
    for service in view.of_type("MeshService"):
        at = (*service.spec_path, "selector")
        path = (*at, "dataplaneTags")
        tags = at_path(service.body, path)
        if not isinstance(tags, Mapping) or not tags:
            continue
        keys = next((k for k in _keys(tags) if not _obstacle(view.state, service, tags, k)), None)
        if keys is None:
            reason = _obstacle(view.state, service, tags, {key: key for key in tags})
            yield finding(view, service, path, reason=reason)
            continue
        labels = (*at, "dataplaneLabels", "matchLabels")
        body = put(cut(service.body, path), labels, _labels(path, keys))
        made = change(view, service, [body], [finding(view, service, path, pending=True)])
        # Labels that this run writes itself exist only from the upgrade on.
        late = bool(_obstacle(view.before, service, tags, keys))
        yield replace(made, rollout=Rollout.WITH_UPGRADE) if late else made


def _keys(tags: Tags) -> Iterator[Mapping[str, str]]:
    """Yield which label may stand for each tag; the workload is what a service was called."""
    yield {key: key for key in tags}
    if SERVICE in tags:
        yield {key: WORKLOAD if key == SERVICE else key for key in tags}


def _labels(path: FieldPath, keys: Mapping[str, str]) -> Any:
    if all(tag == label for tag, label in keys.items()):
        return Moved(path)
    return {label: Moved((*path, tag)) for tag, label in keys.items()}


def _obstacle(state: State, service: Resource, tags: Tags, keys: Mapping[str, str]) -> str:
    known = [d for d in state.of_type("Dataplane") if d.mesh == service.mesh]
    tagged = [d for d in known if _has_tags(d, tags)]
    wanted = {keys[tag]: str(value) for tag, value in tags.items()}.items()
    labelled = [d for d in known if wanted <= d.labels.items()]
    if not tagged and not labelled and _is_customary(tags, keys, known):
        return ""
    if not tagged:
        return "No Dataplane with these tags is known."
    if tagged != labelled:
        unlike = next(d for d in known if (d in tagged) != (d in labelled))
        return f"Tags and labels of {unlike.name} differ."
    return ""


def _is_customary(tags: Tags, keys: Mapping[str, str], known: Sequence[Resource]) -> bool:
    """Say whether all known Dataplanes have such labels for such tags, so that new ones will."""
    return bool(known) and all(
        {label: str(tags[tag])} in named_by_custom(str(tags[tag]), known)
        if tag == SERVICE
        else mirrors(tag, known)
        for tag, label in keys.items()
    )


def _has_tags(dataplane: Resource, tags: Tags) -> bool:
    return any(
        all(str(at_path(dataplane.body, (*path, key))) == str(value) for key, value in tags.items())
        for path in tag_paths(dataplane)
    )
