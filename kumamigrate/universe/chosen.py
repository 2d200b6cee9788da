"""Labels and tags by which others than policies are chosen: services, hostnames, identities.

Who carries them is configuration, too: an endpoint that no selector finds any more gets no traffic.
What policies choose by labels is compared where it is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kumamigrate.model.kinds import KUBERNETES
from kumamigrate.model.resource import NAMESPACE, Resource
from kumamigrate.pattern import pattern
from kumamigrate.universe.side import Side

_LABELS = ("matchLabels",)
_TAGS = ("dataplaneTags", "destination", "match", "tags")
_IN_TEMPLATE = pattern(r'\blabel\s+"([^"]+)"')
_IDENTITY = frozenset({NAMESPACE, "k8s.kuma.io/service-account"})
"""What an identity is made of where no template says otherwise."""
_WORKLOAD = frozenset({"kuma.io/workload"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The keys of labels and of tags that something goes by."""

    labels: frozenset[str]
    tags: frozenset[str]


def chosen_by(*sides: Side) -> Chosen:
    """Return the keys that resources of some sides go by."""
    found = [
        _named_by(resource)
        for side in sides
        for resource in side.state.resources
        if resource.type not in KUBERNETES and resource.type != "Dataplane"
    ]
    return Chosen(
        labels=frozenset(key for one in found for key in one.labels),
        tags=frozenset(key for one in found for key in one.tags),
    )


def _named_by(resource: Resource) -> Chosen:
    """Return the keys that one resource goes by, read once."""
    if "chosen" not in resource.kept:
        resource.kept["chosen"] = _read(resource)
    found: Chosen = resource.kept["chosen"]
    return found


def _read(resource: Resource) -> Chosen:
    labels: set[str] = set()
    tags: set[str] = set()
    if resource.type == "MeshIdentity":
        labels |= _IDENTITY
    for name, value in _walk("", resource.spec):
        if isinstance(value, str):
            labels.update(_IN_TEMPLATE.findall(value))
            labels |= _WORKLOAD if ".Workload" in value else set()
        elif name in _LABELS:
            labels.update(map(str, value))
        elif name in _TAGS:
            tags.update(map(str, value))
    return Chosen(labels=frozenset(labels), tags=frozenset(tags))


def _walk(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield every text and every mapping of a spec with the key it stands at."""
    if isinstance(value, Mapping):
        yield name, value
        for key, inner in value.items():
            yield from _walk(str(key), inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _walk(name, inner)
    elif isinstance(value, str) and "{{" in value:
        yield name, value
