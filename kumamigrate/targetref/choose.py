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
from kumamigrate.targetref.sort import Ranked, compare, keys_of, sort_unstable
from kumamigrate.targetref.ties import Tie, store_order_tie, ties_of


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

    def proxy_class(self, proxy: Resource) -> int:
        """Return a number that proxies share which no policy can tell apart."""
        return self._proxy(proxy)[1].number

    def key(self, policy_type: str, policies: Policies) -> Key:
        """Return a short key for policies in an order, equal for equal ones."""
        asked = (policy_type, tuple(map(id, policies)))
        return self._sets.setdefault(asked, (policy_type, len(self._sets)))

    def _read_policies(
        self,
    ) -> tuple[dict[str, dict[Need | None, list[tuple[int, int]]]], tuple[Selector, ...]]:
        """Return by type and need each policy's position and its selector's number, and the
        selectors."""
        policies: dict[str, dict[Need | None, list[tuple[int, int]]]] = {}
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
                by_need.setdefault(need, []).append((at, number))
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
        unresolved = []
        ties: list[Tie] = []
        for at, number in self._candidates(seen, policy_type):
            selector = self._selectors[number]
            selected = reaches[number]
            if selected is None:
                selected = reaches[number] = reach(selector, seen, self._release)
            if selected:
                found.append((at, selected))
            elif selector.unresolved and passes_gates(selector, seen.resource):
                unresolved.append(_unresolved(self._state.resources[at], selector))
            if selector.top.kind == "MeshHTTPRoute":
                ties.extend(self._namesake_ties(at, selector, seen))
        order = self._sort(tuple(at for at, _ in found))
        policies, reach_of = self._at(order), dict(found)
        at_place: dict[int, list[int]] = {}
        for at in order:
            for place in reach_of[at].places:
                at_place.setdefault(place, []).append(at)
        key = self.key(policy_type, policies)
        return Choice(
            policies=policies,
            found=tuple(found),
            order=order,
            at_place={place: tuple(ats) for place, ats in at_place.items()},
            key=key,
            ties=(*ties, *self._ties_of(key, policies)),
            unresolved=tuple(unresolved),
        )

    def _candidates(self, seen: Proxy, policy_type: str) -> list[tuple[int, int]]:
        """Return the policies of a type, in file order, whose selectors lack nothing in a proxy."""
        by_need = self._policies.get(policy_type, {})
        found = list(by_need.get(None, ()))
        for need in offers_of(seen) if by_need.keys() - {None} else ():
            found += by_need.get(need, ())
        return sorted(found)

    def _namesake_ties(self, at: int, selector: Selector, seen: Proxy) -> Iterator[Tie]:
        """Yield the tie of a route name that several routes have: which one counts is chance."""
        if not passes_gates(selector, seen.resource):
            return
        same = self._namesakes.get((selector.mesh, selector.top.name or ""), ())
        if len(same) > 1:
            yield Tie(policies=(self._state.resources[at], *same), reason="ambiguous-route")

    def _sort(self, found: tuple[int, ...]) -> tuple[int, ...]:
        if found not in self._sorted:
            cmp = partial(compare, self._release, self._release.policy_sort)
            ranked = self._rank
            order = sort_unstable(
                found,
                lambda a, b: cmp(ranked(a), ranked(b)),
                lambda: keys_of(self._release, self._release.policy_sort, [*map(ranked, found)]),
            )
            self._sorted[found] = tuple(order)
        return self._sorted[found]

    def _rank(self, at: int) -> Ranked:
        known = self._ranked.get(at)
        if known is None:
            policy = self._state.resources[at]
            known = self._ranked[at] = Ranked(policy, top_of(policy, self._release))
        return known

    def _ties_of(self, key: Key, policies: Policies) -> tuple[Tie, ...]:
        if key not in self._ties:
            self._ties[key] = ties_of(policies, self._kind(key[0]), self._release)
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


def _unresolved(policy: Resource, selector: Selector) -> str:
    return (
        f"unable to resolve TargetRef on policy: mesh:{policy.mesh} name:{policy.name} "
        f"error:\"couldn't resolve MeshHTTPRoute targetRef with name '{selector.top.name or ''}'\""
    )
