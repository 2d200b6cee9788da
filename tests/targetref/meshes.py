"""States for tests of the matcher: read from files, or built from few words."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kumamigrate.model.read import read_resources
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import State
from kumamigrate.source.reading.load import read_file

HTTP_HASH = "__rule-matches-hash__"
EAST = {"kuma.io/origin": "zone", "kuma.io/zone": "east"}


def state_of(path: Path, release: str) -> State:
    """Return a golden mesh as one control plane stores it."""
    file = read_file(path.name, path.read_bytes())
    assert not file.refusals
    return State(release=release, resources=read_resources(file), complete=True)


def state(*resources: Resource, release: str = "2.14") -> State:
    """Return a state that has its Mesh."""
    mesh = Resource(type="Mesh", mesh="", name="default")
    return State(release=release, resources=(mesh, *resources), complete=True)


def resource(
    kind: str, name: str, spec: Mapping[str, Any] | None = None, **labels: str
) -> Resource:
    """Return a resource of mesh default; `namespace` and `role` among the labels are Kuma's."""
    known = {"namespace": "k8s.kuma.io/namespace", "role": "kuma.io/policy-role"}
    known |= {"zone": "kuma.io/zone", "origin": "kuma.io/origin", "shown": "kuma.io/display-name"}
    named = {known.get(k, k): v for k, v in labels.items()}
    return Resource(type=kind, mesh="default", name=name, labels=named, spec=spec or {})


def sidecar(name: str, *inbounds: Mapping[str, Any], **labels: str) -> Resource:
    """Return a Dataplane with the given inbounds, or one of service `name` on port 8080."""
    listed = list(inbounds) or [{"port": 8080, "tags": {"kuma.io/service": name}}]
    return resource(
        "Dataplane", name, {"networking": {"address": "10.0.0.1", "inbound": listed}}, **labels
    )


def service(name: str, *ports: tuple[int, str], **labels: str) -> Resource:
    """Return a MeshService with ports (number, name)."""
    listed = [{"port": number, "name": text} for number, text in ports or ((80, "main"),)]
    return resource("MeshService", name, {"ports": listed}, **labels)


def timeout(name: str, top: Mapping[str, Any] | None, *to: Any, **labels: str) -> Resource:
    """Return a MeshTimeout: each `to` is (target, request timeout)."""
    items = [{"targetRef": ref, "default": {"http": {"requestTimeout": v}}} for ref, v in to]
    spec: dict[str, Any] = {"to": items}
    if top is not None:
        spec["targetRef"] = top
    return resource("MeshTimeout", name, spec, **labels)


def route(name: str, to: Mapping[str, Any], *paths: str, **labels: str) -> Resource:
    """Return a MeshHTTPRoute with one prefix rule for each path."""
    rules = [
        {"matches": [{"path": {"type": "PathPrefix", "value": path}}], "default": {}}
        for path in paths
    ]
    return resource("MeshHTTPRoute", name, {"to": [{"targetRef": to, "rules": rules}]}, **labels)


MESH = {"kind": "Mesh"}


def on(name: str, kind: str = "MeshService", **more: Any) -> dict[str, Any]:
    """Return a targetRef by name."""
    return {"kind": kind, "name": name, **more}
