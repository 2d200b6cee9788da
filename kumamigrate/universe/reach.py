"""Which policies can matter at which destination: what made-up proxies must tell apart."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence

from kumamigrate.dataclass import dataclass, field
from kumamigrate.model.kri import Kri, kri_of
from kumamigrate.model.resource import EFFECT, Resource
from kumamigrate.targetref.entry import Entry
from kumamigrate.targetref.items import to_entries, top_of
from kumamigrate.targetref.resolve import index_of, resolve
from kumamigrate.targetref.route import Destination, ServiceTag
from kumamigrate.targetref.routehash import CATCH_ALL, route_hash
from kumamigrate.targetref.select import selector_of
from kumamigrate.universe.backend import cluster_of
from kumamigrate.universe.madeup import Requirement, requirement_of
from kumamigrate.universe.side import ROUTES, Side

Place = str | Kri | tuple[Kri] | None
"""What a policy is about: a service tag, a real resource, a route, or, as None, everything."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Known:
    """A policy with what it asks of a proxy and what its entries are about.

    `everything`: some entry is about every destination. `sections` are the ports among `kris`
    that entries are about alone. `routes` are the routes its entries are
    on; `bound` the pairs of service tag and route hash of a policy on a route (old form).
    """

    policy: Resource
    requirement: Requirement
    everything: bool = False
    tags: frozenset[str] = frozenset()
    kris: frozenset[Kri] = frozenset()
    sections: frozenset[Kri] = frozenset()
    routes: frozenset[Kri] = frozenset()
    bound: frozenset[tuple[str, str]] = frozenset()
    backends: tuple[Destination, ...] = ()
    hashes: frozenset[str] = field(default_factory=frozenset)

    @property
    def on_route(self) -> bool:
        """Whether some entry counts for single routes only."""
        return bool(self.routes or self.bound)

    @property
    def about(self) -> Hashable:
        """What its references mean, entries and backends together."""
        named = (self.everything, self.tags, self.kris, self.sections, self.routes, self.bound)
        return (*named, self.backends, self.hashes)


