"""A route with several destinations becomes one for each (catalogue, route-split-multi-to)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kumamigrate.model.conf import canonical
from kumamigrate.model.resource import DISPLAY_NAME, Resource
from kumamigrate.rewrite.change import Change, ResourceEdit
from kumamigrate.rewrite.declarative.steps import with_spec
from kumamigrate.rewrite.finding import Danger, Finding, Safety, Status
from kumamigrate.rewrite.routes.routes import (
    ROUTE,
    bound_to_gateway,
    entries_on,
    made_by_gateway_api,
    old_route_name,
    routes_called,
)
from kumamigrate.rewrite.siblings import free_names, shown_as, sibling
from kumamigrate.rewrite.view import View
from kumamigrate.source.value import Moved
from kumamigrate.targetref.resolve import index_of

TYPES = (ROUTE, "MeshTCPRoute")
BY_ROUTE = ("MeshTimeout", "MeshRetry", "MeshAccessLog", "MeshLoadBalancingStrategy")
AT_THE_TOP = ("MeshTimeout", "MeshRetry", "MeshRateLimit")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The entries of a route for one destination; `name` is that of their own resource."""

    entries: tuple[int, ...]
    name: str


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield one change for each route with several destinations, or why it stays as it is."""
    for route in view.of_type(*TYPES):
        groups = _by_destination(route)
        if len(groups) < 2 or bound_to_gateway(route) or made_by_gateway_api(route):
            continue
        yield _split(view, route, groups)


def _by_destination(route: Resource) -> list[tuple[int, ...]]:
    """Return the indexes of the entries of each destination, in order of first appearance."""
    entries = route.spec.get("to")
    groups: dict[str, list[int]] = {}
    for at, entry in enumerate(entries if isinstance(entries, list) else ()):
        target = entry.get("targetRef") if isinstance(entry, Mapping) else None
        groups.setdefault(canonical(target), []).append(at)
    return [tuple(group) for group in groups.values()]


def _split(view: View, route: Resource, groups: list[tuple[int, ...]]) -> Change | Finding:
    parts = [Part(entries=groups[0], name=route.name)]
    for entries in groups[1:]:
        name = _name(view, route, entries, {part.name for part in parts})
        if name is None:
            return _stays(view, route, "every name tried would sort another route of the same"
                          " destination before it, or one is taken")  # fmt: skip
        parts.append(Part(entries=entries, name=name))
    followers = _followers(view, route, parts)
    if isinstance(followers, str):
        return _stays(view, route, followers)
    edits, notes = followers
    assert route.where is not None
    manifests = (_first(route, parts[0]), *(_further(route, part) for part in parts[1:]))
    names = ", ".join(part.name for part in parts)
    return Change(
        rule=view.rule.id,
        mesh=route.mesh,
        group=f"{route.type} {route.mesh}",
        edits=(ResourceEdit(where=route.where, manifests=manifests), *edits),
        findings=(
            _finding(
                view,
                route,
                f"{route.type} {route.name} has {len(parts)} destinations: {names}",
                notes=notes,
            ),
        ),
    )


def _first(route: Resource, part: Part) -> dict[str, Any]:
    entries = [route.spec["to"][at] for at in part.entries]
    return with_spec(route, {**route.spec, "to": entries})


def _further(route: Resource, part: Part) -> dict[str, Any]:
    entries = [Moved((*route.spec_path, "to", at)) for at in part.entries]
    return sibling(route, part.name, {**route.spec, "to": entries})


def _name(view: View, route: Resource, entries: tuple[int, ...], taken: set[str]) -> str | None:
    """Return a name under which the new route keeps its place among those of its destination."""
    target = route.spec["to"][entries[0]].get("targetRef")
    rivals = [
        other.display_name
        for other in view.state.of_type(route.type)
        if other.mesh == route.mesh
        and other.identity != route.identity
        and _same_destination(other, target)
    ]
    for suffix in _suffixes(target):
        for name in free_names(route, suffix, view.state):
            if name not in taken and not _jumps(route, name, rivals):
                return name
    return None


def _jumps(resource: Resource, name: str, rivals: Iterable[str]) -> bool:
    """Say whether a sibling would lose ties to one of others that lose them to the resource."""
    return any(resource.display_name < rival <= shown_as(resource, name) for rival in rivals)


def _suffixes(target: Any) -> Iterator[str]:
    """Yield what a destination can be called, the shortest first."""
    ref = target if isinstance(target, Mapping) else {}
    labels = ref.get("labels")
    shown = labels.get(DISPLAY_NAME) if isinstance(labels, Mapping) else None
    name = str(ref.get("name") or shown or "other")
    yield name
    for key in ("sectionName", "namespace"):
        if ref.get(key):
            yield f"{name}-{ref[key]}"


def _same_destination(route: Resource, target: Any) -> bool:
    """Say whether a route may have the same destination: equal name, or by labels."""
    wanted = target.get("name") if isinstance(target, Mapping) else None
    for entry in route.spec.get("to") or ():
        ref = entry.get("targetRef") if isinstance(entry, Mapping) else None
        if not isinstance(ref, Mapping) or not ref.get("name") or not wanted:
            return True
        if str(ref["name"]).split("_")[0] == str(wanted).split("_")[0]:
            return True
    return False


def _followers(
    view: View, route: Resource, parts: Sequence[Part]
) -> tuple[list[ResourceEdit], tuple[str, ...]] | str:
    """Return the edits of policies that mean the route, or why one of them cannot follow."""
    if route.type != ROUTE:
        return [], ()
    edits: list[ResourceEdit] = []
    index = index_of(view.state)
    for policy in view.state.of_type(*dict.fromkeys((*BY_ROUTE, *AT_THE_TOP))):
        if policy.mesh != route.mesh:
            continue
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
        ref = entry.get("targetRef") if isinstance(entry, Mapping) else None
        if at not in hits or not isinstance(ref, Mapping):
            continue
        for name in shown[1:]:
            new = _renamed_ref(ref, name)
            if new is not None:
                out.append({**entry, "targetRef": new})
    return out


def _renamed_ref(ref: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    if ref.get("name"):
        return {**ref, "name": name}
    labels = ref.get("labels")
    if isinstance(labels, Mapping) and DISPLAY_NAME in labels:
        return {**ref, "labels": {**labels, DISPLAY_NAME: name}}
    return None


def _copies(
    view: View, policy: Resource, parts: Sequence[Part], route: Resource
) -> tuple[Any, ...] | None:
    """Return the policy and a copy for each new route, each named next to it."""
    manifests: list[Any] = [policy.body]
    taken: set[str] = set()
    shown = [
        p.display_name
        for p in view.state.of_type(policy.type)
        if p.mesh == policy.mesh and p.identity != policy.identity and old_route_name(p) is not None
    ]
    for part in parts[1:]:
        ref = {**policy.spec["targetRef"], "name": shown_as(route, part.name)}
        suffix = part.name.rsplit("-", 1)[-1]
        names = (n for n in free_names(policy, suffix, view.state) if n not in taken)
        name = next((n for n in names if not _jumps(policy, n, shown)), None)
        if name is None:
            return None
        taken.add(name)
        manifests.append(sibling(policy, name, {**policy.spec, "targetRef": ref}))
    return tuple(manifests)


def _count(number: int) -> str:
    return "1 policy" if number == 1 else f"{number} policies"


def _stays(view: View, route: Resource, why: str) -> Finding:
    return _finding(
        view,
        route,
        f"{route.type} {route.name} has several destinations and is not split: {why}",
        action="Leave it, or split it by hand: no release asks for it",
        manual=True,
    )


def _finding(
    view: View,
    route: Resource,
    message: str,
    *,
    notes: tuple[str, ...] = (),
    action: str = "",
    manual: bool = False,
) -> Finding:
    return Finding(
        rule=view.rule.id,
        resource=route,
        path=(*route.spec_path, "to"),
        message=message,
        action=action,
        status=Status.MANUAL if manual else Status.PENDING,
        safety=Safety.MANUAL if manual else view.rule.safety,
        danger=Danger.ADVICE if manual else view.rule.danger,
        notes=notes,
    )
