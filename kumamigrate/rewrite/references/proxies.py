"""Made-up proxies for rules: one for every combination of selectors that can be told apart.

A rule needs them to choose between forms; the prover makes its own and has the last word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import comb
from typing import Any

from kumamigrate.model.labels import Refused, compute_labels
from kumamigrate.model.resource import (
    MADE_UP_NETWORK,
    NAMESPACE,
    ORIGIN,
    ROLE,
    SERVICE,
    ZONE,
    Resource,
)
from kumamigrate.model.state import State
from kumamigrate.model.targetref import SERVICE_TAGS, read_target_ref
from kumamigrate.targetref.matcher import Matcher

Trait = tuple[str, str]
"""What a selector asks for: ("tag/version", "v1"), ("label/app", "web"), ("zone", "east")."""

Traits = frozenset[Trait]

MOST = 3000
"""At most so many combinations are made."""


def traits_of(policies: Iterable[Resource]) -> frozenset[Traits]:
    """Return what some policies ask of a proxy, each once."""
    return frozenset(map(_traits, policies)) - {frozenset()}


def proxies_of(matcher: Matcher, mesh: str, asked: Iterable[Traits]) -> tuple[Resource, ...]:
    """Return the Dataplanes of a mesh and made-up ones, by what is asked of a proxy."""
    made: list[Resource] = []
    for parts in _subsets(sorted(asked, key=sorted)):
        for alone in (True, False) if len(parts) > 1 else (True,):
            proxy = _proxy(f"any-{len(made)}", mesh, parts, matcher.state, one_inbound=alone)
            if proxy is not None:
                made.append(proxy)
    return (*(p for p in matcher.proxies() if p.mesh == mesh), *made)


def _subsets(asked: Sequence[Traits]) -> Iterator[tuple[Traits, ...]]:
    """Yield sets of selectors that one proxy may satisfy, small ones first, then all at once."""
    size, total = 0, 1
    while size < len(asked) and total + comb(len(asked), size + 1) <= MOST:
        size += 1
        total += comb(len(asked), size)
    for few in range(size + 1):
        yield from combinations(asked, few)
    if size < len(asked):
        if size == 0:
            yield from ((traits,) for traits in asked)
        yield tuple(asked)


def _traits(policy: Resource) -> Traits:
    """Return what a proxy needs so that the policy selects it."""
    traits: set[Trait] = set()
    role = policy.labels.get(ROLE)
    if role in ("consumer", "workload-owner"):
        traits.add(("namespace", policy.namespace_label))
    if role != "producer" and policy.labels.get(ORIGIN) == "zone" and policy.zone:
        traits.add(("zone", policy.zone))
    top: Any = policy.spec.get("targetRef")
    if not isinstance(top, Mapping):
        return frozenset(traits)
    kind = top.get("kind")
    if kind in ("MeshSubset", *SERVICE_TAGS):
        asked = read_target_ref(top, ("kind", "name", "tags")).asked_tags
        traits |= {(f"tag/{k}", _some(v)) for k, v in asked}
    if kind == "Dataplane":
        traits |= {(f"label/{k}", str(v)) for k, v in _items(top.get("labels"))}
        if top.get("sectionName"):
            traits.add(("section", str(top["sectionName"])))
    return frozenset(traits)


def _proxy(
    name: str, mesh: str, parts: Sequence[Traits], state: State, *, one_inbound: bool
) -> Resource | None:
    """Return a proxy that several selectors choose, None where they exclude each other.

    Each has an inbound of its own for its tags; with `one_inbound` one inbound has all tags.
    """
    whole: dict[str, str] = {}
    inbounds: list[dict[str, str]] = []
    for traits in parts:
        tags: dict[str, str] = {}
        for trait in sorted(traits):
            if trait[0].startswith("tag/"):
                tags[trait[0].removeprefix("tag/")] = trait[1]
            if _is_once(trait) and whole.setdefault(*_once(trait)) != trait[1]:
                return None
        inbounds.append(tags)
    if one_inbound:
        merged: dict[str, str] = {}
        for tags in inbounds:
            if any(merged.setdefault(key, value) != value for key, value in tags.items()):
                return None
        inbounds = [merged]
    sections = [value for traits in parts for key, value in traits if key == "section"]
    return _dataplane(name, mesh, whole, inbounds, sections, state)


def _dataplane(
    name: str,
    mesh: str,
    whole: dict[str, str],
    inbounds: Sequence[Mapping[str, str]],
    sections: Sequence[str],
    state: State,
) -> Resource:
    labels = {key: value for key, value in whole.items() if key not in ("namespace", "zone")}
    shared = {}
    for key, label in (("namespace", NAMESPACE), ("zone", ZONE)):
        if whole.get(key):
            labels[label] = shared[label] = whole[key]
    if whole.get("zone"):
        labels[ORIGIN] = "zone"
    listed: list[dict[str, Any]] = [
        {"port": 8080 + at, "tags": {SERVICE: name, **shared, **tags}}
        for at, tags in enumerate(inbounds or [{}])
    ]
    for at, section in enumerate(sections):
        if at < len(listed):
            listed[at]["name"] = section
    proxy = Resource(
        type="Dataplane",
        mesh=mesh,
        name=name,
        namespace=whole.get("namespace", ""),
        labels=labels,
        spec={"networking": {"address": f"{MADE_UP_NETWORK}1", "inbound": listed}},
        made_up=True,
    )
    labelled = compute_labels(proxy, release=state.release, environment=state.environment)
    return proxy if isinstance(labelled, Refused) else labelled


def _items(value: Any) -> list[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, Mapping) else []


def _some(value: Any) -> str:
    return "some" if value == "*" else str(value)


def never_meet(policy: Resource, route: Resource) -> bool:
    """Say whether no proxy can be selected by both a policy and a route.

    Tags differ from inbound to inbound, so only what a proxy has once can keep them apart:
    labels, namespace and zone.
    """
    if policy.spec.get("targetRef") is not None and _kind(policy) == "MeshHTTPRoute":
        mine = {t for t in _traits(policy) if not t[0].startswith(("tag/", "label/", "section"))}
    else:
        mine = set(_traits(policy))
    once = dict(_once(trait) for trait in mine if _is_once(trait))
    return any(
        _is_once(trait) and once.get(_once(trait)[0], trait[1]) != trait[1]
        for trait in _traits(route)
    )


def _is_once(trait: Trait) -> bool:
    name = trait[0]
    if name == "section":
        return False
    return not name.startswith("tag/") or name.removeprefix("tag/") in (NAMESPACE, ZONE)


def _once(trait: Trait) -> Trait:
    """Return a trait under one name, however it was asked for."""
    name = trait[0].removeprefix("tag/").removeprefix("label/")
    return {NAMESPACE: "namespace", ZONE: "zone"}.get(name, name), trait[1]


def _kind(policy: Resource) -> str:
    top = policy.spec.get("targetRef")
    return str(top.get("kind")) if isinstance(top, Mapping) else "Mesh"
