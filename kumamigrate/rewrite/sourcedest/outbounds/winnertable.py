"""Who wins for each class of proxies and each service, and what the winner says there.

The method is legacy-notes.md C6: one row a class, one cell a service, over all classes there are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kumamigrate.dataclass import dataclass, field
from kumamigrate.effective.readings import said_by
from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.sourcedest.classes import WinnerClass, connected
from kumamigrate.rewrite.sourcedest.confnotes import Notes
from kumamigrate.rewrite.sourcedest.conversion import Json, Manual, distinct
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.rewrite.sourcedest.newpolicies import PolicyDraft
from kumamigrate.rewrite.sourcedest.routetargets import (
    OTHER_SERVICE,
    RouteReach,
    outbound_family,
    reach_of,
    redirects,
)
from kumamigrate.sourcedest.oldconf import differing
from kumamigrate.sourcedest.order import CreationTie
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
class WinnerRun:
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


def row_of(run: WinnerRun, item: WinnerClass) -> Row:
    """Return what a class reads for each service that is known or named, and for any other."""
    world = run.world
    reach = reach_of(item, world, run.classes) if redirects(world) else None
    services = (OTHER_SERVICE, *sorted(set(world.services) | run.named))
    if run.kind.only:
        row: dict[str, WinnerSetting | None] = dict.fromkeys(services)
        return {**row, run.kind.only: _setting(run, item, run.kind.only, reach)}
    return {service: _setting(run, item, service, reach) for service in services}


def _setting(
    run: WinnerRun, item: WinnerClass, service: str, reach: RouteReach | None
) -> WinnerSetting | None:
    ties = len(run.ties)
    found = _settled(run, item, service, reach)
    if len(run.ties) > ties:
        run.tied.add(service)
    return found


def _settled(
    run: WinnerRun, item: WinnerClass, service: str, reach: RouteReach | None
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
    run: WinnerRun, item: WinnerClass, service: str, reach: RouteReach | None
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
    run: WinnerRun,
    item: WinnerClass,
    service: str,
    reach: RouteReach | None,
    winner: Resource | None,
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


def winners_in(table: Mapping[WinnerClass, Row]) -> list[Resource]:
    """Return the policies that say something somewhere."""
    return [r for row in table.values() for s in row.values() if s is not None for r in s.winners]
