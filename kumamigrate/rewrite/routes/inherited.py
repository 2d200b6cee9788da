"""Where rules of routes take effect, and what they read there in the old place (product.md §4).

The old place merged mesh-wide, service-level and route-level values; the new one merges only
mesh-wide and route-level ones (law 3), and a moved policy has a lower rank (law 4).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from functools import cached_property
from typing import Any

from kumamigrate.dataclass import dataclass, field, replace
from kumamigrate.model.conf import JsonConf, patch
from kumamigrate.model.kri import Kri, kri_of
from kumamigrate.model.resource import (
    SERVICE,
    Identity,
    Resource,
    mapping,
    mappings,
    sequence,
)
from kumamigrate.model.state import State
from kumamigrate.rewrite.references.proxies import Traits, proxies_of, traits_of
from kumamigrate.rewrite.routes.routeconf import (
    folded,
    reaching,
)
from kumamigrate.rewrite.routes.routes import ROUTE, old_route_name
from kumamigrate.source.text import at_path
from kumamigrate.targetref.entry import Entry
from kumamigrate.targetref.items import has_to_route, to_entries
from kumamigrate.targetref.matcher import Matcher
from kumamigrate.targetref.resolve import REAL, index_of, resolve
from kumamigrate.targetref.route import Destination, RealResource, ServiceTag
from kumamigrate.targetref.routehash import route_hash
from kumamigrate.targetref.selection import Selection


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class InheritedSlot:
    """One rule of a route as one kind of proxy has it, and what it shall read there.

    `owner` is the route that the rule counts as: another one if it has the same matches.
    `wanted` is as written, `entries` where it came from, lowest precedence first.
    """

    proxy: Resource
    selection: Selection
    destination: Kri
    owner: Resource
    digest: str
    wanted: JsonConf
    entries: tuple[Entry, ...]
    protocol: str
    real_only: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class Reader:
    """Asks the matcher of a state what routes of a mesh read, for one policy type."""

    matcher: Matcher
    policy_type: str
    mesh: str
    _proxies: dict[frozenset[Traits], tuple[Resource, ...]] = field(
        default_factory=dict, repr=False
    )
    _known: dict[Identity, tuple[InheritedSlot, ...]] = field(default_factory=dict, repr=False)

    @property
    def state(self) -> State:
        """Return the state that is asked."""
        return self.matcher.state

    @cached_property
    def fields(self) -> Any:
        """Return the fields of a `to` conf of the type."""
        return self.matcher.release.policy_types[self.policy_type].conf("to")

    @cached_property
    def index(self) -> Any:
        """Return what references to real resources resolve against."""
        return index_of(self.state)

    @cached_property
    def _in_new_form(self) -> frozenset[int]:
        policies = self.state.of_type(self.policy_type)
        return frozenset(id(p) for p in policies if has_to_route(p))

    @cached_property
    def protocols(self) -> Mapping[str, str]:
        """Return the protocol of every service whose inbounds agree on one."""
        found: dict[str, set[str]] = {}
        for proxy in self.state.of_type("Dataplane"):
            for inbound in mappings(at_path(proxy.spec, ("networking", "inbound"))):
                tags = mapping(inbound.get("tags"))
                if SERVICE in tags:
                    protocol = str(tags.get("kuma.io/protocol") or "tcp")
                    found.setdefault(str(tags[SERVICE]), set()).add(protocol)
        for service in self.state.of_type("MeshService"):
            for port in mappings(service.spec.get("ports")):
                protocol = str(port.get("appProtocol") or "tcp")
                found.setdefault(service.display_name, set()).add(protocol)
        return {name: next(iter(p)) for name, p in found.items() if len(p) == 1}

    def slots(self, route: Resource, own: JsonConf) -> tuple[InheritedSlot, ...]:
        """Return every place where rules of a route take effect, alike places once.

        `own` is what the policies on the route set themselves. Destinations that no service tag
        can mean never read the old place; there `own` comes on top of what is read today.
        """
        if route.identity not in self._known:
            self._known[route.identity] = tuple(self._distinct(route))
        return tuple(
            replace(slot, wanted=reaching(self.policy_type, patch(slot.wanted, own)))
            if slot.real_only
            else slot
            for slot in self._known[route.identity]
        )

    def _distinct(self, route: Resource) -> Iterator[InheritedSlot]:
        """Yield the slots that differ in what they read now or could read afterwards."""
        proxies: set[Any] = set()
        places: set[Any] = set()
        for proxy in self._proxies_at(route):
            routing = self.matcher.selection(proxy, ROUTE)
            if not any(r is route for r in routing.policies):
                continue
            selection = self.matcher.selection(proxy, self.policy_type)
            if (routing.key, selection.key) in proxies:
                continue
            proxies.add((routing.key, selection.key))
            new = tuple(id(p) for p in selection.policies if id(p) in self._in_new_form)
            for slot in self._slots(route, proxy, selection):
                old = tuple(id(e.policy) for e in slot.entries)
                key = (slot.destination, slot.digest, slot.owner.identity, old, new)
                if key not in places:
                    places.add(key)
                    yield slot

    def _proxies_at(self, route: Resource) -> tuple[Resource, ...]:
        """Return proxies that are told apart by what may show where a route leads from."""
        names = self._names[route.identity]
        there = {*names, ""}
        routes = [r for r in self.state.of_type(ROUTE) if there & self._names[r.identity]]
        on = {r.display_name for r in routes}
        policies = (p for p in self.state.of_type(self.policy_type) if _may_count(p, names, on))
        asked = traits_of(p for p in (*routes, *policies) if p.mesh == self.mesh)
        if asked not in self._proxies:
            self._proxies[asked] = proxies_of(self.matcher, self.mesh, asked)
        return self._proxies[asked]

    @cached_property
    def _names(self) -> Mapping[Identity, frozenset[str]]:
        """The names that the destinations of each route have, "" where it is about all."""
        release = self.matcher.release
        kind = release.policy_types[ROUTE]
        found = {}
        for route in self.state.of_type(ROUTE):
            names: set[str] = set()
            for at in to_entries(route, kind, release):
                if at.target is None or at.target.kind not in REAL:
                    names.add("")
                    continue
                meant = resolve(route, at.target, self.index, release)
                names |= {kri.name for kri in meant} | _spelled(at.target.name or "")
            found[route.identity] = frozenset(names)
        return found

    def _slots(
        self, route: Resource, proxy: Resource, selection: Selection
    ) -> Iterator[InheritedSlot]:
        release = self.matcher.release
        kind = release.policy_types[ROUTE]
        for at in to_entries(route, kind, release):
            if at.target is None or at.target.kind not in REAL:
                continue
            name = at.target.name or ""
            there = resolve(route, at.target, self.index, release) or (
                self._made_up(route, at.target.kind, name, at.target.namespace),
            )
            by_tag = ServiceTag(name) if name else RealResource(there[0])
            for digest, owner in self._owners(proxy, by_tag, at).items():
                if name:
                    found = self.matcher.service(selection, name, digest)
                else:
                    found = self.matcher.resource(selection, there[0], kri_of(owner))
                confs = [self.raw(entry) for entry in found.entries] if found else []
                yield InheritedSlot(
                    proxy=proxy,
                    selection=selection,
                    destination=there[0],
                    digest=digest,
                    owner=owner,
                    wanted=reaching(self.policy_type, folded(confs)),
                    entries=found.entries if found else (),
                    protocol=self.protocols.get(name, ""),
                    real_only=not name,
                )

    def _owners(self, proxy: Resource, by: Destination, at: Entry) -> dict[str, Resource]:
        """Return the route that each rule of a to-item counts as, by the rule's hash."""
        mine = {route_hash(rule.get("matches")) for rule in at.conf.get("rules") or ()}
        return {
            r.hash: r.entry.policy
            for r in self.matcher.http_routes(proxy, by)
            if r.hash in mine and r.entry is not None
        }

    def _made_up(self, route: Resource, kind: str, name: str, namespace: str | None) -> Kri:
        return Kri(
            type=kind,
            mesh=route.mesh,
            zone=route.zone,
            namespace=namespace or route.namespace_label,
            name=name,
        )

    def raw(self, entry: Entry) -> JsonConf:
        """Return the conf of an entry as written."""
        conf = at_path(entry.policy.spec, entry.path)
        return dict(conf) if isinstance(conf, Mapping) else {}


def _spelled(name: str) -> set[str]:
    """Return a service's name and the first part of it, as `web_shop_svc_80` is that of `web`."""
    return {name, name.split("_")[0]} - {""}


def _may_count(policy: Resource, names: Set[str], routes: Set[str]) -> bool:
    """Say whether a policy may say something where routes of some names lead from."""
    on = old_route_name(policy)
    return on in routes if on is not None else may_show(policy, names, routes)


def may_show(policy: Resource, names: Set[str], routes: Set[str] | None = None) -> bool:
    """Say whether a policy in the new form may say something at destinations of some names, or
    on some routes where they are known."""
    for item in sequence(policy.spec.get("to")):
        ref = mapping(item).get("targetRef")
        name = str(ref.get("name") or "") if isinstance(ref, Mapping) else ""
        if isinstance(ref, Mapping) and ref.get("kind") == ROUTE:
            if routes is None or not name or name in routes:
                return True
            continue
        if not isinstance(ref, Mapping) or ref.get("kind") == "Mesh":
            return True
        if not name or name in names or name.split("_")[0] in names:
            return True
    return False
