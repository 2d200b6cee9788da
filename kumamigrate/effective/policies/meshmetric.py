"""MeshMetric, and `Mesh.metrics` before it: what a proxy tells of itself (legacy.md §1.15)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kumamigrate.effective.policies.meshsections import enabled_backend
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
_TLS = {"activeMTLSBackend": "ActiveMTLSBackend", "providedTLS": "ProvidedTLS"}


def of_conf(conf: Conf | None, at: At) -> Values:
    """Return what a proxy tells; where no conf is, what the Mesh says."""
    if conf is None:
        return _of_mesh(enabled_backend(at.mesh, "metrics"))
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
    tls = {"mode": mapping(said.get("tls")).get("mode") or "Disabled"}
    least = {"port": _PORT, "path": _PATH}
    return {"type": "Prometheus", "prometheus": {**least, **said, "tls": tls}}


def _applications(conf: Conf) -> Values:
    listed = [mapping(one) for one in conf.get(APPLICATIONS) or ()]
    return {APPLICATIONS: [{"path": _PATH, **one} for one in listed]} if listed else {}


def _of_mesh(backend: Mapping[str, Any] | None) -> Values:
    """Return what the Mesh has its proxies tell, in the form of a conf."""
    if backend is None:
        return {}
    conf = mapping(backend.get("conf"))
    envoy = mapping(conf.get("envoy"))
    expression = envoy.get("filterRegex")
    mode = mapping(conf.get("tls")).get("mode")
    if mode is None:
        mode = "disabled" if conf.get("skipMTLS") is True else "activeMTLSBackend"
    prometheus = {
        "port": conf.get("port") or _PORT,
        "path": conf.get("path") or _PATH,
        "tls": {"mode": _TLS.get(str(mode), "Disabled")},
    }
    return {
        "sidecar.includeUnused": envoy.get("usedOnly") is not True,
        PROFILES: _only(expression) if expression else _named("All"),
        BACKENDS: [{"type": "Prometheus", "prometheus": prometheus}],
        **_applications({APPLICATIONS: list(_aggregated(conf.get("aggregate") or ()))}),
    }


def _aggregated(listed: Iterable[Any]) -> Iterable[Values]:
    """Yield the applications of a Mesh that are switched on."""
    for one in listed:
        if isinstance(one, Mapping) and one.get("enabled") is not False:
            names = ("name", "address", "port", "path")
            yield {name: one[name] for name in names if one.get(name) is not None}


READING = TypeReading(
    policy_type="MeshMetric", fields=FIELDS, of_conf=of_conf, of_mesh=("metrics",)
)
