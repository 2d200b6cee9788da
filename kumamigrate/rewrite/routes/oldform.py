"""Policies that name a route at the top: which can move, with what, and which only together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.model.conf import JsonConf
from kumamigrate.model.resource import Identity, Resource
from kumamigrate.model.versions import at_least
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.references.proxies import never_meet
from kumamigrate.rewrite.routes.inherited import Reader
from kumamigrate.rewrite.routes.routeconf import folded, own_part
from kumamigrate.rewrite.routes.routes import (
    bound_to_gateway,
    old_route_name,
    routes_called,
)
from kumamigrate.rewrite.routes.routewords import (
    ambiguous,
    at_gateway,
    dangling,
    dead,
    manual,
)
from kumamigrate.rewrite.siblings import is_beside
from kumamigrate.rewrite.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class OldForm:
    """A policy in the old form with what is known of it.

    `routes` are its own and those of copies that a split has just made (`copies`): in the new
    form one policy can name them all. `rivals` are routes that own a rule of its routes.
    """

    policy: Resource
    routes: tuple[Resource, ...]
    own: JsonConf
    dropped: tuple[tuple[str, ...], ...]
    copies: tuple[Resource, ...] = ()
    rivals: tuple[Resource, ...] = ()


def examined(view: View, policy: Resource) -> tuple[Finding | None, OldForm | None]:
    """Return what forbids a move, or the policy ready for it."""
    name = old_route_name(policy) or ""
    routes = routes_called(view.state, policy.mesh, name)
    if not routes:
        return dangling(view, policy, name), None
    if len(routes) > 1:
        return ambiguous(view, policy, name, routes), None
    route = routes[0]
    if bound_to_gateway(route):
        return at_gateway(view, policy, route), None
    entries = policy.spec.get("to")
    confs = [e.get("default") or {} for e in entries or () if isinstance(e, Mapping)]
    own, dropped = own_part(policy.type, folded(confs))
    if not own:
        return manual(
            view,
            policy,
            f"{policy.type} {policy.name} says nothing that a route can take",
            "Remove the policy: no proxy reads any of it",
        ), None
    if never_meet(policy, route) and not at_least(view.target_name, "3.0"):
        return dead(view, policy, route), None
    return None, OldForm(policy=policy, routes=(route,), own=own, dropped=dropped)


def with_rivals(reader: Reader, olds: Sequence[OldForm]) -> list[OldForm]:
    """Give policies an entry for routes that own a rule of theirs as well, where that helps.

    The old place knew rules by their matches: two routes of one destination with the same matches
    shared one conf. The new place knows the route that owns the rule (catalogue, trap 10).
    """
    out = []
    for old in olds:
        mine = {r.identity for r in old.routes}
        rivals = {
            slot.owner.identity: slot.owner
            for route in old.routes
            for slot in reader.slots(route, old.own)
            if slot.owner.identity not in mine and not bound_to_gateway(slot.owner)
        }
        out.append(replace(old, rivals=tuple(rivals.values())))
    return out


def with_copies(view: View, olds: Sequence[OldForm]) -> list[OldForm]:
    """Give the copies that this run's split made back to the policies they were copied from."""
    known = {r.identity for r in view.before.resources}
    fresh = [old for old in olds if old.policy.identity not in known]
    merged: dict[Identity, list[OldForm]] = {}
    for copy in fresh:
        parent = _parent(copy, olds)
        if parent is not None:
            merged.setdefault(parent.policy.identity, []).append(copy)
    given = {copy.policy.identity for copies in merged.values() for copy in copies}
    return [
        _with(old, merged.get(old.policy.identity, ()))
        for old in olds
        if old.policy.identity not in given
    ]


def _parent(copy: OldForm, olds: Sequence[OldForm]) -> OldForm | None:
    alike = [
        old
        for old in olds
        if is_beside(copy.policy, old.policy)
        and old.policy.spec.get("to") == copy.policy.spec.get("to")
        and old.policy.identity != copy.policy.identity
    ]
    return max(alike, key=lambda old: len(old.policy.name), default=None)


def _with(old: OldForm, copies: Iterable[OldForm]) -> OldForm:
    listed = list(copies)
    routes = (*old.routes, *(r for c in listed for r in c.routes))
    return replace(old, routes=routes, copies=tuple(c.policy for c in listed))


def apart(old: OldForm) -> Iterator[OldForm]:
    yield replace(old, routes=old.routes[:1], copies=())
    for route, copy in zip(old.routes[1:], old.copies, strict=True):
        yield replace(old, policy=copy, routes=(route,), copies=())


def sharing_routes(olds: Sequence[OldForm]) -> list[list[OldForm]]:
    """Return the policies in groups that share routes, directly or through each other."""
    groups: list[list[OldForm]] = []
    for old in olds:
        mine = {r.identity for r in (*old.routes, *old.rivals)}
        joined = [
            g for g in groups if any(r.identity in mine for o in g for r in (*o.routes, *o.rivals))
        ]
        groups = [g for g in groups if g not in joined]
        groups.append([*(o for g in joined for o in g), old])
    return groups
