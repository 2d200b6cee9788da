"""Objects of Kubernetes that would take each other's place: a name is one of its namespace there.

To Kuma two policies of two meshes are two, whatever they are called.
"""

from __future__ import annotations

from collections import defaultdict

from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.model.resource import Form
from kumamigrate.scene.scene import Scene

Key = tuple[str, str, str]
"""Type, namespace and name."""


def newly_overwritten(current: Scene, candidate: Scene) -> tuple[Doubt, ...]:
    """Say which objects would be there for several meshes at once, and were not before."""
    shared = _shared(candidate)
    before = _shared(current) if shared else {}
    return tuple(
        Doubt(
            DoubtKind.REFUSED,
            f"{type_} {name} of namespace {namespace} would be written for"
            f" {' and '.join(f'mesh {mesh}' for mesh in sorted(meshes))}: Kubernetes has one object"
            " of a name",
        )
        for (type_, namespace, name), meshes in shared.items()
        if meshes != before.get((type_, namespace, name))
    )


def _shared(scene: Scene) -> dict[Key, set[str]]:
    """Return by object the meshes it is for, where there are several."""
    found: dict[Key, set[str]] = defaultdict(set)
    for one in scene.repository.resources:
        if one.form is Form.KUBERNETES and one.namespace and one.mesh:
            found[one.type, one.namespace, one.name].add(one.mesh)
    return {key: meshes for key, meshes in found.items() if len(meshes) > 1}
