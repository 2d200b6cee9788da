"""A route named at the top of a policy moves into `spec.to[]` (catalogue, route-to-spec-to)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kumamigrate.dataclass import replace
from kumamigrate.model.conf import normal
from kumamigrate.model.kri import kri_of
from kumamigrate.model.resource import EFFECT, Resource
from kumamigrate.model.versions import at_least
from kumamigrate.rewrite.change import Change, ResourceEdit
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.references.proxies import never_meet
from kumamigrate.rewrite.routes.compensate import choose
from kumamigrate.rewrite.routes.halves import halves_of, just_as_written, without
from kumamigrate.rewrite.routes.inherited import Reader
from kumamigrate.rewrite.routes.madeupservices import with_destinations
from kumamigrate.rewrite.routes.movingroutes import (
    contracted,
    move,
    problem_of,
    units_of,
)
from kumamigrate.rewrite.routes.oldform import (
    OldForm,
    apart,
    examined,
    sharing_routes,
    with_copies,
    with_rivals,
)
from kumamigrate.rewrite.routes.routeconf import contains, reaching
from kumamigrate.rewrite.routes.routes import (
    ROUTE,
    entries_on,
    labelled_as,
    old_route_name,
    routes_meant,
)
from kumamigrate.rewrite.routes.routewords import (
    by_service_tag,
    dead,
    not_yet,
    nothing_to_contract,
    too_early,
)
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import at_path
from kumamigrate.targetref.matcher import Matcher
from kumamigrate.targetref.resolve import index_of

TYPES = ("MeshTimeout", "MeshRetry")
"""Types that took a route at the top and take one in `to` (MeshRateLimit has no new form)."""


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield one change for each set of policies that share routes, and what cannot be moved."""
    for policy_type in TYPES:
        if not at_least(view.target_name, view.rule.since):
            yield from (too_early(view, p) for p in _old_form(view, policy_type))
            continue
        for mesh in view.state.meshes():
            yield from _plan_mesh(view, policy_type, mesh)
    yield from _dead_entries(view)


plan.early = True  # type: ignore[attr-defined]  # explains itself below 2.11


def _old_form(view: View, policy_type: str) -> Iterator[Resource]:
    return (p for p in view.of_type(policy_type) if old_route_name(p) is not None)


def _plan_mesh(view: View, policy_type: str, mesh: str) -> Iterator[Change | Finding]:
    movable: list[OldForm] = []
    for policy in _old_form(view, policy_type):
        if policy.mesh == mesh:
            problem, old = examined(view, policy)
            if problem is not None:
                yield problem
            if old is not None:
                movable.append(old)
    olds = with_copies(view, movable)
    if not olds:
        return
    reader = _reader(view, policy_type, mesh)
    for group in sharing_routes(with_rivals(reader, olds)):
        yield from _plan_group(view, reader, group)


def _plan_group(view: View, reader: Reader, group: list[OldForm]) -> Iterator[Change | Finding]:
    mesh = group[0].policy.mesh
    only_new = _only_new(view, mesh)
    in_place = only_new or at_least(view.target_name, "3.0")
    done = [old for old in group if _has_new_half(view, old)]
    waiting = [old for old in group if old not in done]
    if in_place and view.stage != "expand" and done:
        reunited = None if only_new else _reunited(view, done)
        yield from [contracted(view, old) for old in done] if reunited is None else [reunited]
    elif view.stage == "contract":
        yield from (not_yet(view, old.policy) for old in done)
    if not waiting:
        return
    if view.stage == "contract":
        yield from (nothing_to_contract(view, old.policy) for old in waiting)
        return
    yield from _attempts(view, reader, waiting, in_place=in_place and view.stage != "expand")


def _only_new(view: View, mesh: str) -> bool:
    """Say whether no outbound of a mesh reads the old place any more."""
    return view.mode(mesh) == "Exclusive" and by_service_tag(view, mesh) is None


