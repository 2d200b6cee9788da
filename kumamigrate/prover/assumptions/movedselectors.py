"""Policies whose selector changed its form, and whether their labels follow from their tags."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.labels import name_in_two
from kumamigrate.model.release import Release
from kumamigrate.model.resource import (
    DISPLAY_NAME,
    ENV,
    NAMESPACE,
    SERVICE,
    Form,
    Resource,
    mapping,
)
from kumamigrate.model.state import State
from kumamigrate.model.targetref import TargetRef
from kumamigrate.prover.assumptions.coupling import WORKLOAD, Coupling
from kumamigrate.sourcedest.proxy import proxy_of
from kumamigrate.sourcedest.selector import ANY, selectors_of
from kumamigrate.targetref.backendref import ports_of
from kumamigrate.targetref.items import top_of

_BY_TAG = ("MeshSubset", "MeshService", "MeshServiceSubset")
_OF_NODES = ("topology.kubernetes.io/", "node.kubernetes.io/", "kubernetes.io/")


def moved_policies(
    before: State, after: State, old: Release
) -> Iterator[tuple[Resource, Resource]]:
    """Yield policies of both states that belong together, halves of split ones included.

    A policy that took the place of an old one stands beside what it would be by the same tags.
    """
    known = {p.identity: p for p in before.resources if p.type in old.policy_types}
    order = {identity: at for at, identity in enumerate(known)}
    lengths = {len(name) for p in known.values() for name in (p.name, name_in_two(p)[0])}
    sources = [p for p in before.resources if p.type in OLD_POLICIES]
    values = _values(before) if sources else {}
    for policy in after.resources:
        if policy.type not in old.policy_types:
            continue
        if policy.identity in known:
            yield known[policy.identity], policy
            continue
        stem, home = name_in_two(policy)
        names = (part + home for part in _beginnings(stem, lengths))
        begun = (known.get((*policy.identity[:3], name)) for name in names)
        for other in sorted((p for p in begun if p is not None), key=lambda p: order[p.identity]):
            yield other, policy
        for other in sources:
            if other.mesh == policy.mesh and str(other.name) in str(policy.name):
                for top in _by_tags(other, sources, top_of(policy, old).labels or (), values):
                    yield replace(policy, spec={**policy.spec, "targetRef": top}), policy


def _beginnings(name: str, lengths: Iterable[int]) -> Iterator[str]:
    """Yield what a name begins with, of some lengths."""
    return (name[:length] for length in lengths if length <= len(name))


def _values(state: State) -> Mapping[str, Sequence[str]]:
    """Return the values that tags of known proxies have, by key."""
    found: dict[str, dict[str, None]] = {}
    for dataplane in state.of_type("Dataplane"):
        for tags in proxy_of(dataplane, state.environment.zone).tag_sets:
            for key, value in tags.items():
                found.setdefault(key, {})[value] = None
    return {key: tuple(values) for key, values in found.items()}


def _by_tags(
    policy: Resource,
    every: Sequence[Resource],
    labels: Iterable[tuple[str, str]],
    values: Mapping[str, Sequence[str]],
) -> Iterator[dict[str, Any]]:
    """Yield the references by tags to the proxies that an old policy is for, alone and with what
    others of its kind ask besides; a tag of any value has the one that labels give it, or for the
    policy alone one that a known proxy has. And what labels say as tags: what stands on a route (a
    CircuitBreaker) asks what the route does."""
    given = dict(labels)
    fields = ("sources", "destinations", "selectors")
    own, others = (
        [t for p in some for field in fields for t in selectors_of(p.spec, field)]
        for some in ([policy], [p for p in every if p.type == policy.type])
    )
    found = [
        {k: w for k, v in {**a, **b}.items() if (w := given.get(k, v) if v == ANY else v) != ANY}
        for a in own
        for b in ({}, *others)
    ]
    found.append({SERVICE if key == WORKLOAD else key: value for key, value in given.items()})
    for tags in own:
        key, *more = [k for k, v in tags.items() if v == ANY and k != SERVICE] or [""]
        if not more:
            said = {k: v for k, v in tags.items() if v != ANY}
            found += ({**said, key: value} for value in values.get(key, ()))
    for tags in {tuple(sorted(tags.items())): tags for tags in found}.values():
        rest = {k: v for k, v in tags.items() if k != SERVICE}
        if SERVICE in tags:
            kind = "MeshServiceSubset" if rest else "MeshService"
            yield {"kind": kind, "name": tags[SERVICE], **({"tags": rest} if rest else {})}
        elif rest:
            yield {"kind": "MeshSubset", "tags": rest}


def leaves_tags(old: TargetRef, new: TargetRef) -> bool:
    if old.kind in _BY_TAG:
        return new.kind == "Dataplane"
    if old.kind == "Dataplane" and old.name:
        return dict(new.labels or ()).get(DISPLAY_NAME) == old.name
    return bool(old.kind == "Mesh" and old.proxy_types) and new.kind in ("Mesh", "Dataplane")


def as_labels(top: TargetRef) -> dict[str, str]:
    return {WORKLOAD if k == SERVICE else k: v for k, v in top.asked_tags}


def follows(policy: Resource, one: Coupling, state: State) -> bool:
    """Whether Kubernetes makes it so: tags from labels of Pods, a service tag from a Service."""
    labels = dict(one.new.top.labels or ())
    tags = {} if one.old.top.proxy_types else dict(one.old.top.asked_tags)
    name = tags.pop(SERVICE, one.old.top.name or "")
    if one.new.top.section_name or one.old.top.proxy_types or "*" in tags.values():
        return False
    if not all(labels.get(key) == value and _of_pods(key) for key, value in tags.items()):
        return False
    rest = {k: v for k, v in labels.items() if k not in tags}
    if not name:
        kubernetes = policy.form is Form.KUBERNETES or policy.labels.get(ENV) == "kubernetes"
        return kubernetes and not rest
    parts = name.split("_")
    if len(parts) != 4:
        return False
    near = [
        service
        for service in state.of_type("Service", "MeshService")
        if (service.namespace or service.namespace_label) == parts[1] and _selector(service)
    ]
    return any(
        service.display_name == parts[0]
        and {**_selector(service), NAMESPACE: parts[1]} in (rest, labels)
        and (not one.inbound or _is_alone(service, near))
        for service in near
    )


def _is_alone(service: Resource, near: Sequence[Resource]) -> bool:
    """Whether the Pods of a service have the one inbound of its one port, as far as is known."""
    own = _selector(service)
    others = [
        other
        for other in near
        if other.display_name != service.display_name
        and all(own.get(key, value) == value for key, value in _selector(other).items())
    ]
    return not others and len(ports_of(service.spec)) == 1


def _selector(service: Resource) -> dict[str, str]:
    selector: Any = service.spec.get("selector")
    if not isinstance(selector, Mapping):
        return {}
    if service.type == "MeshService":
        by_labels = mapping(selector.get("dataplaneLabels")).get("matchLabels")
        selector = by_labels or selector.get("dataplaneTags") or {}
    # No label of a Dataplane says its service: that is a tag.
    return {} if SERVICE in selector else {str(k): str(v) for k, v in selector.items()}


def _of_pods(key: str) -> bool:
    if key in (NAMESPACE, "kuma.io/zone"):
        return True
    return "kuma.io/" not in key and not key.startswith(_OF_NODES)
