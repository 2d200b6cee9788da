"""What differs at outbounds that the old engine makes on a side, and so by service tags alone.

Those that routes of the new kind make on both sides the targetRef engine reads (mesh.py). A slot
here is an outbound, told by its tags, or a cluster that some outbound leads to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from functools import cache, cached_property, partial
from typing import Any

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.effective.bothengines.askedproxy import AskedProxy, asked_of
from kumamigrate.effective.bothengines.comeorgone import TAGS_HEADER
from kumamigrate.effective.bothengines.comparedroutes import Table, first_difference
from kumamigrate.effective.bothengines.externals import EXTERNAL, external_access
from kumamigrate.effective.bothengines.madeoutbounds import (
    TREATED,
    engine_outbounds,
    outbound_places,
)
from kumamigrate.effective.bothengines.oldview import OldSide, Routes
from kumamigrate.effective.bothengines.unsettled import unsettled
from kumamigrate.effective.bothengines.whoanswers import OUTBOUND
from kumamigrate.effective.difference import Effect, Witness
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.effective.fact import CROSSED, Fact, Facts, Key
from kumamigrate.effective.policies.meshtimeout import IDLE
from kumamigrate.model.conf import canonical
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.prover.doubts.besideold import stands
from kumamigrate.prover.slots.mesh import MeshComparison
from kumamigrate.prover.slots.twosides import SAME, SlotsCompared
from kumamigrate.targetref.route import ServiceTag
from kumamigrate.universe.madeup import OTHER_SERVICE
from kumamigrate.universe.side import ROUTES, networking
from kumamigrate.universe.traffic import Outbound

ASSUMABLE = ("http", "http2", "grpc", "tcp", "kafka")
"""The protocols that services may have where no Dataplane tells any, besides none."""
_ON_OUTBOUNDS = frozenset(OUTBOUND)
_LED = {*ROUTES, "MeshTrafficPermission"}
"""Types that decide which ExternalServices a proxy may use."""


Untold = Mapping[str, Set[str]]
"""Services to which a proxy has outbounds, with those that such an outbound leads to and whose
protocol nothing tells."""


class MadeOutbounds:
    """Compares the outbounds of proxies that the old engine makes; each kind of proxy once."""

    def __init__(self, pair: MeshComparison, services: Collection[str], *, only_real: bool) -> None:
        self._pair = pair
        self._services = tuple(sorted(services))
        self._only_real = only_real
        self.count_as_tcp: dict[str, None] = {}
        """The services of which no Dataplane is known, and whose protocol would matter."""
        self._compared: dict[Any, SlotsCompared] = {}
        self._zone = pair.before.state.environment.zone
        self._stands = cache(partial(stands, pair))

    @cached_property
    def _assumed(self) -> list[tuple[OldSide, OldSide]]:
        return [self._assuming(one) for one in ASSUMABLE]

    def _open(self, kinds: frozenset[str]) -> frozenset[str]:
        """Return the types of which it matters what a service carries that nobody knows.

        Where all Dataplanes are known, one without any has no endpoints; but if old policies stay
        as they are, that changes no more than without them.
        """
        if not (self._pair.known and self._pair.whole):
            return kinds
        return frozenset(filter(self._stands, kinds))

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
            own = _MadeRun(
                self._pair, self._pair.engines, (asked[0], asked[1]), kinds, kept, self._only_real
            )
            runs = [own.compared()]
            opened, untold = self._open(kinds), own.untold if self._pair.known else {}
            open_to = frozenset(untold) if self._pair.known else kept
            if opened and open_to:
                runs += [
                    replace(own, sides=sides, kinds=opened, kept=open_to).compared()
                    for sides in self._assumed
                ]
            if self._pair.known:
                self._compared[key] = self._settled(untold, *runs)
            else:
                self._compared[key] = _agreed(runs)
        return self._compared[key]

    def _settled(
        self, untold: Untold, found: SlotsCompared, *others: SlotsCompared
    ) -> SlotsCompared:
        """Return what differs if services without a Dataplane carry TCP, which is nearly what they
        have where they have none anywhere, and note those of which something differs if they carry
        anything else, or nothing.

        Of types whose old policies stay as they are that is a difference, as without those.
        """
        if others:
            found = self._but_for_none(found, others[ASSUMABLE.index("tcp")], untold)
        known = {w.key for w in (*found.witnesses, *found.led)}
        more: dict[Any, Witness] = {}
        for witness in (w for one in others for w in (*one.witnesses, *one.led)):
            if witness.effect is not Effect.VALUE or witness.key in known:
                continue
            if self._stands(witness.policy_type):
                more.setdefault(witness.key, witness)
            else:
                self.count_as_tcp.update(dict.fromkeys(_resting_on(witness, untold)))
        doubts = dict.fromkeys(doubt for one in (found, *others) for doubt in one.doubts)
        every = (*found.witnesses, *more.values())
        return replace(found, witnesses=every, doubts=tuple(doubts))

    def _but_for_none(
        self, found: SlotsCompared, as_tcp: SlotsCompared, untold: Untold
    ) -> SlotsCompared:
        """Return what differs without what only does where a service has no protocol at all.

        Not at a service that somebody names: of that this is what a control plane gives today.
        """
        slots = {witness.slot for witness in as_tcp.witnesses}
        left = []
        for witness in found.witnesses:
            mine = witness.destination == OTHER_SERVICE and OTHER_SERVICE in untold
            may_stay = witness.effect is not Effect.VALUE or self._stands(witness.policy_type)
            if may_stay or not mine or witness.slot in slots:
                left.append(witness)
            else:
                self.count_as_tcp.update(dict.fromkeys(_resting_on(witness, untold)))
        return replace(found, witnesses=tuple(left))

    def may_differ(self, kinds: Collection[str], *, written: bool) -> bool:
        """Whether the old engine makes anything at all of some types for a proxy, which may have
        outbounds `written` in its Dataplane."""
        first = self._pair.engines
        made = written or not self._only_real
        if made and not _ON_OUTBOUNDS.isdisjoint(kinds) and any(side.routed for side in first):
            return True
        return not _LED.isdisjoint(kinds) and any(side.external for side in first)

    def _is_new(self, was: Resource, now: Resource, service: str) -> bool:
        """Whether routes of the new kind make an outbound, before and after."""
        return all(map(all, self._pair.made(was, now, ServiceTag(service))))


@dataclass(frozen=True)
class _MadeRun:
    """One comparison of the outbounds of one proxy, under one assumption about protocols.

    `kept` are the services for which the old engine makes the outbound on some side.
    """

    pair: MeshComparison
    sides: tuple[OldSide, OldSide]
    asked: tuple[AskedProxy, AskedProxy]
    kinds: frozenset[str]
    kept: frozenset[str]
    only_real: bool

    def compared(self) -> SlotsCompared:
        """Return what differs, and what nobody knows."""
        found: list[Witness] = []
        led: list[Witness] = []
        doubts = dict.fromkeys(self._doubts())
        for old, new in self._facts():
            for key in (key for key in old if key in new):
                # A cluster that comes or goes shows in the routes.
                facts = (old[key], new[key])
                slot = self.pair.slot(key, key[0], "outbound", facts, whole=True)
                doubts |= dict.fromkeys(slot.doubts)
                treated = facts[0].settings.get(TREATED) != facts[1].settings.get(TREATED)
                for one in slot.witnesses:
                    if one.field == TREATED or not treated:
                        witness = self._told(key, one)
                        (led if _is_led(witness, *facts) else found).append(witness)
        return SlotsCompared(tuple(found), tuple(doubts), tuple(led))

    @property
    def _makes(self) -> bool:
        """Whether the old engine makes any: one that a Dataplane writes down is there in any
        mode."""
        makes = not self.kinds.isdisjoint(OUTBOUND) and any(side.routed for side in self.sides)
        return makes and (any(one.ordered for one in self.asked) or not self.only_real)

    @property
    def untold(self) -> Untold:
        """The services kept to whose outbounds it may matter what a service speaks of which nothing
        tells it, with those: the service itself, or one that its outbound leads to."""
        found: dict[str, set[str]] = {}
        for side, asked, ways in zip(self.sides, self.asked, self._ways, strict=True):
            for one in (one for way in ways for one in engine_outbounds(side, asked, way)):
                led = {one.service, *(tags[SERVICE] for tags in one.table.clusters)}
                if one.service in self.kept and not led <= side.known.keys():
                    found.setdefault(one.service, set()).update(led - side.known.keys())
        return found

    def _doubts(self) -> Iterator[Doubt]:
        if not self._makes:
            return
        for side, asked in zip(self.sides, self.asked, strict=True) if self.pair.known else ():
            yield from unsettled(side, asked, self.kept)
        if not all(self._ways):
            words = "old TrafficRoutes tie in more ways than can be tried"
            yield Doubt(DoubtKind.COMBINATIONS, words)

    @cached_property
    def _ways(self) -> list[list[Routes]]:
        return [side.scenarios(asked) for side, asked in zip(self.sides, self.asked, strict=True)]

    def _facts(self) -> Iterator[tuple[Facts, Facts]]:
        (was, now), (old, new) = self.sides, self.asked
        if self._makes:
            if not all(self._ways):
                return
            for left, right in _couples(*self._ways):
                yield (
                    outbound_places(was, old, self.kinds, left, self.kept),
                    outbound_places(now, new, self.kinds, right, self.kept),
                )
        if self.kinds & _LED and (was.external or now.external):
            led_to = was.led_to(old) | now.led_to(new)
            yield external_access(was, old, led_to), external_access(now, new, led_to)

    def _told(self, key: Key, witness: Witness) -> Witness:
        """Return a difference as it is told: at which outbound or cluster, for which requests."""
        _, part, name = key
        effect = Effect.RESIDUE if self._is_residue(key, witness) else witness.effect
        before, after, place = witness.before, witness.after, f"{part}/{name}"
        if isinstance(before.value, Table) and isinstance(after.value, Table):
            request = first_difference(before.value, after.value)
            if request is not None:
                before, after = replace(before, value=request[1]), replace(after, value=request[2])
                name += f" ({request[0]})" if request[0] != "any request" else ""
        return replace(
            witness,
            destination=name,
            place=place,
            outbound=Outbound.SERVICE_TAG,
            before=before,
            after=after,
            effect=effect,
        )

    def _is_residue(self, key: Key, witness: Witness) -> bool:
        """Whether no targetRef policy can express a difference (notes C9)."""
        idle = key[:2] == ("MeshTimeout", "cluster") and witness.field == IDLE
        grpc = idle and self.sides[0].protocol(key[2].split("{")[0]) == "grpc"
        return grpc or (witness.field == TAGS_HEADER and witness.after.value is None)


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


def _resting_on(witness: Witness, untold: Untold) -> list[str]:
    """Return the services whose protocol a difference rests on: of an outbound those that nothing
    tells of it, of a cluster its own or those of the outbounds that lead there."""
    service = witness.destination.split(" ")[0].split("{")[0]
    every = {name for names in untold.values() for name in names}
    return sorted(untold.get(service) or ({service} & every) or every)


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


def _way(routes: Routes) -> tuple[tuple[str, str], ...]:
    return tuple((s, _said(r) if r is not None else "") for s, r in sorted(routes.items()))


def _said(route: Resource) -> str:
    if "way" not in route.kept:
        route.kept["way"] = repr((route.identity, route.created, route.spec))
    found: str = route.kept["way"]
    return found
