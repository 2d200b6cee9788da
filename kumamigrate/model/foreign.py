"""Kinds of Kuma and Kong Mesh that nothing here knows: said, since a proof says nothing of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from kumamigrate.model.kinds import (
    CONTROL_PLANE_CONFIG,
    ENTERPRISE,
    GLOBAL_SCOPED,
    HELM_VALUES,
    MESH_SCOPED,
)
from kumamigrate.model.release import policy_type_names
from kumamigrate.model.resource import Form, Resource
from kumamigrate.source.text import Reason, Refusal

_GROUP = "kuma.io/"


@cache
def modelled() -> frozenset[str]:
    """Return the kinds that are known in some release."""
    known = MESH_SCOPED | GLOBAL_SCOPED | {HELM_VALUES, CONTROL_PLANE_CONFIG}
    return (known | policy_type_names()) - ENTERPRISE


def not_modelled(resources: Iterable[Resource]) -> Iterator[Refusal]:
    """Yield what a verdict does not speak of, in the order of the resources."""
    for resource in resources:
        where = resource.where
        if where is None or resource.type in modelled() or not _is_ours(resource):
            continue
        yield Refusal(
            path=where.path,
            line=where.line,
            column=1,
            reason=Reason.NOT_MODELLED,
            detail=f"{resource.type} {resource.name} is of a kind that is not modelled",
            advice="compare by hand what it does, or leave it out",
            mesh=resource.mesh,
            kind=resource.type,
        )


def _is_ours(resource: Resource) -> bool:
    kubernetes = resource.form is Form.KUBERNETES
    return not kubernetes or str(resource.body.get("apiVersion")).startswith(_GROUP)
