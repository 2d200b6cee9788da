"""What differs for one proxy under a claim, and what is not known of it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from kumamigrate.effective.difference import Value, Witness
from kumamigrate.effective.doubted import Doubt
from kumamigrate.effective.outboundfacts import BY_ROUTE
from kumamigrate.model.resource import Resource
from kumamigrate.prover.claimed import CARRY, LIVE, RELEASE
from kumamigrate.prover.claims.carry import as_tags, carry_witnesses
from kumamigrate.prover.claims.tagsreplaced import carry_doubts, takes_over
from kumamigrate.prover.claims.upgrade import (
    upgrade_dataplane_differences,
    upgrade_workload_differences,
)
from kumamigrate.prover.crossmesh import CrossMesh, cross_mesh_differences
from kumamigrate.prover.doubts.concern import Concerns
from kumamigrate.prover.doubts.tiedoubts import tie_doubts
from kumamigrate.prover.endpointmoves import EndpointMoves
from kumamigrate.prover.gateway import gateway_witnesses, is_builtin
from kumamigrate.prover.nonpolicy import dataplane_differences
from kumamigrate.prover.oldengine import OldEngine
from kumamigrate.prover.outboundsasked import OutboundsAsked
from kumamigrate.prover.slots.mesh import MeshComparison
from kumamigrate.prover.slots.twosides import SAME
from kumamigrate.prover.subject import Subject
from kumamigrate.prover.telemetry import telemetry_differences
from kumamigrate.prover.workload import (
    note_doubts,
    workload_differences,
)
from kumamigrate.universe.backend import Cluster, is_same, listed_outbounds, written_outbounds
from kumamigrate.universe.side import ROUTES, is_zone_egress
from kumamigrate.universe.traffic import Outbound, kind_of


class ProxyDifferences:
    """What differs for the proxies of one mesh under one claim, asked proxy by proxy."""

    def __init__(
        self,
        claim: str,
        pair: MeshComparison,
        old: OldEngine,
        concerns: Concerns,
        outbounds: OutboundsAsked,
    ) -> None:
        self.claim = claim
        self.pair = pair
        self.old = old
        self.concerns = concerns
        self.outbounds = outbounds

    def of(
        self, subject: Subject, shared: tuple[Witness, ...]
    ) -> tuple[tuple[Witness, ...], tuple[Doubt, ...]]:
        """Return what differs for a proxy, with what does for every proxy, and what is not known
        of it."""
        if subject.was is not None and self._calls_nobody(subject.was):
            shared = tuple(w for w in shared if w.direction != "outbound")
        if subject.was is None or subject.now is None:
            return (*shared, *self._come_or_gone(subject)), ()
        ends = self.outbounds.gateways_end and is_builtin(subject.was)
        tied = {} if ends else tie_doubts(self.pair, subject.was, subject.now)
        unknown = tuple(doubt for doubts in tied.values() for doubt in doubts)
        # What chance decides is neither the same nor different.
        chance = {*tied, *(BY_ROUTE if tied.keys() & set(ROUTES) else ())}
        every = self._witnesses(subject.was, subject.now, own=subject.workload is None)
        if subject.workload is not None:
            every += tuple(self._of_workload(subject.was, subject.now))
            unknown += tuple(note_doubts(subject.workload)) if self.claim == LIVE else ()
        sure = tuple(w for w in every if w.policy_type not in chance)
        listed = not subject.made_up and subject.workload is None
        alone = not listed or self.claim == CARRY
        moved = () if alone else (*self._of_others(subject.was, subject.now),)
        made = self.old.of(subject.was, subject.now) if listed else SAME
        unknown += (*self.concerns.of_proxy(subject.was, subject.now), *made.doubts)
        if self.claim == CARRY or self.outbounds.tags_end_of(subject.was):
            unknown += carry_doubts(self.pair, subject.was, self.outbounds.alone)
        return (*shared, *map(self.old.seen, sure), *made.witnesses, *moved), unknown

    def _calls_nobody(self, proxy: Resource) -> bool:
        before = self.pair.before
        return written_outbounds(before, proxy) == {} and not is_zone_egress(before, proxy)

    def _of_workload(self, was: Resource, now: Resource) -> Iterator[Witness]:
        """Yield what differs in the Dataplane of a workload itself."""
        pair = self.pair
        if self.claim == RELEASE:
            tags = pair.chosen.tags
            yield from upgrade_workload_differences(pair.before, pair.after, was, now, tags)
        else:
            named = (pair.chosen.tags, pair.chosen.of_proxies)
            yield from workload_differences(was, now, pair.before.mesh, *named)
            yield from telemetry_differences(pair.before, pair.after, was, now)

    def _of_others(self, was: Resource, now: Resource) -> Iterator[Witness]:
        """Yield what differs for a proxy as others are no longer what they were."""
        yield from self._endpoints.of(was, now)
        if self.claim != LIVE:
            return
        sides = ((self.pair.before, was), (self.pair.after, now))
        for one in self.across:
            if any(one.concerns(side, proxy) for side, proxy in sides):
                yield one.witness

    @cached_property
    def _endpoints(self) -> EndpointMoves:
        return EndpointMoves(self.pair)

    @cached_property
    def across(self) -> tuple[CrossMesh, ...]:
        return tuple(cross_mesh_differences(self.pair.before, self.pair.after))

    def _come_or_gone(self, subject: Subject) -> Iterator[Witness]:
        proxy = subject.was or subject.now
        gone = self.claim == RELEASE and proxy is not None and not is_builtin(proxy)
        if self.claim == LIVE or gone:
            yield Witness(
                mesh=self.pair.before.mesh,
                proxy=subject.name,
                policy_type="Dataplane",
                direction="proxy",
                place=subject.name,
                field="",
                before=Value(value="present" if subject.was is not None else None),
                after=Value(value="present" if subject.now is not None else None),
            )

    def _witnesses(self, was: Resource, now: Resource, *, own: bool) -> tuple[Witness, ...]:
        """Return what differs for a proxy, with `own` in its own Dataplane, too."""
        if is_builtin(was) or is_builtin(now):
            if self.outbounds.gateways_end:
                return ()
            itself = self._itself(was, now)
            own = own and self.claim == LIVE
            return (*(itself if own else ()), *gateway_witnesses(self.pair, was, now))
        if self.claim == CARRY:
            return carry_witnesses(self.pair, was, now, self.outbounds.couples)
        found: list[Witness] = []
        if own and self.claim == LIVE:
            found += self._itself(was, now)
        elif own:
            sides = (self.pair.before, self.pair.after)
            found += upgrade_dataplane_differences(*sides, was, now)
        found += self._outbounds(was, now)
        if is_zone_egress(self.pair.before, was) and is_zone_egress(self.pair.after, now):
            found += self.pair.leaving(was, now, self.outbounds.outside)
        if self.outbounds.tags_end_of(was):
            couples = self.outbounds.couples
            found += as_tags(carry_witnesses(self.pair, was, now, couples, ends=True))
        found += self.pair.inbounds(was, now)
        found += self.pair.proxy(was, now)
        return tuple(found)

    def _itself(self, was: Resource, now: Resource) -> Iterator[Witness]:
        yield from dataplane_differences(
            self.pair.before.mesh, was, now, self.pair.chosen.of_proxies
        )
        yield from telemetry_differences(self.pair.before, self.pair.after, was, now)

    def _outbounds(self, was: Resource, now: Resource) -> Iterator[Witness]:
        old = written_outbounds(self.pair.before, was)
        new = written_outbounds(self.pair.after, now)
        names = self.claim == LIVE
        left, right = old or {}, new or {}
        if old is None and new is None:
            yield from self.pair.outbounds(was, now, self.outbounds.network, names=names)
            left, right = (
                listed_outbounds(side, proxy)
                for side, proxy in ((self.pair.before, was), (self.pair.after, now))
            )
            if left == right:
                return
        for key in dict.fromkeys((*left, *right)):
            if self.outbounds.only_real and key in left and _is_tag(left[key]):
                mine = right.get(key)
                if old is not None and not (mine and takes_over(self.pair, left[key], mine)):
                    yield self._other_outbound(key, left[key], mine)
                continue
            if key in left and is_same(left[key], right.get(key)):
                yield from self.pair.outbound(was, now, left[key].destination, names=names)
                if names:
                    yield from self.pair.renamed_outbound(was, now, key, left[key])
            elif self.claim != CARRY:
                yield self._other_outbound(key, left.get(key), right.get(key))

    def _other_outbound(self, key: str, old: Cluster | None, new: Cluster | None) -> Witness:
        return Witness(
            mesh=self.pair.before.mesh,
            proxy="",
            policy_type="Dataplane",
            direction="outbound",
            destination=key,
            place=key,
            field="networking.outbound",
            before=Value(value=None if old is None else old.key),
            after=Value(value=None if new is None else new.key),
        )


def _is_tag(cluster: Cluster) -> bool:
    return kind_of(cluster.destination) is Outbound.SERVICE_TAG
