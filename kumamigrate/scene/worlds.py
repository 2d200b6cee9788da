"""Which initial policies the meshes of a scene may have, and which of them a change can feel.

A state without inventory is one of a few worlds per mesh (world.md §1). What settles which: an
inventory that holds the mesh, `skipCreatingInitialPolicies` in its Mesh, the setting
`initial-policies`. What stands in Git under such a name is the user's and counts as it stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from enum import StrEnum

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.model.initial import (
    NONE,
    SKIP,
    form_of,
    initial_policies,
    named,
    possible,
    skips,
)
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.resource import Form, Identity, Resource
from kumamigrate.model.state import Environment
from kumamigrate.model.taken import Ground, Taken


class WorldFact(StrEnum):
    """What tells which initial policies a mesh has."""

    INVENTORY = "inventory"
    SETTING = "setting"
    MESH = "mesh"
    GIT = "git"
    OPEN = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a control plane may have given a mesh: by world the policies beside those in Git.

    One world is a settled matter, by the `fact`; of several the least comes first.
    """

    mesh: str
    worlds: Mapping[str, tuple[Resource, ...]]
    fact: WorldFact

    @property
    def settled(self) -> bool:
        """Whether it is known."""
        return len(self.worlds) == 1

    @property
    def least(self) -> tuple[Resource, ...]:
        """Return the policies of the settled world, of the least one where several are open."""
        return next(iter(self.worlds.values()))


def given_to(
    meshes: Iterable[str],
    own: Iterable[Resource],
    inventory: Iterable[Resource],
    *,
    made: Iterable[Resource],
    taken: Set[Identity],
    release: str,
    environment: Environment,
) -> dict[str, Given]:
    """Return what is known of the initial policies of some meshes.

    `own` is the repository; what it holds, or held when the run began, is `taken`; `made` are the
    Meshes as they were made.
    """
    resources = tuple(own)
    meshes_made = {mesh.name: mesh for mesh in made}
    exported = {r.name if r.type == "Mesh" else r.mesh for r in inventory}
    found = {}
    for mesh in meshes:
        if mesh in exported:
            found[mesh] = Given(mesh=mesh, worlds={NONE: ()}, fact=WorldFact.INVENTORY)
        else:
            said = meshes_made.get(mesh)
            form = form_of(mesh, resources)
            found[mesh] = _of_mesh(mesh, said, form, taken, release, environment)
    return found


def _of_mesh(
    mesh: str,
    said: Resource | None,
    form: Form,
    taken: Set[Identity],
    release: str,
    environment: Environment,
) -> Given:
    setting = environment.initial_policies
    names = possible(release) if setting is None else (setting,)
    made = {w: initial_policies(w, mesh, form, environment.system_namespace) for w in names}
    allowed = {w: tuple(r for r in made[w] if not skips(said, r.type)) for w in names}
    left = {w: tuple(r for r in allowed[w] if not taken & _called(r)) for w in names}
    worlds: dict[str, tuple[Resource, ...]] = {}
    for world, policies in left.items():
        if policies not in worlds.values():
            worlds[world] = policies
    if setting is not None:
        fact = WorldFact.SETTING
    elif len(worlds) > 1:
        fact = WorldFact.OPEN
    else:
        fact = WorldFact.MESH if not any(allowed.values()) else WorldFact.GIT
    return Given(mesh=mesh, worlds=worlds, fact=fact)


def _called(resource: Resource) -> set[Identity]:
    """Return what a policy may be called in Git, where something else may fill in namespaces."""
    type_, mesh, _, name = resource.identity
    return {resource.identity, (type_, mesh, "", name)}


_FROM_ELSEWHERE = ("MeshService", "MeshExternalService", "MeshMultiZoneService")


def at_home(environment: Environment, inventory: Iterable[Resource]) -> Environment:
    """Return the environment in the zone whose control plane an inventory was taken from.

    Where nobody names a zone and all policies and proxies that the inventory holds are of one,
    that is ours: policies of another would reach none of its proxies, and nothing could ever
    differ. Services come from other zones as well.
    """
    zones = {r.zone for r in inventory if r.zone and r.type not in _FROM_ELSEWHERE}
    if environment.mode != "zone" or environment.zone_known or len(zones) != 1:
        return environment
    return replace(environment, zone=zones.pop())


_APART = {
    # A TrafficRoute decides which outbounds there are, so what is said of these it can feel.
    "2.5": frozenset({"MeshMetric", "MeshPassthrough", "MeshTLS", "MeshTrace"}),
    "2.6": OLD_POLICIES - {"CircuitBreaker", "Retry", "Timeout", "TrafficRoute", "VirtualOutbound"}
    | {
        "MeshAccessLog",
        "MeshFaultInjection",
        "MeshHealthCheck",
        "MeshLoadBalancingStrategy",
        "MeshMetric",
        "MeshPassthrough",
        "MeshProxyPatch",
        "MeshRateLimit",
        "MeshTLS",
        "MeshTrace",
        "MeshTrafficPermission",
    },
}
"""By world the types that its policies have no say in: neither do they decide the same settings,
nor does what is changed of such a type show otherwise beside them."""


def known_as(given: Given) -> str:
    """Return what is known of the initial policies of a mesh, in a few words."""
    world = next(iter(given.worlds))
    match given.fact:
        case WorldFact.OPEN:
            return "not known"
        case WorldFact.SETTING:
            return named(world)
        case WorldFact.INVENTORY:
            return "those in the inventory"
        case WorldFact.MESH:
            return "none, says its Mesh"
        case WorldFact.GIT:
            return "those in Git"


def told(given: Given, zone: str) -> Taken:
    """Return what is taken for granted of the initial policies of a mesh. `zone` is the zone
    whose control plane reads Git, empty for a global one."""
    words = " or ".join(named(world) for world in given.worlds)
    # What a global control plane hands out ranks behind all that a zone has of its own.
    by = f" in zone {zone}, not in a global control plane above it" if zone else ""
    made = words if set(given.worlds) == {NONE} else f"{words}, as Kuma makes them{by}"
    because = {
        WorldFact.INVENTORY: "what the inventory holds, and no others",
        WorldFact.SETTING: f"{made} (initial-policies)",
        WorldFact.MESH: f"none but what is in Git (its Mesh says {SKIP})",
        WorldFact.GIT: "all in Git",
        WorldFact.OPEN: f"not known, and each was tried: {made}",
    }
    text = f"initial policies of mesh {given.mesh}: {because[given.fact]}"
    return Taken(text, Ground.INITIAL_POLICIES, given.mesh, given.fact.value, words)


def can_feel(world: str, touched: Set[str], present: Set[str]) -> bool:
    """Say whether changes to resources of some types may mean something else in a world.

    `present` are the types that the mesh holds. Policies up to 2.5 bring a TrafficRoute, on which
    it depends whether any old policy does anything.
    """
    if world == NONE or not touched:
        return False
    if world == "2.5" and present & OLD_POLICIES:
        return True
    return not touched <= _APART["2.5" if world == "2.5" else "2.6"]
