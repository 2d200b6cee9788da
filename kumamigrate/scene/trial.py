"""Changes on trial: applied in memory, read back from the edited text, proven, kept or held.

The proof covers the edit engine too, because the state after a change comes from its text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence, Set
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from kumamigrate.dataclass import dataclass, field, replace
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.resource import Identity, Resource, Where
from kumamigrate.model.state import Environment, State
from kumamigrate.rewrite.change import Change, ResourceEdit
from kumamigrate.scene.blame import at_fault, sorted_out
from kumamigrate.scene.held import Held, HeldVerdict
from kumamigrate.scene.outside import Generated, outside_of
from kumamigrate.scene.repository import Admitted, Rejection, Repository, state_of
from kumamigrate.scene.worlds import Given, WorldFact, given_to
from kumamigrate.source.text import FieldPath, Refusal
from kumamigrate.source.value import Replacement

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

Trial = TypeVar("Trial")
"""What changes are tried on: the scene of one environment, or all of them together."""


@dataclass(frozen=True, kw_only=True)
class Result(Generic[Trial]):
    """What became of some changes. `grounds` are what those that were kept are edits of."""

    scene: Trial
    kept: tuple[Change, ...] = ()
    held: tuple[Held, ...] = ()
    grounds: tuple[Trial, ...] = ()


Judge = Callable[[Scene, Scene], HeldVerdict]
Apply = Callable[[Trial, Iterable[Change]], Trial | tuple[Refusal, ...]]


def try_changes(
    base: Trial,
    changes: Sequence[Change],
    judge: Callable[[Trial, Trial], HeldVerdict],
    apply: Apply[Trial],
    other_form: Callable[[Change], Change | None] = lambda change: change.otherwise,
) -> Result[Trial]:
    """Keep as many changes as can be proven, larger sets first.

    All changes together are proven once. If that fails, those that wrote what differs are taken
    out and the rest is proven again, then they on top of it (`blame.py`): a rule costs a few
    proofs, not one for each change that fails. What fails is tried in its other form, if there is
    one, else held. Kept changes are always applied together to the base, so that places in the
    text stay valid.
    """
    result = Result(scene=base)
    waiting = [tuple(changes)] if changes else []
    while waiting:
        part = waiting.pop()
        candidate, verdict = _tried(base, result, part, judge, apply)
        if verdict.good:
            result = replace(result, scene=candidate, kept=(*result.kept, *part))
            continue
        failed, parts = sorted_out(part, verdict)
        waiting.extend(reversed(parts))
        others = []
        for one in failed:
            other = other_form(one.change)
            if other is not None:
                others.append(other)
            else:
                result = replace(result, held=(*result.held, one))
        if others:
            waiting.append(tuple(others))
    return result


def _tried(
    base: Trial,
    result: Result[Trial],
    part: Sequence[Change],
    judge: Callable[[Trial, Trial], HeldVerdict],
    apply: Apply[Trial],
) -> tuple[Trial, HeldVerdict]:
    """Return what some more changes make of what was kept, and what stands against it."""
    try:
        candidate = apply(base, (*result.kept, *part))
        if isinstance(candidate, tuple):
            return base, HeldVerdict(refusals=candidate)
        return candidate, judge(result.scene, candidate)
    except Exception as error:  # a fault of ours costs the changes it meets
        return base, at_fault(error)


def without_conflicts(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Return the changes that touch different resources; the others wait for the next pass."""
    taken: set[tuple[str, int, FieldPath]] = set()
    kept = []
    for change in changes:
        places = {(e.where.path, e.where.document, e.where.item) for e in change.edits}
        if not places & taken:
            taken |= places
            kept.append(change)
    return tuple(kept)


def apply(scene: Scene, changes: Iterable[Change]) -> Scene | tuple[Refusal, ...]:
    """Return the scene with the changes written into its texts, or what forbids that."""
    texts = patched(scene.repository, changes)
    if isinstance(texts, tuple):
        return texts
    return replace(scene, repository=scene.repository.with_texts(texts), states={})


def patched(
    repository: Repository, changes: Iterable[Change]
) -> dict[str, str | None] | tuple[Refusal, ...]:
    """Return the texts of the files that some changes edit, or what forbids that.

    A file of which no document is left is removed: its text is None.
    """
    from kumamigrate.source.editing.patch import (
        patch,  # not needed, and slow to import, for `check`
    )

    by_file: dict[str, list[ResourceEdit]] = defaultdict(list)
    for change in changes:
        for edit in change.edits:
            by_file[edit.where.path].append(edit)
    texts: dict[str, str | None] = {}
    refusals: list[Refusal] = []
    for path in sorted(by_file):
        file = repository.files[path]
        documents = {document.index: document for document in file.documents}
        edited = patch(
            file,
            [
                Replacement(
                    document=documents[edit.where.document],
                    item=edit.where.item,
                    values=edit.manifests,
                    heads=edit.heads,
                    successors=tuple(w.document for w in edit.successors if w.path == path),
                )
                for edit in by_file[path]
            ],
        )
        if isinstance(edited, str):
            texts[path] = edited if edited.strip() else None
        else:
            refusals.extend(edited)
    return tuple(refusals) if refusals else texts
