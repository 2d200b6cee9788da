"""Made-up destinations: what policies refer to and the state lacks, plus any other service (§5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.model.digits import is_number
from kumamigrate.model.kri import kri_of
from kumamigrate.model.meshservices import generated_services
from kumamigrate.model.resource import (
    DISPLAY_NAME,
    MESH,
    NAMESPACE,
    ORIGIN,
    SERVICE,
    ZONE,
    Form,
    Resource,
)
from kumamigrate.model.state import State, mesh_services_mode
from kumamigrate.model.taken import Ground, Taken
from kumamigrate.targetref.backendref import ports_of
from kumamigrate.targetref.items import top_of
from kumamigrate.targetref.resolve import REAL
from kumamigrate.universe.madeup import ANY_PORT, OTHER_SERVICE
from kumamigrate.universe.successors import Successors, service_parts
from kumamigrate.universe.traffic import service_tags

Labels = frozenset[tuple[str, str]]

MOST_WORLDS = 6
MOST_SERVICES = 400
_IDENTITY = (DISPLAY_NAME, NAMESPACE, ZONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A reference to a real resource: what it must carry, and a port it must have ("" = none).

    `tag` is the service tag that the same words mean, "" where they mean none. `chosen` are labels
    that any resource may carry, so that policies tell by them which it is.
    """

    kind: str
    labels: Labels
    port: str = ""
    number: str = ""
    tag: str = ""
    chosen: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Resources to add to both states, and service tags to look at besides theirs."""

    resources: tuple[Resource, ...]
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Worlds:
    """The worlds in which a verdict must hold; what they take for granted; what was left out."""

    worlds: tuple[World, ...]
    assumptions: tuple[str, ...] = ()
    too_many: str = ""


def worlds_of(before: State, after: State, mesh: str, also: Sequence[State] = ()) -> Worlds:
    """Return the made-up services for two states of one mesh, with what others refer to.

    Two resources of one identity cannot exist together, so where a service may or may not carry
    labels that others choose by, there is a world for each. A complete state needs none.
    """
    if before.complete and after.complete:
        return Worlds(worlds=(World(resources=(), tags=()),))
    asked = dict.fromkeys(a for s in (before, after, *also) for a in references(s))
    coming = to_come((before, after), mesh)
    known = [*_real((before, after)), *coming]
    named = _ByName(known)
    wanted: dict[str, dict[Labels, list[Asked]]] = {}
    for one in asked:
        if not named.has(one.kind, one.labels):
            wanted.setdefault(one.kind, {}).setdefault(one.labels, []).append(one)
    variants = {_key(resource): [resource] for resource in coming}
    too_many = ""
    for kind, by_labels in _with_others(wanted, asked, (before, after)).items():
        chosen = dict.fromkeys(a.labels for a in asked if a.kind == kind and a.chosen)
        made = _closure([*by_labels], chosen)
        if len(made) > MOST_SERVICES:
            too_many = f"policies choose {kind} by labels in more ways than can be tried"
            made = [*wanted.get(kind, {})]
        for at, labels in enumerate(made):
            ports = [a for own, found in by_labels.items() if own <= labels for a in found]
            resource = _service(kind, labels, ports, before, mesh, at)
            variants.setdefault(_key(resource), []).append(resource)
    tags = dict.fromkeys((*(a.tag for a in asked if a.tag), OTHER_SERVICE))
    known_tags = dict.fromkeys((*service_tags(before), *service_tags(after)))
    _add_successors(variants, known, (*known_tags, *tags), before, mesh)
    depth = max((len(v) for v in variants.values()), default=1)
    if depth > MOST_WORLDS:
        too_many = "policies choose the same services by labels in more ways than can be tried"
    worlds = tuple(
        World(resources=tuple(v[min(at, len(v) - 1)] for v in variants.values()), tags=tuple(tags))
        for at in range(min(depth, MOST_WORLDS))
    )
    return Worlds(worlds=worlds, assumptions=tuple(_assumptions(wanted, mesh)), too_many=too_many)


def _with_others(
    wanted: Mapping[str, Mapping[Labels, list[Asked]]],
    asked: Iterable[Asked],
    states: tuple[State, State],
) -> dict[str, dict[Labels, list[Asked]]]:
    """Return what to make up: what misses, and what labels choose besides the services known.

    Where several zones are known, labels that name none choose services of the others as well;
    not where the service comes with the change, as nobody else has it yet.
    """
    found = {kind: dict(by_labels) for kind, by_labels in wanted.items()}
    old, new = ({_called(r) for r in state.of_type(*REAL)} for state in states)
    fresh = {frozenset(((DISPLAY_NAME, n), (NAMESPACE, s))) for _, n, s in new - old}
    named, zones = _ByName(_real(states)), _other_zones(states)
    for one in asked:
        keys = {key for key, _ in one.labels}
        if one.chosen and DISPLAY_NAME not in keys:
            found.setdefault(one.kind, {}).setdefault(one.labels, [one])
        if ZONE not in keys and not any(one.labels >= _said(name) for name in fresh):
            for zone in zones:
                there = one.labels | {(ZONE, zone)}
                if not named.has(one.kind, there):
                    found.setdefault(one.kind, {}).setdefault(there, [one])
    return found


def _called(resource: Resource) -> tuple[str, str, str]:
    return resource.type, resource.display_name, resource.namespace_label


def _said(labels: Labels) -> Labels:
    return frozenset(pair for pair in labels if pair[1])


def _real(states: tuple[State, State]) -> list[Resource]:
    return [r for state in states for r in state.of_type(*REAL)]


def _other_zones(states: tuple[State, State]) -> list[str]:
    home = states[0].environment.zone if states[0].environment.mode == "zone" else ""
    zones = {r.zone for state in states for r in state.resources if r.zone}
    return sorted(zones - {home})


def to_come(states: Sequence[State], mesh: str) -> list[Resource]:
    """Return the MeshServices that come when mode Disabled ends: nothing else is made up of them.

    Where the states differ in one, the last of them tells what it will be.
    """
    there = {_key(r) for state in states for r in state.of_type("MeshService")}
    found: dict[tuple[str, ...], Resource] = {}
    for state in states:
        if mesh_services_mode(state, mesh) == "Disabled":
            made = generated_services(state, switched=True)
            found |= {_key(r): replace(r, made_up=True) for r in made if r.mesh == mesh}
    return [resource for key, resource in found.items() if key not in there]


def with_world(state: State, world: World) -> State:
    """Return a state with the made-up resources of a world."""
    return replace(state, resources=(*state.resources, *world.resources))


def references(state: State) -> tuple[Asked, ...]:
    """Return every reference to a real resource in the policies of a state, read once."""
    if "references" not in state.known:
        state.known["references"] = tuple(_references(state))
    found: tuple[Asked, ...] = state.known["references"]
    return found


def _references(state: State) -> Iterator[Asked]:
    from kumamigrate.model.release import release

    known = release(state.release)
    for policy in state.resources:
        if policy.type not in known.policy_types:
            continue
        top = top_of(policy, known)
        for ref in _refs(policy.spec.get("to"), targets=top.kind != "MeshHTTPRoute"):
            kind = str(ref.get("kind") or "")
            if kind in REAL or kind == "MeshServiceSubset":
                yield from _asked(ref, kind, policy, state)


def _refs(value: Any, *, targets: bool) -> Iterator[Mapping[str, Any]]:
    """Yield targetRefs of `to` items and every backendRef below them."""
    if not isinstance(value, list):
        return
    for item in value:
        if not isinstance(item, Mapping):
            continue
        if targets and isinstance(item.get("targetRef"), Mapping):
            yield item["targetRef"]
        yield from backend_refs(item)


def backend_refs(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every backendRef below a value, those of mirrors too."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key == "backendRef" and isinstance(inner, Mapping):
                yield inner
            elif key == "backendRefs" and isinstance(inner, list):
                yield from (ref for ref in inner if isinstance(ref, Mapping))
            else:
                yield from backend_refs(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from backend_refs(inner)


def _asked(ref: Mapping[str, Any], kind: str, policy: Resource, state: State) -> Iterator[Asked]:
    name = str(ref.get("name") or "")
    labels = ref.get("labels")
    section, number = str(ref.get("sectionName") or ""), str(ref.get("port") or "")
    if isinstance(labels, Mapping) and labels:
        pairs = frozenset((str(k), str(v)) for k, v in labels.items())
        yield Asked(kind=kind, labels=pairs, port=section, number=number, chosen=True)
        return
    if not name:
        return
    tag = _tag(name, policy, state) if kind in ("MeshService", "MeshServiceSubset") else ""
    short, space, port = service_parts(name)
    if kind == "MeshServiceSubset":
        yield Asked(kind="MeshService", labels=frozenset({(SERVICE, name)}), tag=tag)
        return
    if kind == "MeshService" and space and not section:
        pairs = frozenset({(DISPLAY_NAME, short), (NAMESPACE, space)})
        # The name means the service of every zone; where none has it, ours may.
        placed = pairs if _named_in(state).has(kind, pairs) else _placed(pairs, state)
        yield Asked(kind=kind, labels=placed, number=port or number, tag=tag)
        return
    space = str(ref.get("namespace") or policy.namespace_label)
    wanted = ((DISPLAY_NAME, name), (NAMESPACE, space), (ZONE, policy.zone))
    exact = frozenset((k, v) for k, v in wanted if v)
    yield Asked(kind=kind, labels=exact, port=section, number=number, tag=tag)


def _placed(pairs: Labels, state: State) -> Labels:
    zone = state.environment.zone if state.environment.mode == "zone" else ""
    return pairs | {(ZONE, zone)} if zone else pairs


def _tag(name: str, policy: Resource, state: State) -> str:
    """Return the service tag a name may be.

    On Kubernetes a plain name in a workload's namespace is a MeshService; tags there are called
    `name_namespace_svc_port`. In the system namespace it may be the tag of a Universal zone.
    """
    if policy.form is Form.UNIVERSAL or "_svc" in name:
        return name
    system = state.environment.system_namespace
    return name if policy.namespace_label in ("", system) else ""


class _ByName:
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
        return any(_carries(resource, labels) for resource in near or ())


def _named_in(state: State) -> _ByName:
    """Return the real resources of a state, sorted by name once."""
    if "named" not in state.known:
        state.known["named"] = _ByName(state.of_type(*REAL))
    found: _ByName = state.known["named"]
    return found


def _carries(resource: Resource, labels: Labels) -> bool:
    own = {**resource.labels, DISPLAY_NAME: resource.display_name}
    wanted = dict(labels)
    exact = DISPLAY_NAME in wanted and set(wanted) <= set(_IDENTITY)
    if exact:
        mine = (resource.display_name, resource.namespace_label)
        if mine != (wanted[DISPLAY_NAME], wanted.get(NAMESPACE, "")):
            return False
        return wanted.get(ZONE, resource.zone) == resource.zone
    return all(own.get(k) == v for k, v in labels)


def _closure(missing: Sequence[Labels], chosen: Iterable[Labels]) -> list[Labels]:
    """Return label sets of services to make up: those that miss, and with others' labels."""
    found = dict.fromkeys(missing)
    extra = [labels for labels in chosen if not any(k == DISPLAY_NAME for k, _ in labels)]
    for first, second in combinations(dict.fromkeys((*missing, *extra)), 2):
        both = first | second
        if len({k for k, _ in both}) == len(both) and (first in found or second in found):
            found[both] = None
    for base in missing:
        everything = base
        for labels in extra:
            both = everything | labels
            if len({k for k, _ in both}) == len(both):
                everything = both
        found[everything] = None
    return list(found)


