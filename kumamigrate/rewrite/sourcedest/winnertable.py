"""Outbound kinds: from the winner table over all classes of proxies to few exhaustive policies.

The method is legacy-notes.md C6. A conversion takes a whole kind of a mesh at once; the policy of
a class restates all that its proxies read, so nothing depends on a broader policy showing through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from kumamigrate.dataclass import dataclass, field, replace
from kumamigrate.effective.policies.patched import PATCH
from kumamigrate.effective.readings import said_by
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.rewrite.sourcedest import exhaustive
from kumamigrate.rewrite.sourcedest.apart import Apart, Stuck, set_apart
from kumamigrate.rewrite.sourcedest.classes import (
    Classes,
    WinnerClass,
    classes_of,
    connected,
    prune,
)
from kumamigrate.rewrite.sourcedest.confs import Notes
from kumamigrate.rewrite.sourcedest.conversion import (
    Conversion,
    Dropped,
    Json,
    Manual,
    among,
    distinct,
)
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.rewrite.sourcedest.newpolicies import PolicyDraft, emit
from kumamigrate.rewrite.sourcedest.notconverted import (
    PASSED_ALONE,
    acting,
    gateway_notes,
    never_wins,
    overruled_by,
    said_of_services,
    standstill,
    wildcard_notes,
)
from kumamigrate.rewrite.sourcedest.routetargets import (
    OTHER_SERVICE,
    RouteReach,
    outbound_family,
    reach_of,
    redirects,
)
from kumamigrate.sourcedest.oldconf import read_conf
from kumamigrate.sourcedest.order import CreationTie, merge_ties
from kumamigrate.sourcedest.selector import ANY, selectors_of
from kumamigrate.sourcedest.winners import connection_winner


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One connection of one class: who wins, and what else decides its conf.

    `winner` is the policy of the outbound, `leader` that of the outbound that leads to this
    service's cluster (notes C2), `policy` the one of them there is; `leader_known` is False
    when several lead there and differ. `reached`: a listed proxy has the connection, or none is
    listed, so that what is lost there matters.
    """

    world: KnownWorld
    service: str
    policy: Resource
    winner: Resource | None
    leader: Resource | None
    leader_known: bool = True
    reach: RouteReach | None = None
    reached: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundKind:
    """How one old kind is converted. `looked_up`: by "outbound", "own" or "target" service.

    outbound: Timeout, TrafficLog. target: clusters that routes lead to (CircuitBreaker,
    HealthCheck). own: by the outbound, if it is a target too (Retry, notes C12). `leads`: the
    cluster reads the policy of the outbound that leads to it (C2). `routed`: inert without a
    TrafficRoute. `only`: the one service that counts. `apart`: both engines act next to each
    other, so that services without an equivalent can stay with the old one.
    `with_endpoints`: it says nothing of services without endpoints, so that those listed are all.
    `patches`: what of the rows needs a MeshProxyPatch besides.
    """

    old: str
    new: str
    value: Callable[[Cell, Notes], Json]
    looked_up: str = "outbound"
    leads: bool = False
    routed: bool = True
    only: str = ""
    apart: bool = False
    with_endpoints: bool = False
    patches: Callable[[KnownWorld, Mapping[WinnerClass, Row]], tuple[PolicyDraft, ...]] | None = (
        None
    )


@dataclass(frozen=True, slots=True)
class WinnerSetting:
    """A translated conf and the policies it comes from."""

    conf: Json
    winners: tuple[Resource, ...]


Row = Mapping[str, WinnerSetting | None]
"""Service (OTHER_SERVICE for any unnamed one) → what a class reads for it."""


