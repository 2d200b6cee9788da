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
    Resource,
    mappings,
)
from kumamigrate.model.state import State, mesh_services_mode
from kumamigrate.model.taken import Ground, Taken
from kumamigrate.targetref.backendref import ports_of
from kumamigrate.targetref.resolve import REAL
from kumamigrate.universe.askedservices import Asked, references
from kumamigrate.universe.madeup import ANY_PORT, OTHER_SERVICE
from kumamigrate.universe.namedresources import ByName, Labels
from kumamigrate.universe.successors import Successors, service_parts
from kumamigrate.universe.traffic import service_tags

MOST_WORLDS = 6
MOST_SERVICES = 400


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
    known = [*real_in((before, after)), *coming]
    named = ByName(known)
    wanted: dict[str, dict[Labels, list[Asked]]] = {}
    for one in asked:
        if not named.has(one.kind, one.labels):
            wanted.setdefault(one.kind, {}).setdefault(one.labels, []).append(one)
    variants = {key_of(resource): [resource] for resource in coming}
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
            variants.setdefault(key_of(resource), []).append(resource)
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
    named, zones = ByName(real_in(states)), _other_zones(states)
    for one in asked:
        keys = {key for key, _ in one.labels}
        if one.chosen and DISPLAY_NAME not in keys:
            found.setdefault(one.kind, {}).setdefault(one.labels, [one])
        if ZONE not in keys and not any(one.labels >= said_of(name) for name in fresh):
            for zone in zones:
                there = one.labels | {(ZONE, zone)}
                if not named.has(one.kind, there):
                    found.setdefault(one.kind, {}).setdefault(there, [one])
    return found


def _called(resource: Resource) -> tuple[str, str, str]:
    return resource.type, resource.display_name, resource.namespace_label


def said_of(labels: Labels) -> Labels:
    return frozenset(pair for pair in labels if pair[1])


def real_in(states: tuple[State, State]) -> list[Resource]:
    return [r for state in states for r in state.of_type(*REAL)]


def _other_zones(states: tuple[State, State]) -> list[str]:
    home = states[0].environment.zone if states[0].environment.mode == "zone" else ""
    zones = {r.zone for state in states for r in state.resources if r.zone}
    return sorted(zones - {home})


def to_come(states: Sequence[State], mesh: str) -> list[Resource]:
    """Return the MeshServices that come when mode Disabled ends: nothing else is made up of them.

    Where the states differ in one, the last of them tells what it will be.
    """
    there = {key_of(r) for state in states for r in state.of_type("MeshService")}
    found: dict[tuple[str, ...], Resource] = {}
    for state in states:
        if mesh_services_mode(state, mesh) == "Disabled":
            made = generated_services(state, switched=True)
            found |= {key_of(r): replace(r, made_up=True) for r in made if r.mesh == mesh}
    return [resource for key, resource in found.items() if key not in there]


def with_world(state: State, world: World) -> State:
    """Return a state with the made-up resources of a world."""
    return replace(state, resources=(*state.resources, *world.resources))


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
    ports = _ports_of_service(kind, name, own.get(NAMESPACE, ""), state) or ports_asked(asked)
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
    return [{k: p[k] for k in ("port", "name") if k in p} for p in mappings(ports) if "port" in p]


def ports_asked(asked: Iterable[Asked]) -> list[dict[str, Any]]:
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
        variants.setdefault(key_of(resource), []).append(resource)


def key_of(resource: Resource) -> tuple[str, ...]:
    return (resource.type, str(kri_of(resource)))


def _assumptions(
    wanted: Mapping[str, Mapping[Labels, Sequence[Asked]]], mesh: str
) -> Iterator[str]:
    for kind, by_labels in sorted(wanted.items()):
        for labels in sorted(by_labels, key=sorted):
            said = [f"{k}={v}" for k, v in sorted(labels)]
            text = f"mesh {mesh} has a {kind} with {', '.join(said)}"
            yield Taken(text, Ground.SERVICE, mesh, kind, *said)