def _service(
    kind: str, labels: Labels, asked: Sequence[Asked], state: State, mesh: str, at: int
) -> Resource:
    own = dict(labels)
    name = own.pop(DISPLAY_NAME, f"{OTHER_SERVICE}-{at}")
    twin = _twin(kind, name, own.get(NAMESPACE, ""), state)
    if twin is not None:
        own = {**{k: v for k, v in twin.labels.items() if k == SERVICE}, **own}
        return _made_up(kind, name, own, ports_of(twin.spec), state, mesh)
    ports = _ports_of_service(kind, name, own.get(NAMESPACE, ""), state) or _ports(asked)
    return _made_up(kind, name, own, ports, state, mesh)


def _twin(kind: str, name: str, space: str, state: State) -> Resource | None:
    """Return a known service of the same name in another zone: one application, the same ports."""
    alike = (r for r in state.of_type(kind) if (r.display_name, r.namespace_label) == (name, space))
    return next(alike, None)


def _ports_of_service(kind: str, name: str, space: str, state: State) -> list[dict[str, Any]]:
    """Return the ports that the MeshService of a Kubernetes Service of the state has."""
    if kind != "MeshService":
        return []
    found = (s for s in state.of_type("Service") if (s.name, s.namespace) == (name, space))
    ports = next((s.spec.get("ports") for s in found), None)
    return [
        {k: p[k] for k in ("port", "name") if k in p}
        for p in (ports if isinstance(ports, list) else ())
        if isinstance(p, Mapping) and "port" in p
    ]


