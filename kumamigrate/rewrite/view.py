"""What a rule may look at: the state, the goal, and questions asked of the matcher."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from kumamigrate.dataclass import dataclass, field
from kumamigrate.model.release import Release, release
from kumamigrate.model.resource import Resource, Where
from kumamigrate.model.state import Environment, State, mesh_services_mode
from kumamigrate.rewrite.rule import Rule
from kumamigrate.source.text import FieldPath

if TYPE_CHECKING:
    from kumamigrate.targetref.matcher import Matcher


def _file_and_line(resource: Resource, _path: FieldPath) -> str:
    where = resource.where
    return f"{where.path}:{where.line}" if where is not None else ""


def _nobody_knows(_resource: Resource) -> bool | None:
    return None


@dataclass(frozen=True, kw_only=True)
class View:
    """A state as one rule sees it, on the way from one release to another.

    `state` holds everything: repository, inventory, workloads. `before` is the state the run
    began with. `editable` names the files that belong to the repository. `stage` is auto,
    expand or contract (product.md §4). `refused` are manifests that the source release would
    not take; only rules that repair such manifests look at them. `locate` returns
    `file:line:column` of a field, counted from the manifest's root, for notes. `hidden` are the
    places of resources that the rule fails on, `accepted` the rules taken on the user's
    word. `texts` are files that may name kinds without being manifests. `deployed` says whether a
    control plane has a resource as it stands here, None where nobody knows. `exported` is all that
    an inventory holds, be it in the repository as well.
    """

    rule: Rule
    state: State
    before: State
    target_name: str
    stage: str = "auto"
    editable: frozenset[str] = frozenset()
    refused: tuple[Resource, ...] = ()
    locate: Callable[[Resource, FieldPath], str] = field(default=_file_and_line, repr=False)
    texts: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    deployed: Callable[[Resource], bool | None] = field(default=_nobody_knows, repr=False)
    hidden: frozenset[Where] = frozenset()
    accepted: frozenset[str] = frozenset()
    exported: tuple[Resource, ...] = field(default=(), repr=False)

    @property
    def environment(self) -> Environment:
        """Return what the control plane adds to resources from Git."""
        return self.state.environment

    @cached_property
    def source(self) -> Release:
        """Return the release the state is read with (`--from`)."""
        return release(self.state.release)

    @cached_property
    def target(self) -> Release:
        """Return the release to reach (`--target`)."""
        return release(self.target_name)

    def was_refused(self, resource: Resource) -> bool:
        """Say whether a resource is one that the source release would not take."""
        return id(resource) in self._refused

    @cached_property
    def _refused(self) -> frozenset[int]:
        return frozenset(map(id, self.refused))

    def matcher(self, mesh: str) -> Matcher:
        """Return the matcher of one mesh, the same for all rules that look at the state."""
        known = self.state.known
        if ("matcher", mesh) not in known:
            # Most rules ask nothing of it, and it takes longer to import than they take.
            from kumamigrate.targetref.matcher import Matcher

            known["matcher", mesh] = Matcher(self.state.mesh(mesh))
        matcher: Matcher = known["matcher", mesh]
        return matcher

    def mode(self, mesh: str) -> str | None:
        """Return the MeshService mode of a mesh, None when nothing says it."""
        return mesh_services_mode(self.state, mesh)

    def of_type(self, *types: str) -> Iterator[Resource]:
        """Yield the repository's own resources of some types, in file order."""
        if self.rule.refused and self.refused:
            return (r for r in self.manifests() if r.type in types)
        return self._own(self.state.of_type(*types))

    def policies(self) -> Iterator[Resource]:
        """Yield the repository's own targetRef policies of the source release."""
        return self.of_type(*self.source.policy_types)

    def manifests(self) -> Iterator[Resource]:
        """Yield the repository's own resources that the rule may look at, in file order."""
        seen = self.state.resources
        if self.rule.refused and self.refused:
            seen = tuple(sorted((*seen, *self.refused), key=_place))
        return self._own(seen)

    def _own(self, resources: Iterable[Resource]) -> Iterator[Resource]:
        form = self.rule.form
        return (r for r in resources if self.owns(r) and (not form or r.form == form))

    def owns(self, resource: Resource) -> bool:
        """Say whether a resource stands in the repository, so that it may be changed."""
        where = resource.where
        if where is None or where.path not in self.editable:
            return False
        return not (self.hidden and where in self.hidden)  # to hash a place takes its time


def _place(resource: Resource) -> tuple[str, int, tuple[str | int, ...]]:
    where = resource.where
    return (where.path, where.document, where.item) if where is not None else ("", 0, ())
