"""What a control plane would refuse after some changes and did not before."""

from __future__ import annotations

from collections.abc import Iterable

from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.flow.judging.notyetthere import comes_of
from kumamigrate.model.problem import Problem
from kumamigrate.model.resource import Identity
from kumamigrate.scene.scene import Scene
from kumamigrate.scene.storedstate import Rejection
from kumamigrate.source.text import FieldPath


def newly_refused(current: Scene, candidate: Scene, *, upgrade: bool) -> tuple[Doubt, ...]:
    """Say what a control plane would refuse after the changes and did not before."""
    releases = {candidate.target} if upgrade else {candidate.source, candidate.target}
    found: list[Doubt] = []
    for release in sorted(releases):
        rejected = current.state(release)[1]
        earlier = {one.resource.identity: one.resource for one in rejected}
        known = {fault for rejection in rejected for fault in _faults(rejection)}
        gone = _gone(rejected, candidate)
        for rejection in candidate.state(release)[1]:
            fresh = [p for p in rejection.problems if _fault(rejection, p) not in known]
            # What the target refuses before and after is no worse, nor is what takes the place of
            # something it refuses (an old policy); another rule mends the rest.
            if not fresh or (
                release != candidate.source
                and (
                    rejection.resource.mesh in gone
                    or comes_of(rejection.resource, earlier, current)
                )
            ):
                continue
            name = f"{rejection.resource.type} {rejection.resource.name}"
            said = (f"{release} would refuse {name}: {p.message}" for p in fresh)
            found.extend(Doubt(DoubtKind.REFUSED, words) for words in said)
    return tuple(found)


def _gone(rejected: Iterable[Rejection], candidate: Scene) -> set[str]:
    """Return the meshes that lose a resource which was refused."""
    left = {resource.identity for resource in candidate.repository.resources}
    return {one.resource.mesh for one in rejected if one.resource.identity not in left}


def _faults(rejection: Rejection) -> set[tuple[Identity, FieldPath]]:
    return {_fault(rejection, problem) for problem in rejection.problems}


def _fault(rejection: Rejection, problem: Problem) -> tuple[Identity, FieldPath]:
    return (rejection.resource.identity, problem.path)
