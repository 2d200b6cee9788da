"""What differs at outbounds that the old engine makes on a side, and so by service tags alone.

Those that routes of the new kind make on both sides the targetRef engine reads (mesh.py). A slot
here is an outbound, told by its tags, or a cluster that some outbound leads to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from kumamigrate.effective.bothengines.comparedroutes import Table, first_difference
from kumamigrate.effective.bothengines.externals import EXTERNAL, external_access
from kumamigrate.effective.bothengines.madeoutbounds import (
    CROSSED,
    NORMALIZED,
    TREATED,
    outbound_places,
)
from kumamigrate.effective.bothengines.makers import TAGS_HEADER
from kumamigrate.effective.bothengines.oldview import AskedProxy, OldSide, Routes, asked_of
from kumamigrate.effective.bothengines.unsettled import unsettled
from kumamigrate.effective.bothengines.whoanswers import OUTBOUND
from kumamigrate.effective.compare import Difference, differences, undecided, value_of
from kumamigrate.effective.difference import Effect, Witness
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.effective.fact import Fact, Facts
from kumamigrate.effective.policies.meshtimeout import DOWNSTREAM, IDLE
from kumamigrate.model.conf import canonical
from kumamigrate.model.resource import Resource
from kumamigrate.prover.mesh import MeshComparison
from kumamigrate.prover.proxyslots import SAME, SlotsCompared
from kumamigrate.targetref.route import ServiceTag
from kumamigrate.universe.madeup import OTHER_SERVICE
from kumamigrate.universe.side import ROUTES, networking
from kumamigrate.universe.traffic import Outbound

ASSUMABLE = ("http", "http2", "grpc", "tcp", "kafka")
"""The protocols that services may have where no Dataplane tells any, besides none."""
_ON_OUTBOUNDS = frozenset(OUTBOUND)
_LED = {*ROUTES, "MeshTrafficPermission"}
"""Types that decide which ExternalServices a proxy may use."""


class MadeOutbounds:
    """Compares the outbounds of proxies that the old engine makes; each kind of proxy once."""

    def __init__(self, pair: MeshComparison, services: Collection[str], *, only_real: bool) -> None:
        self._pair = pair
        self._services = tuple(sorted(services))
        self._only_real = only_real
        self._runs = [pair.engines]
        if not pair.known:
            self._runs += [self._assuming(one) for one in ASSUMABLE]
        self._compared: dict[Any, SlotsCompared] = {}
        self._zone = pair.before.state.environment.zone

    def _assuming(self, protocol: str) -> tuple[OldSide, OldSide]:
        before, after = self._pair.before, self._pair.after
        return OldSide(before, protocol, self._services), OldSide(after, protocol, self._services)

    def compare(self, was: Resource, now: Resource, kinds: frozenset[str]) -> SlotsCompared:
        """Compare what a proxy reads of some types at the outbounds that are of interest here."""
        written = any(networking(dataplane).get("outbound") for dataplane in (was, now))
        if not self.may_differ(kinds, written=written):
            return SAME
        sides = ((self._pair.before, was), (self._pair.after, now))
        read = ((canonical(networking(d)), d.zone, side.proxy_class(d)) for side, d in sides)
        key = (kinds, *read)
        if key not in self._compared:
            asked = [asked_of(d, self._zone, self._services) for d in (was, now)]
            kept = frozenset(s for s in asked[0].services if not self._is_new(was, now, s))
            runs = [_MadeRun(self._pair, *run, kinds, kept, self._only_real) for run in self._runs]
            self._compared[key] = _agreed([run.compared(*asked) for run in runs])
        return self._compared[key]

    def may_differ(self, kinds: Collection[str], *, written: bool) -> bool:
        """Whether the old engine makes anything at all of some types for a proxy, which may have
        outbounds `written` in its Dataplane."""
        first = self._runs[0]
        made = written or not self._only_real
        if made and not _ON_OUTBOUNDS.isdisjoint(kinds) and any(side.routed for side in first):
            return True
        return not _LED.isdisjoint(kinds) and any(side.external for side in first)

    def _is_new(self, was: Resource, now: Resource, service: str) -> bool:
        """Whether routes of the new kind make an outbound, before and after."""
        return all(map(all, self._pair.made(was, now, ServiceTag(service))))


class _MadeRun:
    """One comparison of one proxy, under one assumption about protocols."""

    def __init__(
        self,
        pair: MeshComparison,
        was: OldSide,
        now: OldSide,
        kinds: frozenset[str],
        kept: frozenset[str],
        only_real: bool,
    ) -> None:
        self.pair, self.was, self.now = pair, was, now
        self.kinds, self.kept, self.only_real = kinds, kept, only_real
        self.found: list[Witness] = []
        self.led: list[Witness] = []
        self.doubts: dict[Doubt, None] = {}

    def compared(self, was: AskedProxy, now: AskedProxy) -> SlotsCompared:
        """Return what differs, and what nobody knows."""
        for facts in self._facts(was, now):
            for key in (key for key in facts[0] if key in facts[1]):
                # A cluster that comes or goes shows in the routes.
                old, new = facts[0][key], facts[1][key]
                doubt = undecided(key[0], old, new)
                if doubt is not None:
                    self.doubts[doubt] = None
                treated = old.settings.get(TREATED) != new.settings.get(TREATED)
                for one in differences({key: old}, {key: new}):
                    if one.field == TREATED or not treated:
                        witness = self._witness(one)
                        (self.led if _is_led(witness, old, new) else self.found).append(witness)
        return SlotsCompared(tuple(self.found), tuple(self.doubts), tuple(self.led))

    def _facts(self, was: AskedProxy, now: AskedProxy) -> Iterator[tuple[Facts, Facts]]:
        made = self.kinds & _ON_OUTBOUNDS and (self.was.routed or self.now.routed)
        # An outbound that a Dataplane writes down is there in any mode.
        if made and (was.ordered or now.ordered or not self.only_real):
            if self.pair.known:
                sides = ((self.was, was), (self.now, now))
                told = (doubt for side in sides for doubt in unsettled(*side, self.kept))
                self.doubts.update(dict.fromkeys(told))
            ways = self.was.scenarios(was), self.now.scenarios(now)
            if ways[0] is None or ways[1] is None:
                words = "old TrafficRoutes tie in more ways than can be tried"
                self.doubts[Doubt(DoubtKind.COMBINATIONS, words)] = None
                return
            for left, right in _couples(ways[0], ways[1]):
                yield (
                    outbound_places(self.was, was, self.kinds, left, self.kept),
                    outbound_places(self.now, now, self.kinds, right, self.kept),
                )
        if self.kinds & _LED and (self.was.external or self.now.external):
            led_to = self.was.led_to(was) | self.now.led_to(now)
            yield external_access(self.was, was, led_to), external_access(self.now, now, led_to)

    def _witness(self, found: Difference) -> Witness:
        policy_type, part, name = found.key
        values = (found.before, found.after)
        if isinstance(found.before, Table) and isinstance(found.after, Table):
            request = first_difference(found.before, found.after)
            if request is not None:
                values = request[1:]
                name += f" ({request[0]})" if request[0] != "any request" else ""
        before, after = (
            value_of(fact, found.field, value, locate, whole=True)
            for fact, value, locate in zip(
                (found.was, found.now), values, self.pair.locate, strict=True
            )
        )
        return Witness(
            mesh=self.pair.before.mesh,
            proxy="",
            policy_type=policy_type,
            direction="outbound",
            destination=name,
            place=f"{part}/{found.key[2]}",
            outbound=Outbound.SERVICE_TAG,
            field=found.field,
            before=before,
            after=after,
            effect=Effect.RESIDUE if self._is_residue(found) else Effect.VALUE,
        )

    def _is_residue(self, found: Difference) -> bool:
        """Whether no targetRef policy can express a difference (notes C4, C9, C23)."""
        idle = found.key[:2] == ("MeshTimeout", "cluster") and found.field == "idleTimeout"
        grpc = idle and self.was.protocol(found.key[2].split("{")[0]) == "grpc"
        untagged = found.field == TAGS_HEADER and found.after is None
        return grpc or untagged or found.field in (DOWNSTREAM, NORMALIZED)


def _is_led(witness: Witness, old: Fact, new: Fact) -> bool:
    """Whether only a proxy's own outbounds tell what it reads.

    TrafficRoutes cross: they lead a connection nowhere, or past its protocol (notes C3), or
    several to one cluster (C2b); or they lead services that nobody named elsewhere (§2.6, 6).
    Or it is about an ExternalService, which matters to those that have an outbound to it.
    """
    was = str(witness.before.value)
    routes = witness.field == "routes"
    nowhere = routes and (was == "nothing" or was.startswith("treated as"))
    unnamed = routes and witness.destination.split(" ")[0] == OTHER_SERVICE
    led = witness.field == TREATED or witness.policy_type == EXTERNAL
    return nowhere or unnamed or led or old.why in CROSSED or new.why in CROSSED


def _agreed(runs: Sequence[SlotsCompared]) -> SlotsCompared:
    """Join runs under different assumptions: what only some of them find is unknown."""
    if len(runs) == 1:
        return runs[0]
    doubts = dict.fromkeys(doubt for run in runs for doubt in run.doubts)
    found: list[Witness] = []
    every = [{w.key: w for w in (*run.witnesses, *run.led)} for run in runs]
    for key in dict.fromkeys(key for one in every for key in one):
        holding = [one[key] for one in every if key in one]
        if len(holding) == len(runs) or holding[0].effect is not Effect.VALUE:
            found.append(holding[0])
        else:
            doubts[_on_protocol(holding[0])] = None
    return SlotsCompared(tuple(found), tuple(doubts))


def _on_protocol(witness: Witness) -> Doubt:
    kind, field = witness.policy_type, witness.field
    words = (
        f"{kind} for {witness.destination}: {field} depends on the protocol of the service, which"
        " the state does not say; give an inventory with the Dataplanes (--inventory)"
    )
    if (kind, field) == ("MeshTimeout", IDLE):
        # Once a MeshTimeout says it, all that may be lost is what the old engine kept off.
        words += f", or first write a MeshTimeout to Mesh with the {field} that you want"
    return Doubt(DoubtKind.PROTOCOL, words, concerns=kind)


def _couples(
    left: Sequence[Routes], right: Sequence[Routes]
) -> Iterator[tuple[Sequence[Routes], Sequence[Routes]]]:
    """Yield the ways in which TrafficRoutes may win, each with the same way on the other side.

    Where both sides know the same ways, whichever wins on one wins on the other.
    """
    keyed = [{_way(one): one for one in ways} for ways in (left, right)]
    if keyed[0].keys() != keyed[1].keys():
        yield left, right
        return
    for key, one in keyed[0].items():
        yield [one], [keyed[1][key]]


def _way(routes: Routes) -> str:
    said = [(s, r and (r.identity, r.created, r.spec)) for s, r in sorted(routes.items())]
    return repr(said)
