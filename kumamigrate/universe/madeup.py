"""What proxies can have that policies tell apart, and where such proxies may be (§5)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import comb
from typing import NamedTuple

from kumamigrate.model.resource import NAMESPACE, ZONE
from kumamigrate.targetref.select import Selector

OTHER_NAMESPACE = "any-other-namespace"
OTHER_ZONE = "any-other-zone"
OTHER_SERVICE = "any-other-service"
OTHER_PROXY = "any-proxy"
ANY_VALUE = "any-value"
ANY_PORT = 60_999
"""The port of a made-up service of which nothing says a port."""
ZONE_TAG = "kuma.io/zone"
Pairs = tuple[tuple[str, str], ...]


class Atom(NamedTuple):
    """One thing a proxy can have that makes selectors choose it. All its parts are needed.

    A tuple, as are the next two, since they are the keys of all that a search has seen.

    `tags` are those of one inbound, `section` the name (or port) of one, `identity` is the zone
    and namespace that go with `name`.
    """

    tags: Pairs = ()
    labels: Pairs = ()
    name: str = ""
    identity: tuple[str, str] = ("", "")
    section: str = ""

    def __str__(self) -> str:
        shown = ((k, "any other" if v == "*" else v) for k, v in (*self.tags, *self.labels))
        parts = [*dict.fromkeys(f"{k}={v}" for k, v in shown)]
        parts += [f"name {self.name}"] if self.name else []
        parts += [f"inbound {self.section}"] if self.section else []
        return ", ".join(parts)


@lru_cache(maxsize=4096)
def in_order(atom: Atom) -> tuple[object, ...]:
    """Return what atoms are sorted by: their words, and what tells apart those that read alike, as
    a tag and a label of one name do, so that reports are the same at every run."""
    return (str(atom), atom.tags, atom.labels, atom.name, atom.identity, atom.section)


class Requirement(NamedTuple):
    """All that a selector asks of a proxy: the surroundings, then the atom; None = any proxy.

    `gateway_only` marks selectors of built-in gateways, `listener` are the tags that they ask of
    a listener; `never` marks those that choose nothing.
    """

    zones: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()
    proxy_types: tuple[str, ...] = ()
    atom: Atom | None = None
    gateway_only: bool = False
    listener: Pairs = ()
    never: bool = False


class Setting(NamedTuple):
    """The surroundings of a made-up proxy. `gateway` makes it a delegated gateway."""

    namespace: str
    zone: str
    gateway: bool

    def admits(self, requirement: Requirement) -> bool:
        """Whether a proxy here may be chosen by a selector."""
        if requirement.never or requirement.gateway_only:
            return False
        kind = "Gateway" if self.gateway else "Sidecar"
        return (
            requirement.zones <= {self.zone}
            and requirement.namespaces <= {self.namespace}
            and (not requirement.proxy_types or kind in requirement.proxy_types)
        )


def requirement_of(selector: Selector) -> Requirement:
    """Return what a selector asks of a proxy, the route's own selector included."""
    zones = {s.zone for s in (selector, selector.through) if s is not None and s.zone is not None}
    spaces = {
        s.namespace
        for s in (selector, selector.through)
        if s is not None and s.namespace is not None
    }
    last = selector.through or selector
    top = last.top
    atom: Atom | None = None
    match top.kind:
        case "MeshSubset" | "MeshService" | "MeshServiceSubset":
            atom = Atom(tags=_pairs(top.asked_tags))
        case "Dataplane":
            atom = Atom(
                labels=_pairs(top.labels or ()),
                name=(top.name or "") if last.identity is not None else "",
                identity=last.identity or ("", ""),
                section=top.section_name or "",
            )
    return Requirement(
        zones=frozenset(zones),
        namespaces=frozenset(spaces),
        proxy_types=top.proxy_types or (),
        atom=None if atom == Atom() else atom,
        gateway_only=top.kind == "MeshGateway",
        listener=_pairs(top.tags or ()) if top.kind == "MeshGateway" else (),
        never=selector.unresolved or selector.never or last.never,
    )


def by_atom(requirements: Iterable[Requirement]) -> dict[Atom | None, list[Requirement]]:
    """Return requirements by what a proxy has to have of itself."""
    found: dict[Atom | None, list[Requirement]] = {}
    for requirement in requirements:
        found.setdefault(requirement.atom, []).append(requirement)
    return found


def settings_of(requirements: Iterable[Requirement], zone: str) -> tuple[Setting, ...]:
    """Return the surroundings that the requirements can tell apart, the plain one first."""
    listed = list(requirements)
    spaces = {space for r in listed for space in r.namespaces}
    zones = {z for r in listed for z in r.zones}
    for requirement in listed:
        atom = requirement.atom
        if atom is not None:
            spaces.update(v for k, v in atom.labels if k == NAMESPACE)
            zones.update(v for k, v in atom.labels if k == ZONE)
            if atom.name:
                zones.add(atom.identity[0])
                spaces.add(atom.identity[1])
    typed = any(r.proxy_types for r in listed)
    all_spaces = [OTHER_NAMESPACE, *sorted(spaces - {OTHER_NAMESPACE})]
    first = [zone] if zone else []
    others = [OTHER_ZONE] if zones else []
    all_zones = list(dict.fromkeys([*first, *others, *sorted(zones)])) or [""]
    return tuple(
        Setting(namespace=space, zone=z, gateway=gateway)
        for gateway in ((False, True) if typed else (False,))
        for z in all_zones
        for space in all_spaces
    )


def surroundings(setting: Setting, requirement: Requirement) -> Setting:
    """Return surroundings, with the namespace, the zone and the kind of proxy that a requirement
    asks for."""
    space, zone, gateway = setting.namespace, setting.zone, setting.gateway
    space = next(iter(sorted(requirement.namespaces)), space)
    zone = next(iter(sorted(requirement.zones)), zone)
    if requirement.atom is not None:
        labels = dict(requirement.atom.labels)
        space, zone = labels.get(NAMESPACE, space), labels.get(ZONE, zone)
        if requirement.atom.name:
            zone, space = requirement.atom.identity
    if requirement.proxy_types:
        gateway = gateway if "Sidecar" in requirement.proxy_types else True
        gateway = gateway and "Gateway" in requirement.proxy_types
    return Setting(namespace=space, zone=zone, gateway=gateway)


def count(atoms: int, most: int) -> int:
    """Return how many sets of up to `most` atoms there are."""
    return sum(comb(atoms, size) for size in range(min(most, atoms) + 1))


def _pairs(tags: Iterable[tuple[str, str]]) -> Pairs:
    return tuple(sorted(tags))
