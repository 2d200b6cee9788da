"""A route named at the top of a policy moves into `spec.to[]` (catalogue, route-to-spec-to)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cmp_to_key
from typing import Any

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.model.conf import JsonConf, normal
from kumamigrate.model.kri import kri_of
from kumamigrate.model.resource import EFFECT, Identity, Resource
from kumamigrate.model.versions import at_least
from kumamigrate.rewrite.change import Change, ResourceEdit, Rollout
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.references.proxies import never_meet
from kumamigrate.rewrite.routes.compensate import (
    CompensationChoice,
    CompensationProblem,
    Unit,
    choose,
    own_of,
)
from kumamigrate.rewrite.routes.halves import halves_of, just_as_written, without
from kumamigrate.rewrite.routes.inherited import Reader
from kumamigrate.rewrite.routes.madeupservices import with_destinations
from kumamigrate.rewrite.routes.routeconf import contains, folded, own_part, reaching
from kumamigrate.rewrite.routes.routemove import edits_of
from kumamigrate.rewrite.routes.routes import (
    ROUTE,
    bound_to_gateway,
    entries_on,
    labelled_as,
    old_route_name,
    reference,
    routes_called,
    routes_meant,
)
from kumamigrate.rewrite.routes.routewords import (
    ambiguous,
    at_gateway,
    by_service_tag,
    copied_notes,
    dangling,
    dead,
    manual,
    mode_notes,
    no_name,
    not_yet,
    nothing_to_contract,
    pending,
    rank_notes,
    too_early,
    unreachable,
    why_not,
)
from kumamigrate.rewrite.siblings import free_names, is_beside, shown_as
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import at_path
from kumamigrate.targetref.items import top_of
from kumamigrate.targetref.matcher import Matcher
from kumamigrate.targetref.resolve import index_of
from kumamigrate.targetref.sort import Ranked, compare

TYPES = ("MeshTimeout", "MeshRetry")
"""Types that took a route at the top and take one in `to` (MeshRateLimit has no new form)."""
_BY_TAGS = ("MeshSubset", "MeshService", "MeshServiceSubset")
"""Kinds of top-level references that 3.0 refuses, and that outrank Dataplane."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Old:
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
    movable: list[Old] = []
    for policy in _old_form(view, policy_type):
        if policy.mesh == mesh:
            problem, old = _examined(view, policy)
            if problem is not None:
                yield problem
            if old is not None:
                movable.append(old)
    olds = _with_copies(view, movable)
    if not olds:
        return
    reader = _reader(view, policy_type, mesh)
    for group in _sharing_routes(_with_rivals(reader, olds)):
        yield from _plan_group(view, reader, group)


def _with_rivals(reader: Reader, olds: Sequence[Old]) -> list[Old]:
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


def _examined(view: View, policy: Resource) -> tuple[Finding | None, Old | None]:
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
    return None, Old(policy=policy, routes=(route,), own=own, dropped=dropped)


def _with_copies(view: View, olds: Sequence[Old]) -> list[Old]:
    """Give the copies that this run's split made back to the policies they were copied from."""
    known = {r.identity for r in view.before.resources}
    fresh = [old for old in olds if old.policy.identity not in known]
    merged: dict[Identity, list[Old]] = {}
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


def _parent(copy: Old, olds: Sequence[Old]) -> Old | None:
    alike = [
        old
        for old in olds
        if is_beside(copy.policy, old.policy)
        and old.policy.spec.get("to") == copy.policy.spec.get("to")
        and old.policy.identity != copy.policy.identity
    ]
    return max(alike, key=lambda old: len(old.policy.name), default=None)


def _with(old: Old, copies: Iterable[Old]) -> Old:
    listed = list(copies)
    return Old(
        policy=old.policy,
        routes=(*old.routes, *(r for c in listed for r in c.routes)),
        own=old.own,
        dropped=old.dropped,
        copies=tuple(c.policy for c in listed),
    )


def _sharing_routes(olds: Sequence[Old]) -> list[list[Old]]:
    """Return the policies in groups that share routes, directly or through each other."""
    groups: list[list[Old]] = []
    for old in olds:
        mine = {r.identity for r in (*old.routes, *old.rivals)}
        joined = [
            g for g in groups if any(r.identity in mine for o in g for r in (*o.routes, *o.rivals))
        ]
        groups = [g for g in groups if g not in joined]
        groups.append([*(o for g in joined for o in g), old])
    return groups


def _plan_group(view: View, reader: Reader, group: list[Old]) -> Iterator[Change | Finding]:
    mesh = group[0].policy.mesh
    only_new = _only_new(view, mesh)
    in_place = only_new or at_least(view.target_name, "3.0")
    done = [old for old in group if _has_new_half(view, old)]
    waiting = [old for old in group if old not in done]
    if in_place and view.stage != "expand" and done:
        reunited = None if only_new else _reunited(view, done)
        yield from [_contracted(view, old) for old in done] if reunited is None else [reunited]
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


