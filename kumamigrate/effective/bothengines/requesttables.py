"""The route tables of both engines in one form: tests on requests, and what becomes of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from kumamigrate.effective.bothengines.comparedroutes import RouteRule, Table, Test
from kumamigrate.effective.fact import Key
from kumamigrate.effective.routing import Routing
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.sourcedest.oldconf import conf_of
from kumamigrate.sourcedest.selector import Tags
from kumamigrate.sourcedest.targets import filled, live_targets
from kumamigrate.targetref.route import EffectiveRoute, ServiceTag
from kumamigrate.universe.backend import Cluster


def old_table(route: Resource | None, own: Tags, family: str) -> Table:
    """Return what the old engine does at an outbound with these tags; without a route it is
    dead. Worked out once: a proof asks for as many proxies as it tries, and under each protocol."""
    if route is None:
        return Table("")
    key = ("table", family, *own.items())
    if key not in route.kept:
        route.kept[key] = _old_table(route, own, family)
    found: Table = route.kept[key]
    return found


def _old_table(route: Resource, own: Tags, family: str) -> Table:
    conf = conf_of(route).value
    items = conf.get("http") or ()
    rules: list[RouteRule] = []
    if family == "tcp":
        # Connections have no requests to match: they go by the weights of all rules (C15).
        everywhere = [entry for node in (*items, conf) for entry in _entries(node, own)]
        rules.append(RouteRule((), (_shares(everywhere), ())))
    else:
        for item in items:
            action = (_weights(item, own), _old_filters(item.get("modify") or {}))
            rules.append(RouteRule(_old_tests(item.get("match") or {}), action))
        rules.append(RouteRule((), (_weights(conf, own), ())))
    return Table(family, tuple(rules), tuple(live_targets(route, own[SERVICE], own)))


def new_table(routing: Routing, own: Tags, family: str, *, http: bool) -> Table:
    """Return what the new engine does at an outbound with these tags, routes in Envoy's order.

    Traffic that no route leads elsewhere goes where the tags say, all of them.
    """
    listed = routing.http if http else None
    routes = _tcp(routing) if listed is None else listed
    clusters: dict[str, Mapping[str, str]] = {}
    rules: list[RouteRule] = []
    for key, route in routes:
        split = routing.splits[key]
        led = [(_tags(b.cluster), b.weight) for b in split.backends] if route.backend_refs else []
        led = led if route.backend_refs else [(own, 1)]
        clusters |= {_cluster(tags): tags for tags, _ in led}
        filters = sorted((c for f in route.filters or () for c in _new_filter(f)), key=repr)
        rules.append(RouteRule(tuple(_new_tests(route)), (_shares(led), tuple(filters))))
    if not rules:
        clusters[_cluster(own)] = own
        rules.append(RouteRule((), (_shares([(own, 1)]), ())))
    return Table("tcp" if listed is None else family, tuple(rules), tuple(clusters.values()))


def _tcp(routing: Routing) -> list[tuple[Key, EffectiveRoute]]:
    return [(("tcp", str(at)), route) for at, route in enumerate(routing.tcp or ())]


def _tags(cluster: Cluster) -> Mapping[str, str]:
    """Return the tags of a cluster; that of a real service is called by what it is."""
    where = cluster.destination
    name = where.service if isinstance(where, ServiceTag) else str(where.kri)
    return {**dict(cluster.tags), SERVICE: name}


def _cluster(tags: Mapping[str, str]) -> str:
    return ",".join(f"{k}={v}" for k, v in sorted(tags.items()))


def _shares(found: Iterable[tuple[Mapping[str, str], Any]]) -> frozenset[tuple[str, Fraction]]:
    weights: dict[str, int] = {}
    for tags, weight in found:
        weights[_cluster(tags)] = weights.get(_cluster(tags), 0) + int(weight or 0)
    total = sum(weights.values())
    return (
        frozenset((name, Fraction(w, total)) for name, w in weights.items() if w)
        if total
        else frozenset()
    )


def _weights(node: Mapping[str, Any], own: Tags) -> frozenset[tuple[str, Fraction]]:
    return _shares(_entries(node, own))


def _entries(node: Mapping[str, Any], own: Tags) -> list[tuple[Mapping[str, str], Any]]:
    entries = [(e.get("destination") or {}, e.get("weight")) for e in node.get("split") or ()]
    if node.get("destination"):
        entries = [(node["destination"], 1)]
    return [(filled(tags, own[SERVICE], own), weight) for tags, weight in entries]


def _old_tests(match: Mapping[str, Any]) -> tuple[tuple[tuple[str, str], Test], ...]:
    found: list[tuple[tuple[str, str], Test]] = []
    if match.get("path"):
        found += _old_test(("path", ""), match["path"])
    if match.get("method"):
        found += _old_method(match["method"])
    for name, value in (match.get("headers") or {}).items():
        found += _old_test(("header", str(name).lower()), value)
    return tuple(found)


def _old_test(
    subject: tuple[str, str], value: Mapping[str, str]
) -> Iterator[tuple[tuple[str, str], Test]]:
    for kind in ("exact", "prefix", "regex"):
        if kind in value:
            yield subject, _test(subject, kind, value[kind])


def _old_method(value: Mapping[str, str]) -> Iterator[tuple[tuple[str, str], Test]]:
    yield from _old_test(("method", ""), value)


def _test(subject: tuple[str, str], kind: str, value: str) -> Test:
    if kind != "regex":
        return (kind, value)
    raw = raw_prefix(value)
    if raw is not None:
        return ("prefix", raw)
    plain = re.sub(r"\\([^A-Za-z0-9])", r"\1", value)
    if re.escape(plain) == value or not re.search(r"[\\^$.|?*+()\[\]{}]", value):
        return ("exact", plain)
    return ("coin", f"{subject}~{value}")


def raw_prefix(pattern: str) -> str | None:
    """Return the literal text that a pattern wants at the beginning, if that is all it says."""
    if not pattern.endswith(".*"):
        return None
    head = pattern[:-2]
    text = re.sub(r"\\([^A-Za-z0-9])", r"\1", head)
    bare = re.sub(r"\\[^A-Za-z0-9]", "", head)
    return None if re.search(r"[\\^$.|?*+()\[\]{}]", bare) else text


def _new_tests(route: EffectiveRoute) -> Iterator[tuple[tuple[str, str], Test]]:
    if route.path is not None:
        subject = ("path", "")
        kind, value = route.path
        if (kind, value) != ("prefix", "/"):
            yield subject, _test(subject, kind, value)
    if route.match.get("method"):
        yield ("method", ""), ("exact", str(route.match["method"]))
    for section, name in (("headers", "header"), ("queryParams", "param")):
        for item in route.match.get(section) or ():
            subject = (name, str(item.get("name", "")).lower())
            kind = {
                "Prefix": "prefix", "RegularExpression": "regex",
                "Present": "present", "Absent": "absent",
            }.get(str(item.get("type")), "exact")  # fmt: skip
            yield subject, _test(subject, kind, str(item.get("value", "")))


def _old_filters(modify: Mapping[str, Any]) -> tuple[Any, ...]:
    found: list[Any] = []
    path, host = modify.get("path") or {}, modify.get("host") or {}
    if "rewritePrefix" in path:
        found.append(("path", "prefix", _segment(path["rewritePrefix"])))
    if "regex" in path:
        found.append(("path", "regex", repr(path["regex"])))
    if host.get("value"):
        found.append(("host", host["value"]))
    if host.get("fromPath"):
        found.append(("host", "path", repr(host["fromPath"])))
    for side in ("request", "response"):
        values = modify.get(f"{side}Headers") or {}
        for header in values.get("add") or ():
            kind = "add" if header.get("append") else "set"
            found.append((side, kind, header["name"].lower(), header["value"]))
        found += [(side, "remove", h["name"].lower()) for h in values.get("remove") or ()]
    return tuple(sorted(found, key=repr))


def _segment(value: str) -> str:
    """Mark what a rewrite by path segments cannot say: a slash too many at the joint."""
    return value if not value.endswith("/") else f"{value} and the rest of the path"


def _new_filter(one: Mapping[str, Any]) -> Iterator[Any]:
    known = False
    rewrite = one.get("urlRewrite")
    if isinstance(rewrite, Mapping):
        known = True
        path = rewrite.get("path")
        if isinstance(path, Mapping):
            kind = "prefix" if path.get("type") == "ReplacePrefixMatch" else "full"
            yield ("path", kind, path.get("replacePrefixMatch") or path.get("replaceFullPath"))
        if rewrite.get("hostname"):
            yield ("host", rewrite["hostname"])
    for side in ("request", "response"):
        values = one.get(f"{side}HeaderModifier")
        if isinstance(values, Mapping):
            known = True
            for kind in ("add", "set"):
                for header in values.get(kind) or ():
                    yield (side, kind, str(header.get("name")).lower(), header.get("value"))
            for name in values.get("remove") or ():
                yield (side, "remove", str(name).lower())
    if not known:
        yield repr(one)
