"""A route with several destinations becomes one for each (catalogue, route-split-multi-to)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kumamigrate.model.conf import canonical
from kumamigrate.model.resource import DISPLAY_NAME, Resource, mapping, sequence
from kumamigrate.model.versions import at_least
from kumamigrate.rewrite.change import Change, ResourceEdit
from kumamigrate.rewrite.finding import Danger, Finding, Safety, Status
from kumamigrate.rewrite.references.realref import waiting_rules
from kumamigrate.rewrite.routes.parts import (
    RouteEntry,
    RoutePart,
    first,
    followers,
    further,
    name_beside,
)
from kumamigrate.rewrite.routes.routes import ROUTE, bound_to_gateway, made_by_gateway_api
from kumamigrate.rewrite.view import View

TYPES = (ROUTE, "MeshTCPRoute")


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield one change for each route with several destinations, or why it stays as it is."""
    for route in view.of_type(*TYPES):
        groups = _waiting_first(view, route, _by_destination(route))
        if len(groups) < 2 or bound_to_gateway(route) or made_by_gateway_api(route):
            continue
        yield _split(view, route, groups)


def _by_destination(route: Resource) -> list[tuple[int, ...]]:
    """Return the indexes of the entries of each destination, in order of first appearance."""
    groups: dict[str, list[int]] = {}
    for at, entry in enumerate(sequence(route.spec.get("to"))):
        groups.setdefault(canonical(mapping(entry).get("targetRef")), []).append(at)
    return [tuple(group) for group in groups.values()]


def _waiting_first(
    view: View, route: Resource, groups: list[tuple[int, ...]]
) -> list[tuple[int, ...]]:
    """Return the groups, on the way to 3.0 those that must wait as one and at the head.

    3.0 refuses what waits: it keeps the old name, or a document that is new would be refused.
    """
    if not at_least(view.target_name, "3.0") or len(groups) < 2:
        return groups
    waiting = {at for at, _ in waiting_rules(view, route)}
    late = [group for group in groups if waiting & set(group)]
    if not late:
        return groups
    together = tuple(sorted(at for group in late for at in group))
    return [together, *(group for group in groups if group not in late)]


def _split(view: View, route: Resource, groups: list[tuple[int, ...]]) -> Change | Finding:
    parts = [_part(groups[0], route.name)]
    for entries in groups[1:]:
        target = route.spec["to"][entries[0]].get("targetRef")
        taken = {part.name for part in parts}
        name = name_beside(view, route, (target,), _suffix(target), taken)
        if name is None:
            return _stays(view, route, "every name tried would sort another route of the same"
                          " destination before it, or one is taken")  # fmt: skip
        parts.append(_part(entries, name))
    following = followers(view, route, parts)
    if isinstance(following, str):
        return _stays(view, route, following)
    edits, notes = following
    assert route.where is not None
    manifests = (first(route, parts[0]), *(further(route, part) for part in parts[1:]))
    names = ", ".join(part.name for part in parts[1:])
    return Change(
        rule=view.rule.id,
        mesh=route.mesh,
        group=f"{route.type} {route.mesh}",
        edits=(ResourceEdit(where=route.where, manifests=manifests), *edits),
        findings=(
            _finding(
                view,
                route,
                f"{route.type} {route.name} has {len(parts)} destinations and becomes one route for"
                f" each: beside it {names}",
                notes=notes,
            ),
        ),
    )


def _part(entries: tuple[int, ...], name: str) -> RoutePart:
    return RoutePart(entries=tuple(RouteEntry(at=at) for at in entries), name=name)


def _suffix(target: Any) -> str:
    """Return what a destination is called in the name of its route."""
    ref = mapping(target)
    return str(ref.get("name") or mapping(ref.get("labels")).get(DISPLAY_NAME) or "other")


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
