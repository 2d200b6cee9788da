"""Who may reach an inbound: client identities that policies can tell apart (§1.1, notes C10)."""

from __future__ import annotations

from collections.abc import Iterable

from kumamigrate.model.resource import Resource
from kumamigrate.sourcedest.selector import ANY, Tags, selectors_of

Clients = frozenset[tuple[tuple[str, str], ...]]
"""Tag sets of which a client must carry one; the empty one is any client."""


def clients_before(permission: Resource | None) -> Clients:
    """Return who a TrafficPermission lets in; nobody without one. `'*'` asks for nothing (§1.1)."""
    if permission is None:
        return frozenset()
    return frozenset(
        tuple(sorted((k, v) for k, v in tags.items() if v != ANY))
        for tags in selectors_of(permission.spec, "sources")
    )


def admits_before(clients: Clients, identity: Iterable[tuple[str, str]]) -> bool:
    """Say whether a client with these tags (all its certificates' names) is let in."""
    own = set(identity)
    return any(set(needed) <= own for needed in clients)


def bears(identity: Iterable[tuple[str, str]], selector: Tags) -> bool:
    """Say whether a client carries every tag of a selector, `'*'` being any value of it.

    The header x-kuma-tags lists the values of all its inbounds, so a tag may have several.
    """
    own = set(identity)
    return all(
        any(k == key for k, _ in own) if value == ANY else (key, value) in own
        for key, value in selector.items()
    )
