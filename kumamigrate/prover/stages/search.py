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

from kumamigrate.effective.difference import Witness
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.effective.outboundfacts import BY_ROUTE, ON_OUTBOUNDS
from kumamigrate.effective.routing import ROUTING
from kumamigrate.effective.sections import INBOUND_TYPES
from kumamigrate.model.identity import nobody_is_asked
from kumamigrate.model.resource import Resource
from kumamigrate.prover.claims.carry import CARRIED, LOGGED, UNSET, unset_types
from kumamigrate.prover.doubts.identities import permission_doubts
from kumamigrate.prover.doubts.tiedoubts import tie_doubts
from kumamigrate.prover.owed import Owed
from kumamigrate.prover.slots.mesh import MeshComparison
from kumamigrate.prover.slots.proxyslots import SINGLE_TYPES
from kumamigrate.prover.stages.askedplace import (
    AskedPlace,
    Check,
    LeftByRoutes,
    at_inbounds,
    at_outbounds,
    at_proxy,
    called_together,
    carried_over,
)
from kumamigrate.prover.stages.proxyfindings import Findings
from kumamigrate.prover.stages.searchplaces import SearchPlaces
from kumamigrate.prover.stages.searchslot import (
    RoleAsked,
    SearchSlot,
    sets_of,
    smallest,
    spoken_besides,
)
from kumamigrate.prover.stages.sequence import (
    EVERY,
    INBOUND,
    SINGLE,
)
from kumamigrate.targetref.permission import PERMISSION
from kumamigrate.targetref.route import Destination, RealResource, ServiceTag
from kumamigrate.universe.combinations import Combinations, Pairings, TooManySetsError, limited
from kumamigrate.universe.leaving import Leaving, ToldApart
from kumamigrate.universe.madeup import Atom, Setting, in_order, settings_of
from kumamigrate.universe.madeupproxy import describe, proxy_with
from kumamigrate.universe.namespaces import Namespaces
from kumamigrate.universe.side import ROUTES
from kumamigrate.universe.traffic import successors

Chosen = tuple[tuple[Atom, ...], Setting]
"""What a made-up proxy has, and its surroundings."""
WithRoutes = Callable[[tuple[Atom, ...], Setting], Iterable[Chosen]]
"""Returns what a set comes to with routes, one of each kind."""


