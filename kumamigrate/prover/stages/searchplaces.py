"""The places of made-up proxies at which something can differ, and what matters at each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from kumamigrate.effective.outboundfacts import BY_ROUTE
from kumamigrate.effective.routing import ROUTING, TCP_ROUTING
from kumamigrate.prover.owed import Owed
from kumamigrate.prover.slots.mesh import MeshComparison
from kumamigrate.prover.stages.searchslot import (
    SearchSlot,
    role_of,
)
from kumamigrate.prover.stages.sequence import (
    EVERY,
    INBOUND,
    NOWHERE,
    TO,
    Sections,
    Suspects,
    either,
    speaks,
)
from kumamigrate.targetref.route import Destination, RealResource, ServiceTag
from kumamigrate.universe.reach import Known, Reach
from kumamigrate.universe.side import ROUTES

ROUTE_SETS, ENTRY_SETS, VALUE_SETS, LIST_SETS = 4, 2, 2, 3


class SearchPlaces:
    """The places of a mesh that a search asks about, those together where the same counts."""

    def __init__(
        self,
        pair: MeshComparison,
        changed: frozenset[str],
        destinations: Sequence[Destination],
        standing: Owed | None,
    ) -> None:
        self.pair = pair
        self.changed = changed
        self.destinations = destinations
        self.standing = standing
        self.reaches = (*pair.reaches, *((standing.reach,) if standing else ()))

    def affected(self, kinds: Sequence[str]) -> Iterator[str]:
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

    def outbounds(self, policy_type: str) -> Iterator[tuple[tuple[Destination, ...], SearchSlot]]:
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
            slot = self.slot_at(policy_type, at, at, values, routes)
            if not slot.settled:
                groups.setdefault((slot, self.is_made(at)), []).append(destination)
        for (slot, _), destinations in groups.items():
            yield tuple(destinations), slot

    def is_made(self, destinations: Sequence[Destination]) -> bool:
        """Whether those proxies alone have outbounds to destinations that some route reaches: to
        real ones, beside TrafficRoutes (legacy.md §2.9)."""
        return self._routed and any(isinstance(one, RealResource) for one in destinations)

    @cached_property
    def _routed(self) -> bool:
        """Whether some side has TrafficRoutes."""
        pairs = (self.pair, self.standing.pair) if self.standing else (self.pair,)
        return any(engine.routed for pair in pairs for engine in pair.engines)

    def _route_suspects(self) -> Suspects:
        return either(*(self.pair.sequences.suspects(kind, TO) for kind in ROUTES))

    def slot_at(
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

    def anywhere(self, policy_type: str) -> tuple[Sections, ...]:
        """Return what else counts at inbounds: of a MeshTimeout whether one reaches the proxy at
        all, whatever it says, where inbounds have its defaults only then (legacy-notes.md C5)."""
        always = policy_type != "MeshTimeout" or all(self.pair.always)
        return () if always else (NOWHERE,)

    def whole(self, policy_type: str, *sections: Sections) -> SearchSlot:
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


def _subset_rules(policy_type: str, listed: Iterable[Known]) -> bool:
    """Whether the old list of client subsets counts, in which overlaps hang on every item."""
    return policy_type in ("MeshTrafficPermission", "MeshFaultInjection") and any(
        known.policy.spec.get("from") for known in listed
    )


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
