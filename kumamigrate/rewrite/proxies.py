"""Made-up proxies for rules: one for every combination of selectors that can be told apart.

A rule needs them to choose between forms; the prover makes its own and has the last word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kumamigrate.match.matcher import Matcher
from kumamigrate.model.labels import Refused, compute_labels
from kumamigrate.model.resource import NAMESPACE, ORIGIN, ROLE, SERVICE, ZONE, Resource
from kumamigrate.model.state import State

Trait = tuple[str, str]
"""What a selector asks for: ("tag/version", "v1"), ("label/app", "web"), ("zone", "east")."""

Traits = frozenset[Trait]

MOST = 256
"""So many combinations are made; beyond that only single selectors and the listed proxies."""


def proxies_of(matcher: Matcher, mesh: str, types: Iterable[str]) -> tuple[Resource, ...]:
    """Return the Dataplanes of a mesh and made-up ones that policies of some types tell apart."""
    state = matcher.state
    asked = {
        _traits(policy) for policy in state.of_type(*types, "MeshHTTPRoute") if policy.mesh == mesh
    }
    combinations = _combined(sorted(asked - {frozenset()}, key=sorted))
    made = (_proxy(at, mesh, traits, state) for at, traits in enumerate(combinations))
    return (*(p for p in matcher.proxies() if p.mesh == mesh), *made)


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
    if kind in ("MeshService", "MeshServiceSubset"):
        traits.add((f"tag/{SERVICE}", str(top.get("name", ""))))
    if kind in ("MeshSubset", "MeshServiceSubset"):
        traits |= {(f"tag/{k}", _some(v)) for k, v in _items(top.get("tags"))}
    if kind == "Dataplane":
        traits |= {(f"label/{k}", str(v)) for k, v in _items(top.get("labels"))}
        if top.get("sectionName"):
            traits.add(("section", str(top["sectionName"])))
    return frozenset(traits)


def _combined(asked: list[Traits]) -> list[Traits]:
    """Close the selectors under union where no trait gets two values; the empty one included."""
    closed: dict[Traits, None] = {frozenset(): None}
    for traits in asked:
        for other in list(closed):
            united = traits | other
            if len({name for name, _ in united}) == len(united):
                closed[united] = None
        if len(closed) > MOST:
            return [frozenset(), *asked]
    return list(closed)


def _proxy(at: int, mesh: str, traits: Traits, state: State) -> Resource:
    values = dict(traits)
    tags = {k.removeprefix("tag/"): v for k, v in traits if k.startswith("tag/")}
    labels = {k.removeprefix("label/"): v for k, v in traits if k.startswith("label/")}
    for key in (NAMESPACE, ZONE):
        # Such tags are copies of labels: a proxy cannot have one without the other.
        if key in tags or key in labels:
            labels.setdefault(key, tags.get(key, ""))
            tags.setdefault(key, labels[key])
    namespace = values.get("namespace") or labels.get(NAMESPACE, "")
    if values.get("zone"):
        labels[ZONE] = values["zone"]
        labels[ORIGIN] = "zone"
    if namespace:
        labels[NAMESPACE] = namespace
    inbound: dict[str, Any] = {"port": 8080, "tags": {SERVICE: f"any-{at}", **tags}}
    if "section" in values:
        inbound["name"] = values["section"]
    spec = {"networking": {"address": "192.0.2.1", "inbound": [inbound]}}
    proxy = Resource(
        type="Dataplane",
        mesh=mesh,
        name=f"any-{at}",
        namespace=namespace,
        labels=labels,
        spec=spec,
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
