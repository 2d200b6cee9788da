"""backendRefs that get no traffic: no such port, a protocol not carried, weights of 0."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.model.kri import kri_of, section_of
from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import finding, items
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import FieldPath, at_path, path_text
from kumamigrate.targetref.backendref import (
    HTTP_PROTOCOLS,
    Places,
    meant_by,
    port_said,
    ports_of,
    protocols_at,
    tcp_protocols,
)
from kumamigrate.targetref.resolve import REAL
from kumamigrate.targetref.route import RealResource

TAG_KINDS = ("MeshService", "MeshServiceSubset")


def plan(view: View) -> Iterator[Finding]:
    """Yield a finding for each backend that gets no traffic, and for rules without any weight."""
    known: dict[str, Places] = {}
    for route in view.of_type("MeshHTTPRoute", "MeshTCPRoute"):
        if route.mesh not in known:
            known[route.mesh] = _places(view, route.mesh)
        places = known[route.mesh]
        for refs in _rules(route):
            listed = [(*refs, at) for at in range(len(items(route.body, refs)))]
            lost = (_lost(view, places, route, path) for path in listed)
            yield from (found for found in lost if found is not None)
            weights = [at_path(route.body, (*path, "weight")) for path in listed]
            if weights and all(weight == 0 for weight in weights):
                yield _finding(view, route, (*refs, 0, "weight"), "weights", "weights", {})


def _places(view: View, mesh: str) -> Places:
    found = view.state.of_type(*REAL)
    real = {kri_of(r): r for r in reversed(tuple(found)) if r.mesh == mesh}
    return Places(release=view.source, mesh=mesh, real=real)


def _rules(route: Resource) -> Iterator[FieldPath]:
    """Yield the place of each list of backendRefs of a route."""
    to = (*route.spec_path, "to")
    for at in range(len(items(route.body, to))):
        rules = (*to, at, "rules")
        for index in range(len(items(route.body, rules))):
            yield (*rules, index, "default", "backendRefs")


def _lost(view: View, places: Places, route: Resource, path: FieldPath) -> Finding | None:
    """Return what keeps a backend from getting traffic, if anything does that is known."""
    ref = at_path(route.body, path)
    if not isinstance(ref, Mapping):
        return None
    target = _as_target(view, places, ref)
    if target is None:
        return _finding(view, route, path, "no tag", "no tag", {})
    found = meant_by(target, ref, route)
    if not isinstance(found.destination, RealResource) or found.instead:
        return None
    resource = target.real.get(found.destination.kri.of_section(""))
    if resource is None:
        return None
    words = _words(ref, resource)
    if found.lacks_port and port_said(ref):
        at = (*path, "sectionName" if ref.get("sectionName") else "port")
        return _finding(view, route, at, "lacks port", "port", words)
    if found.lacks_port:
        return _finding(view, route, path, "names no port", "port", words)
    carried = HTTP_PROTOCOLS if route.type == "MeshHTTPRoute" else tcp_protocols(view.target)
    protocols = protocols_at(resource, found.destination.kri.section)
    if not protocols or protocols & set(carried):
        return None
    more = {"protocol": ", ".join(sorted(protocols)), "route": f"a {route.type}"}
    return _finding(view, route, path, "protocol", "protocol", {**words, **more})


def _as_target(view: View, places: Places, ref: Mapping[str, Any]) -> Places | None:
    """Return with which release to read a reference; None: as a service tag that nothing has.

    Labels without a port name a service on 3.0 alone.
    """
    if not ref.get("labels") or port_said(ref) or str(ref.get("kind")) not in TAG_KINDS:
        return places
    if view.target.subset_rules:
        return None
    return Places(release=view.target, mesh=places.mesh, real=places.real)


def _words(ref: Mapping[str, Any], resource: Resource) -> dict[str, object]:
    listed = [_called(port) for port in ports_of(resource.spec)]
    return {
        "kind": ref.get("kind"),
        "to": resource.display_name,
        "port": port_said(ref) or next(iter(listed), ""),
        "ports": " and ".join(listed) or "none",
    }


def _called(port: Mapping[str, Any]) -> str:
    name, number = section_of(port), str(port.get("port", ""))
    return number if name == number else f"{number} ({name})"


def _finding(
    view: View,
    route: Resource,
    path: FieldPath,
    problem: str,
    advice: str,
    words: Mapping[str, object],
) -> Finding:
    table = view.rule.table
    said = {"field": path_text(path), "route": f"a {route.type}", **words}
    text = table[problem].format(**said)
    return finding(view, route, path, problem=text, advice=table["advice"][advice].format(**said))
