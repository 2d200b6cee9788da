"""What of an inventory counts beside a repository, and what the control plane makes of both.

The repository wins: what it holds, or held when the run began, is not taken from an export, and
neither is what a control plane generates from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

from kumamigrate.admit.check import refusals_of
from kumamigrate.dataclass import dataclass, field, replace
from kumamigrate.model.kubernetes.kubeservices import HEADLESS, is_headless, is_made, made_of
from kumamigrate.model.meshservices import (
    as_generated,
    generated_services,
    inputs_of,
    rules_of,
)
from kumamigrate.model.resource import Identity, Resource
from kumamigrate.model.state import Environment, State
from kumamigrate.model.universalservices import is_generated, service_names


def names_of(exported: Resource, environment: Environment) -> set[Identity]:
    """Return what an exported resource may be called in the repository of this zone.

    What came from Kubernetes or from a global control plane is exported under another name.
    """
    here = is_here(exported, environment)
    return {exported.identity, *([exported.home] if here else ())}


def is_here(exported: Resource, environment: Environment) -> bool:
    """Say whether an exported resource may come from the zone that reads the repository."""
    zone = environment.zone if environment.mode == "zone" else ""
    return exported.zone in ("", zone)


@dataclass(frozen=True, kw_only=True)
class Outside:
    """The exported resources that count, and those that are generated anew instead."""

    kept: tuple[Resource, ...] = ()
    anew: tuple[Resource, ...] = ()


def outside_of(
    inventory: Iterable[Resource],
    own: Sequence[Resource],
    owned: Set[Identity],
    *,
    environment: Environment,
    release: str,
) -> Outside:
    """Return what of an inventory counts beside a repository's own resources.

    `owned` are the identities that the repository had when the run began.
    """
    taken = owned | {resource.identity for resource in own}
    services = {(r.namespace, r.name): r for r in own if r.type == "Service"}
    how = rules_of(release)
    names = service_names((r for r in own if r.type == "Dataplane"), how) if how else set()
    kept, anew = [], []
    for exported in inventory:
        if taken & names_of(exported, environment):
            continue
        here = is_here(exported, environment)
        made = here and is_made(exported) and _is_made_anew(exported, services, owned)
        given = here and is_generated(exported) and (exported.mesh, exported.display_name) in names
        if made:
            anew.append(exported)
        elif not given:
            kept.append(exported)
    return Outside(kept=tuple(kept), anew=tuple(anew))


def _is_made_anew(
    exported: Resource, services: dict[tuple[str, str], Resource], owned: Set[Identity]
) -> bool:
    """Whether the repository tells, or told, of which Service a MeshService is made."""
    place = made_of(exported)
    service = services.get(place)
    if service is None:
        return ("Service", "", *place) in owned
    if service.templated:
        return False  # what it is stands in the export alone
    return not (exported.labels.get(HEADLESS) == "true" and is_headless(service))


@dataclass(slots=True)
class Generated:
    """What was generated before, so that the same is asked once."""

    _services: dict[
        tuple[str, Environment], tuple[tuple[int, ...], State, tuple[Resource, ...]]
    ] = field(default_factory=dict)
    _exported: dict[str, tuple[Sequence[Resource], tuple[Resource, ...]]] = field(
        default_factory=dict
    )

    def added(self, state: State, anew: Sequence[Resource]) -> State:
        """Return the state with the MeshServices that a control plane generates from it.

        It asks itself as it asks everybody: what its release refuses is not there.
        """
        inputs = tuple(map(id, (*inputs_of(state), *anew)))
        key = (state.release, state.environment)
        known = self._services.get(key)
        if known is None or known[0] != inputs:
            made = tuple(
                one
                for one in generated_services(state, anew)
                if not refusals_of(one, release=state.release, environment=state.environment)
            )
            # The state is kept so that no other resource gets one of the ids.
            known = self._services[key] = (inputs, state, made)
        return replace(state, resources=(*state.resources, *known[2])) if known[2] else state

    def exported(self, inventory: Sequence[Resource], release: str) -> tuple[Resource, ...]:
        """Return an inventory as a release writes what it generates."""
        known = self._exported.get(release)
        if known is None or known[0] is not inventory:
            read = tuple(as_generated(one, release) for one in inventory)
            known = self._exported[release] = (inventory, read)
        return known[1]
