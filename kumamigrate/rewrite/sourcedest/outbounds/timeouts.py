"""Timeout → MeshTimeout, with what keeps inbounds as they are, and off what is off (§1.3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.effective.policies.meshtimeout import ALWAYS_SINCE
from kumamigrate.model.conf import patch
from kumamigrate.model.protocols import HTTP_LIKE
from kumamigrate.model.resource import Resource, mapping, sequence
from kumamigrate.model.versions import at_least
from kumamigrate.rewrite.sourcedest.confnotes import Notes
from kumamigrate.rewrite.sourcedest.conversion import Conversion, Json, NewPolicy
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.rewrite.sourcedest.outbounds import exhaustive
from kumamigrate.rewrite.sourcedest.outbounds.convertoutbound import convert_outbound
from kumamigrate.rewrite.sourcedest.outbounds.timeoutconf import INBOUND_TIMEOUTS, mesh_timeout
from kumamigrate.rewrite.sourcedest.outbounds.winnertable import Cell, OutboundKind
from kumamigrate.rewrite.sourcedest.routetargets import OTHER_SERVICE, outbound_family
from kumamigrate.sourcedest.oldconf import read_conf


def convert_timeout(world: KnownWorld) -> Conversion:
    """Return the MeshTimeouts for the Timeouts of a mesh, the inbound half included (§1.3 (d))."""
    done = convert_outbound(world, _TIMEOUT)
    beside = done.beside and _whole_timeouts(done.beside, world)
    return replace(_whole_timeouts(done, world), beside=beside)


def _whole_timeouts(done: Conversion, world: KnownWorld) -> Conversion:
    if not done.policies:
        return done
    policies = with_inbound(done.policies, world)
    unknown = _unknown_protocols(done, world)
    return replace(done, policies=policies, assumptions=(*done.assumptions, *unknown))


def _timeout_conf(cell: Cell, notes: Notes) -> Json:
    own = read_conf("Timeout", cell.winner.spec) if cell.winner else None
    cluster = read_conf("Timeout", cell.leader.spec) if cell.leader else None
    world, service = cell.world, cell.service
    if not cell.leader_known:
        notes.lost(
            f"several outbounds lead to {service} and differ in the timeouts of its cluster;"
            " a MeshTimeout knows only the service"
        )
    family = "tcp" if service == OTHER_SERVICE else world.family(service)
    if cell.reach is not None and service != OTHER_SERVICE:
        treated = outbound_family(service, cell.reach, world)
        if (treated == "tcp") != (family == "tcp"):
            notes.warn(
                f"the route sends {service} ({family}) to services that are {treated};"
                " a MeshTimeout goes by the protocol of the service itself"
            )
    unsaid = exhaustive.off_at("MeshTimeout", service, world)["idleTimeout"]
    return mesh_timeout(own, cluster, family, notes, unsaid)


_TIMEOUT = OutboundKind(
    old="Timeout",
    new="MeshTimeout",
    value=_timeout_conf,
    leads=True,
)


def _unknown_protocols(done: Conversion, world: KnownWorld) -> tuple[str, ...]:
    if world.state.complete:
        return ()
    split = any(
        read_conf("Timeout", source.spec).get("tcp", "idleTimeout")
        != read_conf("Timeout", source.spec).get("http", "idleTimeout")
        for policy in done.policies
        for source in policy.sources
    )
    if not split:
        return ()
    services = [s for s in world.services if s not in world.protocols]
    named = f"{', '.join(services)} and " if services else ""
    return (f"{named}any service that is not in the state carries TCP, not HTTP",)


def with_inbound(policies: tuple[NewPolicy, ...], world: KnownWorld) -> tuple[NewPolicy, ...]:
    """Return MeshTimeouts with what keeps inbounds as they are: a section, or one more policy.

    Where a MeshTimeout reaches every proxy already, inbounds have no values of their own any more,
    nor have they since 2.10 (notes C16).
    """
    if at_least(world.state.release, ALWAYS_SINCE):
        return policies
    if any(reaches_all(policy, world) for policy in world.existing("MeshTimeout")):
        return policies
    mesh_wide = {"kind": "Mesh"}
    first = policies[0]
    section = [{"targetRef": {"kind": "Mesh"}, "default": INBOUND_TIMEOUTS}]
    if first.spec["targetRef"] == mesh_wide:
        joined = replace(first, spec={**first.spec, "from": section})
        return (joined, *policies[1:])
    spec: Json = {"targetRef": mesh_wide, "from": section}
    taken = world.taken("MeshTimeout") | {p.name for p in policies}
    name = next(n for n in _numbered(f"{first.home.name}-inbound") if n not in taken)
    inbound = NewPolicy(type="MeshTimeout", name=name, spec=spec, home=first.home)
    return (first, inbound, *policies[1:])


def reaches_all(policy: Resource, world: KnownWorld) -> bool:
    """Whether a policy is for every proxy of the mesh."""
    ref = mapping(policy.spec.get("targetRef"))
    if policy.namespace not in ("", world.state.environment.system_namespace):
        return False
    if not ref.get("proxyTypes") and not ref.get("tags") and not ref.get("labels"):
        return ref.get("kind", "Mesh") in ("Mesh", "MeshSubset", "Dataplane")
    return False


def _numbered(name: str) -> list[str]:
    return [name, *(f"{name}-{number}" for number in range(2, 100))]


def still_off(world: KnownWorld, home: Resource) -> tuple[NewPolicy, ...]:
    """Return a MeshTimeout that keeps off what is off, where none says so.

    It goes below every other MeshTimeout: the greater name loses.
    """
    present = world.existing("MeshTimeout")
    broad = [p for p in present if (p.spec.get("targetRef") or {}).get("kind", "Mesh") == "Mesh"]
    if any(_for_any_service(p) for p in broad):
        return ()
    to = list(_kept_off(world))
    if not to:
        return ()
    taken = world.taken("MeshTimeout")
    last = max((p.display_name for p in broad), default="")
    behind = (f"{last}-otherwise-off", *(f"{last}-otherwise-off-{n}" for n in range(2, 10)))
    wanted = [f"{home.name}-timeouts", *(name for name in behind if last)]
    name = next(n for n in wanted if n > last and n not in taken)
    spec: Json = {"targetRef": {"kind": "Mesh"}, "to": to}
    off = NewPolicy(type="MeshTimeout", name=name, spec=spec, home=home)
    if any(p.spec.get("from") or p.spec.get("rules") for p in present):
        return (off,)
    return with_inbound((off,), world)


def _kept_off(world: KnownWorld) -> Iterator[Json]:
    """Yield entries for all traffic and for services that have something besides, or for the
    known services one by one where some are settled without it."""
    settled = _settled(world) if world.listed else set()
    all_off = exhaustive.off("MeshTimeout")
    broad = (one for one in world.existing("MeshTimeout") if reaches_all(one, world))
    everywhere = [entry for policy in broad for entry in _entries(policy)]
    if not settled:
        yield {"targetRef": {"kind": "Mesh"}, "default": all_off}
    for service in world.services:
        conf = exhaustive.off_at("MeshTimeout", service, world)
        if service not in settled and (settled or conf != all_off):
            conf = conf if settled else exhaustive.beside("MeshTimeout", conf, all_off)
            if any(said == service and _says(own, conf) for said, own in everywhere):
                continue  # what stands above this one says it
            yield {"targetRef": {"kind": "MeshService", "name": service}, "default": conf}


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
    """Yield what a policy says of services by name; what it says of all traffic says so, too."""
    items = [mapping(item) for item in sequence(policy.spec.get("to"))]
    refs = [mapping(item.get("targetRef")) for item in items]
    confs = [mapping(item.get("default")) for item in items]
    broad = {k: v for r, c in zip(refs, confs, strict=True) if r.get("kind") == "Mesh"
             for k, v in c.items()}  # fmt: skip
    for ref, conf in zip(refs, confs, strict=True):
        if ref.get("kind") == "MeshService":
            yield str(ref.get("name")), patch(broad, conf)


def _says_all(conf: Mapping[str, Any]) -> bool:
    return _says(conf, exhaustive.off("MeshTimeout"))


def _says(conf: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Say whether a conf has a value for whatever another one has."""
    own, asked = (mapping(one.get("http")) for one in (conf, other))
    return other.keys() <= conf.keys() and asked.keys() <= own.keys()


def _for_any_service(policy: Resource) -> bool:
    refs = (mapping(mapping(i).get("targetRef")) for i in sequence(policy.spec.get("to")))
    return any(ref.get("kind") == "Mesh" for ref in refs)
