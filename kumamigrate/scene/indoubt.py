"""What is in doubt of manifests as they are applied: namespaces, templates, what stands twice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from kumamigrate.admit.places import is_template
from kumamigrate.model.kinds import CLUSTER_SCOPED, KUBERNETES
from kumamigrate.model.resource import Form, Identity, Resource
from kumamigrate.source.text import Reason, Refusal


def templated(resources: Iterable[Resource]) -> list[Refusal]:
    """Return what is known of manifests of which a template fills in a part: not all of it.

    One whose mesh is filled in may belong to any mesh, where it counts as not read.
    """
    found: list[Refusal] = []
    for resource in resources:
        if not resource.templated or not resource.mesh or resource.where is None:
            continue
        anywhere = is_template(resource.mesh)
        part = "the mesh" if anywhere else "a part"
        found.append(
            Refusal(
                path=resource.where.path,
                line=resource.where.line,
                column=1,
                reason=Reason.TEMPLATE,
                detail=f"a template fills in {part} of {resource.type} {resource.name}",
                advice="render it and run on the result to be told everything",
                mesh="" if anywhere else resource.mesh,
                kind=resource.type,
                hides=anywhere,
                digest=resource.canonical_body if anywhere else "",
            )
        )
    return found


def as_applied(
    resources: Sequence[Resource], apart: Sequence[frozenset[str]] | None
) -> tuple[Refusal, ...]:
    """Return what is in doubt of manifests that are applied as they are."""
    if apart is None:
        return (*_homeless(resources), *_twice(resources))
    found: dict[Refusal, None] = {}
    for paths in apart:
        own = [r for r in resources if r.where is not None and r.where.path in paths]
        found.update(dict.fromkeys((*_homeless(own), *_twice(own))))
    return tuple(found)


def _homeless(resources: Iterable[Resource]) -> Iterator[Refusal]:
    """Yield manifests that leave it to whoever applies them which namespace they go to."""
    for resource in resources:
        where = resource.where
        if where is None or resource.namespace or not resource.mesh:
            continue
        if resource.form is Form.KUBERNETES and resource.type not in CLUSTER_SCOPED | KUBERNETES:
            yield Refusal(
                path=where.path,
                line=where.line,
                column=1,
                reason=Reason.NO_NAMESPACE,
                detail=f"{resource.type} {resource.name} has no namespace, and which one it is"
                " applied to decides whom it reaches",
                advice="write metadata.namespace",
                hides=True,
                mesh=resource.mesh,
                kind=resource.type,
            )


def _twice(resources: Iterable[Resource]) -> list[Refusal]:
    places: dict[Identity, list[Resource]] = defaultdict(list)
    for resource in resources:
        if resource.where is not None and (resource.mesh or resource.type == "Mesh"):
            places[resource.identity].append(resource)
    refusals = []
    for double in places.values():
        for again in double[1:]:
            if again.body == double[0].body:
                continue
            first, where = double[0].where, again.where
            assert first is not None
            assert where is not None
            refusals.append(
                Refusal(
                    path=where.path,
                    line=where.line,
                    column=1,
                    reason=Reason.DUPLICATE_IDENTITY,
                    detail=f"two files define {again.type} {again.name}, the other is"
                    f" {first.path}:{first.line}; the one applied last wins",
                    advice="environments of their own? see `kumamigrate environments`; a patch?"
                    " name it in its kustomization; else remove one",
                    hides=True,
                    mesh=again.mesh or again.name,
                    kind=again.type,
                )
            )
    return refusals
