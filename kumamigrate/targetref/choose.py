"""Which policies reach which proxies, worked out once for proxies that are alike."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import partial

from kumamigrate.dataclass import dataclass
from kumamigrate.model.policytype import PolicyType
from kumamigrate.model.release import Release
from kumamigrate.model.resource import EFFECT, Resource
from kumamigrate.model.state import State
from kumamigrate.targetref.items import top_of
from kumamigrate.targetref.proxyclasses import Need, class_of, need_of, offers_of, traits_of
from kumamigrate.targetref.select import (
    Proxy,
    SelectedPlaces,
    Selector,
    passes_gates,
    proxy_of,
    reach,
    selector_of,
)
from kumamigrate.targetref.selection import Key, Point, Policies, Selection
from kumamigrate.targetref.sort import Ranked, RankKey, compare, keys_of, sort_unstable
from kumamigrate.targetref.ties import Tie, store_order_tie, ties_of

Positions = dict[int, list[int]]
"""Where policies stand in the state, by the number of the selector that they have."""


@dataclass(frozen=True, slots=True, eq=False)
class ProxyClass:
    """Proxies that all selectors select alike; `reaches` is filled as selectors are asked."""

    number: int
    reaches: list[SelectedPlaces | None]


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """The policies of one type for one class of proxies: positions in the state.

    `order` in merge order, `found` in file order; `at_place` those on each place, by `order`;
    `policies` is `order` as resources.
    """

    policies: Policies
    found: tuple[tuple[int, SelectedPlaces], ...]
    order: tuple[int, ...]
    at_place: dict[int, tuple[int, ...]]
    key: Key
    ties: tuple[Tie, ...]
    unresolved: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """The order of all policies of a type, where one order holds for whichever of them meet.

    `decided`: no two of them are equal in it.
    """

    places: dict[int, int]
    decided: bool

    @classmethod
    def by(cls, every: Sequence[int], keys: Sequence[RankKey]) -> Order:
        """Return the order of positions by the keys of what stands there."""
        ranked = sorted(range(len(every)), key=keys.__getitem__)
        places = {every[at]: place for place, at in enumerate(ranked)}
        return cls(places, decided=len(set(keys)) == len(keys))

    def of(self, found: Sequence[int]) -> tuple[int, ...]:
        """Return some of them in order."""
        return tuple(sorted(found, key=self.places.__getitem__))


class Chooser:
    """Selects policies for proxies; what it has worked out it keeps."""

    def __init__(self, state: State, release: Release) -> None:
        self._state = state
        self._release = release
        self._gateways = tuple(state.of_type("MeshGateway"))
        routes: dict[tuple[str, str], list[Resource]] = {}
        for route in state.of_type("MeshHTTPRoute"):
            routes.setdefault((route.mesh, route.display_name), []).append(route)
        self._namesakes = {name: tuple(same) for name, same in routes.items()}
        # Selection takes the first route of a name, the to-list the last (matcher.md (g)).
        self._first_route = {name: same[0] for name, same in routes.items()}
        self.last_route = {name: same[-1] for name, same in routes.items()}
        self._policies, self._selectors = self._read_policies()
        self._traits = traits_of(self._selectors)
        self._proxies: dict[int, tuple[Proxy, ProxyClass]] = {}
        self._classes: dict[Hashable, ProxyClass] = {}
        self._choices: dict[tuple[int, str], Choice] = {}
        self._ranked: dict[int, Ranked] = {}
        self._orders: dict[str, Order | None] = {}
        self._sorted: dict[tuple[int, ...], tuple[int, ...]] = {}
        self._ties: dict[Key, tuple[Tie, ...]] = {}
        self._vhost_ties: dict[Key, tuple[Tie, ...]] = {}
        self._sets: dict[tuple[str, tuple[int, ...]], Key] = {}
        self._selections: dict[tuple[int, str], Selection] = {}
        self._tuples: dict[tuple[int, ...], Policies] = {}

    def selection(self, proxy: Resource, policy_type: str) -> Selection:
        """Return the policies of a type that reach a proxy, and the points they select."""
        known = self._selections.get((id(proxy), policy_type))
        if known is None:
            known = self._select(proxy, policy_type)
            self._selections[id(proxy), policy_type] = known
        return known

    def everybodys(self, policy_type: str) -> Policies:
        """Return all policies of a type in merge order, whomever they are for."""
        needs = self._policies.get(policy_type, {}).values()
        ats = sorted(at for selectors in needs for some in selectors.values() for at in some)
        return self._at(self._sort(policy_type, tuple(ats)))

    def proxy_class(self, proxy: Resource) -> int:
        """Return a number that proxies share which no policy can tell apart."""
        return self._proxy(proxy)[1].number

    def key(self, policy_type: str, policies: Policies) -> Key:
        """Return a short key for policies in an order, equal for equal ones."""
        asked = (policy_type, tuple(map(id, policies)))
        return self._sets.setdefault(asked, (policy_type, len(self._sets)))

    def _read_policies(
        self,
    ) -> tuple[dict[str, dict[Need | None, Positions]], tuple[Selector, ...]]:
        """Return by type and need the positions of policies by the number of their selector, and
        the selectors."""
        policies: dict[str, dict[Need | None, Positions]] = {}
        numbers: dict[Selector, int] = {}
        for at, policy in enumerate(self._state.resources):
            if policy.type in self._release.policy_types and not _is_shadow(policy):
                top = top_of(policy, self._release)
                selector = selector_of(policy, top, self._first_route, self._release)
                number = numbers.setdefault(selector, len(numbers))
                by_need = policies.setdefault(policy.type, {})
                # What an ambiguous name is worth is told of every proxy (_namesake_ties).
                several = len(self._namesakes.get((selector.mesh, top.name or ""), ())) > 1
                need = None if several and top.kind == "MeshHTTPRoute" else need_of(selector)
                by_need.setdefault(need, {}).setdefault(number, []).append(at)
        return policies, tuple(numbers)

    def _proxy(self, proxy: Resource) -> tuple[Proxy, ProxyClass]:
        known = self._proxies.get(id(proxy))
        if known is None:
            seen = proxy_of(proxy, self._gateways, self._release)
            alike = class_of(seen, self._traits)
            if alike not in self._classes:
                blank: list[SelectedPlaces | None] = [None] * len(self._selectors)
                self._classes[alike] = ProxyClass(len(self._classes), blank)
            known = (seen, self._classes[alike])
            self._proxies[id(proxy)] = known
        return known

    def _select(self, proxy: Resource, policy_type: str) -> Selection:
        seen, alike = self._proxy(proxy)
        asked = (alike.number, policy_type)
        if asked not in self._choices:
            self._choices[asked] = self._choose(seen, alike.reaches, policy_type)
        choice = self._choices[asked]
        hostnames = self._hostnames(seen, choice)
        ties = choice.ties
        for point in hostnames if self._release.subset_rules else ():
            ties += self._store_ties(policy_type, point.policies)
        return Selection(
            proxy=proxy,
            policy_type=policy_type,
            policies=choice.policies,
            points=self._points(seen, choice),
            hostnames=hostnames,
            warnings=choice.unresolved,
            ties=ties,
            key=choice.key,
        )

    def _choose(
        self, seen: Proxy, reaches: list[SelectedPlaces | None], policy_type: str
    ) -> Choice:
        found: list[tuple[int, SelectedPlaces]] = []
        unresolved: list[int] = []
        ambiguous: list[int] = []
        for number, ats in self._candidates(seen, policy_type):
            selector = self._selectors[number]
            selected = reaches[number]
            if selected is None:
                selected = reaches[number] = reach(selector, seen, self._release)
            if selected:
                found += [(at, selected) for at in ats]
            elif selector.unresolved and passes_gates(selector, seen.resource):
                unresolved += ats
            if selector.top.kind == "MeshHTTPRoute" and passes_gates(selector, seen.resource):
                ambiguous += ats
        found.sort(key=_position)
        order = self._sort(policy_type, tuple([at for at, _ in found]))
        policies = self._at(order)
        key = self.key(policy_type, policies)
        return Choice(
            policies=policies,
            found=tuple(found),
            order=order,
            at_place=_by_place(order, found),
            key=key,
            ties=(*self._namesake_ties(sorted(ambiguous)), *self._ties_of(key, policies)),
            unresolved=tuple(self._unresolved(at) for at in sorted(unresolved)),
        )

    def _candidates(self, seen: Proxy, policy_type: str) -> Iterator[tuple[int, list[int]]]:
        """Yield the selectors of a type that lack nothing in a proxy, each with its policies."""
        by_need = self._policies.get(policy_type, {})
        yield from by_need.get(None, {}).items()
        for need in offers_of(seen) if by_need.keys() - {None} else ():
            yield from by_need.get(need, {}).items()

    def _namesake_ties(self, ats: Sequence[int]) -> Iterator[Tie]:
        """Yield the ties of route names that several routes have: which one counts is chance."""
        for at in ats:
            policy = self._state.resources[at]
            name = top_of(policy, self._release).name or ""
            same = self._namesakes.get((policy.mesh, name), ())
            if len(same) > 1:
                yield Tie(policies=(policy, *same), reason="ambiguous-route")

    def _unresolved(self, at: int) -> str:
        policy = self._state.resources[at]
        return (
            f"unable to resolve TargetRef on policy: mesh:{policy.mesh} name:{policy.name} error:"
            "\"couldn't resolve MeshHTTPRoute targetRef with name"
            f" '{top_of(policy, self._release).name or ''}'\""
        )

    def _sort(self, policy_type: str, found: tuple[int, ...]) -> tuple[int, ...]:
        if found not in self._sorted:
            order = self._order(policy_type)
            self._sorted[found] = self._compared(found) if order is None else order.of(found)
        return self._sorted[found]

    def _order(self, policy_type: str) -> Order | None:
        """Return the order of all policies of a type, None where each list has to be sorted."""
        if policy_type not in self._orders:
            needs = self._policies.get(policy_type, {}).values()
            every = sorted(at for by_number in needs for ats in by_number.values() for at in ats)
            keys = keys_of(self._release, self._release.policy_sort, [*map(self._rank, every)])
            self._orders[policy_type] = None if keys is None else Order.by(every, keys)
        return self._orders[policy_type]

    def _compared(self, found: tuple[int, ...]) -> tuple[int, ...]:
        cmp = partial(compare, self._release, self._release.policy_sort)
        ranked = self._rank
        return tuple(
            sort_unstable(
                found,
                lambda a, b: cmp(ranked(a), ranked(b)),
                lambda: keys_of(self._release, self._release.policy_sort, [*map(ranked, found)]),
            )
        )

    def _rank(self, at: int) -> Ranked:
        known = self._ranked.get(at)
        if known is None:
            policy = self._state.resources[at]
            known = self._ranked[at] = Ranked(policy, top_of(policy, self._release))
        return known

    def _ties_of(self, key: Key, policies: Policies) -> tuple[Tie, ...]:
        if key not in self._ties:
            order = self._order(key[0])
            decided = order is not None and order.decided
            found = () if decided else ties_of(policies, self._kind(key[0]), self._release)
            self._ties[key] = found
        return self._ties[key]

    def _store_ties(self, policy_type: str, policies: Policies) -> tuple[Tie, ...]:
        key = self.key(policy_type, policies)
        if key not in self._vhost_ties:
            kind = self._kind(policy_type)
            self._vhost_ties[key] = store_order_tie(policies, kind, self._release)
        return self._vhost_ties[key]

    def _at(self, order: Sequence[int]) -> Policies:
        """Return resources by position, the same tuple for the same positions."""
        asked = tuple(order)
        if asked not in self._tuples:
            self._tuples[asked] = tuple(map(self._state.resources.__getitem__, asked))
        return self._tuples[asked]

    def _points(self, proxy: Proxy, choice: Choice) -> tuple[Point, ...]:
        """Return the points some policy selects, by address and port."""
        found: dict[tuple[str, int], tuple[int, ...]] = {}
        for place, ats in choice.at_place.items():
            key = (proxy.places[place].address, proxy.places[place].port)
            if key in found and found[key] != ats:
                both = {*found[key], *ats}
                ats = tuple(at for at in choice.order if at in both)
            found[key] = ats
        return tuple(
            Point(address=address, port=port, policies=self._at(ats))
            for (address, port), ats in sorted(found.items())
        )

    def _hostnames(self, proxy: Proxy, choice: Choice) -> tuple[Point, ...]:
        """Return the vhosts some policy selects, policies in file order (matcher-notes §1.1)."""
        if proxy.gateway != "builtin":
            return ()
        hosts: dict[tuple[str, int, str], list[int]] = {}
        for at, selected in choice.found:
            places = (proxy.places[i] for i in selected.places)
            for key in dict.fromkeys((p.address, p.port, p.hostname) for p in places):
                hosts.setdefault(key, []).append(at)
        return tuple(
            Point(address=address, port=port, hostname=host, policies=self._at(ats))
            for (address, port, host), ats in sorted(hosts.items())
        )

    def _kind(self, policy_type: str) -> PolicyType:
        return self._release.policy_types[policy_type]


def _is_shadow(policy: Resource) -> bool:
    return policy.labels.get(EFFECT) == "shadow"


def _position(found: tuple[int, SelectedPlaces]) -> int:
    return found[0]


def _by_place(
    order: tuple[int, ...], found: Sequence[tuple[int, SelectedPlaces]]
) -> dict[int, tuple[int, ...]]:
    """Return what is found on each place, in order."""
    if len({selected.places for _, selected in found}) == 1:
        return dict.fromkeys(found[0][1].places, order)
    reach_of = dict(found)
    at_place: dict[int, list[int]] = {}
    for at in order:
        for place in reach_of[at].places:
            at_place.setdefault(place, []).append(at)
    return {place: tuple(ats) for place, ats in at_place.items()}
