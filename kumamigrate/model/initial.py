"""Initial policies: what a control plane gives a mesh when it makes it (world.md §1).

They are seldom in Git, and decide much: who ties with what is there by name alone, what inbounds
and outbounds have where nobody says anything. A mesh keeps those of the release that made it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.packed import packed
from kumamigrate.model.resource import MESH, Form, Identity, Resource
from kumamigrate.model.versions import at_least

NONE = "none"
CHOICES = (NONE, "2.5", "2.6")
"""What the setting `initial-policies` may say: none, those up to 2.5, those since 2.6."""
SKIP = "skipCreatingInitialPolicies"
_WORDS = {
    NONE: "none",
    "2.5": "those up to 2.5",
    "2.6": "those since 2.6",
    "3.0": "those of 3.0",
}


def named(world: str) -> str:
    """Return how a reader calls the policies that a release gives a mesh: "with …"."""
    return _WORDS[world]


def possible(release: str) -> tuple[str, ...]:
    """Return what a mesh may have been given that a release serves, the least first."""
    table = packed("model/tables", "initial.json")
    return (
        NONE,
        *(
            world
            for world, row in table.items()
            if at_least(release, row["since"])
            and not ("until" in row and at_least(release, row["until"]))
        ),
    )


@cache
def initial_policies(
    world: str, mesh: str, form: Form, system_namespace: str
) -> tuple[Resource, ...]:
    """Return what a release gives a mesh, as manifests of a form would say it.

    The same each time it is asked: what is known of a resource is kept by its id.
    """
    if world == NONE:
        return ()
    return tuple(
        _resource(
            row["type"], mesh, row["name"].format(mesh=mesh), row["spec"], form, system_namespace
        )
        for row in packed("model/tables", "initial.json")[world]["policies"]
    )


def _resource(
    type_: str, mesh: str, name: str, spec: Mapping[str, Any], form: Form, system_namespace: str
) -> Resource:
    old = type_ in OLD_POLICIES
    if form is Form.UNIVERSAL:
        head = {"type": type_, "mesh": mesh, "name": name}
        body = {**head, **spec} if old else {**head, "spec": spec}
        path: tuple[str, ...] = () if old else ("spec",)
        return Resource(
            type=type_, mesh=mesh, name=name, spec=spec, form=form, spec_path=path, body=body
        )
    head = {"apiVersion": "kuma.io/v1alpha1", "kind": type_}
    if old:
        body = {**head, "mesh": mesh, "metadata": {"name": name}, "spec": spec}
    else:
        labels = {MESH: mesh}
        metadata = {"name": name, "namespace": system_namespace, "labels": labels}
        body = {**head, "metadata": metadata, "spec": spec}
    return Resource(
        type=type_,
        mesh=mesh,
        name=name,
        namespace="" if old else system_namespace,
        labels={} if old else {MESH: mesh},
        spec=spec,
        form=form,
        spec_path=("spec",),
        body=body,
    )


def as_manifest(policy: Resource, form: Form, system_namespace: str) -> Resource:
    """Return a policy as a manifest of a form would say it, whatever form it was read in."""
    return _resource(
        policy.type, policy.mesh, policy.display_name, policy.spec, form, system_namespace
    )


def form_of(mesh: str, resources: Iterable[Resource]) -> Form:
    """Return where a mesh is at home: where its Mesh is, else where anything of it is.

    Of a mesh of which nothing is known it is Kubernetes, where most are.
    """
    forms: list[Form] = []
    for resource in resources:
        if resource.type == "Mesh" and resource.name == mesh:
            return resource.form
        if resource.mesh == mesh:
            forms.append(resource.form)
    return Form.UNIVERSAL if forms and Form.KUBERNETES not in forms else Form.KUBERNETES


def skips(mesh: Resource | None, type_: str) -> bool:
    """Say whether a Mesh tells the control plane not to make policies of a type with it."""
    said = mesh.spec.get(SKIP) if mesh is not None else None
    return isinstance(said, list) and ("*" in said or type_ in said)


def is_initial(identity: Identity) -> bool:
    """Say whether a resource is called what a control plane calls a policy it makes with a mesh."""
    type_, mesh, _, name = identity
    return any(
        row["type"] == type_ and row["name"].format(mesh=mesh) == name
        for world in packed("model/tables", "initial.json").values()
        for row in world["policies"]
    )
