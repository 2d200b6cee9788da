"""Labels and tags by which others than policies are chosen: services, hostnames, identities, and
the backends that a proxy says it reaches.

Who carries them is configuration, too: an endpoint that no selector finds any more gets no traffic.
What policies choose by labels is compared where it is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.model.kinds import KUBERNETES, WORKLOADS
from kumamigrate.model.resource import NAMESPACE, Resource, mapping
from kumamigrate.pattern import pattern
from kumamigrate.universe.side import Side

_LABELS = ("matchLabels",)
_TAGS = ("dataplaneTags", "destination", "match", "tags")
_IN_TEMPLATE = pattern(r'\blabel\s+"([^"]+)"')
_IDENTITY = frozenset({NAMESPACE, "k8s.kuma.io/service-account"})
"""What an identity is made of where no template says otherwise, on Kubernetes."""
_WORKLOAD = frozenset({"kuma.io/workload"})
_PATCHED = ("tags", "listenerTags")
"""What a MeshProxyPatch finds listeners by: tags on 2.x, labels of the Dataplane on 3.0 (asked)."""
_AFFINITY = "affinityTags"
"""2.x looks such a key up among tags and labels of endpoints, 3.0 among labels alone."""
_BACKENDS = ("backendRef", "backendRefs")
_REACHABLE = "kuma.io/reachable-backends"
_KEY = pattern(r"(?<![\w./-])[\w./-]++(?=['\"]?\s*:)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The keys of labels and of tags that something goes by.

    `of_services` are the labels by which a backend is chosen among services, or a sink among those
    there are; `near` those of a proxy and of its endpoints by which traffic stays near.
    """

    labels: frozenset[str]
    tags: frozenset[str]
    of_services: frozenset[str] = frozenset()
    near: frozenset[str] = frozenset()

    @property
    def of_proxies(self) -> frozenset[str]:
        """The labels of Dataplanes that something goes by."""
        return self.labels | self.near


def chosen_by(*sides: Side) -> Chosen:
    """Return the keys that resources of some sides go by."""
    found = [
        _named_by(resource)
        for side in sides
        for resource in side.state.resources
        if resource.type not in KUBERNETES or resource.type in WORKLOADS
    ]
    return Chosen(
        labels=frozenset(key for one in found for key in one.labels),
        tags=frozenset(key for one in found for key in one.tags),
        of_services=frozenset(key for one in found for key in one.of_services),
        near=frozenset(key for one in found for key in one.near),
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
    backends: set[str] = set()
    near: set[str] = set()
    if resource.type == "Dataplane" or resource.type in WORKLOADS:
        reached = frozenset(_reached_by(resource))
        return Chosen(labels=frozenset(), tags=frozenset(), of_services=reached)
    if resource.type == "MeshIdentity":
        said = mapping(resource.spec.get("spiffeID")).get("path")
        labels |= _IDENTITY if said is not None else _IDENTITY | _WORKLOAD
    for name, value in _walk("", resource.spec):
        if isinstance(value, str):
            labels.update(_IN_TEMPLATE.findall(value))
            labels |= _WORKLOAD if ".Workload" in value else set()
        elif name in _PATCHED and resource.type == "MeshProxyPatch":
            labels.update(map(str, value))
            tags.update(map(str, value))
        elif name in _LABELS:
            labels.update(map(str, value))
        elif name == _AFFINITY:
            near.add(str(value.get("key") or ""))
        elif name in _BACKENDS:
            backends.update(map(str, mapping(value.get("labels"))))
        elif name in _TAGS:
            tags.update(map(str, value))
    return Chosen(
        labels=frozenset(labels),
        tags=frozenset(tags | near),
        of_services=frozenset(backends),
        near=frozenset(near),
    )


def _reached_by(proxy: Resource) -> Iterator[str]:
    """Yield the labels by which a proxy, or a workload's, says what it reaches.

    Of an annotation every key counts: more labels than it chooses by do no harm.
    """
    for name, value in _values("", proxy.spec):
        if name == "labels" and proxy.type == "Dataplane":
            yield from map(str, value)
    for text in (proxy.annotations.get(_REACHABLE), *_texts(proxy.spec, _REACHABLE)):
        yield from _KEY.findall(text or "")


def _texts(value: Any, key: str) -> Iterator[str]:
    """Yield the texts that stand at a key, however deep."""
    for _, inner in _values("", value):
        if isinstance(inner.get(key), str):
            yield inner[key]


def _values(name: str, value: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    return ((at, found) for at, found in _walk(name, value) if isinstance(found, Mapping))


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
