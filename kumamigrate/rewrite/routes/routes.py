"""Routes and the policies that refer to them, in the old place and in the new."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.model.kri import Kri, kri_of
from kumamigrate.model.release import Release
from kumamigrate.model.resource import DISPLAY_NAME, NAMESPACE, ZONE, Resource, mapping, sequence
from kumamigrate.model.state import State
from kumamigrate.model.versions import at_least
from kumamigrate.targetref.entry import Entry
from kumamigrate.targetref.items import to_entries
from kumamigrate.targetref.resolve import Index, resolve

ROUTE = "MeshHTTPRoute"


def old_route_name(policy: Resource) -> str | None:
    """Return the route that a policy names in its top-level targetRef, None if it names none."""
    top = policy.spec.get("targetRef")
    if not isinstance(top, Mapping) or top.get("kind") != ROUTE:
        return None
    return str(top.get("name") or "")


def routes_called(state: State, mesh: str, name: str) -> tuple[Resource, ...]:
    """Return the routes that the old place means: any of that display name in the mesh."""
    return tuple(r for r in state.of_type(ROUTE) if r.mesh == mesh and r.display_name == name)


def bound_to_gateway(route: Resource) -> bool:
    """Say whether a route is attached to a built-in gateway."""
    top = route.spec.get("targetRef")
    return isinstance(top, Mapping) and top.get("kind") == "MeshGateway"


def made_by_gateway_api(route: Resource) -> bool:
    """Say whether a route is generated from a Gateway API HTTPRoute, which owns it."""
    owners = mapping(route.body.get("metadata")).get("ownerReferences")
    return isinstance(owners, list) and any(
        isinstance(owner, Mapping) and owner.get("kind") in ("HTTPRoute", "GRPCRoute", "TCPRoute")
        for owner in owners
    )


def entries_on(
    policy: Resource, route: Resource, index: Index, release: Release
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield index and item of every `to` entry of a policy that means the route."""
    wanted = kri_of(route)
    for entry in _on_routes(policy, release):
        target = entry.target
        if target is not None and wanted in resolve(policy, target, index, release):
            yield entry.index, policy.spec["to"][entry.index]


def routes_meant(policy: Resource, index: Index, release: Release) -> tuple[Kri, ...]:
    """Return the routes that `to` entries of a policy mean, each once."""
    targets = (entry.target for entry in _on_routes(policy, release))
    meant = (resolve(policy, target, index, release) for target in targets if target is not None)
    return tuple(dict.fromkeys(kri for found in meant for kri in found))


def _on_routes(policy: Resource, release: Release) -> Iterator[Entry]:
    """Yield the `to` entries of a policy that are on routes, of one that is on none as a whole."""
    kind = release.policy_types.get(policy.type)
    if kind is None or ROUTE not in kind.to_kinds or old_route_name(policy) is not None:
        return
    for entry in to_entries(policy, kind, release):
        if entry.target is not None and entry.target.kind == ROUTE:
            yield entry


def labelled_as(policy: Resource, route: Resource) -> Iterator[Mapping[str, Any]]:
    """Yield every `to` item of a policy whose labels are those of the route, also where the
    release in use computes none of them."""
    for item in sequence(policy.spec.get("to")):
        target = mapping(mapping(item).get("targetRef"))
        if target.get("kind") == ROUTE:
            labels = target.get("labels")
            if isinstance(labels, Mapping) and labels and _has(route, labels):
                yield item


def reference(
    policy: Resource, route: Resource, state: State, *, by_labels: bool
) -> dict[str, Any] | None:
    """Return the reference in `spec.to[]` by which a policy means exactly this route.

    By name where a name reaches it (same zone, own or named namespace), else by labels that no
    other route of the mesh has; with `by_labels` labels come first. None if
    neither can. Where the store of 2.x keeps no display name a name it is, which
    `reference-by-name` turns into labels together with the upgrade.
    """
    named, labels = _by_name(policy, route), _telling_labels(route, state)
    labelled = None if labels is None else {"kind": ROUTE, "labels": labels}
    return labelled or named if by_labels else named or labelled


def _by_name(policy: Resource, route: Resource) -> dict[str, Any] | None:
    namespace = route.namespace_label
    if policy.zone != route.zone:
        return None
    if namespace == policy.namespace_label:
        return {"kind": ROUTE, "name": route.display_name}
    if not namespace:
        return None
    return {"kind": ROUTE, "name": route.display_name, "namespace": namespace}


def _telling_labels(route: Resource, state: State) -> dict[str, str] | None:
    """Return labels that only this route has: display name and namespace, as a name means them,
    and the zone where that is not enough.

    Without name or namespace they would select every route that comes to the same place later.
    """
    known = {DISPLAY_NAME: route.display_name, **route.labels}
    if not at_least(state.release, "3.0") and DISPLAY_NAME not in route.labels:
        # A Universal store of 2.x keeps no such label (matcher.md (b)): nothing would match it.
        return None
    others = [r for r in state.of_type(ROUTE) if r.mesh == route.mesh and r is not route]
    named = {key: known[key] for key in (DISPLAY_NAME, NAMESPACE) if key in known}
    zoned = {**named, **({ZONE: known[ZONE]} if ZONE in known else {})}
    for labels in (named, zoned):
        if not any(_has(other, labels) for other in others):
            return labels
    return None


def _has(route: Resource, labels: Mapping[str, str]) -> bool:
    mine = {DISPLAY_NAME: route.display_name, **route.labels}
    return all(mine.get(key) == value for key, value in labels.items())
