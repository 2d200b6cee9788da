"""MeshServices that stand in no file: a control plane generates them (world.md §2).

A repository holds Services or Dataplanes instead. In a mesh whose mode is not Disabled, and with
3.0 in every mesh, each of them is the real destination: its ports, protocols and labels are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kumamigrate.dataclass import replace
from kumamigrate.model.kinds import WORKLOADS
from kumamigrate.model.kubernetes.kubeservices import How, KubeCluster, is_made
from kumamigrate.model.kubernetes.kubeservices import selector as selector_of
from kumamigrate.model.labels import Refused, stored_labels
from kumamigrate.model.packed import packed
from kumamigrate.model.release import release as release_of
from kumamigrate.model.resource import Resource, mapping
from kumamigrate.model.state import State, mesh_services_mode
from kumamigrate.model.universalservices import mesh_services
from kumamigrate.model.versions import newest_entry

INPUTS = WORKLOADS | {"Dataplane", "Mesh", "MeshService", "Namespace", "Service"}
"""The types that decide which MeshServices are generated, and what they are."""


def generated_services(
    state: State, known: Iterable[Resource] = (), *, switched: bool = False
) -> tuple[Resource, ...]:
    """Return the MeshServices that the state's resources imply and that it does not hold.

    `known` are those that a control plane made of Services of the state, as exported before: they
    tell the mesh of a Service whose Namespace is not at hand. Only a zone generates them. With
    `switched`, those are meant that come when mode Disabled ends.
    """
    how = rules_of(state.release)
    if how is None or state.environment.mode != "zone" or state.complete:
        return ()
    taken = {_place(r) for r in state.of_type("MeshService") if _here(r, state)}
    found: dict[tuple[str, str, str], Resource] = {}
    for made in _made(state, known, how):
        disabled = mesh_services_mode(state, made.mesh) == "Disabled"
        if disabled and not (how["always"] or switched):
            continue
        stored = stored_labels(made, release=state.release, environment=state.environment)
        if not isinstance(stored, Refused) and _place(stored) not in taken:
            found.setdefault(_place(stored), stored)
    return tuple(found.values())


def rules_of(release: str) -> How | None:
    """Return how a release generates MeshServices, None where it does not."""
    table = packed("model/tables", "services.json")
    how: How | None = table[newest_entry(table, release_of(release).name)]
    return how


def inputs_of(state: State) -> tuple[Resource, ...]:
    """Return what decides about them: the same inputs give the same MeshServices."""
    return tuple(state.of_type(*INPUTS))


def as_generated(resource: Resource, release: str) -> Resource:
    """Return an exported MeshService as the controller of a release writes it.

    Tags in its selector become labels where inbounds have no tags.
    """
    how = rules_of(release)
    if how is None or not is_made(resource):
        return resource
    tags = mapping(resource.spec.get("selector")).get("dataplaneTags")
    if how["selector"] == "dataplaneTags" or not tags:
        return resource
    return replace(resource, spec={**resource.spec, "selector": selector_of(mapping(tags), how)})


def _made(state: State, known: Iterable[Resource], how: How) -> Iterator[Resource]:
    yield from KubeCluster(inputs_of(state), known, how).mesh_services()
    yield from mesh_services((r for r in state.of_type("Dataplane") if _here(r, state)), how)


def _here(resource: Resource, state: State) -> bool:
    """Whether a resource is of the zone whose files these are."""
    return resource.zone in ("", state.environment.zone)


def _place(resource: Resource) -> tuple[str, str, str]:
    home = resource.namespace_label or resource.namespace
    return (resource.mesh, home, resource.display_name)
