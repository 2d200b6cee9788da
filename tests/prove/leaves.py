"""Every leaf of every conf in the tables, in a conf where it matters, with two values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kumamigrate.model.policytype import Conf, Field, PolicyType
from kumamigrate.model.resource import DISPLAY_NAME

_VALUES: Mapping[str, tuple[Any, Any]] = {
    "duration": ("7s", "8s"),
    "bool": (True, False),
    "string": ("/a", "/b"),
    "map[string]string": ({"k": "a"}, {"k": "b"}),
    "any JSON": ({"k": "a"}, {"k": "b"}),
    "json.RawMessage": ("a", "b"),
    "HTTPRetryOn": ("5xx", "Reset"),
}
_NUMBERS = (3, 4)
_BACKENDS: Mapping[str, tuple[Any, Any]] = {
    "labels": ({DISPLAY_NAME: "http"}, {DISPLAY_NAME: "grpc"}),
    "port": (80, 81),
    "sectionName": ("main", "more"),
}
"""What of a backend must be there to count (the meshes of test_rejects have it)."""

_PROBE: Mapping[str, Any] = {"http": {"path": "/"}, "tcp": {}, "grpc": {}}
_RATE: Mapping[str, Any] = {"requestRate": {"num": 1, "interval": "1s"}}
_CONNECTIONS: Mapping[str, Any] = {"connectionRate": {"num": 1, "interval": "1s"}}
_ZIPKIN: Mapping[str, Any] = {"type": "Zipkin", "zipkin": {"url": "http://z"}}
BESIDE: Mapping[tuple[str, str], Mapping[str, Any]] = {
    ("MeshHealthCheck", ""): _PROBE,
    ("MeshRateLimit", "local.http"): {"local": {"http": _RATE}},
    ("MeshRateLimit", "local.tcp"): {"local": {"tcp": _CONNECTIONS}},
    ("MeshTrace", "sampling"): {"backends": [_ZIPKIN]},
    ("MeshTrace", "tags"): {"backends": [_ZIPKIN]},
    ("MeshCircuitBreaker", "outlierDetection"): {
        "outlierDetection": {"detectors": {"totalFailures": {"consecutive": 9}}}
    },
}
"""What must stand beside the leaves below a path for them to reach Envoy."""
UNREAD: Mapping[str, str] = {
    "hostnames": "only built-in gateways have hostnames",
    "backendRefs.mesh": "a backend is of the mesh of its route",
    "backendRefs.proxyTypes": "a backend is no set of proxies",
    "backendRefs.namespace": "no service here has one, so that it means nothing either way",
    "requestMirror.backendRef.mesh": "a backend is of the mesh of its route",
    "requestMirror.backendRef.proxyTypes": "a backend is no set of proxies",
    "requestMirror.backendRef.namespace": "as of other backends",
    "requestMirror.backendRef.weight": "a mirror has one backend",
}
"""Ends of paths that reach no sidecar of these meshes."""
TAGGED: Mapping[str, str] = {
    f"requestMirror.backendRef.{name}": "a mirror of 2.x means the service tag of its name"
    for name in ("kind", "labels", "sectionName", "port")
}


@dataclass(frozen=True)
class Leaf:
    """A leaf of a conf, and two confs that differ in it alone."""

    path: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]


def leaves(kind: PolicyType, section: str) -> Iterator[Leaf]:
    """Yield the leaves of a section of a policy type."""
    conf = kind.conf(section)
    for chain in _chains(conf):
        path = ".".join(field.name for field in chain)
        by_name = len(chain) > 1 and "name" in chain[-2].fields
        if not path.endswith(tuple({**UNREAD, **TAGGED} if by_name else UNREAD)):
            both = [_with(kind.name, path, _built(conf, chain, v)) for v in _values(chain[-1])]
            yield Leaf(path, both[0], both[1])


def _chains(conf: Conf) -> Iterator[tuple[Field, ...]]:
    for field in conf.values():
        if field.fields:
            for chain in _chains(field.fields):
                yield (field, *chain)
        elif field.type != "object":
            yield (field,)


def _values(field: Field) -> tuple[Any, Any]:
    parent, _, name = field.path.rpartition(".")
    if parent.endswith(("backendRefs[]", "requestMirror.backendRef")) and name in _BACKENDS:
        return _BACKENDS[name]
    given = field.enum or field.item_enum
    if len(given) == 1:
        given = (*given, None)  # said or not said
    one, two = given[:2] if given else _VALUES.get(field.item_type, _NUMBERS)
    return ([one], [two]) if field.is_list else (one, two)


def _built(conf: Conf, chain: tuple[Field, ...], value: Any) -> dict[str, Any]:
    """Return a conf with a value at the end of a chain of fields.

    What chooses among the blocks of an object (`type`) chooses the one of the chain.
    """
    field, rest = chain[0], chain[1:]
    inner = _built(field.fields, rest, value) if rest else value
    if rest and field.is_list:
        inner = [inner]
    made: dict[str, Any] = {}
    for other in conf.values():
        if other.name == "type" and field.name != "type":
            chosen = [e for e in other.enum if str(e).lower() == field.name.lower()]
            made["type"] = (chosen or list(other.enum))[0]
        elif other.name in ("name", "key", "op", "num") and other.name != field.name:
            made[other.name] = _values(other)[0]
    if "backendRefs" not in conf and "kind" in conf and "MeshService" in conf["kind"].enum:
        made = _backend(conf, field.name)
    made[field.name] = inner
    return made


def _backend(conf: Conf, leaf: str) -> dict[str, Any]:
    """Return a reference to service `http`, by its name or, where there are none, by label."""
    named = {"name": "http"} if "name" in conf else {}
    labelled = {"labels": {DISPLAY_NAME: "http"}}
    real = leaf == "labels" or not named
    port = {"port": 80} if real and leaf != "sectionName" else {}
    return {"kind": "MeshService", **(named or labelled), **port}


def _with(kind: str, path: str, conf: dict[str, Any]) -> dict[str, Any]:
    for (name, prefix), more in BESIDE.items():
        if name == kind and path.startswith(prefix):
            conf = _over(more, conf)
    if ".backendRefs." in f".{path}":
        _add_backend(conf)
    return conf


def _over(low: Mapping[str, Any], high: Mapping[str, Any]) -> dict[str, Any]:
    out = dict(low)
    for key, value in high.items():
        both = isinstance(value, Mapping) and isinstance(out.get(key), Mapping)
        out[key] = _over(out[key], value) if both else value
    return out


def _add_backend(node: Any) -> None:
    """Put a second backend beside the first, so that a weight counts."""
    if isinstance(node, dict):
        for name, value in node.items():
            if name == "backendRefs":
                by_label = "name" not in value[0]
                said = {"labels": {DISPLAY_NAME: "grpc"}, "port": 80}
                value.append({"kind": "MeshService", **(said if by_label else {"name": "grpc"})})
            else:
                _add_backend(value)
    elif isinstance(node, list):
        for item in node:
            _add_backend(item)


def spec_of(kind: PolicyType, section: str, conf: Mapping[str, Any]) -> dict[str, Any]:
    """Return the spec of a policy that says a conf in one section to everybody."""
    everything = {"kind": "Mesh"}
    if section == "default":
        return {"targetRef": everything, "default": conf}
    if section == "rules":
        return {"targetRef": everything, "rules": [{"default": conf}]}
    if kind.name in ("MeshHTTPRoute", "MeshTCPRoute"):
        said = {"rules": [conf]} if kind.name == "MeshTCPRoute" else dict(conf)
        if kind.name == "MeshHTTPRoute":
            said["rules"] = [
                {"matches": [{"path": {"type": "Exact", "value": "/x"}}], "default": {}, **rule}
                for rule in said.get("rules", [{}])
            ]
        return {"targetRef": everything, "to": [{"targetRef": _service(kind), **said}]}
    return {"targetRef": everything, section: [{"targetRef": everything, "default": conf}]}


def _service(kind: PolicyType) -> dict[str, Any]:
    name = "http" if kind.name == "MeshHTTPRoute" else "tcp"
    by_name = "Dataplane" not in kind.to_kinds and "MeshSubset" in _top_kinds(kind)
    if by_name:
        return {"kind": "MeshService", "name": name}
    return {"kind": "MeshService", "labels": {"kuma.io/display-name": name}}


def _top_kinds(kind: PolicyType) -> tuple[str, ...]:
    return tuple(k for top in kind.top.values() for k in top.kinds)
