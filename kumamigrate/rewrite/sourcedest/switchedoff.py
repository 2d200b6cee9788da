"""What keeps off what the old engine left off, once its TrafficRoutes go (legacy.md §1.3 (e)).

Outbounds of the new engine have values of Envoy's and of Kuma's own where no MeshTimeout reaches
them; those of the old engine had none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kumamigrate.model.protocols import HTTP_LIKE
from kumamigrate.model.resource import Resource, mapping
from kumamigrate.rewrite.sourcedest import exhaustive
from kumamigrate.rewrite.sourcedest.conversion import Json, NewPolicy
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.rewrite.sourcedest.outboundkinds import reaches_all, with_inbound


def still_off(world: KnownWorld, home: Resource) -> tuple[NewPolicy, ...]:
    """Return a MeshTimeout that keeps off what is off, where none says so.

    It goes below every other MeshTimeout: the greater name loses.
    """
    present = world.existing("MeshTimeout")
    broad = [p for p in present if (p.spec.get("targetRef") or {}).get("kind", "Mesh") == "Mesh"]
    if any(_for_any_service(p) for p in broad):
        return ()
    refs = tuple(_references(world))
    if not refs:
        return ()
    taken = {p.name for p in world.state.of_type("MeshTimeout")}
    last = max((p.display_name for p in broad), default="")
    behind = (f"{last}-otherwise-off", *(f"{last}-otherwise-off-{n}" for n in range(2, 10)))
    wanted = [f"{home.name}-timeouts", *(name for name in behind if last)]
    name = next(n for n in wanted if n > last and n not in taken)
    spec: Json = {
        "targetRef": {"kind": "Mesh"},
        "to": [{"targetRef": ref, "default": exhaustive.off("MeshTimeout")} for ref in refs],
    }
    off = NewPolicy(type="MeshTimeout", name=name, spec=spec, home=home)
    if any(p.spec.get("from") or p.spec.get("rules") for p in present):
        return (off,)
    return with_inbound((off,), world)


def _references(world: KnownWorld) -> Iterator[Json]:
    """Yield all traffic, or the known services one by one where some are settled without it."""
    settled = _settled(world) if world.listed else set()
    if not settled:
        yield {"kind": "Mesh"}
        return
    for service in world.services:
        if service not in settled:
            yield {"kind": "MeshService", "name": service}


def _settled(world: KnownWorld) -> set[str]:
    """Return the services that something of the new kind has taken over on every proxy.

    What their policies leave out is Envoy's own today, not off: zeros for all traffic would come
    through there.
    """
    found: set[str] = set()
    for policy in world.existing("MeshTimeout"):
        found |= {name for name, conf in _entries(policy) if not _says_all(conf)}
    routes = world.existing("MeshHTTPRoute")
    if any(reaches_all(route, world) and route.spec.get("to") for route in routes):
        # One route for a proxy, and all its HTTP outbounds are the new engine's (§2.9).
        found |= {s for s in world.services if world.protocol(s) in HTTP_LIKE}
    return found


def _entries(policy: Resource) -> Iterator[tuple[str, Mapping[str, Any]]]:
    items = policy.spec.get("to")
    for item in items if isinstance(items, list) else ():
        ref = mapping(mapping(item).get("targetRef"))
        if ref.get("kind") == "MeshService":
            yield str(ref.get("name")), mapping(mapping(item).get("default"))


def _says_all(conf: Mapping[str, Any]) -> bool:
    whole, own = exhaustive.off("MeshTimeout"), mapping(conf.get("http"))
    return whole.keys() <= conf.keys() and whole["http"].keys() <= own.keys()


def _for_any_service(policy: Resource) -> bool:
    refs: Iterable[Any] = policy.spec.get("to") or ()
    refs = [i.get("targetRef") for i in refs if i] if isinstance(refs, list) else []
    return any(isinstance(ref, Mapping) and ref.get("kind") == "Mesh" for ref in refs)
