"""A route or policy becomes two: which entries go where, under which name, and who follows.

Used where destinations get a resource each, and where what must wait is taken apart from the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.model.kri import Kri, kri_of
from kumamigrate.model.release import Release
from kumamigrate.model.resource import DISPLAY_NAME, Resource, mapping
from kumamigrate.rewrite.change import ResourceEdit
from kumamigrate.rewrite.declarative.steps import with_spec
from kumamigrate.rewrite.routes.routes import (
    ROUTE,
    entries_on,
    old_route_name,
    routes_called,
    routes_meant,
)
from kumamigrate.rewrite.siblings import name_behind, shown_as, sibling
from kumamigrate.rewrite.view import View
from kumamigrate.source.value import Moved
from kumamigrate.targetref.resolve import Index, index_of

BY_ROUTE = ("MeshTimeout", "MeshRetry", "MeshAccessLog", "MeshLoadBalancingStrategy")
AT_THE_TOP = ("MeshTimeout", "MeshRetry", "MeshRateLimit")


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteEntry:
    """An entry of `to`, or some rules of it: None means all of them."""

    at: int
    rules: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutePart:
    """What stands in one of the resources that others are split into, and its name."""

    entries: tuple[RouteEntry, ...]
    name: str


def first(owner: Resource, part: RoutePart) -> dict[str, Any]:
    """Return the manifest of the part that keeps the name."""
    entries = [_kept(owner, one) for one in part.entries]
    return with_spec(owner, {**owner.spec, "to": entries})


def _kept(owner: Resource, one: RouteEntry) -> Any:
    entry = owner.spec["to"][one.at]
    if one.rules is None:
        return entry
    return {**entry, "rules": [entry["rules"][number] for number in one.rules]}


def further(owner: Resource, part: RoutePart) -> dict[str, Any]:
    """Return the manifest of a part with a name of its own; its text moves along."""
    entries = [_moved(owner, one) for one in part.entries]
    return sibling(owner, part.name, {**owner.spec, "to": entries})


def _moved(owner: Resource, one: RouteEntry) -> Any:
    path = (*owner.spec_path, "to", one.at)
    if one.rules is None:
        return Moved(path)
    entry = {key: Moved((*path, key)) for key in owner.spec["to"][one.at]}
    return {**entry, "rules": [Moved((*path, "rules", number)) for number in one.rules]}


def name_beside(
    view: View, owner: Resource, targets: Sequence[Any], suffix: str, taken: set[str]
) -> str | None:
    """Return a name under which a part keeps its place among those of its destinations."""

    def is_rival(other: Resource) -> bool:
        return any(_same_destination(other, target) for target in targets)

    return name_behind(owner, suffix, view.state, is_rival, taken)


def _same_destination(route: Resource, target: Any) -> bool:
    """Say whether a route may have the same destination: equal name, or by labels."""
    wanted = mapping(target).get("name")
    for entry in route.spec.get("to") or ():
        ref = mapping(entry).get("targetRef")
        if not isinstance(ref, Mapping) or not ref.get("name") or not wanted:
            return True
        if str(ref["name"]).split("_")[0] == str(wanted).split("_")[0]:
            return True
    return False


def followers(
    view: View, route: Resource, parts: Sequence[RoutePart]
) -> tuple[list[ResourceEdit], tuple[str, ...]] | str:
    """Return the edits of policies that mean the route, or why one of them cannot follow."""
    if route.type != ROUTE:
        return [], ()
    edits: list[ResourceEdit] = []
    index = index_of(view.state)
    for policy in _near(view, route, index):
        hits = {at for at, _ in entries_on(policy, route, index, view.source)}
        old = _means(view, policy, route)
        if not hits and not old:
            continue
        if policy.where is None or not view.owns(policy):
            return f"{policy.type} {policy.name} means the route and is not in the repository"
        if old:
            manifests = _copies(view, policy, parts, route)
            if manifests is None:
                return f"no name is free that keeps the rank of {policy.type} {policy.name}"
        else:
            entries = _entries(policy, hits, [shown_as(route, part.name) for part in parts])
            if entries == policy.spec["to"]:
                continue
            manifests = (with_spec(policy, {**policy.spec, "to": entries}),)
        edits.append(ResourceEdit(where=policy.where, manifests=manifests))
    if not edits:
        return [], ()
    all_ = "both" if len(parts) == 2 else "all of them"
    mean, meant = ("means", "it") if len(edits) == 1 else ("mean", "they")
    return edits, (f"{_count(len(edits))} now {mean} {all_} where {meant} meant {route.name}",)


def _near(view: View, route: Resource, index: Index) -> list[Resource]:
    """Return the policies of its mesh that may mean a route, in file order."""
    known = view.state.known
    key = ("means routes", view.source.name)
    if key not in known:
        every = list(view.state.of_type(*dict.fromkeys((*BY_ROUTE, *AT_THE_TOP))))
        known[key] = (every, _positions(every, index, view.source))
    listed, positions = known[key]
    mine = {*positions.get(kri_of(route), ()), *positions.get(route.display_name, ())}
    return [listed[at] for at in sorted(mine) if listed[at].mesh == route.mesh]


def _positions(
    policies: Sequence[Resource], index: Index, release: Release
) -> dict[Kri | str, list[int]]:
    """Return by route, or by the name of one, where policies stand that mean it."""
    found: dict[Kri | str, list[int]] = {}
    for at, policy in enumerate(policies):
        name = old_route_name(policy)
        for route in [name] if name is not None else routes_meant(policy, index, release):
            found.setdefault(route, []).append(at)
    return found


def _means(view: View, policy: Resource, route: Resource) -> bool:
    name = old_route_name(policy)
    if name is None or name != route.display_name:
        return False
    return len(routes_called(view.state, route.mesh, name)) == 1


def _entries(policy: Resource, hits: set[int], shown: Sequence[str]) -> list[Any]:
    """Return the `to` entries with a further one for each new route behind those that mean it.

    Labels other than the display name select the new routes already: they carry the same.
    """
    out: list[Any] = []
    for at, entry in enumerate(policy.spec["to"]):
        out.append(entry)
        ref = mapping(entry).get("targetRef")
        if at not in hits or not isinstance(ref, Mapping):
            continue
        for name in shown[1:]:
            new = _renamed_ref(ref, name)
            if new is not None:
                path = (*policy.spec_path, "to", at)
                same = {key: Moved((*path, key)) for key in entry}
                out.append({**same, "targetRef": Moved((*path, "targetRef"), new)})
    return out


def _renamed_ref(ref: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    if ref.get("name"):
        return {**ref, "name": name}
    labels = ref.get("labels")
    if isinstance(labels, Mapping) and DISPLAY_NAME in labels:
        return {**ref, "labels": {**labels, DISPLAY_NAME: name}}
    return None


def _is_at_route(policy: Resource) -> bool:
    return old_route_name(policy) is not None


def _copies(
    view: View, policy: Resource, parts: Sequence[RoutePart], route: Resource
) -> tuple[Any, ...] | None:
    """Return the policy and a copy for each new route, each named next to it."""
    manifests: list[Any] = [policy.body]
    taken: set[str] = set()
    for part in parts[1:]:
        ref = {**policy.spec["targetRef"], "name": shown_as(route, part.name)}
        suffix = shown_as(route, part.name).rsplit("-", 1)[-1]
        name = name_behind(policy, suffix, view.state, _is_at_route, taken)
        if name is None:
            return None
        taken.add(name)
        manifests.append(sibling(policy, name, {**policy.spec, "targetRef": ref}))
    return tuple(manifests)


def _count(number: int) -> str:
    return "1 policy" if number == 1 else f"{number} policies"
