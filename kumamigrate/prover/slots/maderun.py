"""What differs at a proxy's outbounds that the old engine makes, under one assumption.

Those that routes of the new kind make on both sides the targetRef engine reads (mesh.py). A slot
here is an outbound, told by its tags, or a cluster that some outbound leads to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cached_property

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.effective.bothengines.askedproxy import AskedProxy
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
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.prover.slots.mesh import MeshComparison
from kumamigrate.prover.slots.twosides import SlotsCompared
from kumamigrate.universe.madeup import OTHER_SERVICE
from kumamigrate.universe.side import ROUTES
from kumamigrate.universe.traffic import Outbound

Untold = Mapping[str, Set[str]]
"""Services to which a proxy has outbounds, with those that such an outbound leads to and whose
protocol nothing tells."""
LED = {*ROUTES, "MeshTrafficPermission"}
"""Types that decide which ExternalServices a proxy may use."""


@dataclass(frozen=True)
class MadeRun:
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
        if self.kinds & LED and (was.external or now.external):
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
