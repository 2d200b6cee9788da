"""What the target refuses or misreads, and other rules have to mend first."""

from __future__ import annotations

from collections.abc import Mapping, Set

from kumamigrate.admit.check import refusals_of
from kumamigrate.dataclass import replace
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.release import release as release_of
from kumamigrate.model.resource import Identity, Resource
from kumamigrate.model.state import State
from kumamigrate.rewrite.siblings import is_beside
from kumamigrate.scene.scene import Scene


def unsettled(scene: Scene) -> dict[Identity, Resource]:
    """Return what the target refuses or misreads, which other rules have to mend first."""
    state, rejected = scene.state(scene.target)
    refused = (one.resource for one in rejected)
    misread = (r for r in state.resources if _is_misread(r, scene.target))
    on_trust = (r for r in state.resources if _is_taken_on_trust(r, state))
    return {one.identity: one for one in (*refused, *misread, *on_trust)}


def comes_of(resource: Resource, earlier: Mapping[Identity, Resource], current: Scene) -> bool:
    """Say whether a resource is one of some of a scene, or new and split from one."""
    if resource.identity in earlier:
        return True
    if resource.identity in current.identities:
        return False
    return any(is_beside(resource, one) for one in earlier.values())


def touches_unsettled(current: Scene, candidate: Scene) -> bool:
    """Say whether the changes touch what the target refuses or misreads even then, or drop it."""
    old, new = (
        {(r.identity, r.canonical_body) for r in scene.repository.resources}
        for scene in (current, candidate)
    )
    dropped = {identity for identity, _ in old} - {identity for identity, _ in new}
    still = unsettled(candidate)
    return bool(dropped & unsettled(current).keys()) or any(one in still for one, _ in new - old)


def without(state: State, identities: Set[Identity]) -> State:
    """Return a state without some policies. Of a route the name stays, for what refers to it."""
    kept = []
    for resource in state.resources:
        if resource.identity not in identities:
            kept.append(resource)
        elif resource.type == "MeshHTTPRoute":
            kept.append(replace(resource, spec={}))
    return replace(state, resources=tuple(kept))


def _is_misread(resource: Resource, name: str) -> bool:
    """Say whether a release ignores what an older one reads of a policy: whom it is for."""
    target = release_of(name)
    kind = target.policy_types.get(resource.type)
    if kind is None:
        return False
    top = resource.spec.get("targetRef")
    ignored = set(top) - set(target.target_ref_type_fields) if isinstance(top, Mapping) else set()
    return bool(ignored) or bool(resource.spec.get("from") and "from" not in kind.sections)


def _is_taken_on_trust(resource: Resource, state: State) -> bool:
    """Say whether only a template could supply what the release wants of a resource."""
    if not resource.templated or resource.type in OLD_POLICIES:
        return False
    bare = replace(resource, templated=False)
    return bool(refusals_of(bare, release=state.release, environment=state.environment))
