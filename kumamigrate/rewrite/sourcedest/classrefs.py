"""How a targetRef means a class of proxies: by tags, or by labels where those mirror them."""

from __future__ import annotations

from collections.abc import Iterable

from kumamigrate.model.resource import SERVICE
from kumamigrate.rewrite.sourcedest.classes import WinnerClass
from kumamigrate.rewrite.sourcedest.conversion import Json
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.sourcedest.selector import matches


def reference(item: WinnerClass, *, sidecar: bool = False) -> Json:
    """Return the top-level targetRef that selects a class on 2.x.

    `sidecar`: types whose inbound section may not reach gateways (notes A4).
    """
    tags = item.as_map
    types = {"proxyTypes": ["Sidecar"]} if sidecar else {}
    if not tags:
        return {"kind": "Mesh", **types}
    service = tags.pop(SERVICE, None)
    if service is None:
        return {"kind": "MeshSubset", "tags": tags, **types}
    if not tags:
        return {"kind": "MeshService", "name": service}
    return {"kind": "MeshServiceSubset", "name": service, "tags": tags}


def by_labels(item: WinnerClass, *, sidecar: bool = False) -> Json:
    """Return the top-level targetRef by Dataplane labels."""
    if not item.tags:
        return reference(item, sidecar=sidecar)
    return {"kind": "Dataplane", "labels": item.as_map}


def labels_mirror_tags(classes: Iterable[WinnerClass], world: KnownWorld) -> bool:
    """Say whether Dataplane labels select exactly the proxies that these tags do.

    Only an answer when the state is complete: a proxy that nobody listed may be labelled
    differently (legacy.md §2.6). One inbound each, or a label would select them all.
    """
    if not world.state.complete:
        return False
    dataplanes = [*world.state.of_type("Dataplane")]
    sets = {proxy.name: proxy.tag_sets for proxy in world.proxies}
    if not dataplanes or any(len(s) != 1 for s in sets.values()):
        return False
    return all(
        matches(c.as_map, r.labels) == matches(c.as_map, sets[r.name][0])
        for c in classes
        for r in dataplanes
    )
