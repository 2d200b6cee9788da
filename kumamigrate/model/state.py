"""States: all that one run of the matcher or the prover may read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kumamigrate.dataclass import dataclass, field
from kumamigrate.model.resource import Identity, Resource, mapping, mappings
from kumamigrate.source.text import Refusal

UNNAMED_ZONE = "default"
"""What a zone is called that nobody named; Kuma calls it so, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """A zone that looks at what a global control plane stores (`model.zoneview`), and whether
    what it made itself says its display name."""

    zone: str
    named: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What a control plane adds to resources that come from Git.

    `mode` is "zone" or "global". `mesh_services` is the mode of `Mesh.meshServices` to assume
    for a mesh whose Mesh resource is not in the state; None means unknown. `initial_policies` is
    what it gave meshes when it made them (`model.initial`), None where nobody says. `viewer` is
    the zone whose proxies are asked about, where it matters which one it is.
    """

    mode: str = "zone"
    zone: str = UNNAMED_ZONE
    system_namespace: str = "kuma-system"
    mesh_services: str | None = None
    initial_policies: str | None = None
    viewer: Viewer | None = None

    @property
    def zone_known(self) -> bool:
        """Say whether somebody named the zone. Else its name is a guess."""
        return self.zone != UNNAMED_ZONE


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Resources as one control plane would store them, labels computed, in file order.

    `unread` holds what could not be read and may hide resources: no verdict about a mesh is
    "equivalent" while it is not empty. `complete` says that nothing outside exists (an
    inventory, a golden). `known` keeps what pure functions found out about the whole state,
    by their own keys, so that asking again for every policy or rule costs nothing. Of the meshes
    in `initial_known` it is known which policies the control plane made with them: they are here.
    Of those in `exported` an inventory says all that the control plane holds. `across` is what a
    state of one mesh has of others, whose gateways its proxies call.
    """

    release: str
    environment: Environment = field(default_factory=Environment)
    resources: tuple[Resource, ...] = ()
    unread: tuple[Refusal, ...] = ()
    complete: bool = False
    initial_known: frozenset[str] = frozenset()
    exported: frozenset[str] = frozenset()
    across: tuple[Resource, ...] = ()
    known: dict[Any, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    def of_type(self, *types: str) -> Iterator[Resource]:
        """Yield the resources of some types, in file order."""
        places = self._places
        if len(types) == 1:
            return (self.resources[at] for at in places.get(types[0], ()))
        wanted = sorted(at for type_ in set(types) for at in places.get(type_, ()))
        return (self.resources[at] for at in wanted)

    @property
    def _places(self) -> dict[str, list[int]]:
        """Return where the resources of each type stand."""
        places: dict[str, list[int]] | None = self.known.get("places")
        if places is None:
            places = self.known["places"] = {}
            for at, resource in enumerate(self.resources):
                places.setdefault(resource.type, []).append(at)
        return places

    def called(self, identity: Identity) -> Sequence[Resource]:
        """Return the resources of one identity, in file order; several are a conflict."""
        by_identity: dict[Identity, list[Resource]] | None = self.known.get("called")
        if by_identity is None:
            by_identity = self.known["called"] = {}
            for resource in self.resources:
                by_identity.setdefault(resource.identity, []).append(resource)
        return by_identity.get(identity, ())

    def meshes(self) -> tuple[str, ...]:
        """Return the names of all meshes that some resource belongs to, sorted."""
        names = {r.mesh for r in self.resources if r.mesh}
        names |= {r.name for r in self.resources if r.type == "Mesh"}
        return tuple(sorted(names))

    def mesh(self, name: str) -> State:
        """Return the part of the state that concerns one mesh: its resources and global ones."""
        if ("mesh", name) not in self.known:
            self.known["mesh", name] = self._mesh(name)
        found: State = self.known["mesh", name]
        return found

    def _mesh(self, name: str) -> State:
        kept = tuple(
            r
            for r in self.resources
            if r.mesh in (name, "") and (r.type != "Mesh" or r.name == name)
        )
        return State(
            release=self.release,
            environment=self.environment,
            resources=kept,
            unread=self.unread,
            complete=self.complete,
            initial_known=self.initial_known,
            exported=self.exported,
            across=tuple(self._across(name)),
        )

    def _across(self, name: str) -> Iterator[Resource]:
        """Yield the gateways of other meshes that listen for every mesh, and what they rest on."""
        gateways = [r for r in self.of_type("MeshGateway") if r.mesh != name and _listens_across(r)]
        meshes = {gateway.mesh for gateway in gateways}
        yield from gateways
        yield from (r for r in self.of_type("Mesh") if r.name in meshes)
        yield from (r for r in self.of_type("Dataplane") if r.mesh in meshes)


def _listens_across(gateway: Resource) -> bool:
    listeners = mapping(gateway.spec.get("conf")).get("listeners")
    return any(one.get("crossMesh") for one in mappings(listeners))


def mesh_services_mode(state: State, mesh: str) -> str | None:
    """Return the mode of `Mesh.meshServices`: as the Mesh says, else as assumed, else None.

    A Mesh without the field means "Disabled" (product.md §1 law 1).
    """
    for resource in state.of_type("Mesh"):
        if resource.name == mesh:
            mode = mapping(resource.spec.get("meshServices")).get("mode")
            return str(mode) if mode else "Disabled"
    return state.environment.mesh_services
