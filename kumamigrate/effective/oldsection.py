"""Sections of the Mesh that became policies: what the Mesh says, or the policy instead (§1.15)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kumamigrate.effective.mtlsmode import STRICT, backend_mode, said_by, sent_by_clients
from kumamigrate.effective.oldmade import ANY_SERVICE
from kumamigrate.effective.oldside import Asked, OldSide, Places, outcome
from kumamigrate.effective.policies.meshsections import (
    backends,
    enabled_backend,
    locality_aware,
    passes_through,
)
from kumamigrate.model.resource import Resource, mapping
from kumamigrate.targetref.entry import Found
from kumamigrate.universe.side import Side, may_be_transparent


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
    "mtls mode": Section(root="mtls.backends", policy_type="MeshTLS", fields=("mode",)),
    "passthrough": Section(
        root="networking.outbound.passthrough",
        policy_type="MeshPassthrough",
        fields=("passthroughMode",),
    ),
    "locality": Section(
        root="routing.localityAwareLoadBalancing",
        policy_type="MeshLoadBalancingStrategy",
        fields=("localityAwareness.disabled",),
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
    spec = side.mesh.spec if side.mesh is not None else {}
    found: Places = {}
    for name in sections:
        policy_type = SECTIONS[name].policy_type
        if name == "metrics":
            single = side.single(asked, policy_type)
            effect = _metric(single.conf) if single is not None else _old_metric(spec)
            found["MeshMetric", "proxy"] = outcome([effect], (), single)
        elif name == "passthrough":
            single = side.single(asked, policy_type)
            mode = (single.conf.get("passthroughMode") if single else None) or (
                "All" if passes_through(spec) else "None"
            )
            shown = {"passthroughMode": mode} if may_be_transparent(asked.dataplane) else {}
            found["MeshPassthrough", "proxy"] = outcome([shown], (), single)
        elif name == "mtls mode":
            found |= _modes_of_inbounds(side, asked, backend_mode(spec) or STRICT)
            found |= _sent(asked, spec)
        elif name == "locality":
            for service in (ANY_SERVICE, *asked.services):
                to = side.to(asked, policy_type, service)
                aware = locality_aware(spec) if to is None else not _disabled(to)
                called = "any service" if service == ANY_SERVICE else service
                found[policy_type, "outbound", called] = outcome(
                    [{"locality aware": aware}], (), to
                )
    return found


def _disabled(found: Found) -> bool:
    return mapping(found.conf.get("localityAwareness")).get("disabled") is True


def _modes_of_inbounds(side: OldSide, asked: Asked, mode: str) -> Places:
    found: Places = {}
    points = {}
    if "MeshTLS" in side.side.types:
        selection = side.matcher.selection(asked.dataplane, "MeshTLS")
        points = {p.key: side.matcher.inbound(selection, p) for p in selection.points}
    for inbound in asked.proxy.inbounds:
        read = points.get(inbound.name.rsplit(":", 1)[0])
        found["MeshTLS", "inbound", inbound.name] = outcome([{"mode": said_by(read) or mode}])
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


_TLS = {
    "activeMTLSBackend": "ActiveMTLSBackend",
    "providedTLS": "ProvidedTLS",
    "disabled": "Disabled",
}


def _old_metric(spec: Mapping[str, Any]) -> dict[str, Any]:
    backend = enabled_backend(spec, "metrics")
    return {} if backend is None else _old_backend(mapping(backend.get("conf")))


def _old_backend(conf: Mapping[str, Any]) -> dict[str, Any]:
    mode = mapping(conf.get("tls")).get("mode")
    if mode is None:
        mode = "disabled" if conf.get("skipMTLS") is True else "activeMTLSBackend"
    envoy = mapping(conf.get("envoy"))
    applications = [
        (a.get("name"), a.get("address"), a.get("port"), a.get("path") or "/metrics")
        for a in conf.get("aggregate") or ()
        if isinstance(a, Mapping) and a.get("enabled") is not False
    ]
    return {
        "port": conf.get("port") or 5670,
        "path": conf.get("path") or "/metrics",
        "tls": _TLS.get(str(mode), str(mode)),
        "include unused": envoy.get("usedOnly") is not True,
        "profile": envoy.get("filterRegex") or "All",
        "applications": applications,
    }


def _metric(conf: Mapping[str, Any]) -> dict[str, Any]:
    sidecar = mapping(conf.get("sidecar"))
    profile: Any = sidecar.get("regex") or _profile(mapping(sidecar.get("profiles")))
    written = [mapping(b) for b in conf.get("backends") or ()]
    if len(written) != 1 or written[0].get("type") != "Prometheus":
        return {"backends": repr(written), "sidecar": repr(sidecar), **_applications(conf)}
    prometheus = mapping(written[0].get("prometheus"))
    client = prometheus.get("clientId")
    return {
        "port": prometheus.get("port") or 5670,
        "path": prometheus.get("path") or "/metrics",
        "tls": mapping(prometheus.get("tls")).get("mode") or "Disabled",
        "include unused": sidecar.get("includeUnused") is True,
        "profile": profile,
        **({"clientId": client} if client else {}),
        **_applications(conf),
    }


def _applications(conf: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "applications": [
            (a.get("name"), a.get("address"), a.get("port"), a.get("path") or "/metrics")
            for a in conf.get("applications") or ()
            if isinstance(a, Mapping)
        ]
    }


def _profile(profiles: Mapping[str, Any]) -> Any:
    """Return profiles as a Mesh would say them: a name, or the one expression; else as it is."""
    named = [mapping(p).get("name") for p in profiles.get("appendProfiles") or ()]
    included = [mapping(i) for i in profiles.get("include") or ()]
    if profiles.get("exclude") or len(named) > 1 or len(included) > 1:
        return repr(profiles)
    if not included:
        return named[0] if named else "Basic"
    expression = included[0].get("type") == "Regex" and named == ["None"]
    return included[0].get("match") if expression else repr(profiles)
