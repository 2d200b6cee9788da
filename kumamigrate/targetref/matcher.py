"""The matcher of one state: every question about its proxies, with answers kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from kumamigrate.model.kri import Kri, mesh_kri
from kumamigrate.model.policytype import PolicyType
from kumamigrate.model.release import Release, release
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import State
from kumamigrate.targetref.choose import Chooser
from kumamigrate.targetref.entry import Entry, Found
from kumamigrate.targetref.inbound import InboundPoint, from_rules, inbound_rules
from kumamigrate.targetref.items import single_entry, to_entries
from kumamigrate.targetref.lookup import ServiceTable, service_table
from kumamigrate.targetref.merge import merge_entries
from kumamigrate.targetref.outbound import (
    Ranks,
    Resolved,
    look_up,
    ranks_of,
    resolve_items,
    resource_rules,
)
from kumamigrate.targetref.proxyrules import ProxyRules, ToSide
from kumamigrate.targetref.resolve import EXTERNAL, index_of, resolve
from kumamigrate.targetref.route import (
    Destination,
    EffectiveRoute,
    RealResource,
    ServiceTag,
    http_routes,
    tcp_routes,
)
from kumamigrate.targetref.selection import Key, Point, Policies, Selection
from kumamigrate.targetref.torules import to_items


class Matcher:
    """Answers questions about one state; everything worked out is kept for the next question.

    Confs and tables are kept by type and selected policies, not by proxy: selections are few
    (matcher-notes §4). Raises UnknownRelease for a state of an unknown release.
    """

    def __init__(self, state: State) -> None:
        self.state = state
        self.release: Release = release(state.release)
        self._index = index_of(state)
        self._chooser = Chooser(state, self.release)
        self._entries: dict[int, tuple[Entry, ...]] = {}
        self._tables: dict[Key, ServiceTable] = {}
        self._resolved: dict[Key, Resolved] = {}
        self._ranks: dict[str, Ranks | None] = {}
        self._meant: dict[int, tuple[Kri, ...]] = {}
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
        return self._chooser.selection(proxy, policy_type)

    def proxy_class(self, proxy: Resource) -> int:
        """Return a number that proxies share which no policy of the state can tell apart.

        Their selections have the same policies for every type, and the same at each place.
        """
        return self._chooser.proxy_class(proxy)

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
        route's own (MeshAccessLog). Up to 2.11 one outside of the mesh that is referred to with
        its port is none that a policy means: the mesh alone is left (asked of 2.9).
        """
        if not self.release.resource_rules:
            return None
        if kri.type == EXTERNAL and kri.section and self.release.external_by_port == "mesh":
            kri = mesh_kri(kri.mesh)
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
            case RealResource():
                key = route.kri if route else None
                if direct_route and route is not None and key is None:
                    return None
                looked_up = destination.looked_up
                return self.resource(selection, looked_up, key, direct_route=direct_route)
            case _:
                assert_never(destination)

    def everybodys(self, policy_type: str) -> Policies:
        """Return all policies of a type in merge order, whomever they are for."""
        return self._chooser.everybodys(policy_type)

    def of_everybody(self, policy_type: str, kri: Kri) -> Found | None:
        """Return what all policies of a type say of a real resource, whomever they are for."""
        policies = self.everybodys(policy_type)
        resolved = self._resolve(self._chooser.key(policy_type, policies), policies)
        fields = self._kind(policy_type).conf("to")
        return look_up(resolved, fields, kri, None, direct_route=False)

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
        key = self._chooser.key(selection.policy_type, point.policies)
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
        key = self._chooser.key(policy_type, policies)
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

    def _to(self, policy: Resource, kind: PolicyType) -> tuple[Entry, ...]:
        known = self._entries.get(id(policy))
        if known is None:
            known = self._entries[id(policy)] = to_entries(policy, kind, self.release)
        return known

    def _table(self, key: Key, policies: Policies) -> ServiceTable:
        if key not in self._tables:
            kind = self._kind(key[0])
            items = to_items(policies, kind, self.release, self._chooser.last_route, self._to)
            self._tables[key] = service_table(items, kind.conf("to"), self.release.grouping)
        return self._tables[key]

    def _resolve(self, key: Key, policies: Policies) -> Resolved:
        if key not in self._resolved:
            kind = self._kind(key[0])
            entries = [entry for policy in policies for entry in self._to(policy, kind)]
            ranks = self._ranks_of(key[0])
            self._resolved[key] = resolve_items(entries, self.release, ranks, self._meant_by)
        return self._resolved[key]

    def _ranks_of(self, policy_type: str) -> Ranks | None:
        if policy_type not in self._ranks:
            kind = self._kind(policy_type)
            every = (e for p in self.state.of_type(policy_type) for e in self._to(p, kind))
            mine = [entry for entry in every if entry.top.kind != "MeshHTTPRoute"]
            self._ranks[policy_type] = ranks_of(mine, self.release)
        return self._ranks[policy_type]

    def _meant_by(self, entry: Entry) -> tuple[Kri, ...]:
        known = self._meant.get(id(entry))
        if known is None:
            found = entry.target
            known = () if found is None else resolve(entry.policy, found, self._index, self.release)
            self._meant[id(entry)] = known
        return known