def _reunited(view: View, olds: list[Old]) -> Change | None:
    """Return the move in place of policies whose new halves stand beside them, which go then.

    None where the halves are not just what this rule wrote.
    """
    halves = [half for old in olds for half in halves_of(old.policy, view.state)]
    alone = replace(view, state=without(view.state, halves))
    reader = _reader(alone, olds[0].policy.type, olds[0].policy.mesh)
    units, finding = _units(alone, olds, _own_routes, in_place=False)
    if finding is not None or not all(view.owns(half) for half in halves):
        return None
    if not just_as_written(halves, choose(_problem(alone, reader, units)).drafts):
        return None
    moved = _moved(alone, reader, olds, in_place=True)
    if not isinstance(moved, Change):
        return None
    stay = tuple(old.policy.where for old in olds if old.policy.where is not None)
    gone = [
        ResourceEdit(where=h.where, manifests=(), successors=stay)
        for h in halves
        if h.where is not None
    ]
    otherwise = _contracted(view, olds[0]) if len(olds) == 1 else None
    return replace(moved, edits=(*moved.edits, *gone), otherwise=otherwise)


def _attempts(
    view: View, reader: Reader, olds: list[Old], *, in_place: bool
) -> Iterator[Change | Finding]:
    """Yield changes for policies that share routes, in as few pieces as fit.

    Where one policy cannot stand for the copies of a split, each of them moves by itself; where
    routes that share a rule cannot be brought together, so do their policies.
    """
    moved = _moved(view, reader, olds, in_place=in_place)
    if isinstance(moved, Change):
        if in_place and not _only_new(view, olds[0].policy.mesh):
            # What cannot move with the upgrade may stand beside today: so a run for 2.x has it.
            beside = _moved(view, reader, olds, in_place=False)
            moved = replace(moved, otherwise=beside if isinstance(beside, Change) else None)
        yield moved
    elif any(old.copies for old in olds):
        for group in _sharing_routes([one for old in olds for one in _apart(old)]):
            # One of them may have its new half already, and must not get another.
            yield from _plan_group(view, reader, group)
    elif any(old.rivals for old in olds):
        for group in _sharing_routes([replace(old, rivals=()) for old in olds]):
            yield from _attempts(view, reader, group, in_place=in_place)
    else:
        yield moved[0]


def _apart(old: Old) -> Iterator[Old]:
    yield replace(old, routes=old.routes[:1], copies=())
    for route, copy in zip(old.routes[1:], old.copies, strict=True):
        yield replace(old, policy=copy, routes=(route,), copies=())


def _moved(
    view: View, reader: Reader, olds: list[Old], *, in_place: bool
) -> Change | tuple[Change | Finding]:
    """Return the change for policies that share routes, in a tuple what does not fit.

    Rivals are named only if that fits.
    """
    found: list[tuple[CompensationProblem, CompensationChoice]] = []
    for routes_of in (_own_routes, _all_routes):
        units, finding = _units(view, olds, routes_of, in_place=in_place)
        if finding is not None:
            return (finding,)
        problem = _problem(view, reader, units)
        found.append((problem, choose(problem)))
        if found[-1][1].fits or not any(old.rivals for old in olds):
            break
    problem, choice = next((one for one in found if one[1].fits), found[0])
    change = _change(view, olds, problem, choice, in_place=in_place)
    return change if choice.fits else (change,)


def _own_routes(old: Old) -> tuple[Resource, ...]:
    return old.routes


def _all_routes(old: Old) -> tuple[Resource, ...]:
    return (*old.routes, *old.rivals)


def _units(
    view: View,
    olds: Sequence[Old],
    routes_of: Callable[[Old], tuple[Resource, ...]],
    *,
    in_place: bool,
) -> tuple[tuple[Unit, ...], Finding | None]:
    """Return the policies ready to be moved, or what one of them lacks."""
    units: list[Unit] = []
    taken: set[str] = set()
    for old in _in_merge_order(view, olds):
        name = old.policy.name if in_place else _name(view, old.policy, "route", taken)
        if name is None:
            return (), no_name(view, old.policy)
        refs = []
        for route in routes_of(old):
            ref = _reference(view, old.policy, route)
            if ref is None:
                return (), unreachable(view, old.policy, route)
            refs.append((route, ref))
        taken.add(name)
        units.append(Unit(policy=old.policy, name=name, own=old.own, routes=tuple(refs)))
    return tuple(units), None


def _problem(view: View, reader: Reader, units: tuple[Unit, ...]) -> CompensationProblem:
    routes = tuple({r.identity: r for unit in units for r, _ in unit.routes}.values())
    taken = {unit.name for unit in units}
    return CompensationProblem(
        reader=reader,
        units=units,
        routes=routes,
        slots={r.identity: reader.slots(r, own_of(units, r)) for r in routes},
        ranks=_ranks(view, units[0].policy.type, units[0].policy.mesh),
        namer=lambda policy, suffix: _name(view, policy, suffix, taken),
        refer=lambda policy, route: _reference(view, policy, route),
        live=view.mode(units[0].policy.mesh) != "Disabled",
    )