@dataclass(slots=True)
class _Run:
    """One conversion under way: memo tables and what was noticed."""

    world: KnownWorld
    kind: OutboundKind
    named: frozenset[str]
    classes: tuple[WinnerClass, ...] = ()
    ties: list[CreationTie] = field(default_factory=list)
    tied: set[str] = field(default_factory=set)
    manual: list[Manual] = field(default_factory=list)
    memo: dict[Any, tuple[Json, Notes]] = field(default_factory=dict)
    stuck: dict[str, None] = field(default_factory=dict)

    def winner(self, item: WinnerClass, service: str, treated: str = "") -> Resource | None:
        """Return the policy of a connection; a tie that matters is kept.

        `treated` is the family that routes give the outbound.
        """
        asked = service if service in self.named else OTHER_SERVICE
        old = self.world.old
        found = connection_winner(old.of(self.kind.old), (item.witness,), asked, old.ties)
        if found is None:
            return None
        if found.tie is not None and self._matters(found.tie, item, service, treated):
            self.ties.append(found.tie)
        return found.policy

    def _matters(self, tie: CreationTie, item: WinnerClass, service: str, treated: str) -> bool:
        world = self.world
        if not connected(item, self.classes, world, service, world.services):
            return False
        protocols = {world.protocol(service), treated or world.protocol(service)}
        if service not in world.protocols and not world.listed:
            # Whatever else it speaks is read as an unknown one is; http2 as http, or less.
            protocols |= {"http", "grpc"}
        return any(
            said_by(self.kind.old, policy, protocol, world.mesh_resource)
            != said_by(self.kind.old, tie.policies[0], protocol, world.mesh_resource)
            for policy in tie.policies[1:]
            for protocol in protocols
        )

    def translate(self, cell: Cell, key: Any) -> Json:
        """Return the conf of a cell, translated once for each combination that matters."""
        if key not in self.memo:
            notes = Notes()
            self.memo[key] = (self.kind.value(cell, notes), notes)
            for note in notes.items:
                self.manual.append(
                    note.manual(
                        cell.policy, "decide what it should be, or take it out of the old policy"
                    )
                )
        conf, noted = self.memo[key]
        if any(note.blocking for note in noted.items):
            self.stuck[cell.service] = None
        return conf


def differing(policies: Iterable[Resource]) -> bool:
    """Say whether policies that tie would set different things."""
    confs = [read_conf(policy.type, policy.spec).value for policy in policies]
    return any(conf != confs[0] for conf in confs[1:])


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
    run = _Run(world=world, kind=kind, named=named, classes=classes.classes)
    table = {item: _row(run, item, classes.classes) for item in classes.classes}
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
    run: _Run, policies: tuple[Resource, ...], table: Mapping[WinnerClass, Row]
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
    run: _Run, classes: Classes, policies: Sequence[Resource], table: Mapping[WinnerClass, Row]
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
    won = among(_winners(table))
    why = overruled_by(present)
    dropped = (replace(d, reason=why) if won(d.resource) else d for d in done.dropped)
    return replace(done, dropped=tuple(dropped))


def _converted(
    run: _Run,
    classes: Classes,
    policies: Sequence[Resource],
    table: Mapping[WinnerClass, Row],
    said: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> Conversion:
    """Return the conversion of policies by what each class of proxies reads.

    `said` is what new policies of the mesh say of services that are left to them.
    """
    world, kind = run.world, run.kind
    kept = {item: table[item] for item in prune(_values(table))}
    drafts, leaks = _drafts(kind.new, kept, world, said)
    more = kind.patches(world, table) if kind.patches is not None else ()
    result = [
        policy
        for type_, some in ((kind.new, drafts), (PATCH, more))
        for policy in emit(world, type_, some, sources_of=_sources)
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
                *(gateway_notes(world, kind.old, every) if kind.routed else ()),
                *run.manual,
                *leaks,
            ]
        ),
        ties=merge_ties(run.ties),
    )


def _sources(policy: Resource) -> tuple[dict[str, str], ...]:
    return selectors_of(policy.spec, "sources")


def _classes(world: KnownWorld, policies: Iterable[Resource]) -> Classes:
    routes = world.old.of("TrafficRoute") if redirects(world) else ()
    return classes_of(
        (tags for p in (*policies, *routes) for tags in selectors_of(p.spec, "sources")), world
    )


