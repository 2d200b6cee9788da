"""MeshTrace, and the TrafficTrace before it with the backends of the Mesh (legacy.md §1.10)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.effective.policies.meshsections import backend_of
from kumamigrate.effective.reading import (
    At,
    Conf,
    SlotKind,
    TypeReading,
    Values,
    leaf,
    number,
    read,
)
from kumamigrate.model.resource import Resource, mapping
from kumamigrate.model.versions import at_least

BACKENDS = "backends"
FIELDS = {
    BACKENDS: leaf(SlotKind.PROXY),
    "sampling.overall": leaf(SlotKind.PROXY, default=100),
    "sampling.client": leaf(SlotKind.PROXY, default=100),
    "sampling.random": leaf(SlotKind.PROXY, default=100),
    "tags": leaf(SlotKind.PROXY),
}
OUTBOUNDS = "outbounds"
"""Whether requests that the proxy sends get spans, besides those that it takes (notes C18)."""
TRACED = "traced"
_BUT_REAL = "traced by service tag alone"
OF_RELEASE = "tags of every span"
"""What spans of a MeshTrace have beside the tags that it says, whatever it says."""
OF_RELEASE_SINCE = "2.14"
CALLED_BY_INBOUND = "service that spans name"
"""Services that Datadog gets of a TrafficTrace, inbound by inbound, besides the one that the proxy
is known by: a MeshTrace names that at all inbounds."""
_ADDED = ("kuma.mesh", "kuma.zone")
_ZIPKIN = {"traceId128bit": False, "apiVersion": "httpJson", "sharedSpanContext": True}
_DATADOG = {"splitService": False}


def of_conf(conf: Conf | None, at: At) -> Values:
    """Return how a proxy traces; without HTTP listeners only where spans would go."""
    written = [_written_out(mapping(one)) for one in (conf or {}).get(BACKENDS) or ()]
    if not written:
        return {}
    if not at.http:
        return {BACKENDS: written}
    found = {k: number(v) if k.startswith("sampling.") else v for k, v in _read(conf).items()}
    sent = {OUTBOUNDS: _BUT_REAL if at.partly else TRACED} if at.calls else {}
    return {**found, **sent, **_added(conf, at), BACKENDS: written}


def _added(conf: Conf | None, at: At) -> Values:
    """Return the tags that a release gives all spans; one that the policy says stays its own."""
    if not at_least(at.release, OF_RELEASE_SINCE):
        return {}
    own = {mapping(tag).get("name") for tag in (conf or {}).get("tags") or ()}
    added = [name for name in _ADDED if name not in own]
    return {OF_RELEASE: added} if added else {}


def _read(conf: Conf | None) -> Values:
    return read(FIELDS, SlotKind.PROXY, conf)


def _written_out(backend: Mapping[str, Any]) -> Values:
    """Return a backend with what it leaves out."""
    out = dict(backend)
    if backend.get("type") == "Zipkin":
        out["zipkin"] = {**_ZIPKIN, **mapping(backend.get("zipkin"))}
    if backend.get("type") == "Datadog":
        out["datadog"] = {**_DATADOG, **mapping(backend.get("datadog"))}
    return out


def of_old(policy: Resource | None, at: At) -> Values:
    """Return how the old engine traces a proxy: only the outbounds that it makes itself."""
    backend = backend_of(policy, at.mesh, "tracing")
    if backend is None:
        return {}
    sampling = backend.get("sampling")
    said = {"overall": 100 if sampling is None else sampling}
    calls = at.calls and at.made
    conf = {BACKENDS: [_old_backend(backend)], "sampling": said}
    found = of_conf(conf, replace(at, calls=calls))
    own = {CALLED_BY_INBOUND: list(at.others)} if _names_services(found, at) else {}
    return {**{field: value for field, value in found.items() if field != OF_RELEASE}, **own}


def _names_services(found: Values, at: At) -> bool:
    datadog = any(one.get("type") == "Datadog" for one in found.get(BACKENDS) or ())
    return datadog and bool(at.others)


def _old_backend(backend: Mapping[str, Any]) -> Values:
    conf = mapping(backend.get("conf"))
    if backend.get("type") == "datadog":
        url = f"http://{conf.get('address', '')}:{conf.get('port', '')}"
        split = conf.get("splitService") is True
        return {"type": "Datadog", "datadog": {"url": url, "splitService": split}}
    version = conf.get("apiVersion") or _ZIPKIN["apiVersion"]
    zipkin = {
        "url": conf.get("url"),
        "traceId128bit": conf.get("traceId128bit") is True,
        "apiVersion": _ZIPKIN["apiVersion"] if version == "httpJsonV1" else version,
        "sharedSpanContext": conf.get("sharedSpanContext") is not False,
    }
    return {"type": str(backend.get("type") or "").capitalize(), "zipkin": zipkin}


def beside(policy: Resource | None, conf: Conf, at: At) -> Values:
    """Return what both come to: a MeshTrace with a backend takes it all (§3)."""
    return of_conf(conf, at) or of_old(policy, at)


READING = TypeReading(
    policy_type="MeshTrace",
    fields=FIELDS,
    of_conf=of_conf,
    old="TrafficTrace",
    old_parts=(SlotKind.PROXY,),
    of_old=of_old,
    beside=beside,
    of_mesh=("tracing",),
)