def _change(
    view: View,
    olds: list[Old],
    problem: CompensationProblem,
    choice: CompensationChoice,
    *,
    in_place: bool,
) -> Change:
    by_identity = {old.policy.identity: old for old in olds}
    gone = [copy for old in olds for copy in old.copies] if in_place else []
    mode = view.mode(olds[0].policy.mesh)
    late = in_place and mode != "Exclusive"
    return Change(
        rule=view.rule.id,
        mesh=olds[0].policy.mesh,
        group=f"{olds[0].policy.type} {olds[0].policy.mesh}",
        edits=edits_of(choice, problem.units, gone, in_place=in_place),
        findings=tuple(
            _moving(view, by_identity[unit.policy.identity], unit, problem, choice, in_place)
            for unit in problem.units
        ),
        rollout=Rollout.WITH_UPGRADE if late else Rollout.NOW,
    )


def _reader(view: View, policy_type: str, mesh: str) -> Reader:
    matcher = Matcher(with_destinations(view.state.mesh(mesh)))
    return Reader(matcher=matcher, policy_type=policy_type, mesh=mesh)


def _ranks(view: View, policy_type: str, mesh: str) -> tuple[Mapping[str, Any] | None, ...]:
    """Return the top-level references that select every proxy, lowest rank first.

    MeshSubset ends with 3.0. Where the release reads Dataplane it is written only beside policies
    that choose by tags themselves (product.md §4, recipe 3): they all leave for labels together.
    """
    top = view.target.policy_types["MeshTimeout"].top_for("system")
    kinds = top.kinds if top is not None else ()
    beside = any(
        policy.mesh == mesh and top_of(policy, view.source).kind in _BY_TAGS
        for policy in view.of_type(policy_type)
    )
    known = [kind for kind in ("Dataplane", "MeshSubset") if kind in kinds]
    if "Dataplane" in known and not beside:
        known = ["Dataplane"]
    return (None, *({"kind": kind} for kind in known))


def _in_merge_order(view: View, olds: Sequence[Old]) -> list[Old]:
    """Return policies as the source release merges them, lowest first."""
    release = view.source

    def order(a: Old, b: Old) -> int:
        mine, other = (Ranked(o.policy, top_of(o.policy, release)) for o in (a, b))
        return compare(release, release.policy_sort, mine, other)

    return sorted(olds, key=cmp_to_key(order))


def _name(view: View, policy: Resource, suffix: str, taken: set[str]) -> str | None:
    """Return a name for a sibling that no other policy's name stands before (law 6)."""
    shown = [
        p.display_name
        for p in view.state.of_type(policy.type)
        if p.mesh == policy.mesh and p.identity != policy.identity
    ]
    for name in free_names(policy, suffix, view.state):
        new = shown_as(policy, name)
        if name not in taken and not any(policy.display_name < one <= new for one in shown):
            return name
    return next((n for n in free_names(policy, suffix, view.state) if n not in taken), None)


def _reference(view: View, policy: Resource, route: Resource) -> Mapping[str, Any] | None:
    by_labels = "name" not in view.target.reference_by
    return reference(policy, route, view.state, by_labels=by_labels)


def _has_new_half(view: View, old: Old) -> bool:
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


def _contracted(view: View, old: Old) -> Change:
    policy = old.policy
    assert policy.where is not None
    said = pending(
        view,
        policy,
        message=f"{policy.type} {policy.name} names its route at the top, where this mesh no"
        " longer reads it; what it says stands in spec.to[] of another policy",
    )
    halves = tuple(h.where for h in halves_of(policy, view.state) if h.where is not None)
    edits = [
        ResourceEdit(where=one.where, manifests=(), successors=halves)
        for one in (policy, *old.copies)
        if one.where is not None
    ]
    exclusive = view.mode(policy.mesh) == "Exclusive"
    return Change(
        rule=view.rule.id,
        mesh=policy.mesh,
        group=f"{policy.type} {policy.mesh}",
        edits=tuple(edits),
        findings=(said,),
        rollout=Rollout.NOW if exclusive else Rollout.WITH_UPGRADE,
    )


def _moving(
    view: View,
    old: Old,
    unit: Unit,
    problem: CompensationProblem,
    choice: CompensationChoice,
    in_place: bool,
) -> Finding:
    routes = " and ".join(route.display_name for route in old.routes)
    goal = "in spec.to[]" if in_place else f"in spec.to[] of {unit.name}, beside this policy"
    notes = [*copied_notes(view, unit, problem, choice), *rank_notes(choice, old.policy)]
    for path in old.dropped:
        notes.append(f"left out {'.'.join(path)}, which never reaches a route")
    notes += [] if in_place else mode_notes(view, old.policy.mesh)
    return pending(
        view,
        old.policy,
        message=f"{old.policy.type} {old.policy.name} names MeshHTTPRoute {routes} at the top,"
        f" where the new form names it {goal}",
        action="" if choice.fits else why_not(problem, choice),
        notes=tuple(notes),
    )
