"""Logging and tracing backends of a Mesh, inlined into the policies that use them (§1.9, 1.10)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumamigrate.model.resource import Resource, mappings
from kumamigrate.rewrite.sourcedest.confnotes import Notes
from kumamigrate.rewrite.sourcedest.conversion import Json
from kumamigrate.rewrite.sourcedest.intorstring import int_or_text
from kumamigrate.sourcedest.oldconf import OldConf, read_conf, read_shape

_FILE = {"path": "string"}
_TCP = {"address": "string"}
_ZIPKIN = {
    "url": "string", "traceId128bit": "bool", "apiVersion": "string", "sharedSpanContext": "bool",
}  # fmt: skip
_DATADOG = {"address": "string", "port": "uint32", "splitService": "bool"}


def backend_of(mesh: Resource | None, section: str, policy: Resource) -> Mapping[str, Any] | None:
    """Return the backend of `Mesh.logging` or `Mesh.tracing` that an old policy means.

    Its own `conf.backend`, else the mesh's default; None when there is no such backend, in which
    case the old engine logs or traces nothing.
    """
    settings = mesh.spec.get(section) if mesh is not None else None
    if not isinstance(settings, Mapping):
        return None
    name = read_conf(policy.type, policy.spec).get("backend") or settings.get("defaultBackend")
    backends = mappings(settings.get("backends"))
    return next((one for one in backends if name and one.get("name") == name), None)


def access_log_backends(mesh: Resource | None, policy: Resource, notes: Notes) -> Json:
    """Return the MeshAccessLog conf of a TrafficLog."""
    if mesh is None:
        notes.lost("the Mesh that holds its logging backends is not in the state", "backend")
    backend = backend_of(mesh, "logging", policy)
    if backend is None:
        return {"backends": []}
    text = backend.get("format")
    plain: Json = {"format": {"type": "Plain", "plain": str(text)}} if text else {}
    if backend.get("type") == "file":
        conf = _conf(_FILE, backend, notes)
        return {"backends": [{"type": "File", "file": {"path": conf.get("path") or "", **plain}}]}
    if backend.get("type") == "tcp":
        conf = _conf(_TCP, backend, notes)
        address = conf.get("address") or ""
        return {"backends": [{"type": "Tcp", "tcp": {"address": address, **plain}}]}
    notes.lost(f"logging backend type {backend.get('type')!r} is not known", "backend")
    return {"backends": []}


def trace_conf(mesh: Resource | None, policy: Resource, notes: Notes) -> Json | None:
    """Return the MeshTrace conf of a TrafficTrace, or None where it traces nothing."""
    if mesh is None:
        notes.lost("the Mesh that holds its tracing backends is not in the state", "backend")
    backend = backend_of(mesh, "tracing", policy)
    if backend is None:
        return None
    result: Json = {"backends": [_trace_backend(backend, notes)]}
    sampling = backend.get("sampling")
    if sampling is not None:
        number = read_shape({"s": "double"}, {"s": sampling}).get("s")
        if number is None:
            notes.lost(f"sampling {sampling!r} is no number", "backend")
        else:
            result["sampling"] = {"overall": int_or_text(number)}
    return result


def _trace_backend(backend: Mapping[str, Any], notes: Notes) -> Json:
    if backend.get("type") == "zipkin":
        conf = _conf(_ZIPKIN, backend, notes)
        version = conf.get("apiVersion") or "httpJson"
        zipkin: Json = {"url": conf.get("url") or ""}
        if conf.get("traceId128bit") is not None:
            zipkin["traceId128bit"] = conf.get("traceId128bit")
        zipkin["apiVersion"] = "httpJson" if version == "httpJsonV1" else version
        shared = conf.get("sharedSpanContext")
        zipkin["sharedSpanContext"] = True if shared is None else shared
        return {"type": "Zipkin", "zipkin": zipkin}
    if backend.get("type") == "datadog":
        conf = _conf(_DATADOG, backend, notes)
        datadog: Json = {"url": f"http://{conf.get('address') or ''}:{conf.get('port') or ''}"}
        if conf.get("splitService") is not None:
            datadog["splitService"] = conf.get("splitService")
        return {"type": "Datadog", "datadog": datadog}
    notes.lost(f"tracing backend type {backend.get('type')!r} is not known", "backend")
    return {}


def _conf(shape: Mapping[str, Any], backend: Mapping[str, Any], notes: Notes) -> OldConf:
    conf = read_shape(shape, backend.get("conf") or {}, ("conf",))
    for problem in conf.problems:
        notes.lost(f"backend {backend.get('name')}: {problem.message}", "backend")
    return conf
