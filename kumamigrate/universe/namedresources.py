"""Real resources of a state, found by what a reference by labels asks of them."""

from __future__ import annotations

from collections.abc import Iterable

from kumamigrate.model.resource import (
    DISPLAY_NAME,
    NAMESPACE,
    ZONE,
    Resource,
)
from kumamigrate.model.state import State
from kumamigrate.targetref.resolve import REAL

Labels = frozenset[tuple[str, str]]
_IDENTITY = (DISPLAY_NAME, NAMESPACE, ZONE)


class ByName:
    """Some real resources, found by the name that is asked for."""

    def __init__(self, resources: Iterable[Resource]) -> None:
        self._by_name: dict[tuple[str, str], list[Resource]] = {}
        self._by_type: dict[str, list[Resource]] = {}
        for resource in resources:
            self._by_name.setdefault((resource.type, resource.display_name), []).append(resource)
            self._by_type.setdefault(resource.type, []).append(resource)

    def has(self, kind: str, labels: Labels) -> bool:
        """Say whether one of a kind carries labels."""
        name = dict(labels).get(DISPLAY_NAME)
        near = self._by_type.get(kind) if name is None else self._by_name.get((kind, name))
        return any(carries(resource, labels) for resource in near or ())


def named_in(state: State) -> ByName:
    """Return the real resources of a state, sorted by name once."""
    if "named" not in state.known:
        state.known["named"] = ByName(state.of_type(*REAL))
    found: ByName = state.known["named"]
    return found


def carries(resource: Resource, labels: Labels) -> bool:
    """Say whether a resource has what a reference asks for; its identity has to be the whole."""
    own = {**resource.labels, DISPLAY_NAME: resource.display_name}
    wanted = dict(labels)
    exact = DISPLAY_NAME in wanted and set(wanted) <= set(_IDENTITY)
    if exact:
        mine = (resource.display_name, resource.namespace_label)
        if mine != (wanted[DISPLAY_NAME], wanted.get(NAMESPACE, "")):
            return False
        return wanted.get(ZONE, resource.zone) == resource.zone
    return all(own.get(k) == v for k, v in labels)
