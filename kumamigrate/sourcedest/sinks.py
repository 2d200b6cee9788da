"""What policies add to a proxy: logs, traces, faults, limits (§1.7–1.10), in one form for both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kumamigrate.model.conf import canonical
from kumamigrate.model.resource import Resource, mapping
from kumamigrate.sourcedest.clients import bears
from kumamigrate.sourcedest.goduration import ZERO
from kumamigrate.sourcedest.oldconf import read_conf
from kumamigrate.sourcedest.selector import selectors_of
from kumamigrate.sourcedest.values import Effect, Json, as_duration, same_type


def logs_before(policy: Resource | None, mesh: Resource | None) -> tuple[tuple[str, str, str], ...]:
    """Return where the old engine logs a connection: (type, target, format)."""
    backend = _backend(policy, mesh, "logging")
    if backend is None:
        return ()
    conf = mapping(backend.get("conf"))
    target = conf.get("path") if backend.get("type") == "file" else conf.get("address")
    return ((str(backend.get("type")), str(target or ""), str(backend.get("format") or "")),)


def logs_after(conf: Json | None) -> tuple[tuple[str, str, str], ...]:
    """Return where a MeshAccessLog conf logs, in order; what no old backend can say as it is."""
    return tuple(_log(mapping(backend)) for backend in (conf or {}).get("backends") or ())


def _log(backend: Json) -> tuple[str, str, str]:
    kind = str(backend.get("type", "")).lower()
    values = mapping(backend.get(kind))
    form = mapping(values.get("format"))
    plain = form.get("type", "Plain") == "Plain" and form.get("omitEmptyValues") is not True
    if kind not in ("file", "tcp") or not plain:
        return (kind, canonical(backend), "")
    target = values.get("path") if kind == "file" else values.get("address")
    return (kind, str(target or ""), str(form.get("plain") or ""))


def traces_before(policy: Resource | None, mesh: Resource | None) -> Effect:
    """Return how the old engine traces a proxy."""
    backend = _backend(policy, mesh, "tracing")
    if backend is None:
        return {}
    conf = mapping(backend.get("conf"))
    sampling = backend.get("sampling")
    kind = str(backend.get("type"))
    if kind == "datadog":
        url = f"http://{conf.get('address', '')}:{conf.get('port', '')}"
        target: Any = (url, conf.get("splitService") is True)
    else:
        target = _zipkin(conf)
    return {
        "type": kind,
        "target": target,
        "sampling": 100.0 if sampling is None else float(sampling),
    }


def traces_after(conf: Json | None) -> Effect:
    """Return how a MeshTrace conf traces a proxy."""
    backends = (conf or {}).get("backends") or ()
    if not backends:
        return {}
    kind = str(backends[0].get("type", "")).lower()
    values = mapping(backends[0].get(kind))
    target: Any = canonical(backends[0])
    if kind == "zipkin":
        target = _zipkin(values)
    if kind == "datadog":
        target = (values.get("url"), values.get("splitService") is True)
    overall = mapping((conf or {}).get("sampling")).get("overall", 100)
    more = {"more backends": canonical(list(backends[1:]))} if len(backends) > 1 else {}
    return {"type": kind, "target": target, "sampling": float(overall), **more}


def _zipkin(conf: Json) -> tuple[Any, ...]:
    version = conf.get("apiVersion") or "httpJson"
    version = "httpJson" if version == "httpJsonV1" else version
    shared = conf.get("sharedSpanContext")
    return (conf.get("url"), conf.get("traceId128bit") is True, version, shared is not False)


def faults_before(
    policies: Sequence[Resource], client: Iterable[tuple[str, str]]
) -> tuple[Effect, ...]:
    """Return the faults one client meets on an inbound, in order (§1.7)."""
    met = [p for p in policies if any(bears(client, s) for s in selectors_of(p.spec, "sources"))]
    return tuple(_fault(read_conf("FaultInjection", p.spec).value) for p in met)


def faults_after(confs: Iterable[Json]) -> tuple[Effect, ...]:
    """Return the faults of MeshFaultInjection confs, which follow each other."""
    return tuple(_fault(item) for conf in confs for item in conf.get("http") or ())


def _fault(values: Json) -> Effect:
    result: dict[str, Any] = {}
    for name in ("delay", "abort", "responseBandwidth"):
        section = values.get(name)
        if section:
            clean = {k: same_type(v, ZERO) if k == "value" else v for k, v in section.items()}
            clean["percentage"] = float(clean.get("percentage", 0))
            result[name] = clean
    return result


def limit_after(conf: Json | None) -> Effect:
    """Return the HTTP limit of a MeshRateLimit conf; empty when there is none."""
    http = mapping(mapping((conf or {}).get("local")).get("http"))
    rate = mapping(http.get("requestRate"))
    if not rate or http.get("disabled") is True:
        return {}
    limited = mapping(http.get("onRateLimit"))
    headers = mapping(limited.get("headers"))
    listed = [
        (kind == "add", h.get("name"), h.get("value"))
        for kind in ("add", "set")
        for h in headers.get(kind) or ()
    ]
    return {
        "requests": rate.get("num"),
        "interval": as_duration(rate.get("interval")),
        "status": limited.get("status") or 429,
        "headers": tuple(sorted(listed)),
    }


def limit_before(policy: Resource) -> Effect:
    """Return the HTTP limit of one RateLimit."""
    http = read_conf("RateLimit", policy.spec).get("http")
    if http is None:
        return {}
    limited = http.get("onRateLimit") or {}
    listed = [(h.get("append") is True, h["key"], h["value"]) for h in limited.get("headers") or ()]
    return {
        "requests": http["requests"],
        "interval": http["interval"],
        "status": limited.get("status") or 429,
        "headers": tuple(sorted(listed)),
    }


def _backend(policy: Resource | None, mesh: Resource | None, section: str) -> Json | None:
    settings = mapping(mesh.spec.get(section)) if mesh is not None else {}
    if policy is None:
        return None
    name = read_conf(policy.type, policy.spec).get("backend") or settings.get("defaultBackend")
    backends = settings.get("backends")
    for backend in backends if isinstance(backends, list) else ():
        if isinstance(backend, Mapping) and name and backend.get("name") == name:
            return backend
    return None
