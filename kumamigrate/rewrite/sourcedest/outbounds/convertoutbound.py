"""One outbound kind of a mesh as a whole: its table, the policies that say the same, what stays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.effective.policies.patched import PATCH
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.rewrite.sourcedest.apart import Apart, Stuck, set_apart
from kumamigrate.rewrite.sourcedest.besidenew import acting, overruled_by, said_of_services
from kumamigrate.rewrite.sourcedest.classes import Classes, WinnerClass, classes_by, prune
from kumamigrate.rewrite.sourcedest.conversion import Conversion, Dropped, Manual, among, distinct
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.rewrite.sourcedest.newpolicies import PolicyDraft, emit
from kumamigrate.rewrite.sourcedest.notconverted import standstill
from kumamigrate.rewrite.sourcedest.outbounds.tabledrafts import confs_of, drafts_of
from kumamigrate.rewrite.sourcedest.outbounds.winnertable import (
    OutboundKind,
    Row,
    WinnerRun,
    row_of,
    winners_in,
)
from kumamigrate.rewrite.sourcedest.routetargets import redirects
from kumamigrate.rewrite.sourcedest.wildcards import never_wins, wildcard_notes
from kumamigrate.sourcedest.order import merge_ties
from kumamigrate.sourcedest.selector import ANY, selectors_of


def convert_outbound(world: KnownWorld, kind: OutboundKind) -> Conversion:
    """Return the conversion of one outbound kind of a mesh."""
    policies = world.old.of(kind.old)
    stopped = standstill(world, kind.old, kind.new, policies, routed=kind.routed)
    if stopped is not None and not stopped.perhaps:
        return stopped
    classes = _classes(world, policies)
    if classes.too_many:
        return _too_many(world, kind, policies)
    named = frozenset(
        tags[SERVICE] for p in policies for tags in selectors_of(p.spec, "destinations")
    ) - {ANY}
    run = WinnerRun(world=world, kind=kind, named=named, classes=classes.classes)
    table = {item: row_of(run, item) for item in classes.classes}
    if stopped is not None:
        return replace(stopped, beside=_beside(run, classes, policies, table))
    whole = _converted(run, classes, policies, table)
    apart = _apart(run, policies, table)
    if apart is None:
        return whole
    ties = merge_ties(run.ties)
    run.ties = []
    run.manual = [
        replace(m, blocking=False) if any(m.resource is p for p in apart.stay) else m
        for m in run.manual
    ]
    moved = [p for p in policies if p not in apart.stay]
    done = _converted(run, classes, moved, apart.without(table))
    said = (*done.manual, *apart.notes(moved))
    return replace(done, kept=apart.stay, left=ties, manual=said, instead=whole)


def _apart(
    run: WinnerRun, policies: tuple[Resource, ...], table: Mapping[WinnerClass, Row]
) -> Apart | None:
    """Return what of a kind stays so that the rest need not, None where there is no such part."""
    stuck = Stuck(services=frozenset((*run.stuck, *run.tied)), ties=merge_ties(run.ties))
    if not stuck.services:
        return None
    world = run.world
    return set_apart(
        policies,
        table,
        stuck,
        both_act=run.kind.apart,
        services_known=run.kind.with_endpoints and (world.listed or world.state.complete),
    )


def _beside(
    run: WinnerRun, classes: Classes, policies: Sequence[Resource], table: Mapping[WinnerClass, Row]
) -> Conversion | None:
    """Return a conversion that may hold beside new policies that name services one by one.

    Those may decide there alone, unless both engines act, and no entry for all traffic must join
    what they say.
    """
    present = acting(run.world, run.kind.old, run.kind.new)
    said = None if run.kind.apart else said_of_services(present)
    if said is None:
        return None
    rest = {
        item: {s: None if s in said else setting for s, setting in row.items()}
        for item, row in table.items()
    }
    done = _converted(run, classes, policies, rest, said)
    won = among(winners_in(table))
    why = overruled_by(present)
    dropped = (replace(d, reason=why) if won(d.resource) else d for d in done.dropped)
    return replace(done, dropped=tuple(dropped))


def _converted(
    run: WinnerRun,
    classes: Classes,
    policies: Sequence[Resource],
    table: Mapping[WinnerClass, Row],
    said: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> Conversion:
    """Return the conversion of policies by what each class of proxies reads.

    `said` is what new policies of the mesh say of services that are left to them.
    """
    world, kind = run.world, run.kind
    kept = {item: table[item] for item in prune(confs_of(table))}
    drafts, leaks = drafts_of(kind.new, kept, world, said)
    more = kind.patches(world, table) if kind.patches is not None else ()
    result = [
        policy
        for type_, some in ((kind.new, drafts), (PATCH, more))
        for policy in emit(world, type_, some, chosen_by="sources")
    ]
    every = world.old.of(kind.old)
    dropped = _dropped(run, policies, table, (*drafts, *more))
    same = [d.resource for d in dropped if d.reason == _SAME]
    return Conversion(
        kind=kind.old,
        mesh=world.mesh,
        target=world.target,
        policies=tuple(result),
        dropped=dropped,
        manual=distinct(
            [
                *wildcard_notes(classes, every, "sources", same),
                *(_gateway_notes(world, kind.old, every) if kind.routed else ()),
                *run.manual,
                *leaks,
            ]
        ),
        ties=merge_ties(run.ties),
    )


def _classes(world: KnownWorld, policies: Iterable[Resource]) -> Classes:
    routes = world.old.of("TrafficRoute") if redirects(world) else ()
    return classes_by("sources", (*policies, *routes), world)


def _too_many(world: KnownWorld, kind: OutboundKind, policies: tuple[Resource, ...]) -> Conversion:
    manual = Manual(
        resource=policies[0],
        message="its sources tell too many classes of proxies apart to write a policy for each",
        action="simplify the sources first",
    )
    return Conversion(kind=kind.old, mesh=world.mesh, target=world.target, manual=(manual,))


_PASSED_ALONE = "inert: without a TrafficRoute only what passes through proxies is logged"
_SAME = "it says the same as what would count without it"


def _dropped(
    run: WinnerRun,
    policies: Iterable[Resource],
    table: Mapping[WinnerClass, Row],
    drafts: Iterable[PolicyDraft],
) -> tuple[Dropped, ...]:
    won = winners_in(table)
    carried = [r for draft in drafts for r in draft.winners]
    result = []
    for policy in policies:
        if not any(r is policy for r in won):
            why = _PASSED_ALONE if run.kind.only else never_wins(policy, run.world, "sources")
            result.append(Dropped(resource=policy, reason=why))
        elif not any(r is policy for r in carried):
            result.append(Dropped(resource=policy, reason=_SAME))
    return tuple(result)


def _gateway_notes(
    world: KnownWorld, old: str, policies: tuple[Resource, ...]
) -> tuple[Manual, ...]:
    """Return what cannot be kept on built-in gateways: there other rules pick (§2.8)."""
    gateways = [*world.state.of_type("MeshGateway")]
    if not gateways or len(policies) < 2:
        return ()
    return (
        Manual(
            resource=policies[0],
            message=f"a built-in gateway picks the {old} of a route by other rules: one for any"
            " service goes first, else the oldest",
            action=f"check the routes of {', '.join(sorted(r.name for r in gateways))}, and give"
            " them policies of their own",
            blocking=False,
        ),
    )