def _reunited(view: View, olds: list[OldForm]) -> Change | None:
    """Return the move in place of policies whose new halves stand beside them, which go then.

    None where the halves are not just what this rule wrote.
    """
    halves = [half for old in olds for half in halves_of(old.policy, view.state)]
    alone = replace(view, state=without(view.state, halves))
    reader = _reader(alone, olds[0].policy.type, olds[0].policy.mesh)
    units, finding = units_of(alone, olds, in_place=False)
    if finding is not None or not all(view.owns(half) for half in halves):
        return None
    if not just_as_written(halves, choose(problem_of(alone, reader, units)).drafts):
        return None
    moved = move(alone, reader, olds, in_place=True)
    if not isinstance(moved, Change):
        return None
    stay = tuple(old.policy.where for old in olds if old.policy.where is not None)
    gone = [
        ResourceEdit(where=h.where, manifests=(), successors=stay)
        for h in halves
        if h.where is not None
    ]
    otherwise = contracted(view, olds[0]) if len(olds) == 1 else None
    return replace(moved, edits=(*moved.edits, *gone), otherwise=otherwise)


def _attempts(
    view: View, reader: Reader, olds: list[OldForm], *, in_place: bool
) -> Iterator[Change | Finding]:
    """Yield changes for policies that share routes, in as few pieces as fit.

    Where one policy cannot stand for the copies of a split, each of them moves by itself; where
    routes that share a rule cannot be brought together, so do their policies.
    """
    moved = move(view, reader, olds, in_place=in_place)
    if isinstance(moved, Change):
        if in_place and not _only_new(view, olds[0].policy.mesh):
            # What cannot move with the upgrade may stand beside today: so a run for 2.x has it.
            beside = move(view, reader, olds, in_place=False)
            moved = replace(moved, otherwise=beside if isinstance(beside, Change) else None)
        yield moved
    elif any(old.copies for old in olds):
        for group in sharing_routes([one for old in olds for one in apart(old)]):
            # One of them may have its new half already, and must not get another.
            yield from _plan_group(view, reader, group)
    elif any(old.rivals for old in olds):
        for group in sharing_routes([replace(old, rivals=()) for old in olds]):
            yield from _attempts(view, reader, group, in_place=in_place)
    else:
        yield moved[0]


def _reader(view: View, policy_type: str, mesh: str) -> Reader:
    matcher = Matcher(with_destinations(view.state.mesh(mesh)))
    return Reader(matcher=matcher, policy_type=policy_type, mesh=mesh)


def _has_new_half(view: View, old: OldForm) -> bool:
    """Say whether policies for all proxies already say in the new place what the old one says."""
    index, release = index_of(view.state), view.source
    fields = release.policy_types[old.policy.type].conf("to")
    own = normal(reaching(old.policy.type, old.own), fields, defaults=False)
    others = [p for p in view.state.of_type(old.policy.type) if _for_all(p, old.policy.mesh)]
    return all(
        any(
            contains(normal(item.get("default"), fields, defaults=False), own)
            for other in others
            for item in (
                *(item for _, item in entries_on(other, route, index, release)),
                # Where 2.x keeps no display name, such labels mean a route on 3.0 only.
                *labelled_as(other, route),
            )
        )
        for route in old.routes
    )


def _for_all(policy: Resource, mesh: str) -> bool:
    top = policy.spec.get("targetRef") or {"kind": "Mesh"}
    whole = isinstance(top, Mapping) and set(top) <= {"kind", "tags", "labels"}
    return policy.mesh == mesh and whole and not (top.get("tags") or top.get("labels"))


def _dead_entries(view: View) -> Iterator[Finding]:
    """Report entries for routes that no proxy of their policy can have."""
    policies = [
        policy
        for policy in view.of_type(*TYPES, "MeshAccessLog", "MeshLoadBalancingStrategy")
        if policy.labels.get(EFFECT) != "shadow" and _may_name_route(policy)
    ]
    if not policies:
        return
    index = index_of(view.state)
    for policy in policies:
        meant = {*routes_meant(policy, index, view.source)}
        routes = view.state.of_type(ROUTE) if meant else ()
        for route in (one for one in routes if kri_of(one) in meant):
            if route.mesh == policy.mesh and never_meet(policy, route):
                for at, _ in entries_on(policy, route, index, view.source):
                    yield dead(view, policy, route, ("to", at, "targetRef"))


def _may_name_route(policy: Resource) -> bool:
    """Whether some entry may be for a route, cheaply: most policies of a mesh have none."""
    entries = policy.spec.get("to")
    return isinstance(entries, list) and any(
        at_path(entry, ("targetRef", "kind")) == ROUTE for entry in entries
    )
