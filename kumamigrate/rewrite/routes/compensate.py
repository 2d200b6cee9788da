"""The cheapest new form that gives every route what it had (product.md §4, three recipes)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.model.conf import JsonConf, patch
from kumamigrate.model.resource import NAMESPACE, Identity, Resource
from kumamigrate.rewrite.routes.inherited import (
    InheritedDraft,
    InheritedSlot,
    Reader,
    lacking,
    source_of,
)
from kumamigrate.rewrite.routes.routeconf import Leaf, filled, folded, leaves, reaching
from kumamigrate.targetref.entry import Entry
from kumamigrate.targetref.sort import role_of

Namer = Callable[[Resource, str], str | None]
"""Finds a free name for a sibling of a policy, from a suffix."""

Referrer = Callable[[Resource, Resource], "Ref | None"]
"""Finds the reference by which a policy means a route."""

Copies = Mapping[Identity, JsonConf]
Ref = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Unit:
    """An old policy to be moved: its new name, its own conf, its routes with references."""

    policy: Resource
    name: str
    own: JsonConf
    routes: tuple[tuple[Resource, Ref], ...]

    def on(self, route: Resource) -> bool:
        """Say whether the policy means the route."""
        return any(r.identity == route.identity for r, _ in self.routes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """An inherited value written into a route's entry, and where it came from."""

    route: Resource
    path: Leaf
    value: Any
    entry: Entry | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompensationChoice:
    """A form for some units. `fits` says that every proxy reads what it read in the old place."""

    drafts: tuple[InheritedDraft, ...]
    rank: Ref | None
    copied: tuple[Copied, ...] = ()
    fits: bool = False
    groups: tuple[Resource, ...] = ()
    misses: tuple[tuple[InheritedSlot, JsonConf], ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class CompensationProblem:
    """Units that share routes, lowest precedence first, and the state they stand in.

    `ranks` are the top-level references to try in order, None for none at all. `live`: outbounds
    to real resources may exist today, so what they read may not change either.
    """

    reader: Reader
    units: tuple[Unit, ...]
    routes: tuple[Resource, ...]
    slots: Mapping[Identity, tuple[InheritedSlot, ...]]
    ranks: Sequence[Ref | None]
    namer: Namer
    refer: Referrer
    live: bool = False

    def own(self, route: Resource) -> JsonConf:
        """Return what the units say about a route together."""
        return own_of(self.units, route)

    @property
    def all_slots(self) -> tuple[InheritedSlot, ...]:
        """Return the slots of all routes."""
        return tuple(slot for route in self.routes for slot in self.slots[route.identity])

    def reader_of(self, drafts: Sequence[InheritedDraft]) -> Reader:
        """Return a reader of the state with drafts in place of the old policies."""
        return self.reader.with_drafts(drafts, self.all_slots)

    @property
    def subsets(self) -> bool:
        """Whether MeshSubset may be written: where Dataplane outlives it, only beside others."""
        return {"kind": "MeshSubset"} in self.ranks or {"kind": "Dataplane"} not in self.ranks

    def ref(self, route: Resource) -> Ref:
        """Return how the units refer to a route."""
        return next(ref for u in self.units for r, ref in u.routes if r.identity == route.identity)


def own_of(units: Iterable[Unit], route: Resource) -> JsonConf:
    """Return what units say about a route together, lowest first."""
    return folded(unit.own for unit in units if unit.on(route))


def choose(problem: CompensationProblem) -> CompensationChoice:
    """Return the cheapest form that fits; if none does, the one nearest to it.

    Tried in order: as it stands, with inherited values copied, with a higher rank, with policies
    for rules that another route owns, with one policy for each group of proxies.
    """
    tried: list[CompensationChoice] = []
    for way in (_plain, _with_rivals, _grouped):
        for rank in problem.ranks:
            for choice in way(problem, rank):
                if choice.fits:
                    return choice
                tried.append(choice)
    return min(tried, key=lambda c: (len(c.misses), len(c.drafts)))


def _plain(
    problem: CompensationProblem,
    rank: Ref | None,
    further: Sequence[InheritedDraft] = (),
    also: Sequence[InheritedSlot] = (),
) -> Iterable[CompensationChoice]:
    """Yield the form without and with copied values."""
    choice = _tried(problem, [*_base(problem, rank, {}), *further], rank, {}, also=also)
    yield choice
    if not choice.fits:
        copies = _copies(problem, choice.misses)
        if copies:
            drafts = [*_base(problem, rank, copies), *further]
            yield _tried(problem, drafts, rank, copies, also=also)


def _with_rivals(problem: CompensationProblem, rank: Ref | None) -> Iterable[CompensationChoice]:
    """Yield forms in which proxies with both routes read the same at the rule's owner.

    Two routes with the same matches share a rule, and the new place knows it by one of them only.
    """
    further: dict[tuple[Identity, Identity], InheritedDraft] = {}
    for route in problem.routes:
        highest = next(unit for unit in reversed(problem.units) if unit.on(route))
        for slot in problem.slots[route.identity]:
            key = (route.identity, slot.owner.identity)
            if slot.owner.identity == route.identity or key in further:
                continue
            name = problem.namer(highest.policy, slot.owner.display_name)
            ref = problem.refer(highest.policy, slot.owner)
            top = _selector(route, subsets=problem.subsets)
            if name is None or ref is None or top is None:
                continue
            further[key] = InheritedDraft(
                stands_for=highest.policy,
                name=name,
                top=None if top == {"kind": "Mesh"} else top,
                confs=((slot.owner, ref, slot.wanted),),
                group=True,
            )
    if further:
        # The entry reaches every rule of the owner, so all of them are looked at.
        owners = {d.confs[0][0].identity: d.confs[0][0] for d in further.values()}
        also = [slot for owner in owners.values() for slot in problem.reader.slots(owner, {})]
        yield from _plain(problem, rank, tuple(further.values()), also)


def _grouped(problem: CompensationProblem, rank: Ref | None) -> Iterable[CompensationChoice]:
    """Yield forms with a policy of their own for proxies that inherit something else."""
    needed, all_of_them = _narrower(problem)
    for chosen in (needed, all_of_them):
        if not chosen:
            continue
        choice = _with_groups(problem, rank, chosen)
        if choice.fits:
            yield _pruned(problem, rank, choice)
            return
        yield choice


def _pruned(
    problem: CompensationProblem, rank: Ref | None, choice: CompensationChoice
) -> CompensationChoice:
    """Leave out groups that turn out not to matter."""
    for policy in choice.groups:
        fewer = tuple(p for p in choice.groups if p.identity != policy.identity)
        if fewer:
            smaller = _with_groups(problem, rank, fewer)
            choice = smaller if smaller.fits else choice
    return choice


def _with_groups(
    problem: CompensationProblem, rank: Ref | None, chosen: Sequence[Resource]
) -> CompensationChoice:
    names = {policy.identity for policy in chosen}
    drafts = [d for route in problem.routes for d in _groups(problem, route, chosen)]
    bare = _base(problem, rank, {})
    misses = problem.reader_of([*bare, *drafts]).misses(problem.all_slots)
    outside = [m for m in misses if not names & {p.identity for p in m[0].selection.policies}]
    copies = _copies(problem, outside)
    return _tried(
        problem, [*_base(problem, rank, copies), *drafts], rank, copies, groups=tuple(chosen)
    )


def _groups(
    problem: CompensationProblem, route: Resource, chosen: Sequence[Resource]
) -> Iterable[InheritedDraft]:
    """Yield a policy for each narrower one: its selector, its values, the route's own on top."""
    highest = next(unit for unit in reversed(problem.units) if unit.on(route))
    for policy in chosen:
        confs = _said(problem, route, policy)
        name = problem.namer(highest.policy, policy.display_name)
        top = _selector(policy, subsets=problem.subsets)
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


def _narrower(problem: CompensationProblem) -> tuple[tuple[Resource, ...], tuple[Resource, ...]]:
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


def _selector(policy: Resource, *, subsets: bool) -> Ref | None:
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


def _base(problem: CompensationProblem, rank: Ref | None, copies: Copies) -> list[InheritedDraft]:
    """Return the units in the new form; inherited values go into the lowest one of a route."""
    lowest: dict[Identity, Unit] = {}
    for unit in problem.units:
        for route, _ in unit.routes:
            lowest.setdefault(route.identity, unit)
    drafts = []
    for unit in problem.units:
        confs = []
        for route, ref in unit.routes:
            conf = unit.own
            if lowest[route.identity] is unit:
                conf = filled(conf, copies.get(route.identity, {}))
            confs.append((route, ref, conf))
        drafts.append(
            InheritedDraft(stands_for=unit.policy, name=unit.name, top=rank, confs=tuple(confs))
        )
    return drafts


def _copies(
    problem: CompensationProblem, misses: Sequence[tuple[InheritedSlot, JsonConf]]
) -> dict[Identity, JsonConf]:
    """Return what each route lacks; where proxies lack different values, the first one's."""
    out: dict[Identity, JsonConf] = {}
    for route in problem.routes:
        mine = {id(slot) for slot in problem.slots[route.identity]}
        here = [miss for miss in misses if id(miss[0]) in mine]
        found, _ = lacking(problem.reader, here, problem.own(route))
        if found:
            out[route.identity] = found
    return out


def _tried(
    problem: CompensationProblem,
    drafts: Sequence[InheritedDraft],
    rank: Ref | None,
    copies: Copies,
    *,
    groups: tuple[Resource, ...] = (),
    also: Sequence[InheritedSlot] = (),
) -> CompensationChoice:
    slots = (*problem.all_slots, *also)
    after = problem.reader_of(drafts)
    misses = after.misses(slots)
    if problem.live and not misses:
        misses = _disturbed(problem, after, slots)
    copied = [
        Copied(
            route=route,
            path=path,
            value=value,
            entry=source_of(problem.reader, problem.slots[route.identity], path, value),
        )
        for route in problem.routes
        for path, value in leaves(copies.get(route.identity, {}))
    ]
    return CompensationChoice(
        drafts=tuple(drafts),
        rank=rank,
        copied=tuple(copied),
        fits=not misses,
        groups=groups,
        misses=tuple(misses),
    )


def _disturbed(
    problem: CompensationProblem, after: Reader, slots: Iterable[InheritedSlot]
) -> list[tuple[InheritedSlot, JsonConf]]:
    """Return the slots where outbounds to real resources would read something else than today."""
    out = []
    for slot in slots:
        found = after.now(slot)
        conf = found.conf if found is not None else {}
        if problem.reader.disturbs(slot, conf, problem.reader.inert(slot)):
            out.append((slot, conf))
    return out