def _ports(asked: Iterable[Asked]) -> list[dict[str, Any]]:
    """Return ports with the names and numbers referred to; a name has no number yet."""
    names = dict.fromkeys(a.port for a in asked if a.port)
    numbers = dict.fromkeys(a.number for a in asked if a.number)
    ports: list[dict[str, Any]] = [{"port": int(n)} for n in numbers if is_number(n)]
    ports += [{"port": 60_000 + at, "name": name} for at, name in enumerate(names)]
    return ports or [{"port": ANY_PORT}]


def _made_up(
    kind: str,
    name: str,
    labels: Mapping[str, str],
    ports: Sequence[Mapping[str, Any]],
    state: State,
    mesh: str,
) -> Resource:
    zone = state.environment.zone if state.environment.mode == "zone" else ""
    if labels.get(ORIGIN) == "global":
        zone = ""  # a zone writes neither label on what the global control plane hands out
    added = {MESH: mesh, DISPLAY_NAME: name}
    if zone and ZONE not in labels:
        added[ZONE] = zone
    if zone or ZONE in labels:
        added[ORIGIN] = "zone"
    return Resource(
        type=kind,
        mesh=mesh,
        name=name,
        labels={**added, **labels},
        spec={"ports": [dict(port) for port in ports]},
        made_up=True,
    )


