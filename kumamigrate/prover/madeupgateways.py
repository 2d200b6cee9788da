"""Built-in gateways that could exist: for each MeshGateway, those that policies tell apart.

A built-in gateway is chosen by its tags, never by labels or its name: by those that its MeshGateway
asks for, and by whatever else its Dataplane carries. What it reads differs from what sidecars with
the same tags read, since policies for a MeshGateway reach it alone, and its defaults are others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

from kumamigrate.model.kubernetes.workloads import implied_dataplanes
from kumamigrate.model.resource import (
    MESH,
    NAMESPACE,
    ORIGIN,
    PROXY_TYPE,
    SERVICE,
    ZONE,
    Identity,
    Resource,
    mapping,
    sequence,
    texts,
)
from kumamigrate.prover.gateway import is_builtin
from kumamigrate.prover.slots.mesh import MeshComparison
from kumamigrate.targetref.select import has_tags
from kumamigrate.universe.dataplaneparts import networking
from kumamigrate.universe.madeup import ANY_VALUE, Atom, Pairs
from kumamigrate.universe.madeupproxy import dataplane_of
from kumamigrate.universe.reach import Known
from kumamigrate.universe.side import Side

_TOGETHER = 3
"""So many tags of policies decide together: lists that are appended to need three."""
_MOST = 120
"""More gateways than this are not tried for one type of policies."""

_Tags = Mapping[str, str]


class _Base(NamedTuple):
    """A built-in gateway as what there is asks for it. `known`: its tags are all told."""

    name: str
    namespace: str
    tags: Pairs
    known: bool


class MadeUpGateways:
    """The built-in gateways to try. `cut` are the types of which not all could be made up."""

    def __init__(self, pair: MeshComparison, zone: str, changed: Collection[str]) -> None:
        self._pair = pair
        self._zone = zone
        self._sides = (pair.before, pair.after)
        everything = not pair.same_ground
        self._kinds = sorted(pair.before.types | pair.after.types if everything else changed)
        self.cut: dict[str, None] = {}

    def plain(self) -> Iterator[Resource]:
        """Yield one for each MeshGateway that no Dataplane serves, and those that Pods become."""
        listed = [d for side in self._sides for d in side.state.of_type("Dataplane")]
        served = [_gateway_tags(d) for d in listed if is_builtin(d)]
        named: set[str] = set()
        for base in self._bases:
            if not base.known and any(has_tags(one, base.tags) for one in served):
                continue
            called = f"gateway {base.name}"
            if called in named:
                called += " with " + " and ".join(f"{key}={value}" for key, value in base.tags)
            named.add(called)
            yield self._made(called, dict(base.tags), base.namespace)

    def told_apart(self) -> Iterator[tuple[Resource, str]]:
        """Yield those with further tags by which policies of a type that may differ choose, and in
        the namespaces for which they are, with that type: other types tell them apart by tags of
        their own."""
        made: dict[tuple[str, Pairs], Resource] = {}
        done = {(base.namespace, base.tags, kind) for base in self._bases for kind in self._kinds}
        for base in self._bases:
            for kind in () if base.known else self._kinds:
                for namespace, tags in self._besides(base, kind):
                    key = (namespace, _pairs(tags))
                    if (*key, kind) in done:
                        continue
                    done.add((*key, kind))
                    if key not in made:
                        made[key] = self._made(_described(base, namespace, tags), tags, namespace)
                    if not self._pair.couplings.broken_by(made[key]):
                        yield made[key], kind

    @cached_property
    def _bases(self) -> tuple[_Base, ...]:
        return tuple(dict.fromkeys(base for side in self._sides for base in _bases_of(side)))

    def _besides(self, base: _Base, kind: str) -> Iterator[tuple[str, _Tags]]:
        """Yield what a gateway may have besides, as policies of one type tell gateways apart."""
        known = [k for reach in self._pair.reaches for k in reach.of(kind) if self._may_choose(k)]
        moved = {id(k) for k in self._moved(kind, known)}
        asked = [k for k in known if not moved or id(k) in moved]
        spaces = {base.namespace, *(s for k in asked for s in k.requirement.namespaces)}
        for space in sorted(spaces):
            near = [k for k in known if k.requirement.namespaces <= {space}]
            suspects = [_wanted(k) for k in near if not moved or id(k) in moved]
            if not suspects:
                continue
            wanted = dict.fromkeys(filter(None, map(_wanted, near)))
            fitting = [one for one in wanted if _merged((base.tags, one)) is not None]
            most = self._at_once(kind, len(fitting))
            for size in range(most + 1):
                for chosen in combinations(fitting, size):
                    tags = _merged((base.tags, *chosen))
                    if tags is not None and any(not s or s in chosen for s in suspects):
                        yield space, tags

    def _at_once(self, kind: str, count: int) -> int:
        """Return how many tag sets of policies are tried together."""
        for most in range(_TOGETHER, 1, -1):
            if sum(comb(count, size) for size in range(most + 1)) <= _MOST:
                return most
            self.cut[kind] = None
        return 1

    def _may_choose(self, known: Known) -> bool:
        asked = known.requirement
        atom = asked.atom
        return (
            not asked.never
            and asked.zones <= {self._zone}
            and (not asked.proxy_types or "Gateway" in asked.proxy_types)
            and (atom is None or atom == Atom(tags=atom.tags))
        )

    def _moved(self, kind: str, known: Sequence[Known]) -> list[Known]:
        """Return the policies that one side has and the other has not, or not as they are."""
        if not self._pair.same_ground:
            return []
        there = [{p.identity: p for p in side.state.of_type(kind)} for side in self._sides]
        return [k for k in known if not all(_is_in(one, k.policy) for one in there)]

    def _made(self, name: str, tags: _Tags, namespace: str) -> Resource:
        mesh = self._pair.before.mesh
        labels = {MESH: mesh, PROXY_TYPE: "gateway"}
        if self._zone:
            labels |= {ZONE: self._zone, ORIGIN: "zone"}
        if namespace:
            labels[NAMESPACE] = namespace
        filled = {key: ANY_VALUE if value == "*" else value for key, value in tags.items()}
        gateway = {"type": "BUILTIN", "tags": filled}
        return dataplane_of(name, labels, {"gateway": gateway}, mesh)


def _bases_of(side: Side) -> Iterator[_Base]:
    for gateway in side.state.of_type("MeshGateway"):
        selectors: list[Any] = sequence(gateway.spec.get("selectors")) or [{}]
        for selector in selectors:
            tags = _pairs(mapping(mapping(selector).get("match")))
            yield _Base(gateway.name, gateway.namespace_label, tags, known=False)
    for instance in side.state.of_type("MeshGatewayInstance"):
        name, space = instance.name, instance.namespace
        tags = _pairs({SERVICE: f"{name}_{space}_svc", **mapping(instance.spec.get("tags"))})
        yield _Base(f"{name}.{space}", space, tags, known=True)
    for pod in filter(is_builtin, implied_dataplanes(side.state, side.mesh)):
        yield _Base(f"{pod.name}.{pod.namespace}", pod.namespace, _pairs(_gateway_tags(pod)), True)


def _gateway_tags(proxy: Resource) -> dict[str, str]:
    return texts(mapping(networking(proxy).get("gateway")).get("tags"))


def _wanted(known: Known) -> Pairs:
    """Return the tags that a policy asks of a listener of a built-in gateway."""
    atom = known.requirement.atom
    return known.requirement.listener or (atom.tags if atom is not None else ())


def _merged(sets: Sequence[Pairs]) -> dict[str, str] | None:
    """Return the tags that have all of some, None where those exclude each other."""
    found: dict[str, str] = {}
    for key, value in (pair for one in sets for pair in one):
        known = found.get(key, "*")
        if "*" not in (known, value) and known != value:
            return None
        found[key] = value if known == "*" else known
    return found


def _described(base: _Base, namespace: str, tags: _Tags) -> str:
    own = dict(base.tags)
    parts = [f"{k}={v}" for k, v in sorted(tags.items()) if own.get(k) != v]
    parts += [f"namespace {namespace}"] if namespace != base.namespace else []
    return f"gateway {base.name} with {' and '.join(parts)}"


def _is_in(policies: Mapping[Identity, Resource], policy: Resource) -> bool:
    other = policies.get(policy.identity)
    return other is not None and (other.spec, other.labels) == (policy.spec, policy.labels)


def _pairs(tags: Mapping[str, object]) -> Pairs:
    return tuple(sorted((str(key), str(value)) for key, value in tags.items()))
