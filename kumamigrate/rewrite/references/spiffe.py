"""Whom `from` entries mean, said by the names in certificates, as far as the clients are known.

A client is known by its Dataplane, or the workload that implies one. What is not known is said;
nothing is made up. Envoy compares all names of a certificate as one text, joined by commas, so
the several of one by `Mesh.mtls` are met by a prefix alone, and only by how the text begins.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.model.identity import (
    SCHEME,
    has_mtls,
    identities_of,
    ids_of_namespace,
    old_names,
    selects,
    spiffe_id,
)
from kumamigrate.model.release import Release
from kumamigrate.model.resource import NAMESPACE, SERVICE, Resource, mapping
from kumamigrate.model.state import State
from kumamigrate.rewrite.references.knownproxies import known_proxies
from kumamigrate.targetref.select import Proxy, has_tags


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A proxy that may be a client. `id` is what a MeshIdentity gives it or will give it, None
    where that cannot be told; `old` are the names by `Mesh.mtls`, none where that is off. `kin` is
    how the ids of all of its namespace begin, none where one MeshIdentity gives others."""

    proxy: Proxy
    id: str | None
    old: tuple[str, ...] = ()
    kin: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What a reader calls it."""
        return self.proxy.resource.name


@dataclass(frozen=True, slots=True)
class Match:
    """A match on the names of a certificate, as rules write it."""

    type: str
    value: str

    @property
    def written(self) -> Mapping[str, Any]:
        """The match as it stands in a manifest."""
        return {"spiffeID": {"type": self.type, "value": self.value}}

    @property
    def words(self) -> str:
        """The match as a note shows it."""
        return f'{{spiffeID: {{type: {self.type}, value: "{self.value}"}}}}'

    def meets(self, names: Sequence[str]) -> bool:
        """Say whether a certificate with some names is meant."""
        text = ",".join(names)
        return text == self.value if self.type == "Exact" else text.startswith(self.value)


class Clients(tuple[Client, ...]):
    """The clients of a mesh; each permission names few of them, which indexes find."""

    @cached_property
    def _carriers(self) -> Mapping[tuple[str, str], frozenset[int]]:
        """Return by tag the places of the clients that carry it somewhere."""
        found: dict[tuple[str, str], set[int]] = {}
        for at, client in enumerate(self):
            for tags in _tag_sets(client.proxy):
                for key, value in tags.items():
                    found.setdefault((key, value), set()).add(at)
        return {tag: frozenset(places) for tag, places in found.items()}

    @cached_property
    def _texts(self) -> list[tuple[str, int]]:
        """Return the names in certificates as Envoy compares them, each with its client's place."""
        return sorted(
            (",".join(name for name in names if name), at)
            for at, client in enumerate(self)
            for names in ((client.id,), client.old)
            if names and names[0]
        )

    def carrying(self, wanted: tuple[tuple[str, str], ...]) -> dict[int, Client]:
        """Return the clients that carry all of some tags, by their places."""
        near: frozenset[int] | None = None
        for key, value in wanted:
            if value != "*":
                mine = self._carriers.get((key, value), frozenset())
                near = mine if near is None else near & mine
        places = range(len(self)) if near is None else sorted(near)
        return {at: self[at] for at in places if _carries(self[at].proxy, wanted)}

    def met(self, match: Match) -> Iterator[int]:
        """Yield the places of the clients one of whose certificates is meant."""
        for text, at in self._texts[bisect_left(self._texts, (match.value, -1)) :]:
            if not text.startswith(match.value):
                return
            if match.meets((text,)):
                yield at


def clients_of(
    state: State, mesh: str, release: Release, planned: Resource | None = None
) -> Clients:
    """Return the clients of a mesh, listed Dataplanes first.

    `planned` is the MeshIdentity that shall come where there is none yet.
    """
    identities = identities_of(state, mesh) or ((planned,) if planned is not None else ())
    mtls = has_mtls(state, mesh)
    zone = state.environment.zone
    proxies = known_proxies(state, mesh, release)
    homes = {p.resource.labels.get(NAMESPACE) for p in proxies}
    kin = {home: _kin(home, identities, zone) for home in homes if home}
    return Clients(
        Client(
            proxy=proxy,
            id=_id(proxy.resource, identities, zone),
            old=old_names(proxy.resource) if mtls else (),
            kin=kin.get(proxy.resource.labels.get(NAMESPACE, ""), ()),
        )
        for proxy in proxies
    )


