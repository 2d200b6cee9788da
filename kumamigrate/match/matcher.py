"""The matcher of one state: every question about its proxies, with answers kept."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import assert_never

from kumamigrate.match.alike import class_of, traits_of
from kumamigrate.match.entry import Entry, Found
from kumamigrate.match.inbound import InboundPoint, from_rules, inbound_rules
from kumamigrate.match.items import single_entry, to_entries, top_of
from kumamigrate.match.lookup import ServiceTable, service_table
from kumamigrate.match.merge import merge_entries
from kumamigrate.match.outbound import Resolved, look_up, resolve_items, resource_rules
from kumamigrate.match.proxyrules import ProxyRules, ToSide
from kumamigrate.match.resolve import index_of
from kumamigrate.match.route import (
    Destination,
    EffectiveRoute,
    RealResource,
    ServiceTag,
    http_routes,
    tcp_routes,
)
from kumamigrate.match.select import (
    Proxy,
    Reach,
    Selector,
    passes_gates,
    proxy_of,
    reach,
    selector_of,
)
from kumamigrate.match.selection import Key, Point, Policies, Selection
from kumamigrate.match.sort import Ranked, compare, sort_unstable
from kumamigrate.match.ties import Tie, store_order_tie, ties_of
from kumamigrate.match.torules import to_items
from kumamigrate.model.kri import Kri
from kumamigrate.model.policytype import PolicyType
from kumamigrate.model.release import Release, release
from kumamigrate.model.resource import EFFECT, Resource
from kumamigrate.model.state import State


@dataclass(frozen=True, slots=True, eq=False)
class ProxyClass:
    """Proxies that all selectors select alike; `reaches` is filled as selectors are asked."""

    number: int
    reaches: list[Reach | None]


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """The policies of one type for one class of proxies: positions in the state.

    `order` in merge order, `found` in file order; `at_place` those on each place, by `order`.
    """

    found: tuple[tuple[int, Reach], ...]
    order: tuple[int, ...]
    at_place: dict[int, tuple[int, ...]]
    key: Key
    ties: tuple[Tie, ...]
    unresolved: tuple[str, ...]


class Matcher:
    """Answers questions about one state; everything worked out is kept for the next question.

    Confs and tables are kept by type and selected policies, not by proxy: selections are few
    (matcher-notes §4). Raises UnknownRelease for a state of an unknown release.
    """

    def __init__(self, state: State) -> None:
        self.state = state
        self.release: Release = release(state.release)
        self._index = index_of(state)
        self._gateways = tuple(state.of_type("MeshGateway"))
        routes = tuple(state.of_type("MeshHTTPRoute"))
        # Selection takes the first route of a name, the to-list the last (matcher.md (g)).
        self._first_route = {(r.mesh, r.display_name): r for r in reversed(routes)}
        self._last_route = {(r.mesh, r.display_name): r for r in routes}
        self._policies, self._selectors = self._read_policies()
        self._traits = traits_of(self._selectors)
        self._proxies: dict[int, tuple[Proxy, ProxyClass]] = {}
        self._classes: dict[Hashable, ProxyClass] = {}
        self._choices: dict[tuple[int, str], Choice] = {}
        self._entries: dict[int, tuple[Entry, ...]] = {}
        self._ranked: dict[int, Ranked] = {}
        self._sorted: dict[tuple[int, ...], tuple[int, ...]] = {}
        self._ties: dict[Key, tuple[Tie, ...]] = {}
        self._sets: dict[tuple[str, tuple[int, ...]], Key] = {}
        self._selections: dict[tuple[int, str], Selection] = {}
        self._tables: dict[Key, ServiceTable] = {}
        self._resolved: dict[Key, Resolved] = {}
        self._routes: dict[tuple[str, int, bool], tuple[EffectiveRoute, ...]] = {}
        self._singles: dict[Key, Found | None] = {}
        self._inbounds: dict[Key, InboundPoint] = {}
        self._sides: dict[Key, ToSide] = {}

    def proxies(self) -> tuple[Resource, ...]:
        """Return the Dataplanes of the state, in file order."""
        return tuple(self.state.of_type("Dataplane"))

    def policy_types(self) -> tuple[str, ...]:
        """Return the types some policy of the state has, by name; shadow policies count."""
        kinds = {r.type for r in self.state.resources if r.type in self.release.policy_types}
        return tuple(sorted(kinds))

    def selection(self, proxy: Resource, policy_type: str) -> Selection:
        """Return the policies of a type that reach a proxy, and the points they select."""
        known = self._selections.get((id(proxy), policy_type))
        if known is None:
            known = self._select(proxy, policy_type)
            self._selections[id(proxy), policy_type] = known
        return known

    def proxy_class(self, proxy: Resource) -> int:
        """Return a number that proxies share which no policy of the state can tell apart.

        Their selections have the same policies for every type, and the same at each place.
        """
        return self._proxy(proxy)[1].number

    def rules(self, proxy: Resource, policy_type: str) -> ProxyRules:
        """Return everything a proxy resolves to for one type."""
        return self._rules(self.selection(proxy, policy_type))

    def service(
        self, selection: Selection, service: str, route_hash: str | None = None
    ) -> Found | None:
        """Return what a service-tag outbound reads; with a hash, what one of its routes reads.

        Equals the first hit in the enumerated list (matcher-notes §2). None: nothing reaches it.
        """
        if not self.release.subset_rules:
            return None
        return self._table(selection.key, selection.policies).look_up(service, route_hash)

    def resource(
        self,
        selection: Selection,
        kri: Kri,
        route: Kri | None = None,
        *,
        direct_route: bool = False,
    ) -> Found | None:
        """Return what an outbound to a real resource reads; `kri.section` is the port's name.

        First hit of route → section → resource → mesh; `direct_route` takes no other than the
        route's own (MeshAccessLog).
        """
        if not self.release.resource_rules:
            return None
        fields = self._kind(selection.policy_type).conf("to")
        resolved = self._resolve(selection.key, selection.policies)
        return look_up(resolved, fields, kri, route, direct_route=direct_route)

    def lookup(
        self,
        selection: Selection,
        destination: Destination,
        route: EffectiveRoute | None = None,
        *,
        direct_route: bool = False,
    ) -> Found | None:
        """Return what an outbound, or one of its routes, reads: the list its kind reads."""
        match destination:
            case ServiceTag(service=service):
                return self.service(selection, service, route.hash if route else None)
            case RealResource(kri=kri):
                key = route.kri if route else None
                if direct_route and route is not None and key is None:
                    return None
                return self.resource(selection, kri, key, direct_route=direct_route)
            case _:
                assert_never(destination)

    def http_routes(self, proxy: Resource, destination: Destination) -> tuple[EffectiveRoute, ...]:
        """Return the HTTP routes of an outbound in Envoy's order, the catch-all `/` included."""
        selection = self.selection(proxy, "MeshHTTPRoute")
        found = self.lookup(selection, destination)
        real = isinstance(destination, RealResource)
        asked = ("http", id(found), real)
        if asked not in self._routes:
            self._routes[asked] = http_routes(found, self.release, real=real)
        return self._routes[asked]

    def tcp_routes(self, proxy: Resource, destination: Destination) -> tuple[EffectiveRoute, ...]:
        """Return the TCP route of an outbound; none where no MeshTCPRoute reaches it."""
        selection = self.selection(proxy, "MeshTCPRoute")
        found = self.lookup(selection, destination)
        real = isinstance(destination, RealResource)
        asked = ("tcp", id(found), real)
        if asked not in self._routes:
            self._routes[asked] = tcp_routes(found, self.release, real=real)
        return self._routes[asked]

    def inbound(self, selection: Selection, point: Point) -> InboundPoint:
        """Return what one inbound or listener reads."""
        key = self._key(selection.policy_type, point.policies)
        if key not in self._inbounds:
            kind = self._kind(selection.policy_type)
            old = "from" in kind.sections
            self._inbounds[key] = InboundPoint(
                rules=inbound_rules(point.policies, kind, self.release),
                from_rules=from_rules(point.policies, kind, self.release) if old else (),
            )
        return self._inbounds[key]

    def single(self, selection: Selection) -> Found | None:
        """Return the one conf of a single-item type; None for other types."""
        kind = self._kind(selection.policy_type)
        if not kind.single_item or not selection.policies:
            return None
        if selection.key not in self._singles:
            entries = tuple(single_entry(p, kind, self.release) for p in selection.policies)
            confs = merge_entries(entries, kind.conf("default"))
            self._singles[selection.key] = Found(confs=confs, entries=entries, level="proxy")
        return self._singles[selection.key]

    def to_side(self, policy_type: str, policies: Policies) -> ToSide:
        """Return both to-lists of policies given in merge order."""
        key = self._key(policy_type, policies)
        if key not in self._sides:
            fields = self._kind(policy_type).conf("to")
            old = self.release.subset_rules
            new = self.release.resource_rules
            self._sides[key] = ToSide(
                rules=self._table(key, policies).enumerated() if old else (),
                resource_rules=(
                    resource_rules(self._resolve(key, policies), fields) if new else ()
                ),
            )
        return self._sides[key]

    def _rules(self, selection: Selection) -> ProxyRules:
        kind, shape = self._kind(selection.policy_type), self.release.shape
        points = {p.key: self.inbound(selection, p) for p in selection.points}
        listed = self.release.inbound_rules == "always" or (
            self.release.inbound_rules == "types-with-rules" and "rules" in kind.sections
        )
        gateways = shape == "2.x"
        return ProxyRules(
            selection=selection,
            to=self.to_side(selection.policy_type, selection.policies),
            from_rules={k: p.from_rules for k, p in points.items() if "from" in kind.sections},
            inbound_rules={k: p.rules for k, p in points.items()} if listed else {},
            single=self.single(selection),
            by_listener=self._sides_of(selection, selection.points) if gateways else {},
            by_hostname=self._sides_of(selection, selection.hostnames) if gateways else {},
            shape=shape,
            typed_keys=self.release.key == "typed",
        )

    def _sides_of(self, selection: Selection, points: Sequence[Point]) -> dict[str, ToSide]:
        return {p.key: self.to_side(selection.policy_type, p.policies) for p in points}

    def _kind(self, policy_type: str) -> PolicyType:
        return self.release.policy_types[policy_type]

    def _read_policies(
        self,
    ) -> tuple[dict[str, list[tuple[int, int]]], tuple[Selector, ...]]:
        """Return by type each policy's position and its selector's number, and the selectors."""
        policies: dict[str, list[tuple[int, int]]] = {}
        numbers: dict[Selector, int] = {}
        for at, policy in enumerate(self.state.resources):
            if policy.type in self.release.policy_types and not _is_shadow(policy):
                top = top_of(policy, self.release)
                selector = selector_of(policy, top, self._first_route, self.release)
                number = numbers.setdefault(selector, len(numbers))
                policies.setdefault(policy.type, []).append((at, number))
        return policies, tuple(numbers)

    def _proxy(self, proxy: Resource) -> tuple[Proxy, ProxyClass]:
        known = self._proxies.get(id(proxy))
        if known is None:
            seen = proxy_of(proxy, self._gateways, self.release)
            alike = class_of(seen, self._traits)
            if alike not in self._classes:
                blank: list[Reach | None] = [None] * len(self._selectors)
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
        for point in hostnames if self.release.subset_rules else ():
            ties += store_order_tie(point.policies, self._kind(policy_type), self.release)
        return Selection(
            proxy=proxy,
            policy_type=policy_type,
            policies=self._at(choice.order),
            points=self._points(seen, choice),
            hostnames=hostnames,
            warnings=choice.unresolved,
            ties=ties,
            key=choice.key,
        )

    def _choose(self, seen: Proxy, reaches: list[Reach | None], policy_type: str) -> Choice:
        found: list[tuple[int, Reach]] = []
        unresolved = []
        for at, number in self._policies.get(policy_type, ()):
            selector = self._selectors[number]
            selected = reaches[number]
            if selected is None:
                selected = reaches[number] = reach(selector, seen, self.release)
            if selected:
                found.append((at, selected))
            elif selector.unresolved and passes_gates(selector, seen.resource):
                unresolved.append(_unresolved(self.state.resources[at], selector))
        order = self._sort(tuple(at for at, _ in found))
        policies, reach_of = self._at(order), dict(found)
        at_place: dict[int, list[int]] = {}
        for at in order:
            for place in reach_of[at].places:
                at_place.setdefault(place, []).append(at)
        key = self._key(policy_type, policies)
        return Choice(
            found=tuple(found),
            order=order,
            at_place={place: tuple(ats) for place, ats in at_place.items()},
            key=key,
            ties=self._ties_of(key, policies),
            unresolved=tuple(unresolved),
        )

    def _sort(self, found: tuple[int, ...]) -> tuple[int, ...]:
        if found not in self._sorted:
            cmp = partial(compare, self.release, self.release.policy_sort)
            ranked = self._rank
            order = sort_unstable(found, lambda a, b: cmp(ranked(a), ranked(b)))
            self._sorted[found] = tuple(order)
        return self._sorted[found]

    def _rank(self, at: int) -> Ranked:
        known = self._ranked.get(at)
        if known is None:
            policy = self.state.resources[at]
            known = self._ranked[at] = Ranked(policy, top_of(policy, self.release))
        return known

    def _ties_of(self, key: Key, policies: Policies) -> tuple[Tie, ...]:
        if key not in self._ties:
            self._ties[key] = ties_of(policies, self._kind(key[0]), self.release)
        return self._ties[key]

    def _at(self, order: Sequence[int]) -> Policies:
        return tuple(self.state.resources[at] for at in order)

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

    def _key(self, policy_type: str, policies: Policies) -> Key:
        """Return a short key for policies in an order, equal for equal ones."""
        asked = (policy_type, tuple(id(p) for p in policies))
        return self._sets.setdefault(asked, (policy_type, len(self._sets)))

    def _to(self, policy: Resource, kind: PolicyType) -> tuple[Entry, ...]:
        known = self._entries.get(id(policy))
        if known is None:
            known = self._entries[id(policy)] = to_entries(policy, kind, self.release)
        return known

    def _table(self, key: Key, policies: Policies) -> ServiceTable:
        if key not in self._tables:
            kind = self._kind(key[0])
            items = to_items(policies, kind, self.release, self._last_route, self._to)
            self._tables[key] = service_table(items, kind.conf("to"), self.release.grouping)
        return self._tables[key]

    def _resolve(self, key: Key, policies: Policies) -> Resolved:
        if key not in self._resolved:
            kind = self._kind(key[0])
            self._resolved[key] = resolve_items(policies, kind, self.release, self._index, self._to)
        return self._resolved[key]


def _is_shadow(policy: Resource) -> bool:
    return policy.labels.get(EFFECT) == "shadow"


def _unresolved(policy: Resource, selector: Selector) -> str:
    return (
        f"unable to resolve TargetRef on policy: mesh:{policy.mesh} name:{policy.name} "
        f"error:\"couldn't resolve MeshHTTPRoute targetRef with name '{selector.top.name or ''}'\""
    )
