"""The change that moves policies whose route is named at the top, or ends their old halves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cmp_to_key
from typing import Any

from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.change import Change, ResourceEdit, Rollout
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.routes.compensate import choose
from kumamigrate.rewrite.routes.halves import halves_of
from kumamigrate.rewrite.routes.inherited import Reader
from kumamigrate.rewrite.routes.movedunits import (
    CompensationChoice,
    CompensationProblem,
    Unit,
    own_of,
)
from kumamigrate.rewrite.routes.oldform import OldForm
from kumamigrate.rewrite.routes.routemove import edits_of
from kumamigrate.rewrite.routes.routes import (
    reference,
)
from kumamigrate.rewrite.routes.routewords import (
    copied_notes,
    mode_notes,
    no_name,
    pending,
    rank_notes,
    unreachable,
    why_not,
)
from kumamigrate.rewrite.siblings import free_names, name_behind
from kumamigrate.rewrite.view import View
from kumamigrate.targetref.items import top_of
from kumamigrate.targetref.sort import Ranked, compare

_BY_TAGS = ("MeshSubset", "MeshService", "MeshServiceSubset")
"""Kinds of top-level references that 3.0 refuses, and that outrank Dataplane."""


def move(
    view: View, reader: Reader, olds: list[OldForm], *, in_place: bool
) -> Change | tuple[Change | Finding]:
    """Return the change for policies that share routes, in a tuple what does not fit.

    Rivals are named only if that fits.
    """
    found: list[tuple[CompensationProblem, CompensationChoice]] = []
    for rivals in (False, True):
        units, finding = units_of(view, olds, in_place=in_place, rivals=rivals)
        if finding is not None:
            return (finding,)
        problem = problem_of(view, reader, units)
        found.append((problem, choose(problem)))
        if found[-1][1].fits or not any(old.rivals for old in olds):
            break
    problem, choice = next((one for one in found if one[1].fits), found[0])
    change = _change(view, olds, problem, choice, in_place=in_place)
    return change if choice.fits else (change,)


def units_of(
    view: View, olds: Sequence[OldForm], *, in_place: bool, rivals: bool = False
) -> tuple[tuple[Unit, ...], Finding | None]:
    """Return the policies ready to be moved, or what one of them lacks."""
    units: list[Unit] = []
    taken: set[str] = set()
    for old in _in_merge_order(view, olds):
        name = old.policy.name if in_place else _name(view, old.policy, "route", taken)
        if name is None:
            return (), no_name(view, old.policy)
        refs = []
        for route in (*old.routes, *(old.rivals if rivals else ())):
            ref = _reference(view, old.policy, route)
            if ref is None:
                return (), unreachable(view, old.policy, route)
            refs.append((route, ref))
        taken.add(name)
        units.append(Unit(policy=old.policy, name=name, own=old.own, routes=tuple(refs)))
    return tuple(units), None


def problem_of(view: View, reader: Reader, units: tuple[Unit, ...]) -> CompensationProblem:
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
    olds: list[OldForm],
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


def _moving(
    view: View,
    old: OldForm,
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


def contracted(view: View, old: OldForm) -> Change:
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


def _in_merge_order(view: View, olds: Sequence[OldForm]) -> list[OldForm]:
    """Return policies as the source release merges them, lowest first."""
    release = view.source

    def order(a: OldForm, b: OldForm) -> int:
        mine, other = (Ranked(o.policy, top_of(o.policy, release)) for o in (a, b))
        return compare(release, release.policy_sort, mine, other)

    return sorted(olds, key=cmp_to_key(order))


def _name(view: View, policy: Resource, suffix: str, taken: set[str]) -> str | None:
    """Return a name for a sibling that no other policy's name stands before (law 6)."""
    name = name_behind(policy, suffix, view.state, taken=taken)
    return name or next((n for n in free_names(policy, suffix, view.state) if n not in taken), None)


def _reference(view: View, policy: Resource, route: Resource) -> Mapping[str, Any] | None:
    by_labels = "name" not in view.target.reference_by
    return reference(policy, route, view.state, by_labels=by_labels)