class Reach:
    """What all policies of a side are about, by type."""

    def __init__(self, side: Side) -> None:
        self.side = side
        self._index = index_of(side.state)
        routes = list(side.state.of_type("MeshHTTPRoute"))
        self._first = {(r.mesh, r.display_name): r for r in reversed(routes)}
        self._by_name: dict[str, list[Resource]] = {}
        for route in routes:
            self._by_name.setdefault(route.display_name, []).append(route)
        self._known: dict[str, tuple[Known, ...]] = {}
        self._places: dict[str, dict[Place, list[int]]] = {}
        self._naming: dict[str, dict[Place, set[int]]] = {}
        self._selected: dict[Hashable, frozenset[int]] = {}
        self._routes: dict[Destination, tuple[Known, ...]] = {}
        self._read_already: dict[int, Known] = {}
        kept = side.contents.kept
        self._kept: dict[int, Known] = kept.setdefault(("known", side.surroundings), {})

    def of(self, policy_type: str) -> tuple[Known, ...]:
        """Return the policies of a type, without those that take no effect (shadow)."""
        if policy_type not in self._known:
            self._known[policy_type] = tuple(
                self.known(policy)
                for policy in self.side.state.of_type(policy_type)
                if policy.labels.get(EFFECT) != "shadow"
                and policy_type in self.side.release.policy_types
            )
        return self._known[policy_type]

    def known(self, policy: Resource) -> Known:
        """Return what one policy of the side is about, the same for all sides alike around it."""
        if id(policy) not in self._read_already:
            self.side.contents.of(policy)  # which keeps it, so that its id stays its own
            if id(policy) not in self._kept:
                self._kept[id(policy)] = self._read(policy)
            self._read_already[id(policy)] = self._kept[id(policy)]
        return self._read_already[id(policy)]

    def is_ambiguous(self, policy: Resource) -> bool:
        """Whether a policy is on a route of a name that several have."""
        top = top_of(policy, self.side.release)
        return top.kind == "MeshHTTPRoute" and len(self._by_name.get(top.name or "", ())) > 1

    def routes_at(self, destination: Destination) -> tuple[Known, ...]:
        """Return the route policies about a destination."""
        if destination not in self._routes:
            found = (k for kind in ROUTES for k in self.about(kind, destination))
            self._routes[destination] = tuple(found)
        return self._routes[destination]

    def about(
        self, policy_type: str, destination: Destination, routes: Sequence[Known] = ()
    ) -> Iterator[Known]:
        """Yield the policies of a type that can matter at a destination, in file order.

        `routes` are those that lead there; an entry for one of them counts.
        """
        listed, places = self.of(policy_type), self._places_of(policy_type)
        asked: list[Place] = [None]
        if isinstance(destination, ServiceTag):
            asked.append(destination.service)
        else:
            asked.append(destination.kri.of_section(""))
            asked += [(kri_of(known.policy),) for known in routes]
        for at in sorted({at for place in asked for at in places.get(place, ())}):
            yield listed[at]

    def _places_of(self, policy_type: str) -> dict[Place, list[int]]:
        """Return where policies of a type stand in their list, by what they are about."""
        if policy_type not in self._places:
            places = self._places.setdefault(policy_type, {})
            for at, known in enumerate(self.of(policy_type)):
                about: list[Place] = [*known.tags, *known.kris, *((kri,) for kri in known.routes)]
                for place in [None] if known.everything else about:
                    places.setdefault(place, []).append(at)
        return self._places[policy_type]

    def is_named(self, proxy: Resource, policy_type: str, destination: Destination) -> bool:
        """Whether a policy of a type that reaches a proxy is about a destination in particular."""
        place: Place
        if isinstance(destination, ServiceTag):
            place = destination.service
        else:
            place = destination.kri.of_section("")
        named_by = self._naming_of(policy_type).get(place)
        if not named_by:
            return False
        selection = self.side.selection(proxy, policy_type)
        if selection.key not in self._selected:
            self._selected[selection.key] = frozenset(map(id, selection.policies))
        return not named_by.isdisjoint(self._selected[selection.key])

    def _naming_of(self, policy_type: str) -> dict[Place, set[int]]:
        """Return the ids of the policies of a type by what they are about in particular."""
        if policy_type not in self._naming:
            naming = self._naming.setdefault(policy_type, {})
            for known in self.of(policy_type):
                places: tuple[Place, ...] = (*known.tags, *known.kris)
                for place in places:
                    naming.setdefault(place, set()).add(id(known.policy))
        return self._naming[policy_type]

    def clusters_at(self, destination: Destination) -> tuple[Destination, ...]:
        """Return a destination and all that routes from it can lead to."""
        more = (b for known in self.routes_at(destination) for b in known.backends)
        return tuple(dict.fromkeys((destination, *more)))

    def hashes_at(self, destination: Destination) -> frozenset[str]:
        """Return the hashes that routes of a destination can have."""
        found = {route_hash([CATCH_ALL])}
        for known in self.routes_at(destination):
            found |= known.hashes
        return frozenset(found)

    def _read(self, policy: Resource) -> Known:
        release = self.side.release
        selector = selector_of(policy, top_of(policy, release), self._first, release)
        entries = to_entries(policy, release.policy_types[policy.type], release)
        everything, tags, kris, routes = False, set[str](), set[Kri](), set[Kri]()
        sections = set[Kri]()
        bound: set[tuple[str, str]] = set()
        top = top_of(policy, release)
        if top.kind == "MeshHTTPRoute":
            for route in self._by_name.get(top.name or "", ()):
                everything = everything or self._bind(route, bound)
            tags = {service for service, _ in bound}
            entries = ()
        for entry in entries:
            target = entry.target
            kind = target.kind if target is not None else "Mesh"
            if target is None or kind in ("Mesh", "MeshSubset"):
                everything = True
                continue
            meant = resolve(policy, target, self._index, release)
            found = {k.of_section("") for k in meant}
            sections.update(k for k in meant if k.section)
            if kind == "MeshHTTPRoute":
                routes |= found
            else:
                kris |= found
            if kind in ("MeshService", "MeshServiceSubset"):
                tags.add(target.name or "")
        return Known(
            policy=policy,
            requirement=requirement_of(selector),
            everything=everything,
            tags=frozenset(tags),
            kris=frozenset(kris),
            sections=frozenset(sections),
            routes=frozenset(routes),
            bound=frozenset(bound),
            backends=tuple(self._backends(policy, entries)),
            hashes=frozenset(_hashes(entries)) if policy.type == "MeshHTTPRoute" else frozenset(),
        )

    def _bind(self, route: Resource, bound: set[tuple[str, str]]) -> bool:
        """Note what a policy on a route is about; True where that is every destination."""
        everything = False
        for entry in to_entries(
            route, self.side.release.policy_types["MeshHTTPRoute"], self.side.release
        ):
            target = entry.target
            if target is None or target.kind in ("Mesh", "MeshSubset"):
                everything = True
                continue
            bound.update((target.name or "", digest) for digest in _hashes([entry]))
        return everything

    def _backends(self, policy: Resource, entries: Sequence[Entry]) -> Iterator[Destination]:
        if policy.type not in ROUTES:
            return
        for entry in entries:
            defaults = [entry.conf.get("default")]
            defaults += [rule.get("default") for rule in entry.conf.get("rules") or ()]
            for default in defaults:
                for ref in (default or {}).get("backendRefs") or ():
                    if isinstance(ref, Mapping):
                        yield cluster_of(self.side, ref, policy).destination


def _hashes(entries: Sequence[Entry]) -> Iterator[str]:
    for entry in entries:
        for rule in entry.conf.get("rules") or ():
            yield route_hash(rule.get("matches"))
