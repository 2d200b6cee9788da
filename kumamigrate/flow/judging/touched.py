"""What some changes touch, and what bars a verdict about that because nobody could read it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set

from kumamigrate.effective.changed import MESH, instead_of_mesh
from kumamigrate.effective.doubted import Doubt, DoubtKind, unread_reason
from kumamigrate.model.release import release as release_of
from kumamigrate.model.resource import Resource
from kumamigrate.prover.doubts.doubt import concerns
from kumamigrate.scene.scene import Scene


def written_types(current: Scene, candidate: Scene) -> set[str]:
    """Return the types of what the changes touch.

    What proxies read of another type was proven when it was written. It may show a difference
    only now, at a service that is made up because the changes name it.
    """
    old, new = (
        {(r.type, r.mesh, r.canonical_body) for r in scene.repository.resources}
        for scene in (current, candidate)
    )
    return {kind for kind, _, _ in old ^ new}


def filled_in(current: Scene, candidate: Scene) -> Iterator[Doubt]:
    """Yield where the changes touch what a template fills in a part of, which bars every verdict
    although it was there before."""
    resources = candidate.state(candidate.source)[0].resources
    if not any(r.templated for r in resources):
        return
    old = {(r.mesh, r.canonical_body) for r in current.state(current.source)[0].resources}
    for resource in resources:
        if resource.templated and (resource.mesh, resource.canonical_body) not in old:
            yield Doubt(
                DoubtKind.TEMPLATE,
                f"a template fills in a part of {resource.type} {resource.name}"
                f" ({candidate.locate(resource, ())}); render it and run on the result",
            )


def barred(current: Scene, candidate: Scene) -> Iterator[Doubt]:
    """Yield what could not be read and bars, mesh by mesh, every verdict about the changes.

    Of repositories in which much stands twice this answers for most changes, at no cost.
    """
    unread = candidate.state(candidate.source)[0].unread
    if not unread:
        return
    old, new = (
        {(_mesh_of(r), r.type, r.canonical_body) for r in scene.state(scene.source)[0].resources}
        for scene in (current, candidate)
    )
    written: dict[str, set[str]] = defaultdict(set)
    for mesh, kind, _ in old ^ new:
        written[mesh].add(kind)
    read = {mesh: _as_read(types, mesh, current, candidate) for mesh, types in written.items()}
    known = release_of(candidate.source).policy_types.keys()
    external = _external(current, candidate)
    for refusal in unread:
        if any(
            refusal.mesh in ("", mesh) and concerns(refusal, types, known, external=external)
            for mesh, types in read.items()
        ):
            yield unread_reason(refusal)


def _external(*scenes: Scene) -> bool:
    return any(r.type == "ExternalService" for scene in scenes for r in scene.repository.resources)


def _as_read(types: Set[str], mesh: str, current: Scene, candidate: Scene) -> Set[str]:
    """Return types; with what fields stand for in the place of Mesh, where no other changes."""
    was, now = (
        next((r for r in scene.repository.resources if r.type == MESH and r.name == mesh), None)
        for scene in (current, candidate)
    )
    if was is None or now is None or _head(was) != _head(now):
        return types
    return instead_of_mesh(types, was.spec, now.spec)


def _head(mesh: Resource) -> Mapping[str, object]:
    return {key: value for key, value in mesh.body.items() if key in ("metadata", "labels")}


def _mesh_of(resource: Resource) -> str:
    return resource.name if resource.type == "Mesh" else resource.mesh
