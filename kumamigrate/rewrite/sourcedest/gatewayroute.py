"""MeshGatewayRoute → MeshHTTPRoute and MeshTCPRoute on the gateways it matches (§1.14).

Per hostname the new routes take over all or nothing, so all routes of a mesh are converted at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumamigrate.model.resource import SERVICE, Resource, mapping, sequence
from kumamigrate.rewrite.sourcedest.conversion import Conversion, Json, Manual, NewPolicy, distinct
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.rewrite.sourcedest.policynames import Names, slug
from kumamigrate.sourcedest.selector import matches, selectors_of, tags_of

_PATHS = {"EXACT": "Exact", "PREFIX": "PathPrefix", "REGEX": "RegularExpression"}
_HEADERS = {
    "EXACT": "Exact", "REGEX": "RegularExpression", "PRESENT": "Present", "ABSENT": "Absent",
}  # fmt: skip


def convert_gateway_route(world: KnownWorld) -> Conversion:
    """Return the routes for the MeshGatewayRoutes of a mesh."""
    routes = [*world.state.of_type("MeshGatewayRoute")]
    gateways = [*world.state.of_type("MeshGateway")]
    manual: list[Manual] = []
    policies: list[NewPolicy] = []
    names = Names(world.taken("MeshHTTPRoute", "MeshTCPRoute"))
    for route in routes:
        found = [(g, tags) for g in gateways for tags in _reached(route, g)]
        if not found:
            message = "no MeshGateway of the state has listeners that it matches"
            manual.append(_manual(route, message))
        for gateway, tags in found:
            policies += _policies(route, gateway, tags, names, manual)
    blocked = any(item.blocking for item in manual)
    return Conversion(
        kind="MeshGatewayRoute",
        mesh=world.mesh,
        target=world.target,
        policies=() if blocked else tuple(policies),
        manual=distinct(manual),
        steps=("apply all routes of a hostname together: they take over as soon as one exists",)
        if policies
        else (),
    )


def _reached(route: Resource, gateway: Resource) -> list[dict[str, str]]:
    """Return the listener tags to refer to: one empty set where all listeners are matched."""
    base = [
        {**s, **tags_of(gateway.spec.get("tags"))} for s in selectors_of(gateway.spec, "selectors")
    ]
    conf = mapping(gateway.spec.get("conf"))
    listeners = [tags_of(mapping(item).get("tags")) for item in sequence(conf.get("listeners"))]
    selectors = selectors_of(route.spec, "selectors")
    hit = [
        tags
        for tags in listeners
        if any(matches(s, {**own, **tags}) for s in selectors for own in base)
    ]
    if len(hit) == len(listeners):
        return [{}] if hit else []
    return list(distinct(hit))


def _policies(
    route: Resource, gateway: Resource, tags: Mapping[str, str], names: Names, manual: list[Manual]
) -> list[NewPolicy]:
    conf = mapping(route.spec.get("conf"))
    ref: Json = {"kind": "MeshGateway", "name": gateway.name}
    if tags:
        ref["tags"] = dict(tags)
    result = []
    http, tcp = mapping(conf.get("http")), mapping(conf.get("tcp"))
    if http:
        entry: Json = {"targetRef": {"kind": "Mesh"}}
        if http.get("hostnames"):
            entry["hostnames"] = list(sequence(http["hostnames"]))
        entry["rules"] = [_rule(mapping(r), route, manual) for r in sequence(http.get("rules"))]
        result.append(_policy("MeshHTTPRoute", route, gateway, ref, entry, names))
    if tcp:
        rules = [mapping(r) for r in sequence(tcp.get("rules"))]
        if len(rules) != 1:
            manual.append(_manual(route, "a MeshTCPRoute has exactly one rule"))
        else:
            default = {"backendRefs": _backends(rules[0].get("backends"))}
            entry = {"targetRef": {"kind": "Mesh"}, "rules": [{"default": default}]}
            result.append(_policy("MeshTCPRoute", route, gateway, ref, entry, names))
    return result


def _policy(
    type_: str, route: Resource, gateway: Resource, ref: Json, entry: Json, names: Names
) -> NewPolicy:
    return NewPolicy(
        type=type_,
        name=names.take(route.name, slug(gateway.name) or "gateway"),
        spec={"targetRef": ref, "to": [entry]},
        home=route,
        sources=(route,),
    )


def _rule(rule: Mapping[str, Any], route: Resource, manual: list[Manual]) -> Json:
    found = [_match(mapping(m), route, manual) for m in sequence(rule.get("matches"))]
    default: Json = {}
    filters = [
        f for item in sequence(rule.get("filters")) for f in _filter(mapping(item), route, manual)
    ]
    if filters:
        default["filters"] = filters
    if rule.get("backends"):
        default["backendRefs"] = _backends(rule["backends"])
    return {"matches": found, "default": default}


def _match(match: Mapping[str, Any], route: Resource, manual: list[Manual]) -> Json:
    result: Json = {}
    path = mapping(match.get("path"))
    if path:
        kind = _PATHS.get(str(path.get("match", "EXACT")))
        if kind is None:
            manual.append(_manual(route, f"path match {path.get('match')!r} is not known"))
        value = str(path.get("value", ""))
        if kind == "PathPrefix":
            value = value.rstrip("/") or "/"
        result["path"] = {"type": kind, "value": value}
    if match.get("method"):
        result["method"] = str(match["method"])
    headers = [_header(mapping(h), route, manual) for h in sequence(match.get("headers"))]
    if headers:
        result["headers"] = headers
    asked = match.get("query_parameters") or match.get("queryParameters")
    query = [_header(mapping(q), route, manual) for q in sequence(asked)]
    if query:
        result["queryParams"] = query
    return result


def _header(header: Mapping[str, Any], route: Resource, manual: list[Manual]) -> Json:
    kind = _HEADERS.get(str(header.get("match", "EXACT")))
    if kind is None:
        manual.append(_manual(route, f"match {header.get('match')!r} is not known"))
    result: Json = {"type": kind, "name": header.get("name")}
    return {**result, "value": header["value"]} if "value" in header else result


def _filter(item: Mapping[str, Any], route: Resource, manual: list[Manual]) -> list[Json]:
    result: list[Json] = []
    for key, value in item.items():
        values = mapping(value)
        if key in ("request_header", "requestHeader", "response_header", "responseHeader"):
            side = "request" if key.startswith("request") else "response"
            result += _header_filter(side, values)
        elif key == "mirror":
            ref = _backend(mapping(values.get("backend")))  # it has no share to weigh
            mirror = {"percentage": values.get("percentage"), "backendRef": ref}
            result.append({"type": "RequestMirror", "requestMirror": mirror})
        elif key == "redirect":
            result.append({"type": "RequestRedirect", "requestRedirect": _redirect(values)})
        elif key == "rewrite":
            result.append({"type": "URLRewrite", "urlRewrite": _rewrite(values)})
        else:
            manual.append(_manual(route, f"filter {key!r} is not known"))
    return result


def _header_filter(side: str, values: Mapping[str, Any]) -> list[Json]:
    result: list[Json] = []
    sets = [mapping(h) for h in sequence(values.get("set"))]
    host = [h for h in sets if str(h.get("name", "")).lower() == "host" and side == "request"]
    kept: Json = {}
    if len(sets) > len(host):
        kept["set"] = [dict(h) for h in sets if h not in host]
    for action in ("add", "remove"):
        if values.get(action):
            kept[action] = list(sequence(values[action]))
    if kept:
        kind = "RequestHeaderModifier" if side == "request" else "ResponseHeaderModifier"
        result.append({"type": kind, f"{side}HeaderModifier": kept})
    if host:
        result.append({"type": "URLRewrite", "urlRewrite": {"hostname": host[0].get("value")}})
    return result


def _redirect(values: Mapping[str, Any]) -> Json:
    result: Json = {k: values[k] for k in ("scheme", "hostname", "port") if k in values}
    result["statusCode"] = values.get("status_code") or values.get("statusCode") or 302
    path = mapping(values.get("path"))
    if path:
        result["path"] = _path_change(path)
    return result


def _rewrite(values: Mapping[str, Any]) -> Json:
    result: Json = {}
    path = _path_change(values)
    if path:
        result["path"] = path
    if values.get("host_to_backend_hostname") or values.get("hostToBackendHostname"):
        result["hostToBackendHostname"] = True
    return result


def _path_change(values: Mapping[str, Any]) -> Json:
    full = values.get("replace_full") or values.get("replaceFull")
    prefix = values.get("replace_prefix_match") or values.get("replacePrefixMatch")
    if full is not None:
        return {"type": "ReplaceFullPath", "replaceFullPath": full}
    if prefix is not None:
        return {"type": "ReplacePrefixMatch", "replacePrefixMatch": prefix}
    return {}


def _backends(items: Any) -> list[Json]:
    weighed = ((backend, backend.get("weight", 1)) for backend in map(mapping, sequence(items)))
    return [{**_backend(backend), "weight": weight} for backend, weight in weighed if weight != 0]


def _backend(backend: Mapping[str, Any]) -> Json:
    tags = tags_of(backend.get("destination"))
    name = tags.pop(SERVICE, "")
    ref: Json = {"kind": "MeshServiceSubset" if tags else "MeshService", "name": name}
    return {**ref, **({"tags": tags} if tags else {})}


def _manual(route: Resource, message: str) -> Manual:
    return Manual(resource=route, message=message, action="write the route by hand")
