"""Policies that move with their routes, as one problem, and a form that they may take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.model.conf import JsonConf
from kumamigrate.model.resource import Identity, Resource
from kumamigrate.rewrite.routes.inherited import InheritedSlot, Reader
from kumamigrate.rewrite.routes.inheriteddraft import InheritedDraft, with_drafts
from kumamigrate.rewrite.routes.routeconf import Leaf, folded
from kumamigrate.targetref.entry import Entry

Ref = Mapping[str, Any]
Namer = Callable[[Resource, str], str | None]
"""Finds a free name for a sibling of a policy, from a suffix."""
Referrer = Callable[[Resource, Resource], Ref | None]
"""Finds the reference by which a policy means a route."""
Copies = Mapping[Identity, JsonConf]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Unit:
    """An old policy to be moved: its new name, its own conf, its routes with references."""

    policy: Resource
    name: str
    own: JsonConf
    routes: tuple[tuple[Resource, Ref], ...]

    def on(self, route: Resource) -> bool:
        """Say whether the policy means the route."""
        return any(r.identity == route.identity for r, _ in self.routes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """An inherited value written into a route's entry, and where it came from."""

    route: Resource
    path: Leaf
    value: Any
    entry: Entry | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompensationChoice:
    """A form for some units. `fits` says that every proxy reads what it read in the old place."""

    drafts: tuple[InheritedDraft, ...]
    rank: Ref | None
    copied: tuple[Copied, ...] = ()
    fits: bool = False
    groups: tuple[Resource, ...] = ()
    misses: tuple[tuple[InheritedSlot, JsonConf], ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class CompensationProblem:
    """Units that share routes, lowest precedence first, and the state they stand in.

    `ranks` are the top-level references to try in order, None for none at all. `live`: outbounds
    to real resources may exist today, so what they read may not change either.
    """

    reader: Reader
    units: tuple[Unit, ...]
    routes: tuple[Resource, ...]
    slots: Mapping[Identity, tuple[InheritedSlot, ...]]
    ranks: Sequence[Ref | None]
    namer: Namer
    refer: Referrer
    live: bool = False

    def own(self, route: Resource) -> JsonConf:
        """Return what the units say about a route together."""
        return own_of(self.units, route)

    @property
    def all_slots(self) -> tuple[InheritedSlot, ...]:
        """Return the slots of all routes."""
        return tuple(slot for route in self.routes for slot in self.slots[route.identity])

    def reader_of(self, drafts: Sequence[InheritedDraft]) -> Reader:
        """Return a reader of the state with drafts in place of the old policies."""
        return with_drafts(self.reader, drafts, self.all_slots)

    @property
    def subsets(self) -> bool:
        """Whether MeshSubset may be written: where Dataplane outlives it, only beside others."""
        return {"kind": "MeshSubset"} in self.ranks or {"kind": "Dataplane"} not in self.ranks

    def ref(self, route: Resource) -> Ref:
        """Return how the units refer to a route."""
        return next(ref for u in self.units for r, ref in u.routes if r.identity == route.identity)


def own_of(units: Iterable[Unit], route: Resource) -> JsonConf:
    """Return what units say about a route together, lowest first."""
    return folded(unit.own for unit in units if unit.on(route))
