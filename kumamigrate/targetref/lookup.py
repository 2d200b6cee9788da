"""Look-ups in the old rules without building the list (matcher-notes §2)."""

from __future__ import annotations

from collections.abc import Sequence

from kumamigrate.dataclass import dataclass, field
from kumamigrate.model.policytype import Conf
from kumamigrate.model.resource import SERVICE
from kumamigrate.targetref.entry import Entry, Found
from kumamigrate.targetref.merge import merge_entries
from kumamigrate.targetref.subset import ROUTE_HASH, Element, contains
from kumamigrate.targetref.torules import Item, SubsetRule, build_rules, clique_name

# No item can name this: stands for every service that none names.
_ANY = "\0"


@dataclass(slots=True, eq=False)
class ServiceTable:
    """The to-items of one selection, indexed by service and route hash.

    `regular` is false where some item has other tags (then the list is built and walked).
    """

    items: tuple[Item, ...]
    fields: Conf
    grouping: str
    mesh: list[int] = field(default_factory=list)
    services: dict[str, list[int]] = field(default_factory=dict)
    routes: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    hashes: dict[str, list[str]] = field(default_factory=dict)
    holders: dict[str, list[str]] = field(default_factory=dict)
    regular: bool = True
    rules: tuple[SubsetRule, ...] | None = None
    found: dict[tuple[str, str | None], Found | None] = field(default_factory=dict)

    def look_up(self, service: str, route_hash: str | None) -> Found | None:
        """Return what an outbound to a service, or one route of it, reads."""
        if self.regular and service not in self.services and service not in self.hashes:
            # A service that no item names is like any other such.
            service = _ANY
        if self.regular and route_hash not in self.holders:
            # A route that no policy is bound to reads what the service reads.
            route_hash = None
        key = (service, route_hash)
        if key not in self.found:
            self.found[key] = self._look_up(service, route_hash)
        return self.found[key]

    def enumerated(self) -> tuple[SubsetRule, ...]:
        """Return the whole list, built once."""
        if self.rules is None:
            self.rules = build_rules(
                self.items, self.fields, negations=False, grouping=self.grouping
            )
        return self.rules

    def _look_up(self, service: str, route_hash: str | None) -> Found | None:
        if not self.regular:
            element = {SERVICE: service, ROUTE_HASH: route_hash}
            same = first_containing(self.enumerated(), element)
            if not same:
                return None
            entries, confs = same[0].entries, tuple(rule.conf for rule in same)
            return Found(confs=confs, entries=entries, level=self._level(entries))
        mine = self.services.get(service, [])
        bound = self.routes.get((service, route_hash), []) if route_hash is not None else []
        if route_hash is not None and self._lost(service, route_hash):
            return self._merged(self.mesh, "mesh")
        level = "route" if bound else "service" if mine else "mesh"
        return self._merged(sorted((*self.mesh, *mine, *bound)), level)

    def _level(self, entries: Sequence[Entry]) -> str:
        """Return the narrowest key that some of the entries stand under."""
        met = {id(entry) for entry in entries}
        keys = {tag.key for item in self.items if id(item.entry) in met for tag in item.subset}
        return "route" if ROUTE_HASH in keys else "service" if SERVICE in keys else "mesh"

    def _merged(self, positions: Sequence[int], level: str) -> Found | None:
        if not positions:
            return None
        entries = tuple(self.items[at].entry for at in positions)
        confs = merge_entries(entries, self.fields)
        return Found(confs=confs, entries=entries, level=level)

    def _lost(self, service: str, route_hash: str) -> bool:
        """Whether another service's route with the same hash takes the service's items away."""
        mine = self.services.get(service)
        if not self.mesh or not mine or (service, route_hash) in self.routes:
            return False
        others = [s for s in self.holders.get(route_hash, ()) if s != service]
        if not others:
            return False
        own: list[str | None] = [*self.hashes.get(service, ())] or [None]
        strongest = max(self._clique(s, route_hash) for s in others)
        return strongest > max(self._clique(service, h) for h in own)

    def _clique(self, service: str, route_hash: str | None) -> str:
        bound = self.routes.get((service, route_hash), []) if route_hash is not None else []
        return clique_name((*self.mesh, *self.services.get(service, ()), *bound))


def service_table(items: tuple[Item, ...], fields: Conf, grouping: str) -> ServiceTable:
    """Return the index of to-items."""
    table = ServiceTable(items, fields, grouping, regular=grouping == "cliques")
    for at, item in enumerate(items):
        tags = {tag.key: tag.value for tag in item.subset}
        service = tags.get(SERVICE)
        if not tags:
            table.mesh.append(at)
        elif set(tags) == {SERVICE} and service is not None:
            table.services.setdefault(service, []).append(at)
        elif set(tags) == {SERVICE, ROUTE_HASH} and service is not None:
            _bind(table, service, tags[ROUTE_HASH], at)
        else:
            table.regular = False
    return table


def _bind(table: ServiceTable, service: str, route_hash: str, at: int) -> None:
    bound = table.routes.setdefault((service, route_hash), [])
    if not bound:
        table.hashes.setdefault(service, []).append(route_hash)
        table.holders.setdefault(route_hash, []).append(service)
    bound.append(at)


def first_containing(rules: Sequence[SubsetRule], element: Element) -> tuple[SubsetRule, ...]:
    """Return what the walk of a list gives: the first rule that contains the element, and those
    that stand for it with other hostnames."""
    for rule in rules:
        if contains(rule.subset, element):
            return tuple(r for r in rules if r.subset == rule.subset and r.entries is rule.entries)
    return ()
