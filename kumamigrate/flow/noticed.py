"""Would any proxy notice if something were not there? Asked of the prover, world by world.

A setting is dead when the mesh with it and the mesh without it give every proxy the same, in every
world that is open; as long as a mesh has not switched to MeshService mode Exclusive, after the
switch as well: what is written for that day is not dead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.effective.bothengines.whoanswers import successors
from kumamigrate.effective.difference import Witness
from kumamigrate.flow.judging.claimstates import as_exclusive
from kumamigrate.model.resource import Identity, Resource
from kumamigrate.model.state import State, mesh_services_mode
from kumamigrate.prover import Verdict, prove
from kumamigrate.prover.claimed import LIVE
from kumamigrate.scene.scene import Scene

ROUTES = ("MeshHTTPRoute", "MeshTCPRoute", "TrafficRoute", "VirtualOutbound")
"""What decides where traffic goes, and with that what every other policy does."""

Edit = Callable[[State], State]


@dataclass(frozen=True, kw_only=True)
class Noticed:
    """What proxies notice of a change: differences, or why that is not known.

    `rests` is what is taken for granted; `listed` says that no proxy notices of those that the
    states hold, of which there are some.
    """

    witnesses: tuple[Witness, ...] = ()
    unknown: tuple[str, ...] = ()
    rests: tuple[str, ...] = ()
    listed: bool = False

    @property
    def nothing(self) -> bool:
        """Say whether it is certain that nobody notices."""
        return not self.witnesses and not self.unknown


@dataclass(frozen=True, kw_only=True)
class MeshWorld:
    """One mesh of one environment, in one of the worlds that are open to it."""

    mesh: str
    state: State
    scene: Scene

    def about(self, type_: str, policies: Set[str]) -> MeshWorld:
        """Return the world without the policies that have no say in what one of a type decides:
        a verdict does not depend on policies of other types (prover.md §4), but for routes."""
        if type_ in ROUTES:
            return self
        kept = {type_, *ROUTES, *kin(type_)}
        resources = (r for r in self.state.resources if r.type not in policies - kept)
        return replace(self, state=replace(self.state, resources=tuple(resources)))

    def noticed(self, before: State, after: State) -> Noticed:
        """Return what proxies notice between two states of this world."""
        proof = prove(
            before,
            after,
            claims=(LIVE,),
            only=[self.mesh],
            same_unread=True,
            locate_before=self.scene.locate,
            locate_after=self.scene.locate,
        )
        mesh = proof.meshes[self.mesh]
        found = mesh.claims[LIVE]
        known = [proxy for proxy in found.proxies if not proxy.made_up]
        same = all(p.verdict is Verdict.EQUIVALENT for p in known)
        return Noticed(
            witnesses=found.witnesses,
            # What holds for the proxies of the state alone tells nothing of those to come.
            unknown=tuple(map(str, found.doubts))
            if found.verdict is not Verdict.EQUIVALENT
            else mesh.beyond,
            rests=proof.assumptions,
            listed=bool(known) and same,
        )

    def without(self, edit: Edit) -> Noticed:
        """Return what proxies notice of an edit, today and after the mesh has switched."""
        today = self.noticed(self.state, edit(self.state))
        if not today.nothing or mesh_services_mode(self.state, self.mesh) == "Exclusive":
            return today
        switched = as_exclusive(self.state)
        later = self.noticed(switched, edit(switched))
        return today if later.nothing else replace(later, listed=False)


def worlds_of(scene: Scene, mesh: str) -> tuple[MeshWorld, ...]:
    """Return the worlds that a mesh may live in."""
    given = scene.given().get(mesh)
    scenes = [scene]
    if given is not None and not given.settled:
        scenes = [scene.in_world(world) for world in given.worlds]
    return tuple(
        MeshWorld(mesh=mesh, state=one.state(one.source)[0].mesh(mesh), scene=one) for one in scenes
    )


def in_all(worlds: Sequence[MeshWorld], edit: Edit) -> list[Noticed]:
    """Return what proxies notice of an edit in each world, up to the first in which they do, or
    in which nobody knows."""
    found = []
    for world in worlds:
        found.append(world.without(edit))
        if not found[-1].nothing:
            break
    return found


def removing(policy: Resource) -> Edit:
    """Return what takes a policy away."""
    return lambda state: _of(state, (r for r in state.resources if not _is(r, policy.identity)))


def replacing(policy: Resource, new: Resource) -> Edit:
    """Return what puts another policy in the place of one."""
    return lambda state: _of(
        state, (new if _is(r, policy.identity) else r for r in state.resources)
    )


def alone(state: State, policy: Resource) -> State:
    """Return a state in which no other policy decides what a policy decides."""
    kinds = {policy.type, *kin(policy.type)}
    return _of(
        state, (r for r in state.resources if r.type not in kinds or _is(r, policy.identity))
    )


def kin(type_: str) -> set[str]:
    """Return the types of the other engine that decide the same."""
    pairs = [(old, new[0]) for old, new in successors().items() if new]
    return {new for old, new in pairs if old == type_} | {old for old, new in pairs if new == type_}


def _is(resource: Resource, identity: Identity) -> bool:
    return resource.identity == identity


def _of(state: State, resources: Iterable[Resource]) -> State:
    return replace(state, resources=tuple(resources))