def _too_many(world: KnownWorld, kind: OutboundKind, policies: tuple[Resource, ...]) -> Conversion:
    manual = Manual(
        resource=policies[0],
        message="its sources tell too many classes of proxies apart to write a policy for each",
        action="simplify the sources first",
    )
    return Conversion(kind=kind.old, mesh=world.mesh, target=world.target, manual=(manual,))


def _row(run: _Run, item: WinnerClass, every: tuple[WinnerClass, ...]) -> Row:
    world = run.world
    reach = reach_of(item, world, every) if redirects(world) else None
    services = (OTHER_SERVICE, *sorted(set(world.services) | run.named))
    if run.kind.only:
        row: dict[str, WinnerSetting | None] = dict.fromkeys(services)
        return {**row, run.kind.only: _setting(run, item, run.kind.only, reach)}
    return {service: _setting(run, item, service, reach) for service in services}


def _setting(
    run: _Run, item: WinnerClass, service: str, reach: RouteReach | None
) -> WinnerSetting | None:
    ties = len(run.ties)
    found = _settled(run, item, service, reach)
    if len(run.ties) > ties:
        run.tied.add(service)
    return found


def _settled(
    run: _Run, item: WinnerClass, service: str, reach: RouteReach | None
) -> WinnerSetting | None:
    if not _takes_effect(run.kind, service, reach):
        return None
    treated = outbound_family(service, reach, run.world) if reach is not None else ""
    winner = run.winner(item, service, treated)
    leader, known = _leader(run, item, service, reach, winner)
    first = winner or leader
    if first is None:
        return None
    reached = _reached_by_listed(run, item, service, reach)
    cell = Cell(
        world=run.world,
        service=service,
        policy=first,
        winner=winner,
        leader=leader,
        leader_known=known,
        reach=reach,
        reached=reached,
    )
    key = (
        reached,
        winner and winner.identity,
        leader and leader.identity,
        known,
        run.world.protocols.get(service),
        treated,
    )
    winners = distinct(r for r in (winner, leader) if r is not None)
    return WinnerSetting(run.translate(cell, key), winners)


def _reached_by_listed(
    run: _Run, item: WinnerClass, service: str, reach: RouteReach | None
) -> bool:
    if not run.world.listed or reach is None:
        return connected(item, run.classes, run.world, service, run.world.services)
    return service in reach.leaders


def _takes_effect(kind: OutboundKind, service: str, reach: RouteReach | None) -> bool:
    if reach is None or kind.looked_up == "outbound":
        return True
    if kind.looked_up == "own":
        return service in reach.top
    return service not in reach.http_only


def _leader(
    run: _Run, item: WinnerClass, service: str, reach: RouteReach | None, winner: Resource | None
) -> tuple[Resource | None, bool]:
    """Return whose conf the cluster of a service has: the last outbound that leads there (C2b)."""
    if not run.kind.leads:
        return None, True
    if reach is None or service not in reach.leaders:
        return winner, True
    found: list[Resource | None] = []
    for group in reach.leaders[service]:
        found.append(run.winner(item, group[-1]))
        if not (run.world.state.complete or run.world.listed):
            found.extend(run.winner(item, name) for name in group)
    same = all(_same(found[0], other) for other in found[1:])
    return found[0], same


def _same(one: Resource | None, two: Resource | None) -> bool:
    if one is None or two is None:
        return one is two
    return one is two or not differing((one, two))


def _values(table: Mapping[WinnerClass, Row]) -> dict[WinnerClass, dict[str, Json | None]]:
    return {c: {service: _conf(s) for service, s in row.items()} for c, row in table.items()}


def _conf(setting: WinnerSetting | None) -> Json | None:
    return setting.conf if setting is not None else None


