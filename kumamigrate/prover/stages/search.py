"""A claim for every proxy that could exist: made-up proxies, as few as tell policies apart.

Which policies reach a proxy is a set of selectors; what it reads at a place is decided by few of
them: by the policy whose value wins, for a route by the route that wins, and by one policy on it
that hides what the service says. Where both sides agree on all sets that hold so many selectors
for each side, they agree on all sets, because merging lets the last of a fixed order win. So sets
of bounded size are enough. Lists that are appended to need three.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cached_property, partial

from kumamigrate.dataclass import dataclass
from kumamigrate.effective.difference import Witness
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.effective.outboundfacts import BY_ROUTE, ON_OUTBOUNDS
from kumamigrate.effective.routing import ROUTING, TCP_ROUTING
from kumamigrate.effective.sections import INBOUND_TYPES
from kumamigrate.model.resource import Resource
from kumamigrate.prover.claims.carry import CARRIED, as_tags, carry_one
from kumamigrate.prover.doubts.doubt import tie_doubts
from kumamigrate.prover.mesh import MeshComparison
from kumamigrate.prover.owed import Owed
from kumamigrate.prover.proxyslots import SINGLE_TYPES
from kumamigrate.prover.stages.proxyfindings import Findings
from kumamigrate.prover.stages.searchslot import (
    RoleAsked,
    SearchSlot,
    role_of,
    sets_of,
    smallest,
    spoken_besides,
)
from kumamigrate.prover.stages.sequence import (
    EVERY,
    INBOUND,
    NOWHERE,
    SINGLE,
    TO,
    Sections,
    Suspects,
    either,
    speaks,
)
from kumamigrate.targetref.route import Destination, RealResource, ServiceTag
from kumamigrate.universe.backend import called
from kumamigrate.universe.combinations import (
    Combinations,
    Pairings,
    TooManySetsError,
    limited,
)
from kumamigrate.universe.leaving import Leaving, ToldApart
from kumamigrate.universe.madeup import (
    Atom,
    Setting,
    describe,
    in_order,
    proxy_with,
    settings_of,
)
from kumamigrate.universe.namespaces import Namespaces
from kumamigrate.universe.reach import Known, Reach
from kumamigrate.universe.side import ROUTES
from kumamigrate.universe.traffic import successors

ROUTE_SETS, ENTRY_SETS, VALUE_SETS, LIST_SETS = 4, 2, 2, 3
Check = Callable[[MeshComparison, Resource], Sequence[Witness]]
"""Returns what differs for a proxy at one place of two sides."""
Chosen = tuple[tuple[Atom, ...], Setting]
"""What a made-up proxy has, and its surroundings."""
WithRoutes = Callable[[tuple[Atom, ...], Setting], Iterable[Chosen]]
"""Returns what a set comes to with routes, one of each kind."""


@dataclass(frozen=True, slots=True)
class LeftByRoutes:
    """Outbounds that a proxy has only where some route reaches it, and what would differ there if
    every proxy had them."""

    destinations: tuple[Destination, ...]
    check: Check


@dataclass(frozen=True, slots=True)
class AskedPlace:
    """What is asked of made-up proxies at one place, and at all places of its kind."""

    policy_type: str
    check: Check
    elsewhere: Check | None
    one_inbound: bool
    left: LeftByRoutes | None = None


class Coverage:
    """Tries one claim on made-up proxies.

    `listed`: the states hold Dataplanes, so that there is a verdict for those at least. What stood
    already (`standing`) is no difference.
    """

    def __init__(
        self,
        pair: MeshComparison,
        changed: frozenset[str],
        destinations: Sequence[Destination],
        zone: str,
        *,
        listed: bool,
        standing: Owed | None = None,
    ) -> None:
        self.pair = pair
        self.standing = standing
        self.listed = listed
        self.changed = changed
        self.destinations = destinations
        self.zone = zone
        self.reaches = (*pair.reaches, *((standing.reach,) if standing else ()))
        self._stood = False
        self.found = Findings()
        self.pairings = Pairings(pair.couplings.asked)
        self.besides = spoken_besides(pair, self.reaches)
        self._proxies: dict[tuple[tuple[Atom, ...], Setting, bool], Resource | None] = {}

    # -- claims ------------------------------------------------------------------------------

    def live(self, *, names: bool) -> None:
        """Try everything in which something changed."""
        pair = self.pair
        for policy_type in self._affected((*ON_OUTBOUNDS, ROUTING)):
            for destinations, slot in self._places(policy_type):
                where = _called_together(destinations)
                check = _outbound(policy_type, destinations, names)
                elsewhere = _outbound(policy_type, self.destinations, names)
                left: LeftByRoutes | None = None
                if self._is_made(destinations) and policy_type != ROUTING:
                    left = LeftByRoutes(
                        destinations, _outbound(policy_type, destinations, names, reached=True)
                    )
                self._try(policy_type, where, slot, check, elsewhere, left=left)
        for policy_type in self._affected(INBOUND_TYPES):
            if pair.by_client(policy_type):
                continue  # old policies choose proxies as well: together.py makes them up
            slot = self._whole(policy_type, INBOUND, *self._anywhere(policy_type))
            check = partial(_inbound, policy_type)
            self._try(policy_type, "inbounds", slot, check, one_inbound=True)
        for policy_type in self._affected(SINGLE_TYPES):
            if policy_type in pair.covered:
                continue  # old policies choose proxies as well: together.py makes them up
            slot = self._whole(policy_type, SINGLE)
            self._try(policy_type, "the proxy", slot, partial(_single, policy_type))

    def carry(self, services: Sequence[str], *, live: bool = False) -> None:
        """Try every service with what replaces it; `live` says that its outbounds exist."""
        pair = self.pair
        for policy_type in filter(pair.compares, (ROUTING, *CARRIED)):
            groups: dict[SearchSlot, list[tuple[ServiceTag, RealResource]]] = {}
            for service in services:
                for target in successors(pair.after, service):
                    old = ServiceTag(service)
                    slot = self._slot_at(policy_type, (old,), (target,), EVERY, EVERY)
                    groups.setdefault(slot, []).append((old, target))
            every = _carried(policy_type, [c for found in groups.values() for c in found], live)
            for slot, couples in groups.items():
                where = _called_together([old for old, _ in couples])
                self._try(policy_type, where, slot, _carried(policy_type, couples, live), every)

    # -- places ------------------------------------------------------------------------------

    def _affected(self, kinds: Sequence[str]) -> Iterator[str]:
        """Yield the types in which something can differ at all."""
        changed = set(self.changed)
        if TCP_ROUTING in changed:
            changed.add(ROUTING)
        everything = not self.pair.same_ground
        there = set(self.pair.before.types | self.pair.after.types | self.pair.moved)
        if TCP_ROUTING in there:
            there.add(ROUTING)  # Both kinds of route are looked at together.
        if not self.pair.same_outbounds:
            there.add(ROUTING)
            changed.add(ROUTING)
        for kind in kinds:
            if kind in there and (everything or kind in changed) and self.pair.compares(kind):
                yield kind

    def _places(self, policy_type: str) -> Iterator[tuple[tuple[Destination, ...], SearchSlot]]:
        """Yield destinations with what matters there, those where the same does together."""
        routes, values = self._route_suspects(), EVERY
        if policy_type != ROUTING:
            values = self.pair.sequences.suspects(policy_type, TO)
        if not self.pair.same_outbounds or (routes and self._routed):
            routes = values = EVERY  # beside TrafficRoutes any route may bring all outbounds
        if not routes and (policy_type == ROUTING or not values):
            return
        groups: dict[tuple[SearchSlot, bool], list[Destination]] = {}
        for destination in self.destinations:
            at = (destination,)
            slot = self._slot_at(policy_type, at, at, values, routes)
            if not slot.settled:
                groups.setdefault((slot, self._is_made(at)), []).append(destination)
        for (slot, _), destinations in groups.items():
            yield tuple(destinations), slot

    def _is_made(self, destinations: Sequence[Destination]) -> bool:
        """Whether those proxies alone have outbounds to destinations that some route reaches: to
        real ones, beside TrafficRoutes (legacy.md §2.9)."""
        return self._routed and any(isinstance(one, RealResource) for one in destinations)

    @cached_property
    def _routed(self) -> bool:
        """Whether some side has TrafficRoutes."""
        pairs = (self.pair, self.standing.pair) if self.standing else (self.pair,)
        return any(engine.routed for pair in pairs for engine in pair.engines)

    @cached_property
    def _leaving(self) -> Leaving:
        """What the routes ask that leave a proxy its real outbounds, of which any one will do."""
        routes = (known for reach in self.reaches for kind in ROUTES for known in reach.of(kind))
        return Leaving((known.requirement for known in routes), self.pairings)

    def _route_suspects(self) -> Suspects:
        return either(*(self.pair.sequences.suspects(kind, TO) for kind in ROUTES))

    def _slot_at(
        self,
        policy_type: str,
        before: Sequence[Destination],
        after: Sequence[Destination],
        suspects: Suspects,
        of_routes: Suspects,
    ) -> SearchSlot:
        routes: list[Known] = []
        entries: list[Known] = []
        values: list[Known] = []
        every_set = False
        for reach, destinations in zip(self.reaches, (before, after, after), strict=False):
            for destination in destinations:
                at = reach.routes_at(destination)
                routes += at
                if policy_type in ROUTES:
                    continue
                for cluster in reach.clusters_at(destination):
                    values += reach.about(policy_type, cluster, at)
                entries += (k for k in reach.about(policy_type, destination, at) if k.on_route)
                if policy_type in BY_ROUTE:
                    listed = reach.of(policy_type)
                    if _may_lose(reach, destination, listed):
                        values += listed
                        every_set = True
        compared = not (suspects.every or of_routes.every)
        if policy_type in ROUTES:
            roles = (role_of(routes, of_routes, ROUTE_SETS),)
            return SearchSlot(roles=roles, compared=not of_routes.every)
        said = role_of(values, suspects, VALUE_SETS)
        if policy_type not in BY_ROUTE:
            return SearchSlot(roles=(said,), compared=not suspects.every)
        hiding = role_of(entries, suspects, ENTRY_SETS)
        leading = role_of(routes, of_routes, ENTRY_SETS)
        return SearchSlot(roles=(said, hiding, leading), compared=compared, every_set=every_set)

    def _anywhere(self, policy_type: str) -> tuple[Sections, ...]:
        """Return what else counts at inbounds: of a MeshTimeout whether one reaches the proxy at
        all, whatever it says, where inbounds have its defaults only then (legacy-notes.md C5)."""
        always = policy_type != "MeshTimeout" or all(self.pair.always)
        return () if always else (NOWHERE,)

    def _whole(self, policy_type: str, *sections: Sections) -> SearchSlot:
        """Return what matters to a proxy as such, or to any of its inbounds."""
        listed = [
            known
            for reach in self.reaches
            for known in reach.of(policy_type)
            if any(speaks(known.policy, one, reach.side) for one in sections)
        ]
        suspects = either(*(self.pair.sequences.suspects(policy_type, one) for one in sections))
        return SearchSlot(
            roles=(role_of(listed, suspects, LIST_SETS),),
            compared=not suspects.every,
            every_set=INBOUND in sections and _subset_rules(policy_type, listed),
        )

    # -- trying ------------------------------------------------------------------------------

    def _give_up(self, policy_type: str, where: str) -> None:
        """Note that proxies can be chosen in too many ways to try them."""
        said = f"{policy_type} ({where}): policies choose proxies in more ways than can be tried"
        noted, advice = self.found.beyond, "compared for the Dataplanes of the state"
        if not self.listed:
            noted = self.found.unknown
            advice = "add an inventory of the Dataplanes, and the verdict will hold for those"
        words = f"{said}; {advice}"
        noted[Doubt(DoubtKind.COMBINATIONS, words, concerns=policy_type)] = None

    def _try(
        self,
        policy_type: str,
        where: str,
        slot: SearchSlot,
        check: Check,
        elsewhere: Check | None = None,
        *,
        one_inbound: bool = False,
        left: LeftByRoutes | None = None,
    ) -> None:
        """Try a place; `elsewhere` asks the other places of a proxy, where what a place leads to
        may have stood. `left` says that only routes leave a proxy the outbound."""
        if slot.settled:
            return
        self._stood = False
        asked = AskedPlace(policy_type, check, elsewhere, one_inbound, left)
        self._try_sets(asked, where, slot)
        if self._stood:
            self._try_sets(asked, where, slot.wider)

    def _try_sets(self, asked: AskedPlace, where: str, slot: SearchSlot) -> None:
        every = self._sets(asked.policy_type, where, slot, one_inbound=asked.one_inbound)
        with_routes = self._beside_routes(asked, slot)
        for chosen, setting in every:
            self._ask(asked, chosen, setting)
            for atoms, there in with_routes(chosen, setting):
                self._ask(asked, atoms, there)

    def _beside_routes(self, asked: AskedPlace, slot: SearchSlot) -> WithRoutes:
        """Return what adds routes to a set, where those alone leave a proxy what is asked about and
        anything would show then."""
        left = asked.left
        if left is None:
            return lambda _chosen, _setting: ()
        told_apart = self._leaving.told_apart(
            (r.atom for r in slot.asked if r.atom is not None),
            {one.namespace for one in self._settings(asked.policy_type, slot)},
        )

        def with_routes(chosen: tuple[Atom, ...], setting: Setting) -> Iterator[Chosen]:
            if self._shows(asked, left, chosen, setting):
                yield from self._with_routes(left, told_apart, chosen, setting)

        return with_routes

    def _shows(
        self, asked: AskedPlace, left: LeftByRoutes, chosen: tuple[Atom, ...], setting: Setting
    ) -> bool:
        """Whether anything would differ, or chance decide, if the proxy had the outbound."""
        proxy = self._proxy(chosen, setting, asked.one_inbound)
        if proxy is None:
            return False
        return bool(self._tied(asked.policy_type, proxy) or left.check(self.pair, proxy))

    def _with_routes(
        self,
        left: LeftByRoutes,
        told_apart: ToldApart,
        chosen: tuple[Atom, ...],
        setting: Setting,
    ) -> Iterator[Chosen]:
        """Yield a proxy with routes that leave it its outbounds, one of each kind."""
        tried: set[Hashable] = set()
        for atoms, there, kind in told_apart.with_routes(chosen, setting, tried):
            proxy = self._proxy(atoms, there, False)
            if proxy is not None and self._is_left(left, proxy):
                tried.add(kind)
                yield atoms, there

    def _is_left(self, left: LeftByRoutes, proxy: Resource) -> bool:
        return any(
            all(map(any, self.pair.made(proxy, proxy, destination)))
            for destination in left.destinations
        )

    def _sets(
        self, policy_type: str, where: str, slot: SearchSlot, *, one_inbound: bool
    ) -> Iterator[Chosen]:
        """Yield what made-up proxies have that are to be tried, and their surroundings."""
        roles = [RoleAsked(role, self.pairings) for role in slot.roles]
        namespaces = Namespaces(slot.asked, self.besides, self.pairings, one_inbound=one_inbound)
        for setting in self._settings(policy_type, slot):
            nearby = namespaces.near(setting)
            parts = [role.part(setting, nearby) for role in roles]
            if slot.compared and not any(part.suspects or part.anybody for part in parts):
                continue
            atoms = sorted({atom for part in parts for atom in part.atoms}, key=in_order)
            combinations = Combinations(atoms, setting, self.pairings, one_inbound)
            try:
                sets = limited(sets_of(combinations, slot, parts))
            except TooManySetsError:
                self._give_up(policy_type, where)
                sets = smallest(combinations)
            for members in filter(nearby.worth(combinations), sets):
                yield combinations.chosen(members), setting

    def _settings(self, policy_type: str, slot: SearchSlot) -> Sequence[Setting]:
        """Return the surroundings to try: what a Mesh says counts where it is applied."""
        every = settings_of(slot.asked, self.zone)
        own = ("", self.pair.before.state.environment.zone)
        moved = policy_type in self.pair.moved
        return [one for one in every if one.zone in own] if moved else every

    def _tied(self, policy_type: str, proxy: Resource) -> dict[str, tuple[Doubt, ...]]:
        kinds = {policy_type, *(ROUTES if policy_type in (*BY_ROUTE, ROUTING) else ())}
        return tie_doubts(self.pair, proxy, proxy, kinds)

    def _ask(self, asked: AskedPlace, chosen: tuple[Atom, ...], setting: Setting) -> None:
        """Compare one made-up proxy."""
        policy_type = asked.policy_type
        proxy = self._proxy(chosen, setting, asked.one_inbound)
        if proxy is None:
            return
        tied = self._tied(policy_type, proxy)
        if tied:
            self.found.unknown.update(dict.fromkeys(d for t in tied.values() for d in t))
            return
        found = asked.check(self.pair, proxy)
        if found and self.standing is not None:
            left = self._left(asked, found, proxy, self.standing)
            self._stood = self._stood or len(left) < len(found)
            found = left
        if found:
            self.found.add(describe(chosen, setting), found)

    def _left(
        self, asked: AskedPlace, found: Sequence[Witness], proxy: Resource, standing: Owed
    ) -> Sequence[Witness]:
        """Return what did not stand, neither there nor where the clusters are that it leads to."""
        left = standing.left(found, asked.check(standing.pair, proxy))
        if asked.elsewhere is not None and any(map(standing.is_led_to, left)):
            left = standing.left(left, asked.elsewhere(standing.pair, proxy))
        return left

    def _proxy(
        self, chosen: tuple[Atom, ...], setting: Setting, one_inbound: bool
    ) -> Resource | None:
        """Return the made-up proxy, the same each time: the matcher knows proxies by identity."""
        key = (chosen, setting, one_inbound)
        if key not in self._proxies:
            mesh = self.pair.before.mesh
            made = proxy_with(chosen, setting, mesh, one_inbound=one_inbound)
            broken = made is not None and self.pair.couplings.broken_by(made)
            self._proxies[key] = None if broken else made
        return self._proxies[key]


def _called_together(destinations: Sequence[Destination]) -> str:
    """Return what a reader calls the outbounds to some destinations."""
    more = f" and {len(destinations) - 1} more" if len(destinations) > 1 else ""
    return f"outbound to {called(destinations[0])}{more}"


def _inbound(policy_type: str, pair: MeshComparison, proxy: Resource) -> Sequence[Witness]:
    return pair.inbound_type(proxy, proxy, policy_type)


def _single(policy_type: str, pair: MeshComparison, proxy: Resource) -> Sequence[Witness]:
    return pair.single_type(proxy, proxy, policy_type)


def _subset_rules(policy_type: str, listed: Iterable[Known]) -> bool:
    """Whether the old list of client subsets counts, in which overlaps hang on every item."""
    return policy_type in ("MeshTrafficPermission", "MeshFaultInjection") and any(
        known.policy.spec.get("from") for known in listed
    )


def _outbound(
    policy_type: str, destinations: Sequence[Destination], names: bool, *, reached: bool = False
) -> Check:
    def check(pair: MeshComparison, proxy: Resource) -> list[Witness]:
        ask = partial(pair.outbound_type, proxy, proxy, policy_type, names=names, reached=reached)
        return [witness for destination in destinations for witness in ask(destination)]

    return check


def _carried(
    policy_type: str, couples: Sequence[tuple[ServiceTag, RealResource]], live: bool
) -> Check:
    def check(pair: MeshComparison, proxy: Resource) -> Sequence[Witness]:
        found: list[Witness] = []
        for old, new in couples:
            found += carry_one(pair, proxy, proxy, policy_type, old, new)
        return as_tags(found) if live else found

    return check


def _may_lose(reach: Reach, destination: Destination, listed: Sequence[Known]) -> bool:
    """Whether another service's route can take this one's values away (matcher-notes §2).

    Then the order of all items of the type decides, not only of those about the destination.
    """
    if not isinstance(destination, ServiceTag) or not reach.side.release.subset_rules:
        return False
    if not any(k.everything for k in listed):
        return False
    hashes = reach.hashes_at(destination)
    others = {h for k in listed for s, h in k.bound if s != destination.service}
    own = any(destination.service in k.tags and not k.bound for k in listed)
    return own and bool(others & hashes)
