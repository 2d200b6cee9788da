"""A repository with the states that two releases make of it: what every question is asked of."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING, Any

from kumamigrate.dataclass import dataclass, field, replace
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.resource import Identity, Resource, Where
from kumamigrate.model.state import Environment, State, Viewer
from kumamigrate.scene.outside import Generated, outside_of
from kumamigrate.scene.repository import Repository
from kumamigrate.scene.storedstate import Admitted, Rejection, state_of
from kumamigrate.scene.worlds import Given, WorldFact, given_to
from kumamigrate.source.text import FieldPath

if TYPE_CHECKING:
    from kumamigrate.inventory.stamp import Export


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A repository with the states two releases make of it. Everything a trial starts from.

    `admitted`, `generated` and `kept` (what proofs keep) are shared by the scenes of a run, which
    have most resources in common. `owned` are the identities that stood in the repository when the
    run began, or in either of two repositories that are compared: what an inventory, taken from
    the control plane that they are deployed to, says of such a resource does not outlive it.
    `exports` are the files that the inventory was read from. `sources` is what people know and
    edit, where the repository was built from it. `made` are the Meshes as they were made, as far
    as that is known: what one says later changes no initial policy. Where it is open which of
    those a mesh has, the states hold none; `in_world` gives the others.
    """

    repository: Repository
    inventory: tuple[Resource, ...]
    environment: Environment
    source: str
    target: str
    owned: frozenset[Identity] = frozenset()
    exports: tuple[Export, ...] = ()
    sources: Repository | None = None
    made: tuple[Resource, ...] | None = None
    states: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    admitted: Admitted = field(default_factory=dict, compare=False, repr=False)
    generated: Generated = field(default_factory=Generated, compare=False, repr=False)
    kept: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def state(self, release: str) -> tuple[State, tuple[Rejection, ...]]:
        """Return the state of repository and inventory, the repository winning, and what the
        release would refuse of it. Kept, since every rule asks for it."""
        if release not in self.states:
            self.states[release] = self._state(release)
        found: tuple[State, tuple[Rejection, ...]] = self.states[release]
        return found

    def refused(self) -> tuple[Resource, ...]:
        """Return what the release in use would refuse. Kept as well."""
        if "refused" not in self.states:
            rejections = self.state(self.source)[1]
            self.states["refused"] = tuple(one.resource for one in rejections)
        found: tuple[Resource, ...] = self.states["refused"]
        return found

    @property
    def identities(self) -> Set[Identity]:
        """Return the identities of what stands in the repository."""
        if "identities" not in self.states:
            mine = frozenset(resource.identity for resource in self.repository.resources)
            self.states["identities"] = mine
        found: frozenset[Identity] = self.states["identities"]
        return found

    def given(self) -> dict[str, Given]:
        """Return what is known of the initial policies of each mesh (world.md §1)."""
        if "given" not in self.states:
            own = self.repository.resources
            taken = self.owned | {resource.identity for resource in own}
            meshes = {mesh for _, mesh, _, _ in taken} | {n for t, _, _, n in taken if t == "Mesh"}
            self.states["given"] = given_to(
                sorted(meshes - {""}),
                own,
                self.inventory,
                made=self.made if self.made is not None else (r for r in own if r.type == "Mesh"),
                taken=taken,
                release=self.source,
                environment=self.environment,
            )
        found: dict[str, Given] = self.states["given"]
        return found

    def in_world(self, world: str) -> Scene:
        """Return the scene as if every mesh of which it is not known had been given the initial
        policies of a world."""
        if ("world", world) not in self.states:
            environment = replace(self.environment, initial_policies=world)
            self.states["world", world] = replace(self, environment=environment, states={})
        found: Scene = self.states["world", world]
        return found

    def seen_by(self, viewer: Viewer | None) -> Scene:
        """Return the scene as a zone has what its global control plane stores."""
        if viewer is None:
            return self
        if ("viewer", viewer) not in self.states:
            environment = replace(self.environment, viewer=viewer)
            self.states["viewer", viewer] = replace(self, environment=environment, states={})
        found: Scene = self.states["viewer", viewer]
        return found

    def _state(self, release: str) -> tuple[State, tuple[Rejection, ...]]:
        own = self.repository.resources
        inventory = self.generated.exported(self.inventory, release)
        outside = outside_of(
            inventory, own, self.owned, environment=self.environment, release=release
        )
        given = self.given()
        brought = [policy for one in given.values() for policy in one.least]
        state, rejections = state_of(
            (*own, *outside.kept, *brought),
            release=release,
            environment=self.environment,
            unread=[refusal for refusal in self.repository.unread if refusal.hides],
            known=self.admitted,
        )
        known = frozenset(mesh for mesh, one in given.items() if one.settled)
        exported = frozenset(mesh for mesh in known if given[mesh].fact is WorldFact.INVENTORY)
        mine = {policy.identity for policy in brought}
        told = tuple(one for one in rejections if one.resource.identity not in mine)
        full = self.generated.added(self._dated(state), outside.anew)
        return replace(full, initial_known=known, exported=exported), told

    def _dated(self, state: State) -> State:
        """Return the state with the creation times that only the inventory knows.

        They decide ties between old policies (legacy.md §2.2), and Git does not hold them.
        """
        times = {r.identity: r.created for r in self.inventory if r.type in OLD_POLICIES}
        if not times:
            return state
        dated = (
            replace(r, created=times[r.identity]) if not r.created and r.identity in times else r
            for r in state.resources
        )
        return replace(state, resources=tuple(dated))

    def where(self, resource: Resource) -> Where | None:
        """Return where a resource stands in this scene, which may not be the one it was read in."""
        mine = (self.sources or self.repository).standing.get(resource.identity, ())
        if not mine or resource.where in mine:
            return resource.where
        # Of several, each in its own environment, the one in the same file.
        same = (one for one in mine if resource.where and one.path == resource.where.path)
        return next(same, mine[0])

    def locate(self, resource: Resource, path: FieldPath) -> str:
        """Return `file:line:column` of a field of a resource, empty for made-up ones."""
        shown = self.sources or self.repository
        file, line, column = shown.place(self.where(resource), path)
        return f"{file}:{line}:{column}" if file else ""


def owned_by_both(first: Scene, second: Scene) -> tuple[Scene, Scene]:
    """Return two scenes to be compared, in neither of which an inventory brings back what the
    other holds in its repository."""
    identities = {r.identity for one in (first, second) for r in one.repository.resources}
    owned = frozenset(identities)
    meshes = {r.name: r for one in (second, first) for r in one.repository.resources
              if r.type == "Mesh"}  # fmt: skip
    made = tuple(meshes.values())
    return (
        replace(first, owned=owned, made=made, states={}),
        replace(second, owned=owned, made=made, states={}),
    )


GIT_ASKED = "git asked"
"""What `Scene.kept` says where an answer rests on what Git has committed."""
JOBS = "jobs"
"""Where `Scene.kept` says how many processes may work for a run."""
