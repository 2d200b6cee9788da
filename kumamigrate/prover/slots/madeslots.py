"""What differs at outbounds that the old engine makes, whatever their services speak.

Where nothing tells the protocol of a service, each is assumed in turn (maderun.py): a difference
under some of them only is in doubt, or the verdict says that it takes the service for one of TCP.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache, cached_property, partial
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.effective.bothengines.askedproxy import asked_of
from kumamigrate.effective.bothengines.oldview import OldSide
from kumamigrate.effective.bothengines.whoanswers import OUTBOUND
from kumamigrate.effective.difference import Effect, Witness
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.effective.policies.meshtimeout import IDLE
from kumamigrate.model.conf import canonical
from kumamigrate.model.resource import Resource
from kumamigrate.prover.doubts.besideold import stands
from kumamigrate.prover.slots.maderun import LED, MadeRun, Untold
from kumamigrate.prover.slots.mesh import MeshComparison
from kumamigrate.prover.slots.twosides import SAME, SlotsCompared
from kumamigrate.targetref.route import ServiceTag
from kumamigrate.universe.dataplaneparts import networking
from kumamigrate.universe.madeup import OTHER_SERVICE

ASSUMABLE = ("http", "http2", "grpc", "tcp", "kafka")
"""The protocols that services may have where no Dataplane tells any, besides none."""
_ON_OUTBOUNDS = frozenset(OUTBOUND)


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
    def _assumed(self) -> dict[str, tuple[OldSide, OldSide]]:
        """Both sides for each protocol that services may have of which nothing tells any."""
        return {protocol: self._assuming(protocol) for protocol in ASSUMABLE}

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
            own = MadeRun(
                self._pair, self._pair.engines, (asked[0], asked[1]), kinds, kept, self._only_real
            )
            found, under = own.compared(), dict[str, SlotsCompared]()
            opened, untold = self._open(kinds), own.untold if self._pair.known else {}
            open_to = frozenset(untold) if self._pair.known else kept
            if opened and open_to:
                under = {
                    protocol: replace(own, sides=sides, kinds=opened, kept=open_to).compared()
                    for protocol, sides in self._assumed.items()
                }
            if self._pair.known:
                self._compared[key] = self._settled(untold, found, under)
            else:
                self._compared[key] = _agreed([found, *under.values()])
        return self._compared[key]

    def _settled(
        self, untold: Untold, found: SlotsCompared, under: Mapping[str, SlotsCompared]
    ) -> SlotsCompared:
        """Return what differs if services without a Dataplane carry TCP, which is nearly what they
        have where they have none anywhere, and note those of which something differs if they carry
        anything else, or nothing.

        Of types whose old policies stay as they are that is a difference, as without those.
        """
        if under:
            found = self._but_for_none(found, under["tcp"], untold)
        known = {w.key for w in (*found.witnesses, *found.led)}
        more: dict[Any, Witness] = {}
        for witness in (w for one in under.values() for w in (*one.witnesses, *one.led)):
            if witness.effect is not Effect.VALUE or witness.key in known:
                continue
            if self._stands(witness.policy_type):
                more.setdefault(witness.key, witness)
            else:
                self.count_as_tcp.update(dict.fromkeys(_resting_on(witness, untold)))
        doubts = dict.fromkeys(doubt for one in (found, *under.values()) for doubt in one.doubts)
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
        return not LED.isdisjoint(kinds) and any(side.external for side in first)

    def _is_new(self, was: Resource, now: Resource, service: str) -> bool:
        """Whether routes of the new kind make an outbound, before and after."""
        return all(map(all, self._pair.made(was, now, ServiceTag(service))))


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
