"""What a zone has of the resources that a global control plane stores.

Proxies are configured by their zone. What the global control plane made has another label there,
and so has what came from another zone: `kuma.io/origin: global`. A copy always says its display
name; what a zone of Universal made itself says none before 3.0, unless somebody wrote one, which
nobody can tell from the copy in the global control plane.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kumamigrate.dataclass import replace
from kumamigrate.model.labels import is_kumas, labelling
from kumamigrate.model.resource import DISPLAY_NAME, ENV, ORIGIN, ZONE, Resource
from kumamigrate.model.state import Environment, State, Viewer

_OF_ZONES = ("Dataplane", "MeshService", "ZoneEgress", "ZoneIngress")
"""What no global control plane makes itself, whatever the manifest leaves out."""


def as_seen(resource: Resource, *, release: str, environment: Environment) -> Resource:
    """Return what the viewing zone has of a resource that a global control plane stores.

    Without a viewer it is what every zone has of what the global one made.
    """
    if environment.mode != "global" or not resource.mesh or not is_kumas(resource):
        return resource
    labels, viewer = resource.labels, environment.viewer
    if not _is_of_a_zone(labels):
        if resource.type in _OF_ZONES:
            return resource
        shown = {DISPLAY_NAME: labels.get(DISPLAY_NAME) or resource.name}
        return resource.with_labels({**labels, **shown, ORIGIN: "global"})
    if viewer is None:
        return resource
    if labels[ZONE] != viewer.zone:
        return resource.with_labels({**labels, ORIGIN: "global"})
    if viewer.named or not _hides_names(resource, release):
        return resource
    left = {key: value for key, value in labels.items() if key != DISPLAY_NAME}
    return replace(resource.with_labels(left), name=resource.display_name)


def viewers(states: Iterable[State]) -> tuple[Viewer | None, ...]:
    """Return the zones by whose view something may differ, None alone where it is one for all.

    It matters who looks where something is referred to by a label that zones have otherwise.
    """
    every = tuple(states)
    if all(state.environment.mode != "global" for state in every):
        return (None,)
    asked = frozenset[str]().union(*map(_asked_in, every))
    theirs = [(r, s.release) for s in every for r in s.resources if _is_of_a_zone(r.labels)]
    hidden = DISPLAY_NAME in asked and any(_hides_names(*one) for one in theirs)
    if not hidden and ORIGIN not in asked:
        return (None,)
    zones = sorted({resource.zone for resource, _ in theirs})
    ways = (True, False) if hidden else (True,)
    return tuple(Viewer(zone=zone, named=named) for zone in zones for named in ways) or (None,)


def _is_of_a_zone(labels: Mapping[str, str]) -> bool:
    return labels.get(ORIGIN) == "zone" and bool(labels.get(ZONE))


def _hides_names(resource: Resource, release: str) -> bool:
    universal = resource.labels.get(ENV) == "universal" and DISPLAY_NAME in resource.labels
    return universal and labelling(release).display_name != "always"


def _asked_in(state: State) -> frozenset[str]:
    if "labels that differ by zone" not in state.known:
        found = frozenset(label for r in state.resources for label in _asked(r.spec))
        state.known["labels that differ by zone"] = found
    asked: frozenset[str] = state.known["labels that differ by zone"]
    return asked


def _asked(node: object) -> Iterator[str]:
    """Yield those labels that differ by zone and that a spec refers by."""
    if isinstance(node, Mapping):
        for key, value in node.items():
            if key in ("labels", "matchLabels") and isinstance(value, Mapping):
                yield from (label for label in (DISPLAY_NAME, ORIGIN) if label in value)
            else:
                yield from _asked(value)
    elif isinstance(node, (list, tuple)):
        for value in node:
            yield from _asked(value)
