"""MeshMetric, and `Mesh.metrics` before it: what a proxy tells of itself (legacy.md §1.15).

`Mesh.metrics` is served by mTLS where the Mesh has it. No MeshMetric is: Kuma reads its mode
`ActiveMTLSBackend` nowhere, so that it is as good as `Disabled`
(features-2.14/34-9000-metrics-by-mtls).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kumamigrate.effective.policies.meshsections import OFF, backend_mode, enabled_backend
from kumamigrate.effective.reading import At, Conf, SlotKind, TypeReading, Values, leaf, read
from kumamigrate.model.resource import mapping

PROFILES, APPLICATIONS, BACKENDS = "sidecar.profiles", "applications", "backends"
FIELDS = {
    "sidecar.regex": leaf(SlotKind.PROXY),
    "sidecar.includeUnused": leaf(SlotKind.PROXY, default=False),
    PROFILES: leaf(SlotKind.PROXY),
    APPLICATIONS: leaf(SlotKind.PROXY),
    BACKENDS: leaf(SlotKind.PROXY),
}
_PORT, _PATH = 5670, "/metrics"
_PLAIN, _PROVIDED, BY_MTLS = "Disabled", "ProvidedTLS", "activeMTLSBackend"


def of_conf(conf: Conf | None, at: At) -> Values:
    """Return what a proxy tells; where no conf is, what the Mesh says."""
    if conf is None:
        return _of_mesh(enabled_backend(at.mesh, "metrics"), at.mesh)
    found = read(FIELDS, at.part, conf)
    expression = found.pop("sidecar.regex", None)
    profiles = _only(expression) if expression else found.get(PROFILES) or _named("Basic")
    backends = [_written_out(mapping(one)) for one in found.get(BACKENDS) or ()]
    return {**found, PROFILES: profiles, BACKENDS: backends, **_applications(conf)}


def _named(profile: str) -> Values:
    return {"appendProfiles": [{"name": profile}]}


def _only(expression: Any) -> Values:
    return {**_named("None"), "include": [{"type": "Regex", "match": expression}]}


def _written_out(backend: Mapping[str, Any]) -> Values:
    """Return a backend with what it leaves out."""
    if backend.get("type") != "Prometheus":
        return dict(backend)
    said = mapping(backend.get("prometheus"))
    mode = mapping(said.get("tls")).get("mode")
    tls = {"mode": mode if mode == _PROVIDED else _PLAIN}
    least = {"port": _PORT, "path": _PATH}
    return {"type": "Prometheus", "prometheus": {**least, **said, "tls": tls}}


def _applications(conf: Conf) -> Values:
    listed = [mapping(one) for one in conf.get(APPLICATIONS) or ()]
    return {APPLICATIONS: [{"path": _PATH, **one} for one in listed]} if listed else {}


def _of_mesh(backend: Mapping[str, Any] | None, mesh: Mapping[str, Any]) -> Values:
    """Return what the Mesh has its proxies tell, in the form of a conf."""
    if backend is None:
        return {}
    conf = mapping(backend.get("conf"))
    envoy = mapping(conf.get("envoy"))
    expression = envoy.get("filterRegex")
    prometheus = {
        "port": conf.get("port") or _PORT,
        "path": conf.get("path") or _PATH,
        "tls": {"mode": served_by(backend, mesh)},
    }
    return {
        "sidecar.includeUnused": envoy.get("usedOnly") is not True,
        PROFILES: _only(expression) if expression else _named("All"),
        BACKENDS: [{"type": "Prometheus", "prometheus": prometheus}],
        **_applications({APPLICATIONS: list(_aggregated(conf.get("aggregate") or ()))}),
    }


def served_by(backend: Mapping[str, Any], mesh: Mapping[str, Any]) -> str:
    """Return how a backend of `Mesh.metrics` is served: by its `tls`, whatever skipMTLS says."""
    conf = mapping(backend.get("conf"))
    tls = conf.get("tls")
    if isinstance(tls, Mapping):
        mode = tls.get("mode") or BY_MTLS
    else:
        mode = _PLAIN if conf.get("skipMTLS") is True else BY_MTLS
    if mode == "providedTLS":
        return _PROVIDED
    return BY_MTLS if mode == BY_MTLS and backend_mode(mesh) != OFF else _PLAIN


def _aggregated(listed: Iterable[Any]) -> Iterable[Values]:
    """Yield the applications of a Mesh that are switched on."""
    for one in listed:
        if isinstance(one, Mapping) and one.get("enabled") is not False:
            names = ("name", "address", "port", "path")
            yield {name: one[name] for name in names if one.get(name) is not None}


READING = TypeReading(
    policy_type="MeshMetric", fields=FIELDS, of_conf=of_conf, of_mesh=("metrics",)
)
