"""A conversion as edits: manifests in the form and the place of the resources that they replace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.model.resource import MESH, Form, Resource, mapping
from kumamigrate.rewrite.change import ResourceEdit
from kumamigrate.rewrite.commentplaces import carried, shared_fields
from kumamigrate.rewrite.manifest import cut
from kumamigrate.rewrite.siblings import inherited
from kumamigrate.rewrite.sourcedest.conversion import Conversion, Json, NewPolicy
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.rewrite.view import View
from kumamigrate.rewrite.whycomment import why
from kumamigrate.source.text import FieldPath


def edit_of(view: View, world: KnownWorld, done: Conversion, resource: Resource) -> ResourceEdit:
    """Return what a conversion puts in the place of a resource: nothing, itself, new policies."""
    assert resource.where is not None
    new = [p for p in done.policies if p.home.identity == resource.identity]
    manifests: list[Any] = [_manifest(p, world, view) for p in new]
    heads = [why(policy) for policy in new]
    shared: tuple[FieldPath, ...] = ()
    stays = resource.type == "Mesh" or any(k.identity == resource.identity for k in done.kept)
    if view.stage == "expand" and any(resource in (p.home, *p.sources) for p in done.policies):
        stays = True
    if stays:
        fields = [d.path for d in done.dropped if d.resource.identity == resource.identity]
        body: Any = resource.body
        for path in fields if view.stage != "expand" else ():
            body = cut(body, (*resource.spec_path, *path))
        roots = fields if resource.type == "Mesh" else [("conf",)]
        manifests = [body, *(_carried(m, resource, roots) for m in manifests)]
        heads = ["", *heads]
    elif manifests:
        several = len(manifests) > 1
        shared = shared_fields(resource) if several else ()
        manifests[0] = _carried(manifests[0], resource, [("conf",)], alone=not several)
    return ResourceEdit(
        where=resource.where, manifests=tuple(manifests), heads=tuple(heads), shared=shared
    )


def _carried(
    written: Json, home: Resource, roots: Iterable[FieldPath], *, alone: bool = True
) -> Json:
    return {**written, "spec": carried(written["spec"], home, roots, alone=alone)}


def _manifest(policy: NewPolicy, world: KnownWorld, view: View) -> Json:
    """Return the _manifest of a new policy in the form of its home.

    Old kinds are cluster-scoped on Kubernetes; their successors stand in the system namespace
    with the label of their mesh.
    """
    home = policy.home
    if home.form is Form.UNIVERSAL:
        kept = _labels(home.body.get("labels"))
        written: Json = {"labels": kept} if kept else {}
        new: Json = {
            "type": policy.type,
            "name": policy.name,
            "mesh": world.mesh,
            **written,
            "spec": policy.spec,
        }
        order = [key for key in home.body if key in new]
        return {key: new[key] for key in (*order, *(k for k in new if k not in order))}
    old = mapping(home.body.get("metadata"))
    labels = {**_labels(old.get("labels")), MESH: world.mesh}
    # A Mesh stays, and keeps its annotations for itself.
    notes = inherited(old.get("annotations")) if home.type != "Mesh" else {}
    notes.pop(MESH, None)  # a label now
    return {
        "apiVersion": "kuma.io/v1alpha1",
        "kind": policy.type,
        "metadata": {
            "name": policy.name,
            "namespace": view.environment.system_namespace,
            "labels": labels,
            **({"annotations": notes} if notes else {}),
        },
        "spec": policy.spec,
    }


def _labels(value: Any) -> dict[str, str]:
    return dict(value) if isinstance(value, Mapping) else {}


def told_once(edits: Iterable[ResourceEdit]) -> tuple[ResourceEdit, ...]:
    """Return edits of which a file has each comment that says why once: above the first."""
    told: set[tuple[str, str]] = set()
    found = {}
    given = tuple(edits)
    for edit in sorted(given, key=lambda one: (one.where.path, one.where.document)):
        heads = []
        for head in edit.heads:
            known = (edit.where.path, head) in told
            told.add((edit.where.path, head))
            heads.append("" if known else head)
        found[edit.where] = replace(edit, heads=tuple(heads))
    return tuple(found[edit.where] for edit in given)
