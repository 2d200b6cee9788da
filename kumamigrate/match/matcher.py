"""The matcher of one state: every question about its proxies, with answers kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from kumamigrate.match.entry import Found
from kumamigrate.match.inbound import InboundPoint, from_rules, inbound_rules
from kumamigrate.match.items import single_entry, top_of
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
from kumamigrate.match.selection import Point, Policies, Selection
from kumamigrate.match.sort import Ranked, compare, sort_unstable
from kumamigrate.match.ties import Tie, store_order_tie, ties_of
from kumamigrate.match.torules import to_items
from kumamigrate.model.kri import Kri
from kumamigrate.model.policytype import PolicyType
from kumamigrate.model.release import Release, release
from kumamigrate.model.resource import EFFECT, Resource
from kumamigrate.model.state import State

Key = tuple[str, tuple[int, ...]]


class Matcher:
    """Answers questions about one state; everything worked out is kept for the next question.

    Confs and tables are kept by type and selected policies, not by proxy: selections are few
    (matcher-notes §4). Raises UnknownRelease for a state of an unknown release.
    """

    def __init__(self, state: State) -> None:
        self.state = state
        self.release: Release = release(state.release)
        self._index = index_of(state)
        self._policies: dict[str, list[tuple[int, Resource, Selector]]] = {}
        self._gateways = tuple(state.of_type("MeshGateway"))
        routes = tuple(state.of_type("MeshHTTPRoute"))
        # Selection takes the first route of a name, the to-list the last (matcher.md (g)).
        self._first_route = {(r.mesh, r.display_name): r for r in reversed(routes)}
        self._last_route = {(r.mesh, r.display_name): r for r in routes}
        self._proxies: dict[int, tuple[Proxy, dict[Selector, Reach]]] = {}
        self._sorted: dict[Key, tuple[tuple[int, ...], tuple[Tie, ...]]] = {}
        self._services: dict[Key, ServiceTable] = {}
        self._resolved: dict[Key, Resolved] = {}
        self._real: dict[tuple[Key, Kri, Kri | None, bool], Found | None] = {}
        self._tables: dict[Key, ServiceTable] = {}
        self._routes: dict[tuple[Key, Destination], tuple[EffectiveRoute, ...]] = {}
        self._selections: dict[tuple[int, str], Selection] = {}
        self._singles: dict[Key, Found | None] = {}
        self._inbounds: dict[Key, InboundPoint] = {}
        self._sides: dict[Key, ToSide] = {}
        for at, resource in enumerate(state.resources):
            if resource.type in self.release.policy_types and not _is_shadow(resource):
                known = self._policies.setdefault(resource.type, [])
                known.append((at, resource, self._selector(resource)))

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

    def _select(self, proxy: Resource, policy_type: str) -> Selection:
        seen, reaches = self._proxy(proxy)
        found: list[tuple[int, Reach]] = []
        warnings = []
        for at, policy, selector in self._policies.get(policy_type, ()):
            if selector not in reaches:
                reaches[selector] = reach(selector, seen, self.release)
            selected = reaches[selector]
            if selected:
                found.append((at, selected))
            elif selector.unresolved and passes_gates(selector, proxy):
                warnings.append(_unresolved(policy, selector))
        key, order, ties = self._sort(policy_type, tuple(at for at, _ in found))
        hostnames = self._hostnames(seen, found)
        for point in hostnames if self.release.subset_rules else ():
            ties += store_order_tie(point.policies, self._kind(policy_type), self.release)
        return Selection(
            proxy=proxy,
            policy_type=policy_type,
            policies=self._at(order),
            points=self._points(seen, order, dict(found)),
            hostnames=hostnames,
            warnings=tuple(warnings),
            ties=ties,
            key=key,
        )

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
        table = self._tables.get(selection.key)
        if table is None:
            table = self._table(selection.policy_type, selection.policies)
            self._tables[selection.key] = table
        return table.look_up(service, route_hash)

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
        asked = (selection.key, kri, route, direct_route)
        if asked not in self._real:
            fields = self._kind(selection.policy_type).conf("to")
            resolved = self._resolve(selection.policy_type, selection.policies)
            self._real[asked] = look_up(resolved, fields, kri, route, direct_route=direct_route)
        return self._real[asked]

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
        asked = (selection.key, destination)
        if asked not in self._routes:
            found = self.lookup(selection, destination)
            self._routes[asked] = http_routes(found, destination, self.release)
        return self._routes[asked]

    def tcp_routes(self, proxy: Resource, destination: Destination) -> tuple[EffectiveRoute, ...]:
        """Return the TCP route of an outbound; none where no MeshTCPRoute reaches it."""
        selection = self.selection(proxy, "MeshTCPRoute")
        asked = (selection.key, destination)
        if asked not in self._routes:
            found = self.lookup(selection, destination)
            self._routes[asked] = tcp_routes(found, destination, self.release)
        return self._routes[asked]

    def inbound(self, selection: Selection, point: Point) -> InboundPoint:
        """Return what one inbound or listener reads."""
        key = (selection.policy_type, self._ids(point.policies))
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
        key = (policy_type, self._ids(policies))
        if key not in self._sides:
            fields = self._kind(policy_type).conf("to")
            old = self.release.subset_rules
            new = self.release.resource_rules
            self._sides[key] = ToSide(
                rules=self._table(policy_type, policies).enumerated() if old else (),
                resource_rules=(
                    resource_rules(self._resolve(policy_type, policies), fields) if new else ()
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

    def _selector(self, policy: Resource) -> Selector:
        top = top_of(policy, self.release)
        return selector_of(
            policy, top, self._first_route, self.release, lambda r: top_of(r, self.release)
        )

    def _proxy(self, proxy: Resource) -> tuple[Proxy, dict[Selector, Reach]]:
        known = self._proxies.get(id(proxy))
        if known is None:
            known = (proxy_of(proxy, self._gateways, self.release), {})
            self._proxies[id(proxy)] = known
        return known

    def _sort(
        self, policy_type: str, found: tuple[int, ...]
    ) -> tuple[Key, tuple[int, ...], tuple[Tie, ...]]:
        key = (policy_type, found)
        if key not in self._sorted:
            ranked = [
                (Ranked(p, top_of(p, self.release)), at)
                for at, p in ((at, self.state.resources[at]) for at in found)
            ]
            levels = self.release.policy_sort
            order = tuple(
                at
                for _, at in sort_unstable(
                    ranked, lambda a, b: compare(self.release, levels, a[0], b[0])
                )
            )
            self._sorted[key] = (
                order,
                ties_of(self._at(order), self._kind(policy_type), self.release),
            )
        return (key, *self._sorted[key])

    def _at(self, order: Sequence[int]) -> Policies:
        return tuple(self.state.resources[at] for at in order)

    def _points(
        self, proxy: Proxy, order: Sequence[int], reaches: dict[int, Reach]
    ) -> tuple[Point, ...]:
        """Return the points some policy selects, by address and port."""
        found: dict[tuple[str, int], list[int]] = {}
        for at in order:
            places = (proxy.places[i] for i in reaches[at].places)
            for key in dict.fromkeys((p.address, p.port) for p in places):
                found.setdefault(key, []).append(at)
        return tuple(
            Point(address=address, port=port, policies=self._at(ats))
            for (address, port), ats in sorted(found.items())
        )

    def _hostnames(self, proxy: Proxy, found: Sequence[tuple[int, Reach]]) -> tuple[Point, ...]:
        """Return the vhosts some policy selects, policies in file order (matcher-notes §1.1)."""
        if proxy.gateway != "builtin":
            return ()
        hosts: dict[tuple[str, int, str], list[int]] = {}
        for at, selected in found:
            places = (proxy.places[i] for i in selected.places)
            for key in dict.fromkeys((p.address, p.port, p.hostname) for p in places):
                hosts.setdefault(key, []).append(at)
        return tuple(
            Point(address=address, port=port, hostname=host, policies=self._at(ats))
            for (address, port, host), ats in sorted(hosts.items())
        )

    def _ids(self, policies: Policies) -> tuple[int, ...]:
        return tuple(id(p) for p in policies)

    def _table(self, policy_type: str, policies: Policies) -> ServiceTable:
        key = (policy_type, self._ids(policies))
        if key not in self._services:
            kind = self._kind(policy_type)
            items = to_items(policies, kind, self.release, self._last_route)
            self._services[key] = service_table(items, kind.conf("to"), self.release.grouping)
        return self._services[key]

    def _resolve(self, policy_type: str, policies: Policies) -> Resolved:
        key = (policy_type, self._ids(policies))
        if key not in self._resolved:
            kind = self._kind(policy_type)
            self._resolved[key] = resolve_items(policies, kind, self.release, self._index)
        return self._resolved[key]


def _is_shadow(policy: Resource) -> bool:
    return policy.labels.get(EFFECT) == "shadow"


def _unresolved(policy: Resource, selector: Selector) -> str:
    return (
        f"unable to resolve TargetRef on policy: mesh:{policy.mesh} name:{policy.name} "
        f"error:\"couldn't resolve MeshHTTPRoute targetRef with name '{selector.top.name or ''}'\""
    )