class Coverage:
    """Tries one claim on made-up proxies.

    `listed`: the states hold Dataplanes, so that there is a verdict for those at least. What stood
    already (`standing`) is no difference. `ends`: a release ends the outbounds by tag, which are
    there before it.
    """

    def __init__(
        self,
        pair: MeshComparison,
        changed: frozenset[str],
        destinations: Sequence[Destination],
        zone: str,
        *,
        listed: bool,
        ends: bool = False,
        standing: Owed | None = None,
    ) -> None:
        self.pair = pair
        self.ends = ends
        self.standing = standing
        self.listed = listed
        self.destinations = destinations
        self.zone = zone
        self.places = SearchPlaces(pair, changed, destinations, standing)
        self._stood = False
        self.found = Findings()
        self.pairings = Pairings(pair.couplings.asked)
        self.besides = spoken_besides(pair, self.places.reaches)
        self._proxies: dict[tuple[tuple[Atom, ...], Setting, bool], Resource | None] = {}

    # -- claims ------------------------------------------------------------------------------

    def live(self, *, names: bool) -> None:
        """Try everything in which something changed."""
        pair = self.pair
        for policy_type in self.places.affected((*ON_OUTBOUNDS, ROUTING)):
            for destinations, slot in self.places.outbounds(policy_type):
                where = called_together(destinations)
                check = at_outbounds(policy_type, destinations, names)
                elsewhere = at_outbounds(policy_type, self.destinations, names)
                left: LeftByRoutes | None = None
                if self.places.is_made(destinations) and policy_type != ROUTING:
                    left = LeftByRoutes(
                        destinations, at_outbounds(policy_type, destinations, names, reached=True)
                    )
                self._try(policy_type, where, slot, check, elsewhere, left=left)
        for policy_type in self.places.affected(INBOUND_TYPES):
            if pair.by_client(policy_type):
                continue  # old policies choose proxies as well: together.py makes them up
            slot = self.places.whole(policy_type, INBOUND, *self.places.anywhere(policy_type))
            check = partial(at_inbounds, policy_type)
            self._try(policy_type, "inbounds", slot, check, one_inbound=True)
        for policy_type in self.places.affected(SINGLE_TYPES):
            if policy_type in pair.covered:
                continue  # old policies choose proxies as well: together.py makes them up
            slot = self.places.whole(policy_type, SINGLE)
            self._try(policy_type, "the proxy", slot, partial(at_proxy, policy_type))

    def carry(self, services: Sequence[str]) -> None:
        """Try every service with what replaces it."""
        pair, ends = self.pair, self.ends
        for policy_type in filter(pair.compares, (ROUTING, *(LOGGED if ends else CARRIED))):
            groups: dict[SearchSlot, list[tuple[ServiceTag, RealResource]]] = {}
            for service in services:
                for target in successors(pair.after, service):
                    old = ServiceTag(service)
                    slot = self.places.slot_at(policy_type, (old,), (target,), EVERY, EVERY)
                    groups.setdefault(slot, []).append((old, target))
            every = carried_over(policy_type, [c for found in groups.values() for c in found], ends)
            if ends and policy_type in unset_types(pair) and groups:
                self._ask_plain(policy_type, every)
            for slot, couples in groups.items():
                where = called_together([old for old, _ in couples])
                self._try(policy_type, where, slot, carried_over(policy_type, couples, ends), every)

    def _ask_plain(self, policy_type: str, check: Check) -> None:
        """Compare proxies that have nothing: a sidecar, and a gateway where any policy tells.

        Policies that reach one of them reach every proxy: what none says to it, none says to all.
        """
        known = (one for reach in self.places.reaches for one in reach.of(policy_type))
        surroundings = settings_of((one.requirement for one in known), self.zone)
        for setting in {one.gateway: one for one in reversed(surroundings)}.values():
            self._ask(AskedPlace(policy_type, check, None, one_inbound=False), (), setting)

    @cached_property
    def _leaving(self) -> Leaving:
        """What the routes ask that leave a proxy its real outbounds, of which any one will do."""
        routes = (
            known for reach in self.places.reaches for kind in ROUTES for known in reach.of(kind)
        )
        return Leaving((known.requirement for known in routes), self.pairings)

    @cached_property
    def _is_anybody_asked(self) -> bool:
        """Whether proxies may ask for certificates on a side, so that permissions do anything."""
        sides = (self.pair.before, self.pair.after)
        return not all(nobody_is_asked(side.state, side.mesh) for side in sides)

    # -- trying ------------------------------------------------------------------------------

    def give_up(self, policy_type: str, where: str) -> None:
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
        known: set[Chosen] = set()
        for one in dict.fromkeys(every):
            for chosen in (one, *with_routes(*one)):
                if chosen not in known:
                    known.add(chosen)
                    self._ask(asked, *chosen)

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
                self.give_up(policy_type, where)
                sets = smallest(combinations)
            for members in filter(nearby.worth(combinations), sets):
                yield combinations.chosen(members), setting

    def _settings(self, policy_type: str, slot: SearchSlot) -> Sequence[Setting]:
        """Return the surroundings to try: what a Mesh says counts where it is applied, and what
        no policy says where policies are."""
        every = settings_of(slot.asked, self.zone)
        own = ("", self.pair.before.state.environment.zone)
        here = policy_type in self.pair.moved or (self.ends and policy_type in UNSET)
        return [one for one in every if one.zone in own] if here else every

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
        if policy_type == PERMISSION and self._is_anybody_asked:
            unheld = permission_doubts(self.pair.before, self.pair.after, proxy, proxy)
            self.found.unknown.update(dict.fromkeys(unheld))
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