def _kin(namespace: str, identities: Sequence[Resource], zone: str) -> tuple[str, ...]:
    """Return how the ids begin that any MeshIdentity gives to a namespace: who comes to it may be
    selected by each of them."""
    found = {ids_of_namespace(one, namespace, zone) for one in identities}
    return () if None in found else tuple(sorted(one for one in found if one is not None))


def _id(proxy: Resource, identities: Sequence[Resource], zone: str) -> str | None:
    """Return the one id that all MeshIdentities that select a proxy agree on.

    One may give out certificates while others only say which are to come.
    """
    ids = {spiffe_id(one, proxy, zone) for one in identities if selects(one, proxy)}
    return ids.pop() if len(ids) == 1 else None


def matches_for(target: Any, clients: Clients) -> list[Match] | str:
    """Return what meets all clients that a `from` target names, or what is not known.

    What would meet a client outside the target would let it in too: then there is no answer.
    """
    if not isinstance(target, Mapping) or not isinstance(target.get("tags") or {}, Mapping):
        return "a template fills in whom it names, which nobody knows"
    tags = dict(target.get("tags") or {})
    if target.get("kind") in ("MeshService", "MeshServiceSubset"):
        tags = {SERVICE: target.get("name"), **tags}
    wanted = tuple((str(k), str(v)) for k, v in tags.items())
    text = ", ".join(f"{k}: {v}" for k, v in wanted)
    if not clients:
        return "no Dataplane or workload is known, so neither are the clients"
    if not wanted:
        return everybody(clients[0].proxy.resource.mesh, (c.id for c in clients))
    inside = clients.carrying(wanted)
    if not inside:
        return f"no known client has {text}"
    unnamed = next((c for c in inside.values() if c.id is None), None)
    if unnamed is not None:
        return (
            f"the SPIFFE id of {unnamed.name} is not known: no MeshIdentity selects"
            " it, or namespace, service account or zone are missing"
        )
    home = namespace_of(target)
    found = sorted(
        {match for one in inside.values() for match in _of(one, home)}, key=lambda m: m.value
    )
    others = (at for match in found for at in clients.met(match) if at not in inside)
    other = min(others, default=None)
    if other is not None:
        return (
            f"{clients[other].name} has the same SPIFFE id, or one that begins alike, and would"
            f" come in with {text}"
        )
    return found


def everybody(mesh: str, ids: Iterable[str | None]) -> list[Match]:
    """Return what meets every client of a mesh: by `Mesh.mtls`, and of some trust domains."""
    whole = f"{SCHEME}{mesh}"
    domains = {f"{SCHEME}{one.removeprefix(SCHEME).split('/')[0]}" for one in ids if one}
    more = sorted(domain for domain in domains if not domain.startswith(whole))
    return [Match("Prefix", value) for value in (whole, *more)]


def namespace_of(target: Any) -> str | None:
    """Return the Kubernetes namespace whose clients a `from` target names, all of them."""
    wanted = mapping(target)
    tags = mapping(wanted.get("tags"))
    home = tags.get(NAMESPACE) if wanted.get("kind") == "MeshSubset" and len(tags) == 1 else None
    return None if home in (None, "*") else str(home)


def _of(client: Client, home: str | None) -> Iterable[Match]:
    """Yield what meets a client; all of its namespace where that is who is meant."""
    begins = client.kin if home == client.proxy.resource.labels.get(NAMESPACE) else ()
    if client.id is not None and client.id.startswith(begins):
        yield from (Match("Prefix", begin) for begin in begins)
    elif client.id is not None:
        yield Match("Exact", client.id)
    if client.old:
        yield Match("Prefix", client.old[0])


def _carries(proxy: Proxy, wanted: tuple[tuple[str, str], ...]) -> bool:
    return any(has_tags(tags, wanted) for tags in _tag_sets(proxy))


def _tag_sets(proxy: Proxy) -> list[Mapping[str, str]]:
    return [proxy.gateway_tags] if proxy.gateway else [place.tags for place in proxy.places]


__all__ = [
    "SCHEME",
    "Client",
    "Clients",
    "Match",
    "clients_of",
    "everybody",
    "matches_for",
    "namespace_of",
]
