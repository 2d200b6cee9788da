"""Sections of the Mesh that became policies: what the Mesh says, or the policy instead (§1.15)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kumamigrate.effective.mtlsmode import sent_by_clients
from kumamigrate.effective.oldmade import ANY_SERVICE
from kumamigrate.effective.oldside import Asked, OldSide, Places, outcome
from kumamigrate.effective.picture import inbound_fact, single_fact
from kumamigrate.effective.policies import meshloadbalancing
from kumamigrate.effective.policies.meshloadbalancing import LOCALITY
from kumamigrate.effective.policies.meshsections import backends, locality_aware, passes_through
from kumamigrate.effective.reading import At, SlotKind
from kumamigrate.model.resource import Resource, mapping
from kumamigrate.universe.side import Side


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Where a section stands in the Mesh, and the policy type that says it now, in which fields.

    An empty field stands for all of them.
    """

    root: str
    policy_type: str
    fields: tuple[str, ...]


SECTIONS: Mapping[str, Section] = {
    "metrics": Section(root="metrics", policy_type="MeshMetric", fields=("",)),
    "mtls mode": Section(root="mtls.backends", policy_type="MeshTLS", fields=("",)),
    "passthrough": Section(
        root="networking.outbound.passthrough",
        policy_type="MeshPassthrough",
        fields=("",),
    ),
    "locality": Section(
        root="routing.localityAwareLoadBalancing",
        policy_type="MeshLoadBalancingStrategy",
        fields=(LOCALITY,),
    ),
}
_READERS = {"logging": "TrafficLog", "tracing": "TrafficTrace"}


def mesh_of(side: Side) -> Resource | None:
    """Return the Mesh of a side, None when the state lacks it."""
    return next((r for r in side.state.of_type("Mesh") if r.name == side.mesh), None)


def sections_changed(before: Side, after: Side) -> tuple[str, ...]:
    """Return the sections that differ between the Meshes of both sides."""
    meshes = [mesh_of(side) for side in (before, after)]
    if meshes[0] is None or meshes[1] is None:
        return ()
    left, right = meshes[0].spec, meshes[1].spec
    found = []
    if left.get("metrics") != right.get("metrics"):
        found.append("metrics")
    if _modes(left) != _modes(right) and _without_modes(left) == _without_modes(right):
        found.append("mtls mode")
    if passes_through(left) != passes_through(right):
        found.append("passthrough")
    if locality_aware(left) != locality_aware(right):
        found.append("locality")
    return tuple(found)


def unread_fields(before: Side, after: Side) -> list[str]:
    """Return the fields of the Mesh that nothing reads on its own: old policies read them."""
    del before, after
    return ["policyEngine", *_READERS]


def section_reads(sections: Iterable[str], policy_type: str, field: str) -> bool:
    """Whether a field of a policy type is read together with one of these sections."""
    return any(
        SECTIONS[name].policy_type == policy_type
        and ("" in SECTIONS[name].fields or field in SECTIONS[name].fields)
        for name in sections
    )


def section_places(side: OldSide, asked: Asked, sections: Iterable[str]) -> Places:
    """Return what a proxy comes to in these sections."""
    found: Places = {}
    for name in sections:
        policy_type = SECTIONS[name].policy_type
        if name == "mtls mode":
            found |= _modes_of_inbounds(side, asked)
            found |= _sent(asked, side.side.mesh_spec)
        elif name == "locality":
            found |= _locality(side, asked)
        else:
            fact = single_fact(side.side, asked.dataplane, policy_type)
            found[policy_type, "proxy"] = outcome([fact.settings], (), fact.found)
    return found


def _locality(side: OldSide, asked: Asked) -> Places:
    """Return whether clusters prefer their own zone: where no policy says so, the Mesh does."""
    found: Places = {}
    at = At(part=SlotKind.CLUSTER, mesh=side.side.mesh_spec)
    for service in (ANY_SERVICE, *asked.services):
        to = side.to(asked, "MeshLoadBalancingStrategy", service)
        read = meshloadbalancing.of_conf(None if to is None else to.conf, at)
        called = "any service" if service == ANY_SERVICE else service
        said = {LOCALITY: read[LOCALITY]}
        found["MeshLoadBalancingStrategy", "outbound", called] = outcome([said], (), to)
    return found


def _modes_of_inbounds(side: OldSide, asked: Asked) -> Places:
    found: Places = {}
    points = {}
    if "MeshTLS" in side.side.types:
        selection = side.matcher.selection(asked.dataplane, "MeshTLS")
        points = {p.key: side.matcher.inbound(selection, p) for p in selection.points}
    for inbound in asked.proxy.inbounds:
        read = points.get(inbound.name.rsplit(":", 1)[0])
        fact = inbound_fact(side.side, "MeshTLS", read)
        found["MeshTLS", "inbound", inbound.name] = outcome([fact.settings], (), fact.found)
    return found


def _sent(asked: Asked, spec: Mapping[str, Any]) -> Places:
    """Return what a proxy sends to services: no MeshTLS has a say in that."""
    return {
        ("MeshTLS", "outbound", service): outcome([{"sent": sent_by_clients(spec)}])
        for service in asked.services
    }


def _modes(spec: Mapping[str, Any]) -> Any:
    return [mapping(b).get("mode") for b in backends(spec, "mtls")]


def _without_modes(spec: Mapping[str, Any]) -> Any:
    bare = [{k: v for k, v in mapping(b).items() if k != "mode"} for b in backends(spec, "mtls")]
    return {**mapping(spec.get("mtls")), "backends": bare}
