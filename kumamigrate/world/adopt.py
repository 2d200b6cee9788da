"""Initial policies written into Git, so that rules bring them on like any other manifest.

What a control plane gave a mesh stands nowhere that anybody edits, in forms that 3.0 ignores in
part. Adopted as they are they mean what they meant; from there on it is an ordinary run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.errors import UsageError
from kumamigrate.model.initial import CHOICES, as_manifest, form_of, is_initial
from kumamigrate.model.resource import Resource
from kumamigrate.scene.scene import Scene
from kumamigrate.source.editing.emit import scalar_text
from kumamigrate.source.editing.layout import Layout
from kumamigrate.world.estate import Estate

_STEP = "  "


def adoption(estate: Estate, folder: str) -> dict[str, bytes]:
    """Return new files with the initial policies of each mesh that are not in Git, by path.

    Raises UsageError where it is not known which these are, or where to put them.
    """
    site = estate.sites[0]
    if len(estate.sites) > 1 or site.rendering.built:
        raise UsageError(
            "--adopt-initial-policies writes plain manifests for one environment; run it where"
            " there is only one, and list the files in its kustomization or chart afterwards"
        )
    scene = site.applied
    files: dict[str, bytes] = {}
    for mesh, policies in _by_mesh(scene).items():
        path = "/".join(part for part in (folder, f"initial-policies-{mesh}.yaml") if part != ".")
        if path in estate.tree.files:
            raise UsageError(f"{path}: is there already; move it away, or name another folder")
        if estate.scope is not None and not estate.scope.allows(path):
            raise UsageError(f"{path}: only the paths given may be written; name a folder in them")
        files[path] = _text(policies).encode()
    if not files:
        raise UsageError("no mesh here has initial policies outside Git: nothing to adopt")
    return files


def _by_mesh(scene: Scene) -> dict[str, list[Resource]]:
    """Return the initial policies that are not in Git, in the form of the mesh."""
    own = scene.repository.resources
    state = scene.state(scene.source)[0]
    found: dict[str, list[Resource]] = {}
    for mesh, given in scene.given().items():
        if not given.settled:
            raise UsageError(
                f"which initial policies mesh {mesh} has is not known; say --initial-policies"
                f" {'|'.join(w for w in given.worlds if w in CHOICES)}, or give an --inventory"
            )
        here = {id(one) for one in own}
        brought = {resource.identity for resource in given.least}
        policies = [
            as_manifest(one, form_of(mesh, own), scene.environment.system_namespace)
            for one in state.resources
            if one.mesh == mesh
            and id(one) not in here
            and (one.identity in brought or _exported(one, scene))
        ]
        if policies:
            found[mesh] = policies
    return found


def _exported(resource: Resource, scene: Scene) -> bool:
    """Say whether a resource of a state comes from an inventory and from the mesh's creation."""
    type_, mesh, _, name = resource.home
    where = resource.where
    outside = where is not None and where.path not in scene.repository.files
    return outside and is_initial((type_, mesh, "", name))


def _text(policies: list[Resource]) -> str:
    head = "# What Kuma gave the mesh when it made it; adopted, so that it can be changed here.\n"
    return head + "---\n".join("".join(_lines(one.body, 0)) for one in policies)


def _lines(value: Mapping[str, Any], depth: int) -> Iterator[str]:
    """Yield a mapping as YAML in block style."""
    layout, indent = Layout(), _STEP * depth
    for key, inner in value.items():
        if isinstance(inner, Mapping) and inner:
            yield f"{indent}{key}:\n"
            yield from _lines(inner, depth + 1)
        elif isinstance(inner, list) and inner:
            yield f"{indent}{key}:\n"
            for item in inner:
                yield from _item(item, depth + 1)
        else:
            yield f"{indent}{_key(key)}: {scalar_text(inner, layout)}\n"


def _item(item: Any, depth: int) -> Iterator[str]:
    indent = _STEP * depth
    if not isinstance(item, Mapping):
        yield f"{indent}- {scalar_text(item, Layout())}\n"
        return
    first, *rest = "".join(_lines(item, depth + 1)).splitlines(keepends=True)
    yield f"{indent}- {first.lstrip()}"
    yield from rest


def _key(key: str) -> str:
    return scalar_text(key, Layout())
