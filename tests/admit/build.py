"""Specs made from the constraints themselves: one that keeps a rule, one that breaks it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.admit.constraint import Constraint
from kumamigrate.admit.shape import spec_shape
from kumamigrate.model.policytype import Field
from kumamigrate.model.release import policy_type_names, release

BASES = ("3.0", "2.14", "2.13", "2.12", "2.11", "2.10", "2.9", "2.6")
GOOD = {
    "address-or-name": "collector.example.com",
    "certificate": "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "dns-name": "example.com",
    "go-ip": "10.0.0.1",
    "host-port": "logs:5000",
    "host-port-number": "logs.example.com:5000",
    "letters-and-digits": "service1",
    "listener-host": "*.example.com",
    "long-duration": "1d",
    "mapping-text": "name: a",
    "otel-path": "/v1",
    "request-uri": "/healthz",
    "tag-name": "kuma.io/service",
    "url-with-port": "http://jaeger:9411/api",
    "absolute": "/a",
    "address": "collector:4317",
    "bandwidth": "50Mbps",
    "cidr": "10.0.0.0/8",
    "datadog-url": "http://agent:8126",
    "domain": "*.example.com",
    "file-path": "/tmp/a.log",
    "host-name": "example.com",
    "ip": "10.0.0.1",
    "no-trailing-slash": "/a",
    "no-slash-at-end": "spiffe://mesh/ns",
    "regex": "a.*",
    "retry-on": "GatewayError",
    "spiffe": "spiffe://mesh/ns/a/sa/b",
    "text": "x",
    "wildcard": "*.example.com",
}
BAD = {
    "address-or-name": "0.0.0.0",
    "certificate": "-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----",
    "dns-name": "10.0.0.1",
    "go-ip": "10.0.0.0.1",
    "host-port": "logs",
    "host-port-number": "logs:99999",
    "letters-and-digits": "a-b",
    "listener-host": "*.*.com",
    "long-duration": "1h30m",
    "mapping-text": "name",
    "otel-path": "/v1?a=b",
    "request-uri": "healthz",
    "tag-name": "a b",
    "url-with-port": "http://jaeger/api",
    "absolute": "a",
    "address": "collector:4317x",
    "bandwidth": "50 parsecs",
    "cidr": "10.0.0.0",
    "datadog-url": "https://agent:8126",
    "domain": "*a.example.com",
    "file-path": "tmp",
    "host-name": "10.0.0.1",
    "ip": "10.0.0.0.1",
    "no-trailing-slash": "/a/",
    "no-slash-at-end": "spiffe://mesh/",
    "regex": "a(",
    "retry-on": "GatewayErrorx",
    "spiffe": "mesh/ns/a",
    "text": "",
    "wildcard": "example.com",
}
Spec = dict[str, Any]


def examples(constraint: Constraint) -> Iterator[tuple[str, str]]:
    """Yield the kinds of a constraint, each with a release that has both."""
    for kind in constraint.types:
        for name in BASES:
            known = kind in release(name).policy_types or not is_policy(kind)
            if constraint.holds_in(name) and known and _reachable(constraint, kind, name):
                yield kind, name
                break


def anchor_of(constraint: Constraint, kind: str, name: str) -> str:
    """Return the first place of a constraint that the release has, as a pattern from the spec."""
    for pattern in constraint.at:
        for place in _expanded(pattern, kind, name):
            if not is_policy(kind) or not place or field_at(kind, name, place) is not None:
                return place
    raise AssertionError(f"{constraint.id}: no place in {kind} of {name}")


def spec_for(constraint: Constraint, kind: str, name: str) -> tuple[Spec, str]:
    """Return a spec in which the constraint applies, and the place it looks at."""
    anchor = anchor_of(constraint, kind, name)
    spec: Spec = {}
    when = constraint.when
    if "top_kind" in when:
        put(spec, "targetRef.kind", when["top_kind"][0])
    elif "top_kind_not" in when:
        put(spec, "targetRef.kind", "MeshGateway" if "Mesh" in when["top_kind_not"] else "Mesh")
    elif when.get("top_includes_gateways") is False:
        put(spec, "targetRef", {"kind": "Mesh", "proxyTypes": ["Sidecar"]})
    if anchor:
        put(spec, anchor, {})
    item = anchor.split(".")[0]
    if "item_kind" in when:
        put(spec, f"{item}.targetRef.kind", when["item_kind"][0])
    for pattern in when.get("item_has_any", ())[:1]:
        reference = "" if "." in pattern or "[]" in pattern else "targetRef."
        put(spec, f"{item}.{reference}{pattern}", sample(kind, name, f"{item}.{pattern}"))
    for pattern, values in when.get("equals", {}).items():
        put(spec, join(anchor, pattern), values[0])
    for pattern, form in when.get("forms", {}).items():
        put(spec, join(anchor, pattern), GOOD[form])
    for pattern in when.get("has", ()):
        put(spec, join(anchor, pattern), sample(kind, name, join(anchor, pattern)))
    for pattern in when.get("filled", ()):
        put(spec, f"{pattern}[]", {})
    return spec, anchor


def put(value: Any, pattern: str, leaf: Any) -> None:
    """Set what a pattern names, making one item in every list on the way."""
    head, _, rest = pattern.partition(".")
    name = head.removesuffix("[]")
    if head == name:
        if not rest:
            value[name] = leaf
            return
        put(value.setdefault(name, {}), rest, leaf)
        return
    items = value.setdefault(name, [])
    if not rest:
        items[:1] = [leaf]
        return
    if not items:
        items.append({})
    put(items[0], rest, leaf)


def join(anchor: str, pattern: str) -> str:
    """Return a pattern seen from the spec."""
    return f"{anchor}.{pattern}" if anchor else pattern


def sample(kind: str, name: str, pattern: str) -> Any:
    """Return some value that the field of a pattern takes."""
    field = field_at(kind, name, pattern) if is_policy(kind) else None
    if field is None:
        return "x"
    if field.is_list and not pattern.endswith("[]"):
        return [_one(field)] if field.item_type != "object" else [{}]
    return _one(field)


def field_at(kind: str, name: str, pattern: str) -> Field | None:
    """Return the field that a pattern from the spec names."""
    fields: Mapping[str, Field] = spec_shape(kind, name)
    found: Field | None = None
    for part in pattern.split("."):
        found = fields.get(part.removesuffix("[]"))
        if found is None:
            return None
        fields = found.fields
    return found


def _one(field: Field) -> Any:
    words = field.enum or field.item_enum
    if words:
        return words[0]
    if field.item_type == "object" or field.type.startswith("map["):
        return {"x": "y"} if field.type.startswith("map[") else {}
    texts = {"duration": "1s", "bool": True, "string": "x"}
    return texts.get(field.item_type, "x" if field.is_list else 1)


def _expanded(pattern: str, kind: str, name: str) -> Iterator[str]:
    head, _, rest = pattern.partition(".")
    word, _, only = head.partition(":")
    if word != "conf":
        yield pattern
        return
    for section in release(name).policy_types[kind].sections:
        if not only or section == only:
            place = "default" if section == "default" else f"{section}[].default"
            yield join(place, rest) if rest else place


def _reachable(constraint: Constraint, kind: str, name: str) -> bool:
    if not is_policy(kind):
        return True
    try:
        anchor = anchor_of(constraint, kind, name)
    except AssertionError:
        return False
    wanted = constraint.argument
    if constraint.effect in ("forbid", "require", "fill", "empty", "not_true"):
        return any(field_at(kind, name, join(anchor, p)) is not None for p in wanted)
    return True


def is_policy(kind: str) -> bool:
    """Say whether tables know the fields of a kind; of others only what a constraint names is."""
    return kind in policy_type_names()