def _drafts(
    type_: str,
    kept: Mapping[WinnerClass, Row],
    world: KnownWorld,
    said: Mapping[str, Mapping[str, Any]],
) -> tuple[tuple[PolicyDraft, ...], tuple[Manual, ...]]:
    written: dict[WinnerClass, dict[str, Json]] = {}
    drafts: list[PolicyDraft] = []
    manual: list[Manual] = []
    for item, row in kept.items():
        lower = [written[c] for c in written if c != item and item.within(c)]
        entries: dict[str, Json] = {}
        winners: list[Resource] = []
        other = row[OTHER_SERVICE]
        for service, setting in row.items():
            below = [e for confs in lower for e in _for_service(confs, service)]
            if service != OTHER_SERVICE:
                below += [entries[OTHER_SERVICE]] if OTHER_SERVICE in entries else []
                if OTHER_SERVICE in entries and _conf(setting) == _conf(other):
                    continue
            none = exhaustive.off_at(type_, service, world)
            if _conf(setting) in (None, none) and not (below and _reached(service, lower, entries)):
                continue  # so it is where nothing is said
            wanted = setting.conf if setting is not None else none
            entries[service], inherited = exhaustive.exhaustive(type_, wanted, below)
            if setting is not None:
                winners.extend(setting.winners)
            if inherited and setting is not None:
                manual.append(_leak(setting.winners[0], service, inherited))
        left = []
        for service, conf in said.items() if OTHER_SERVICE in entries else ():
            own, inherited = exhaustive.kept_out(type_, conf, entries[OTHER_SERVICE])
            if inherited and winners:
                manual.append(_leak(winners[0], service, inherited))
            if own:
                entries[service] = own
                left.append(service)
        written[item] = entries
        if entries and not winners:  # it only switches off what broader classes have
            winners.extend(r for d in drafts if item.within(d.item) for r in d.winners)
        if entries and winners:
            to = _to(type_, entries)
            drafts.append(
                PolicyDraft(item=item, to=to, winners=distinct(winners), left=tuple(left))
            )
    return tuple(drafts), tuple(manual)


def _reached(
    service: str, lower: Sequence[Mapping[str, Json]], entries: Mapping[str, Json]
) -> bool:
    return any(name in confs for confs in (*lower, entries) for name in (OTHER_SERVICE, service))


def _for_service(confs: Mapping[str, Json], service: str) -> list[Json]:
    """Return what is merged below an entry; the entry for any service covers all the others."""
    if service == OTHER_SERVICE:
        return list(confs.values())
    return [confs[name] for name in dict.fromkeys((OTHER_SERVICE, service)) if name in confs]


def _leak(policy: Resource, service: str, inherited: tuple[str, ...]) -> Manual:
    where = "any other service" if service == OTHER_SERVICE else service
    return Manual(
        resource=policy,
        message=f"for {where} it would inherit {', '.join(inherited)} from a broader policy,"
        " and nothing can be written that stops it",
        action="set the field in this policy, or take it out of the broader one",
    )


def _to(type_: str, entries: Mapping[str, Json]) -> list[Json]:
    """Return entries; one for a service needs not say again what that for all traffic says, which
    outranks what broader policies say of the service as well."""
    result = []
    for service, conf in entries.items():
        if service != OTHER_SERVICE and OTHER_SERVICE in entries:
            conf = exhaustive.beside(type_, conf, entries[OTHER_SERVICE])
        ref: Json = {"kind": "MeshService", "name": service}
        if service == OTHER_SERVICE:
            ref = {"kind": "Mesh"}
        result.append({"targetRef": ref, "default": conf})
    return result


def _winners(table: Mapping[WinnerClass, Row]) -> list[Resource]:
    return [r for row in table.values() for s in row.values() if s is not None for r in s.winners]


_SAME = "it says the same as what would count without it"


def _dropped(
    run: _Run,
    policies: Iterable[Resource],
    table: Mapping[WinnerClass, Row],
    drafts: Iterable[PolicyDraft],
) -> tuple[Dropped, ...]:
    won = _winners(table)
    carried = [r for draft in drafts for r in draft.winners]
    result = []
    for policy in policies:
        if not any(r is policy for r in won):
            why = PASSED_ALONE if run.kind.only else never_wins(policy, run.world, "sources")
            result.append(Dropped(resource=policy, reason=why))
        elif not any(r is policy for r in carried):
            result.append(Dropped(resource=policy, reason=_SAME))
    return tuple(result)
