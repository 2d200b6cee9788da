"""The real resources that a reference may mean, and the zone that labels for them have to name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kumamigrate.dataclass import replace
from kumamigrate.model.labels import PRODUCER, policy_role
from kumamigrate.model.resource import DISPLAY_NAME, ZONE, Resource
from kumamigrate.rewrite.references.lookups import (
    services_named,
    services_to_come,
    shown_as,
    zones_of,
)
from kumamigrate.rewrite.view import View


def labelled(view: View, owner: Resource, kind: str, labels: Mapping[str, str]) -> list[Resource]:
    """Return the resources of a kind, in the mesh of a policy, that have some labels."""
    named = shown_as(view.state, kind, owner.mesh, labels[DISPLAY_NAME])
    return [resource for resource in named if _has(resource, labels)]


def services_of_tag(view: View, owner: Resource, labels: Mapping[str, str]) -> list[Resource]:
    """Return the MeshServices that a service tag may stand for: there, or with the upgrade."""
    return labelled(view, owner, "MeshService", labels) or to_come(view, owner, labels)


def to_come(view: View, owner: Resource, labels: Mapping[str, str]) -> list[Resource]:
    """Return the MeshServices with some labels that the target makes of what is known, in a mesh
    that has none today."""
    made = services_to_come(view.state, view.target.name)
    return [one for one in made if one.mesh == owner.mesh and _has(one, labels)]


def _has(resource: Resource, labels: Mapping[str, str]) -> bool:
    return all(
        (resource.display_name if key == DISPLAY_NAME else resource.labels.get(key)) == value
        for key, value in labels.items()
    )


def services_at(view: View, name: str, namespace: str) -> Sequence[Resource]:
    return services_named(view.state, name, namespace)


def placed(
    view: View, owner: Resource, labels: dict[str, str], found: list[Resource]
) -> dict[str, str]:
    """Return labels with the zone of what is found, where several zones are known: a service of
    that name may come up in another one."""
    zone = next((r.zone for r in found), "")
    return {**labels, ZONE: zone} if zone and tells_zones(view, owner) else labels


def tells_zones(view: View, owner: Resource) -> bool:
    """Whether there are several zones, and naming one leaves the policy's role alone."""
    return len(zones_of(view.state, owner.mesh)) > 1 and not _is_producer(view, owner)


def _is_producer(view: View, owner: Resource) -> bool:
    """Whether a zone label would make a consumer of a policy, whatever role is written on it."""
    there = replace(owner, namespace=owner.namespace_label)
    return policy_role(there, release=view.source.name, environment=view.environment) == PRODUCER
