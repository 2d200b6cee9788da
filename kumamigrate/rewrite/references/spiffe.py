"""SPIFFE ids of the clients that `from` entries name, as far as the inventory knows them.

A client is known by its Dataplane, or the workload that implies one, and the MeshIdentity that
selects it. What is not known is said; nothing is made up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kumamigrate.model.release import Release
from kumamigrate.model.resource import NAMESPACE, SERVICE, Resource
from kumamigrate.model.state import State
from kumamigrate.rewrite.references.labelset import WORKLOAD, known_proxies
from kumamigrate.targetref.permission import selects
from kumamigrate.targetref.select import Proxy, has_tags

TRUST_DOMAIN = "{{ .Mesh }}.{{ .Zone }}.mesh.local"
PATH = "/ns/{{ .Namespace }}/sa/{{ .ServiceAccount }}"
_ACCOUNT = "k8s.kuma.io/service-account"
_WORD = re.compile(r"\{\{-?\s*\.(\w+)\s*-?\}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A proxy that may be a client, with its SPIFFE id; None where that cannot be told."""

    proxy: Proxy
    id: str | None


def clients_of(state: State, mesh: str, release: Release) -> tuple[Client, ...]:
    """Return the clients of a mesh, listed Dataplanes first."""
    identities = [r for r in state.of_type("MeshIdentity") if r.mesh == mesh]
    return tuple(
        Client(proxy=proxy, id=_id(proxy.resource, identities))
        for proxy in known_proxies(state, mesh, release)
    )


def matches_for(target: Any, clients: tuple[Client, ...]) -> list[str] | str:
    """Return the ids of all clients that a `from` target names, or what is not known.

    Ids that clients outside the target share would let those in too: then there is no answer.
    """
    if not isinstance(target, Mapping) or not isinstance(target.get("tags") or {}, Mapping):
        return "a template fills in whom it names, which nobody knows"
    tags = dict(target.get("tags") or {})
    if target.get("kind") in ("MeshService", "MeshServiceSubset"):
        tags = {SERVICE: target.get("name"), **tags}
    wanted = tuple((str(k), str(v)) for k, v in tags.items())
    text = ", ".join(f"{k}: {v}" for k, v in wanted) or "any tags"
    if not clients:
        return "no Dataplane or workload is known, so neither are the clients"
    inside = [client for client in clients if _carries(client.proxy, wanted)]
    if not inside:
        return f"no known client has {text}"
    unnamed = next((c for c in inside if c.id is None), None)
    if unnamed is not None:
        return (
            f"the SPIFFE id of {unnamed.proxy.resource.name} is not known: no MeshIdentity selects"
            " it, or namespace, service account or zone are missing"
        )
    ids = {client.id for client in inside if client.id is not None}
    other = next((c for c in clients if c.id in ids and c not in inside), None)
    if other is not None:
        return f"{other.proxy.resource.name} has the same SPIFFE id and would come in with {text}"
    return sorted(ids)


def _carries(proxy: Proxy, wanted: tuple[tuple[str, str], ...]) -> bool:
    sets = [proxy.gateway_tags] if proxy.gateway else [place.tags for place in proxy.places]
    return any(has_tags(tags, wanted) for tags in sets)


def _id(proxy: Resource, identities: list[Resource]) -> str | None:
    mine = [i for i in identities if selects(i, proxy)]
    if len(mine) != 1:
        return None
    spiffe = mine[0].spec.get("spiffeID") or {}
    words = {
        "Mesh": proxy.mesh,
        "Zone": proxy.zone,
        "Namespace": proxy.labels.get(NAMESPACE, ""),
        "ServiceAccount": proxy.labels.get(_ACCOUNT, ""),
        "Workload": proxy.labels.get(WORKLOAD, ""),
    }
    parts = [
        _filled(str(spiffe.get("trustDomain") or TRUST_DOMAIN), words),
        _filled(str(spiffe.get("path") or PATH), words),
    ]
    if any(part is None for part in parts):
        return None
    return f"spiffe://{parts[0]}{parts[1]}"


def _filled(template: str, words: Mapping[str, str]) -> str | None:
    used = list(_used(template))
    if any(not words.get(word) for word in used):
        return None
    text = _WORD.sub(lambda found: words[found.group(1)], template)
    return None if "{{" in text else text


def _used(template: str) -> Iterator[str]:
    for found in _WORD.finditer(template):
        yield found.group(1)
