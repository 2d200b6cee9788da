"""Policies that reach only some of the proxies, and one of its own for each such group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kumamigrate.model.conf import JsonConf, patch
from kumamigrate.model.resource import NAMESPACE, Identity, Resource
from kumamigrate.rewrite.routes.inherited import InheritedSlot
from kumamigrate.rewrite.routes.inheriteddraft import InheritedDraft
from kumamigrate.rewrite.routes.movedunits import CompensationProblem, Ref
from kumamigrate.rewrite.routes.routeconf import folded, leaves, reaching
from kumamigrate.targetref.sort import role_of


def narrower_policies(
    problem: CompensationProblem,
) -> tuple[tuple[Resource, ...], tuple[Resource, ...]]:
    """Return the policies that reach only some of the proxies: those that matter, and all.

    One matters if its service-level values flowed into a route, or it could overrule a route's.
    """
    every: dict[Identity, Resource] = {}
    needed: dict[Identity, Resource] = {}
    moving = {unit.policy.identity for unit in problem.units}
    for route in problem.routes:
        slots = problem.slots[route.identity]
        own = {path for path, _ in leaves(problem.own(route))}
        for entry in (e for slot in slots for e in slot.entries):
            policy = entry.policy
            if policy.identity in moving or _reaches_all(policy, slots):
                continue
            said = reaching(policy.type, problem.reader.raw(entry))
            if said:
                every[policy.identity] = policy
                service = entry.target is not None and entry.target.kind != "Mesh"
                if service or own & {path for path, _ in leaves(said)}:
                    needed[policy.identity] = policy
    return tuple(needed.values()), tuple(every.values())


def _reaches_all(policy: Resource, slots: Iterable[InheritedSlot]) -> bool:
    return all(
        any(p.identity == policy.identity for p in slot.selection.policies) for slot in slots
    )


def group_drafts(
    problem: CompensationProblem, route: Resource, chosen: Sequence[Resource]
) -> Iterable[InheritedDraft]:
    """Yield a policy for each narrower one: its selector, its values, the route's own on top."""
    highest = next(unit for unit in reversed(problem.units) if unit.on(route))
    for policy in chosen:
        confs = _said(problem, route, policy)
        name = problem.namer(highest.policy, policy.display_name)
        top = selector_of(policy, subsets=problem.subsets)
        if confs is None or name is None or top is None:
            continue
        conf = patch(reaching(policy.type, folded(confs)), problem.own(route))
        yield InheritedDraft(
            stands_for=highest.policy,
            name=name,
            top=top,
            confs=((route, problem.ref(route), conf),),
            group=True,
        )


def _said(problem: CompensationProblem, route: Resource, policy: Resource) -> list[JsonConf] | None:
    """Return what a policy contributed to a route, None if it never did."""
    for slot in problem.slots[route.identity]:
        mine = [e for e in slot.entries if e.policy.identity == policy.identity]
        if mine:
            return [problem.reader.raw(entry) for entry in mine]
    return None


def selector_of(policy: Resource, *, subsets: bool) -> Ref | None:
    """Return a top-level reference that selects in the system namespace what a policy selects.

    None where it would be of a kind that ends with 3.0 and need not (`subsets`).
    """
    top = policy.spec.get("targetRef")
    top = dict(top) if isinstance(top, Mapping) else {"kind": "Mesh"}
    if top.get("kind") in ("MeshSubset", "MeshServiceSubset", "MeshService") and not subsets:
        return None
    if top.get("kind") == "MeshGateway" or (top.get("name") and top.get("kind") == "Dataplane"):
        return None
    if role_of(policy) not in ("consumer", "workload-owner"):
        return {key: value for key, value in top.items() if key != "sectionName"}
    mine = {NAMESPACE: policy.namespace_label}
    match top.get("kind"):
        case "Mesh":
            return {"kind": "Dataplane", "labels": mine}
        case "Dataplane":
            return {"kind": "Dataplane", "labels": {**(top.get("labels") or {}), **mine}}
        case "MeshSubset" | "MeshServiceSubset":
            return {**top, "tags": {**(top.get("tags") or {}), **mine}}
        case _:
            return None
