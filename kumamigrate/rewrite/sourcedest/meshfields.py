"""Sections of the Mesh that became policies, or nothing (§1.15)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumamigrate.effective.policies.meshmetric import BY_MTLS, served_by
from kumamigrate.effective.policies.meshsections import enabled_backend
from kumamigrate.model.resource import Resource, mapping, sequence
from kumamigrate.model.versions import at_least
from kumamigrate.rewrite.sourcedest.conversion import (
    Conversion,
    Dropped,
    Json,
    Manual,
    NewPolicy,
    named,
)
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.rewrite.sourcedest.policynames import Names
from kumamigrate.source.text import FieldPath
from kumamigrate.sourcedest.oldconf import OldConf, read_shape

_POLICY_SINCE = "2.9"
_PLAIN = (
    "PERMISSIVE also lets sidecars send plain text to a service until all its Dataplanes have"
    " certificates; with a MeshTLS they send mTLS at once"
)
_LATER = (
    "keep it until every Dataplane has a certificate; then take STRICT, or write a MeshTLS of mode"
    " Permissive for the whole mesh where plain text still has to come in"
)
_PROFILES_SINCE = "2.7"
_METRICS = {
    "port": "uint32", "path": "string", "skipMTLS": "bool", "tags": "tags",
    "tls": {"mode": "string"}, "envoy": {"filterRegex": "string", "usedOnly": "bool"},
    "aggregate": [{
        "name": "string", "port": "uint32", "path": "string", "enabled": "bool",
        "address": "string",
    }],
}  # fmt: skip
_NO_ENGINE = "Mesh.policyEngine was designed and never shipped: every release ignores it"
_BY_MTLS = (
    "the mesh's mTLS serves the metrics, which no MeshMetric can say: its mode ActiveMTLSBackend is"
    " read nowhere and means Disabled"
)
_PLAINLY = (
    "say skipMTLS: true in the Mesh's metrics where they may be scraped in plain text, or tls.mode"
    " providedTLS with certificates that the proxies have, and run again"
)


def convert_mesh_metrics(world: KnownWorld) -> Conversion:
    """Return the MeshMetric for `Mesh.metrics`."""
    mesh, metrics = _section(world, "metrics")
    if mesh is None or metrics is None:
        return _conversion(world, "Mesh.metrics")
    if not isinstance(metrics.get("backends", []), list):
        note = _manual(mesh, "backends is no list", "metrics", "backends")
        return _conversion(world, "Mesh.metrics", manual=(note,))
    gone = (Dropped(resource=mesh, path=("metrics",), reason="a MeshMetric says it now"),)
    backend = enabled_backend(mesh.spec, "metrics")
    if backend is None:
        off = Dropped(resource=mesh, path=("metrics",), reason="no backend is enabled")
        return _conversion(world, "Mesh.metrics", dropped=(off,))
    stop = _present(world, "MeshMetric", mesh, ("metrics",))
    if stop is not None:
        return stop
    if backend.get("type") != "prometheus":
        note = _manual(
            mesh, f"metrics backend type {backend.get('type')!r} is not known", "metrics"
        )
        return _conversion(world, "Mesh.metrics", manual=(note,))
    conf = read_shape(_METRICS, backend.get("conf") or {})
    notes = [_manual(mesh, f"metrics: {p.message}", "metrics") for p in conf.problems]
    mode = served_by(backend, mesh.spec)
    if mode == BY_MTLS:
        note = Manual(resource=mesh, message=_BY_MTLS, action=_PLAINLY, path=("metrics",))
        return _conversion(world, "Mesh.metrics", manual=(note,))
    policy = _policy(world, mesh, "MeshMetric", "metrics", {"default": _metric(conf, world, mode)})
    notes += _metric_notes(conf, mesh, world)
    return _conversion(world, "Mesh.metrics", policies=(policy,), dropped=gone, manual=tuple(notes))


def _metric(conf: OldConf, world: KnownWorld, mode: str) -> Json:
    prometheus: Json = {
        "port": conf.get("port") or 5670,
        "path": conf.get("path") or "/metrics",
        "tls": {"mode": mode},
    }
    sidecar: Json = {"includeUnused": not conf.get("envoy", "usedOnly")}
    regex = conf.get("envoy", "filterRegex")
    if not at_least(world.target, _PROFILES_SINCE):
        sidecar |= {"regex": regex} if regex else {}
    elif regex:
        include = [{"type": "Regex", "match": regex}]
        sidecar["profiles"] = {"appendProfiles": [{"name": "None"}], "include": include}
    else:
        sidecar["profiles"] = {"appendProfiles": [{"name": "All"}]}
    result: Json = {"sidecar": sidecar}
    applications = [_application(a) for a in conf.get("aggregate") or () if a.get("enabled", True)]
    if applications:
        result["applications"] = applications
    result["backends"] = [{"type": "Prometheus", "prometheus": prometheus}]
    return result


def _application(values: Mapping[str, Any]) -> Json:
    result = {name: values[name] for name in ("name", "address", "port") if values.get(name)}
    return {**result, "path": values.get("path") or "/metrics"}


def _metric_notes(conf: OldConf, mesh: Resource, world: KnownWorld) -> list[Manual]:
    found = []
    if conf.get("envoy", "filterRegex"):
        message = "filterRegex matched Envoy's names; MeshMetric matches Prometheus' names"
        found.append(_manual(mesh, message, "metrics", blocking=False))
    if conf.get("tags"):
        message = "the tags of the metrics endpoint have no successor"
        found.append(_manual(mesh, message, "metrics", blocking=False))
    for dataplane in world.state.of_type("Dataplane"):
        if dataplane.mesh == world.mesh and dataplane.spec.get("metrics"):
            found.append(
                Manual(
                    resource=dataplane,
                    message="it overrides the Mesh's metrics; that needs a MeshMetric of its own",
                    action="write a MeshMetric for this proxy",
                    path=("metrics",),
                )
            )
    return found


def report_mesh_mtls_mode(world: KnownWorld) -> Conversion:
    """Return the report on a PERMISSIVE backend of `Mesh.mtls`, which no MeshTLS equals."""
    mesh, mtls = _section(world, "mtls")
    kind = "Mesh.mtls.mode"
    if mesh is None or mtls is None:
        return _conversion(world, kind)
    for index, backend in enumerate(sequence(mtls.get("backends"))):
        if not isinstance(backend, Mapping) or backend.get("mode") != "PERMISSIVE":
            continue
        if backend.get("name") == mtls.get("enabledBackend"):
            path: FieldPath = ("mtls", "backends", index, "mode")
            note = Manual(resource=mesh, message=_PLAIN, action=_LATER, path=path, blocking=False)
            return _conversion(world, kind, manual=(note,))
    return _conversion(world, kind)


def convert_mesh_passthrough(world: KnownWorld) -> Conversion:
    """Return the MeshPassthrough for `networking.outbound.passthrough`."""
    mesh, networking = _section(world, "networking")
    kind = "Mesh.networking.outbound.passthrough"
    outbound = networking.get("outbound") if networking is not None else None
    value = mapping(outbound).get("passthrough")
    if mesh is None or value is None:
        return _conversion(world, kind)
    path: FieldPath = ("networking", "outbound", "passthrough")
    if value is True:
        gone = Dropped(resource=mesh, path=path, reason="that is the default")
        return _conversion(world, kind, dropped=(gone,))
    if value is not False:
        note = _manual(mesh, f"passthrough {value!r} is neither true nor false", *path)
        return _conversion(world, kind, manual=(note,))
    stop = _early(world, mesh, "MeshPassthrough", kind, path)
    stop = stop or _present(world, "MeshPassthrough", mesh, path)
    if stop is not None:
        return stop
    default = {"default": {"passthroughMode": "None"}}
    policy = _policy(world, mesh, "MeshPassthrough", "passthrough", default)
    gone = Dropped(resource=mesh, path=path, reason="a MeshPassthrough says it now")
    return _conversion(world, kind, policies=(policy,), dropped=(gone,))


def convert_mesh_locality(world: KnownWorld) -> Conversion:
    """Return the MeshLoadBalancingStrategy for `routing.localityAwareLoadBalancing`."""
    mesh, routing = _section(world, "routing")
    kind = "Mesh.routing.localityAwareLoadBalancing"
    if mesh is None or routing is None or "localityAwareLoadBalancing" not in routing:
        return _conversion(world, kind)
    path: FieldPath = ("routing", "localityAwareLoadBalancing")
    value = routing["localityAwareLoadBalancing"]
    if not isinstance(value, bool):
        note = _manual(mesh, f"{value!r} is neither true nor false", *path)
        return _conversion(world, kind, manual=(note,))
    if not value:
        gone = Dropped(resource=mesh, path=path, reason="that is the default")
        return _conversion(world, kind, dropped=(gone,))
    conf: Json = {"localityAwareness": {"disabled": False}}
    section: Json = {"to": [{"targetRef": {"kind": "Mesh"}, "default": conf}]}
    policy = _policy(world, mesh, "MeshLoadBalancingStrategy", "locality", section)
    gone = Dropped(
        resource=mesh, path=path, reason="a MeshLoadBalancingStrategy says it for every service"
    )
    return _conversion(world, kind, policies=(policy,), dropped=(gone,))


def convert_mesh_logging(world: KnownWorld) -> Conversion:
    """Return what becomes of `Mesh.logging` once no TrafficLog reads it."""
    return _backends(world, "logging", "TrafficLog")


def convert_mesh_tracing(world: KnownWorld) -> Conversion:
    """Return what becomes of `Mesh.tracing` once no TrafficTrace reads it."""
    return _backends(world, "tracing", "TrafficTrace")


def _backends(world: KnownWorld, section: str, reader: str) -> Conversion:
    mesh, found = _section(world, section)
    kind = f"Mesh.{section}"
    if mesh is None or found is None:
        return _conversion(world, kind)
    if world.old.of(reader):
        note = Manual(
            resource=mesh,
            message=f"{reader} policies read it; once they are converted nobody does",
            action=f"convert every {reader} first; a run then takes it out of the Mesh",
            path=(section,),
        )
        return _conversion(world, kind, manual=(note,))
    reason = f"only {reader} policies read it, and there is none"
    gone = Dropped(resource=mesh, path=(section,), reason=reason)
    return _conversion(world, kind, dropped=(gone,))


def report_constraints(world: KnownWorld) -> Conversion:
    """Return the report on `Mesh.constraints`, which has no successor."""
    mesh, found = _section(world, "constraints")
    if mesh is None or not found:
        return _conversion(world, "Mesh.constraints")
    note = Manual(
        resource=mesh,
        path=("constraints",),
        message="constraints on who may join the mesh have no successor; 3.0 ignores the field",
        action="bind the tags in Dataplane tokens, use an admission policy, or the selector of a"
        " MeshIdentity",
    )
    return _conversion(world, "Mesh.constraints", manual=(note,))


def convert_policy_engine(world: KnownWorld) -> Conversion:
    """Return what becomes of `Mesh.policyEngine`: it goes, since no release reads it."""
    mesh = world.mesh_resource
    if mesh is None or "policyEngine" not in mesh.spec:
        return _conversion(world, "Mesh.policyEngine")
    gone = Dropped(resource=mesh, path=("policyEngine",), reason=_NO_ENGINE)
    return _conversion(world, "Mesh.policyEngine", dropped=(gone,))


def _section(world: KnownWorld, name: str) -> tuple[Resource | None, Mapping[str, Any] | None]:
    mesh = world.mesh_resource
    value = mesh.spec.get(name) if mesh is not None else None
    return mesh, value if isinstance(value, Mapping) else None


def _policy(world: KnownWorld, mesh: Resource, type_: str, word: str, sections: Json) -> NewPolicy:
    name = Names(world.taken(type_)).take(f"{mesh.name}-{word}", "mesh")
    spec = {"targetRef": {"kind": "Mesh"}, **sections}
    return NewPolicy(type=type_, name=name, spec=spec, home=mesh)


def _early(
    world: KnownWorld, mesh: Resource, type_: str, kind: str, path: FieldPath
) -> Conversion | None:
    if at_least(world.target, _POLICY_SINCE):
        return None
    message = f"{type_} exists from {_POLICY_SINCE} on"
    return _conversion(world, kind, manual=(_manual(mesh, message, *path),))


def _present(world: KnownWorld, type_: str, mesh: Resource, path: FieldPath) -> Conversion | None:
    names = named(sorted(r.name for r in world.existing(type_)))
    if not names:
        return None
    message = f"the mesh has {type_} policies already ({names}), which go before the Mesh"
    note = _manual(mesh, message, *path)
    return _conversion(world, "Mesh." + ".".join(str(p) for p in path), manual=(note,))


def _manual(mesh: Resource, message: str, *path: str | int, blocking: bool = True) -> Manual:
    return Manual(
        resource=mesh,
        message=message,
        action="decide, then take the field out of the Mesh",
        path=path,
        blocking=blocking,
    )


def _conversion(world: KnownWorld, kind: str, **parts: Any) -> Conversion:
    return Conversion(kind=kind, mesh=world.mesh, target=world.target, **parts)
