"""Whom `from` entries mean, said by the names in certificates, as far as the clients are known.

A client is known by its Dataplane, or the workload that implies one. What is not known is said;
nothing is made up. Envoy compares all names of a certificate as one text, joined by commas, so
the several of one by `Mesh.mtls` are met by a prefix alone, and only by how the text begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.model.identity import SCHEME, has_mtls, old_names, selects, spiffe_id
from kumamigrate.model.release import Release
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.model.state import State
from kumamigrate.rewrite.references.labelset import known_proxies
from kumamigrate.targetref.select import Proxy, has_tags


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A proxy that may be a client. `id` is what a MeshIdentity gives it or will give it, None
    where that cannot be told; `old` are the names by `Mesh.mtls`, none where that is off."""

    proxy: Proxy
    id: str | None
    old: tuple[str, ...] = ()

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


def clients_of(
    state: State, mesh: str, release: Release, planned: Resource | None = None
) -> tuple[Client, ...]:
    """Return the clients of a mesh, listed Dataplanes first.

    `planned` is the MeshIdentity that shall come where there is none yet.
    """
    identities = [r for r in state.of_type("MeshIdentity") if r.mesh == mesh]
    identities = identities or ([planned] if planned is not None else [])
    mtls = has_mtls(state, mesh)
    zone = state.environment.zone
    return tuple(
        Client(
            proxy=proxy,
            id=_id(proxy.resource, identities, zone),
            old=old_names(proxy.resource) if mtls else (),
        )
        for proxy in known_proxies(state, mesh, release)
    )


def _id(proxy: Resource, identities: Sequence[Resource], zone: str) -> str | None:
    """Return the one id that all MeshIdentities that select a proxy agree on.

    One may give out certificates while others only say which are to come.
    """
    ids = {spiffe_id(one, proxy, zone) for one in identities if selects(one, proxy)}
    return ids.pop() if len(ids) == 1 else None


def matches_for(target: Any, clients: tuple[Client, ...]) -> list[Match] | str:
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
    inside = [client for client in clients if _carries(client.proxy, wanted)]
    if not inside:
        return f"no known client has {text}"
    unnamed = next((c for c in inside if c.id is None), None)
    if unnamed is not None:
        return (
            f"the SPIFFE id of {unnamed.name} is not known: no MeshIdentity selects"
            " it, or namespace, service account or zone are missing"
        )
    found = sorted({match for one in inside for match in _of(one)}, key=lambda m: m.value)
    other = next((c for c in clients if c not in inside and _is_met(c, found)), None)
    if other is not None:
        return (
            f"{other.name} has the same SPIFFE id, or one that begins alike, and would come in"
            f" with {text}"
        )
    return found


def everybody(mesh: str, ids: Iterable[str | None]) -> list[Match]:
    """Return what meets every client of a mesh: by `Mesh.mtls`, and of some trust domains."""
    whole = f"{SCHEME}{mesh}"
    domains = {f"{SCHEME}{one.removeprefix(SCHEME).split('/')[0]}" for one in ids if one}
    more = sorted(domain for domain in domains if not domain.startswith(whole))
    return [Match("Prefix", value) for value in (whole, *more)]


def _of(client: Client) -> Iterable[Match]:
    if client.id is not None:
        yield Match("Exact", client.id)
    if client.old:
        yield Match("Prefix", client.old[0])


def _is_met(client: Client, matches: Iterable[Match]) -> bool:
    certificates = [names for names in ((client.id,), client.old) if names and names[0]]
    return any(match.meets([n for n in names if n]) for match in matches for names in certificates)


def _carries(proxy: Proxy, wanted: tuple[tuple[str, str], ...]) -> bool:
    sets = [proxy.gateway_tags] if proxy.gateway else [place.tags for place in proxy.places]
    return any(has_tags(tags, wanted) for tags in sets)


__all__ = ["SCHEME", "Client", "Match", "clients_of", "everybody", "matches_for"]
