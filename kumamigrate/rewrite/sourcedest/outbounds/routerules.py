"""The conf of one TrafficRoute, for one outbound, as rules of a MeshHTTPRoute (§1.2).

The old engine tries `http[]` in order and ends with the outer destination. Rules that can never be
reached are left out; where the order cannot be kept (matchorder.py), a note says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from kumamigrate.model.resource import SERVICE
from kumamigrate.rewrite.sourcedest.confnotes import Notes
from kumamigrate.rewrite.sourcedest.conversion import Json
from kumamigrate.rewrite.sourcedest.outbounds.matchorder import (
    REGEX_ROOT,
    ROOT,
    check_order,
    covers,
)
from kumamigrate.sourcedest.oldconf import OldConf
from kumamigrate.sourcedest.selector import ANY

_SHADOWED = "{} would never match, since the route's catch-all / is tried before it"
_METHODS = ("CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE")


def backend_refs(node: Mapping[str, Any], service: str) -> list[Json]:
    """Return the backendRefs of a `destination` or `split`; entries of weight 0 are left out."""
    if node.get("destination"):
        return [{**_ref(node["destination"], service), "weight": 1}]
    return [
        {**_ref(entry.get("destination") or {}, service), "weight": entry["weight"]}
        for entry in node.get("split") or ()
        if entry.get("weight")
    ]


def connection_refs(conf: Mapping[str, Any], service: str) -> list[Json]:
    """Return the backendRefs of a TCP outbound: the weights of all rules and the rest (C15)."""
    found: dict[str, Json] = {}
    for node in (conf, *(conf.get("http") or ())):
        for ref in backend_refs(node, service):
            where = repr(sorted((k, v) for k, v in ref.items() if k != "weight"))
            known = found.get(where)
            found[where] = ref if known is None else {**ref, "weight": _sum(known, ref)}
    return list(found.values())


def _sum(one: Json, two: Json) -> int:
    return int(one["weight"]) + int(two["weight"])


def _ref(tags: Mapping[str, str], service: str) -> Json:
    named = tags.get(SERVICE, ANY)
    rest = {key: value for key, value in tags.items() if key != SERVICE and value != ANY}
    name = service if named == ANY else named
    if not rest:
        return {"kind": "MeshService", "name": name}
    return {"kind": "MeshServiceSubset", "name": name, "tags": rest}


def goes_home(refs: Sequence[Json], service: str) -> bool:
    """Say whether traffic goes where it would go without any route."""
    return all(ref["kind"] == "MeshService" and ref["name"] == service for ref in refs)


def http_rules(conf: OldConf, service: str, notes: Notes) -> list[Json]:
    """Return the rules of an HTTP outbound, in the old order; none where no route is needed."""
    rules: list[Json] = []
    for index, item in enumerate(conf.get("http") or ()):
        matches = _matches(item.get("match") or {}, item, index, notes)
        default: Json = {}
        filters = _filters(item.get("modify") or {}, index, notes)
        if filters:
            default["filters"] = filters
        default["backendRefs"] = backend_refs(item, service)
        rules.append({"matches": matches, "default": default})
    outer = backend_refs(conf.value, service)
    if rules or not goes_home(outer, service):
        rules.append({"matches": [{}], "default": {"backendRefs": outer}})
    rules = _with_paths(rules)
    reachable = [
        rule for i, rule in enumerate(rules) if not any(covers(r, rule) for r in rules[:i])
    ]
    only = reachable[0] if len(reachable) == 1 else None
    if only is not None and only["matches"][0] in (ROOT, REGEX_ROOT):
        if "filters" not in only["default"] and goes_home(only["default"]["backendRefs"], service):
            return []
        return [{**only, "matches": [ROOT]}]
    check_order(reachable, notes)
    return reachable


def _with_paths(rules: list[Json]) -> list[Json]:
    """Return the rules with a path in every match: one without would come last of all."""
    paths = [m["path"]["type"] for rule in rules for m in rule["matches"] if "path" in m]
    root = REGEX_ROOT if "RegularExpression" in paths else ROOT
    return [
        {**rule, "matches": [{**root, **m} if "path" not in m else m for m in rule["matches"]]}
        for rule in rules
    ]


def _matches(
    match: Mapping[str, Any], item: Mapping[str, Any], index: int, notes: Notes
) -> list[Json]:
    result: Json = {}
    path = match.get("path")
    rewrites = "rewritePrefix" in ((item.get("modify") or {}).get("path") or {})
    if path is not None:
        result["path"] = _path(path, rewrites, index, notes)
    headers = [_header(name, value) for name, value in (match.get("headers") or {}).items()]
    if headers:
        result["headers"] = headers
    method = match.get("method")
    if method is None:
        return [result]
    methods = _finite(method)
    if methods is None:
        notes.lost("this method match is no set of methods", "http", index, "match", "method")
        return [result]
    return [{**result, "method": name} for name in methods]


def _path(path: Mapping[str, str], rewrites: bool, index: int, notes: Notes) -> Json:
    if "exact" in path:
        return {"type": "Exact", "value": path["exact"]}
    if "regex" in path:
        notes.lost(_SHADOWED.format("this regular expression"), "http", index, "match", "path")
        return {"type": "RegularExpression", "value": path["regex"]}
    prefix = path["prefix"]
    if prefix == "/":
        return {"type": "PathPrefix", "value": "/"}
    if rewrites:
        notes.warn(
            f"{prefix} matches whole path segments now, and the rewritten path has no double slash",
            "http",
            index,
            "match",
            "path",
        )
        return {"type": "PathPrefix", "value": prefix.rstrip("/") or "/"}
    notes.lost(
        f"prefix {prefix} is plain text today, a MeshHTTPRoute matches whole path segments; "
        + _SHADOWED.format("a regular expression for it"),
        "http",
        index,
        "match",
        "path",
    )
    return {"type": "RegularExpression", "value": re.escape(prefix).replace(r"\-", "-") + ".*"}


def _header(name: str, value: Mapping[str, str]) -> Json:
    kinds = {"exact": "Exact", "prefix": "Prefix", "regex": "RegularExpression"}
    old = next(kind for kind in kinds if kind in value)
    return {"name": name, "type": kinds[old], "value": value[old]}


def _finite(method: Mapping[str, str]) -> list[str] | None:
    if "exact" in method:
        return [method["exact"]] if method["exact"] in _METHODS else None
    if "prefix" in method:
        return [m for m in _METHODS if m.startswith(method["prefix"])] or None
    names = method["regex"].strip("^$()").split("|")
    return names if all(name in _METHODS for name in names) else None


def _filters(modify: Mapping[str, Any], index: int, notes: Notes) -> list[Json]:
    result: list[Json] = []
    rewrite: Json = {}
    path = modify.get("path") or {}
    if "rewritePrefix" in path:
        value = path["rewritePrefix"]
        rewrite["path"] = {"type": "ReplacePrefixMatch", "replacePrefixMatch": value}
    if "regex" in path:
        notes.lost("a path cannot be rewritten by regex", "http", index, "modify", "path", "regex")
    host = modify.get("host") or {}
    if "value" in host:
        rewrite["hostname"] = host["value"]
        if not re.fullmatch(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?", host["value"]):
            notes.lost("must be a precise hostname now", "http", index, "modify", "host", "value")
    if "fromPath" in host:
        notes.lost(
            "a host cannot be taken from the path", "http", index, "modify", "host", "fromPath"
        )
    if rewrite:
        result.append({"type": "URLRewrite", "urlRewrite": rewrite})
    for side, kind in (("request", "RequestHeader"), ("response", "ResponseHeader")):
        changed = _headers(modify.get(f"{side}Headers") or {}, f"{side}Headers", index, notes)
        if changed:
            result.append({"type": f"{kind}Modifier", f"{side}HeaderModifier": changed})
    return result


def _headers(values: Mapping[str, Any], side: str, index: int, notes: Notes) -> Json:
    result: Json = {}
    for at, header in enumerate(values.get("add") or ()):
        kind = "add" if header.get("append") else "set"
        if kind == "set" and "," in header["value"]:
            notes.lost("a comma would split this header", "http", index, "modify", side, "add", at)
        entry = {"name": header["name"], "value": header["value"]}
        result.setdefault(kind, []).append(entry)
    removed = [header["name"] for header in values.get("remove") or ()]
    if removed:
        result["remove"] = removed
    names = [h["name"].lower() for kind in ("add", "set") for h in result.get(kind, ())]
    if len(set(names)) != len(names):
        notes.lost("the same header twice is refused now", "http", index, "modify", side)
    return result
