"""One comparison of what either engine makes, and of proxies that old selectors tell apart."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import product

from kumamigrate.effective.bothengines.externals import EXTERNAL, external_access
from kumamigrate.effective.bothengines.madeoutbounds import (
    CROSSED,
    NORMALIZED,
    TREATED,
    outbound_places,
)
from kumamigrate.effective.bothengines.makers import Makers
from kumamigrate.effective.bothengines.oldview import AskedProxy, OldSide, Routes, asked_of
from kumamigrate.effective.bothengines.traitsets import (
    ANY_SERVICE,
    Traits,
    TraitSets,
    called,
    made_up,
    services_of,
    trait_sets,
)
from kumamigrate.effective.bothengines.whoanswers import BY_CLIENT, OUTBOUND, WHOLE
from kumamigrate.effective.compare import called_all, too_many_ways, undecided
from kumamigrate.effective.difference import Effect, Locate, Witness
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.effective.fact import Fact, Facts, Key
from kumamigrate.effective.proxyfacts import LOG
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import mesh_services_mode
from kumamigrate.prover.madedifferences import MadeDifferences
from kumamigrate.prover.mesh import MeshComparison
from kumamigrate.prover.proof import only_listed
from kumamigrate.sourcedest.selector import Tags
from kumamigrate.targetref.route import ServiceTag
from kumamigrate.universe.oldtraits import split
from kumamigrate.universe.side import ROUTES

MOST_PAIRS = 60


@dataclass(slots=True)
class EngineAnswer:
    """What the comparison came to, proxy by proxy, and what it rests on.

    `doubts` is what is not known of listed proxies, `elsewhere` of others, `unknown` of all.
    """

    witnesses: dict[str, list[Witness]] = field(default_factory=dict)
    unknown: dict[Doubt, None] = field(default_factory=dict)
    doubts: dict[str, dict[Doubt, None]] = field(default_factory=dict)
    elsewhere: dict[Doubt, None] = field(default_factory=dict)
    beyond: dict[str, None] = field(default_factory=dict)
    assumptions: dict[str, None] = field(default_factory=dict)


class EngineRun:
    """One comparison under one assumption about protocols.

    `covered` are the new types to compare, `known` says that the state has Dataplanes, which
    settle what a made-up proxy leaves open. Proxies that are `broken_by` what is taken for granted
    of tags and labels (selector_equality.py) are not made up; `pairs` is the same as traits that
    go together. `suspects` tells what those policies of a type ask that can make a difference, None
    where any can.
    """

    def __init__(
        self,
        *,
        was: OldSide,
        now: OldSide,
        covered: frozenset[str],
        locate: tuple[Locate, Locate],
        known: bool,
        broken_by: Callable[[Resource], bool],
        pairs: Sequence[tuple[Traits, Traits]],
        suspects: Callable[[str], Sequence[Tags] | None],
        pair: MeshComparison,
    ) -> None:
        self.pair = pair
        self.was, self.now = was, now
        self.broken_by, self.pairs, self.suspects = broken_by, pairs, suspects
        self.covered = covered
        self.known = known
        self.told = MadeDifferences(was, locate)
        self.found = EngineAnswer()
        self.zone = was.side.state.environment.zone
        self.services = tuple(sorted(services_of(was, now, covered)))
        self._seen: set[tuple[str, ...]] = set()
        self._residues: set[tuple[str, ...]] = set()
        self._crossed: set[tuple[str, ...]] = set()
        self._same: dict[str, tuple[Sequence[Witness], Mapping[Doubt, None]]] = {}
        self._noted = self.found.elsewhere

    # -- proxies -----------------------------------------------------------------------------

    def listed(self, name: str, was: Resource, now: Resource) -> None:
        """Compare a Dataplane of the states; proxies that read the same are compared once."""
        key = repr([(d.spec.get("networking"), sorted(d.labels.items())) for d in (was, now)])
        if key not in self._same:
            self._same[key] = self._listed(was, now)
        found, noted = self._same[key]
        for witness in found:
            self._add(name, witness)
        if noted:
            self.found.doubts[name] = dict(noted)

    def _listed(
        self, was: Resource, now: Resource
    ) -> tuple[Sequence[Witness], Mapping[Doubt, None]]:
        """Return what differs for a Dataplane, and what is not known of it."""
        asked = [asked_of(d, self.zone, self.services) for d in (was, now)]
        self._noted = {}
        kept = self._kept(was, now, asked[0].services)
        found = tuple(self._compare(asked[0], asked[1], self.covered, kept=kept))
        noted, self._noted = self._noted, self.found.elsewhere
        return found, noted

    def _kept(self, was: Resource, now: Resource, services: Sequence[str]) -> frozenset[str]:
        """Return the services whose outbounds the old engine makes on either side.

        The others the new engine's own reading compares.
        """
        sides = ((Makers(self.was.side), was), (Makers(self.now.side), now))
        return frozenset(
            service
            for service in services
            if not all(all(makers.new(d, ServiceTag(service))) for makers, d in sides)
        )

    def made_up(self, policy_type: str) -> None:
        """Compare a proxy for every set of tags that policies of a type tell apart."""
        among = self.suspects(policy_type)
        if among is not None and not among:
            return
        asked = partial(
            trait_sets,
            self.was,
            self.now,
            policy_type,
            on_routes=self._only_real,
            pairs=self.pairs,
        )
        sets = asked(among=among)
        if sets is None:
            self.found.unknown[too_many_ways(policy_type)] = None
            return
        kinds = frozenset({policy_type})
        for own, loose in sets:
            self._try([own], kinds, loose=loose)
        if policy_type in BY_CLIENT:
            return
        pairs = _pairs_of(sets, sets if among is None else asked())
        if pairs is None:
            self._beyond("a proxy with several inbounds that different policies choose")
            return
        for one, two in pairs:
            self._try([one, two], kinds, loose=True)

    def _try(self, sets: Sequence[Tags], kinds: frozenset[str], *, loose: bool) -> None:
        dataplane = made_up(sets, self.zone, self.was.side.mesh)
        if dataplane is None or self.broken_by(dataplane):
            return
        asked = asked_of(dataplane, self.zone, self.services)
        name = called(sets)
        found = list(self._compare(asked, asked, kinds, made_up=name))
        if loose and self.known:
            if any(w.effect is Effect.VALUE for w in found):
                self._beyond(name)
            return
        for witness in found:
            if self._unled(witness) and self.known:
                where = f"traffic to {witness.destination}, which depends on its outbounds"
                self._beyond(f"{name} with {where}")
                continue
            key = witness.key[1:]
            if key not in self._seen:
                self._seen.add(key)
                self._add(name, witness)

    def _unled(self, witness: Witness) -> bool:
        """Whether only a proxy's own outbounds tell what it reads.

        TrafficRoutes cross: they lead a connection nowhere, or past its protocol (notes C3), or
        several to one cluster (C2b); or they lead services that nobody named elsewhere (§2.6, 6).
        Or it is about an ExternalService, which matters to those that have an outbound to it.
        """
        was = str(witness.before.value)
        routes = witness.field == "routes"
        nowhere = routes and (was == "nothing" or was.startswith("treated as"))
        unnamed = routes and witness.destination.split(" ")[0] == ANY_SERVICE
        led = witness.field == TREATED or witness.policy_type == EXTERNAL
        return nowhere or unnamed or led or witness.key in self._crossed

    def _beyond(self, what: str) -> None:
        self.found.beyond[only_listed(what)] = None

    # -- comparing ---------------------------------------------------------------------------

    def _compare(
        self,
        was: AskedProxy,
        now: AskedProxy,
        kinds: frozenset[str],
        *,
        made_up: str = "",
        kept: frozenset[str] | None = None,
    ) -> Iterator[Witness]:
        if kinds & set(OUTBOUND) and self._routed and not self._only_real:
            ways = [side.scenarios(asked) for side, asked in ((self.was, was), (self.now, now))]
            if ways[0] is None or ways[1] is None:
                words = "old TrafficRoutes tie in more ways than can be tried"
                self._noted[Doubt(DoubtKind.COMBINATIONS, words)] = None
                return
            for left, right in _couples(ways[0], ways[1]):
                yield from self._differing(
                    outbound_places(self.was, was, kinds, left, kept),
                    outbound_places(self.now, now, kinds, right, kept),
                    made_up,
                )
        if kinds & {*ROUTES, "MeshTrafficPermission"}:
            led_to = self._led_to(was, now)
            old = external_access(self.was, was, led_to)
            yield from self._differing(old, external_access(self.now, now, led_to), made_up)
        if made_up:
            yield from self._unlisted(was.dataplane, kinds, made_up)

    def _unlisted(self, proxy: Resource, kinds: frozenset[str], name: str) -> Iterator[Witness]:
        """Yield what differs for a made-up proxy off its outbounds."""
        for kind in sorted(kinds & {*WHOLE, *BY_CLIENT, LOG}):
            compare = self.pair.single if kind in WHOLE else self.pair.at_clients
            found = self.pair.passed(proxy, proxy) if kind == LOG else compare(proxy, proxy, kind)
            yield from found.witnesses
            for doubt in found.doubts:
                if self.known and doubt.kind is DoubtKind.MISSING:
                    self._beyond(f"{name}: {doubt}")
                else:
                    self._noted[doubt] = None

    def _led_to(self, was: AskedProxy, now: AskedProxy) -> frozenset[str]:
        """Return where traffic of a proxy may end; only ExternalServices make anybody ask."""
        if not (self.was.external or self.now.external):
            return frozenset()
        return self.was.led_to(was) | self.now.led_to(now)

    def _differing(self, old: Facts, new: Facts, made_up: str) -> Iterator[Witness]:
        for place in dict.fromkeys((*old, *new)):
            if place not in old or place not in new:
                continue  # a cluster that comes or goes shows in the routes
            yield from self._differ(place, old[place], new[place], made_up)

    @property
    def _routed(self) -> bool:
        """Whether the old engine makes outbounds on either side."""
        return self.was.routed or self.now.routed

    @cached_property
    def _only_real(self) -> bool:
        """Whether the mesh has no service-tag outbounds, which alone the old engine makes."""
        modes = {mesh_services_mode(s.side.state, s.side.mesh) for s in (self.was, self.now)}
        return modes == {"Exclusive"}

    def _differ(self, place: Key, old: Fact, new: Fact, made_up: str) -> Iterator[Witness]:
        if not (old.others or new.others):
            for witness in self.told.witnesses(place, old, new):
                if old.why in CROSSED or new.why in CROSSED:
                    self._crossed.add(witness.key)
                yield witness
            return
        doubt = undecided(place[0], old, new)
        if doubt is None:
            return
        tied = old if old.others else new
        if made_up and self.known:
            self._beyond(f"{made_up}, for which {tied.why} decides between {called_all(tied.old)}")
            return
        self._noted[doubt] = None

    def _add(self, name: str, witness: Witness) -> None:
        if witness.effect is Effect.RESIDUE:
            key = witness.key[1:]
            if witness.direction == "inbound" or witness.field == NORMALIZED:
                key = (witness.policy_type, witness.field, *key[-2:])
            if key in self._residues:
                return
            self._residues.add(key)
        self.found.witnesses.setdefault(name, []).append(replace(witness, proxy=name))


def _pairs_of(
    sets: TraitSets, others: TraitSets | None
) -> list[tuple[dict[str, str], dict[str, str]]] | None:
    """Return the traits of two inbounds, one of some sets and one of others; None: too many."""
    if others is None:
        return None
    mine, more = (
        [(own, tuple(sorted(own.items()))) for own, loose in one if not loose and split(own)[0]]
        for one in (sets, others)
    )
    pairs: dict[Hashable, tuple[dict[str, str], dict[str, str]]] = {}
    for (a, mark), (b, other) in product(mine, more):
        if mark != other:
            pairs[frozenset((mark, other))] = (a, b)
            if len(pairs) > MOST_PAIRS:
                return None
    return list(pairs.values())


def _couples(
    left: Sequence[Mapping[str, Resource | None]], right: Sequence[Mapping[str, Resource | None]]
) -> list[tuple[list[Routes], list[Routes]]]:
    """Return the ways in which TrafficRoutes may win, each with the same way on the other side.

    Where both sides know the same ways, whichever wins on one wins on the other.
    """
    keyed = [{_way(one): one for one in ways} for ways in (left, right)]
    if keyed[0].keys() == keyed[1].keys():
        return [([one], [keyed[1][key]]) for key, one in keyed[0].items()]
    return [(list(left), list(right))]


def _way(routes: Mapping[str, Resource | None]) -> str:
    said = [(s, r and (r.identity, r.created, r.spec)) for s, r in sorted(routes.items())]
    return repr(said)