def _add_successors(
    variants: dict[tuple[str, ...], list[Resource]],
    known: Sequence[Resource],
    tags: Sequence[str],
    state: State,
    mesh: str,
) -> None:
    """Add the MeshService that Kuma generates for each service tag, where none is known."""
    there = Successors((*known, *(r for made in variants.values() for r in made)))
    for tag in tags:
        if there.of(tag):
            continue
        name, space, port = service_parts(tag)
        labels = {NAMESPACE: space} if space else {}
        ports = [{"port": int(port)}] if is_number(port) else [{"port": ANY_PORT}]
        resource = _made_up("MeshService", name, labels, ports, state, mesh)
        there.add(resource)
        variants.setdefault(_key(resource), []).append(resource)


def _key(resource: Resource) -> tuple[str, ...]:
    return (resource.type, str(kri_of(resource)))


def _assumptions(
    wanted: Mapping[str, Mapping[Labels, Sequence[Asked]]], mesh: str
) -> Iterator[str]:
    for kind, by_labels in sorted(wanted.items()):
        for labels in sorted(by_labels, key=sorted):
            said = [f"{k}={v}" for k, v in sorted(labels)]
            text = f"mesh {mesh} has a {kind} with {', '.join(said)}"
            yield Taken(text, Ground.SERVICE, mesh, kind, *said)
