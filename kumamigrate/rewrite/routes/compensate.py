"""The cheapest new form that gives every route what it had (product.md §4, three recipes)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kumamigrate.model.conf import JsonConf
from kumamigrate.model.resource import Identity, Resource
from kumamigrate.rewrite.routes.inherited import InheritedSlot, Reader
from kumamigrate.rewrite.routes.inheriteddraft import InheritedDraft
from kumamigrate.rewrite.routes.movedunits import (
    CompensationChoice,
    CompensationProblem,
    Copied,
    Copies,
    Ref,
    Unit,
)
from kumamigrate.rewrite.routes.proxygroups import group_drafts, narrower_policies, selector_of
from kumamigrate.rewrite.routes.routeconf import filled, leaves
from kumamigrate.rewrite.routes.slotreads import disturbs, lacking, misses_in, read_at, source_of


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
            top = selector_of(route, subsets=problem.subsets)
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
    needed, all_of_them = narrower_policies(problem)
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
    drafts = [d for route in problem.routes for d in group_drafts(problem, route, chosen)]
    bare = _base(problem, rank, {})
    misses = misses_in(problem.reader_of([*bare, *drafts]), problem.all_slots)
    outside = [m for m in misses if not names & {p.identity for p in m[0].selection.policies}]
    copies = _copies(problem, outside)
    return _tried(
        problem, [*_base(problem, rank, copies), *drafts], rank, copies, groups=tuple(chosen)
    )


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
        found = lacking(problem.reader, here, problem.own(route))
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
    misses = misses_in(after, slots)
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
    reads = ((slot, read_at(after, slot)) for slot in slots)
    return [(slot, conf) for slot, conf in reads if disturbs(problem.reader, slot, conf)]
