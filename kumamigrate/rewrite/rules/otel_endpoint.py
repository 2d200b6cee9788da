"""OpenTelemetry collectors become resources that policies refer to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, MutableMapping
from hashlib import sha256
from itertools import chain, count
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.model.resource import DISPLAY_NAME, MESH, Form, Resource
from kumamigrate.pattern import pattern
from kumamigrate.rewrite.change import Change, ResourceEdit
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import Json, change, finding, items, put
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import FieldPath, at_path

KIND = "MeshOpenTelemetryBackend"
LABEL = "otel-backend"
"""On Universal 2.14 computes no display name, so a label of our own tells backends apart."""

_TYPES = ("MeshAccessLog", "MeshMetric", "MeshTrace")
_ENDPOINT = pattern(
    r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?)(?::([0-9]{1,10}))?"
)
_PORT = 4317
_LONGEST = 63


@dataclass(frozen=True, slots=True)
class _Collector:
    address: str
    port: int

    @property
    def name(self) -> str:
        """A name that says address and port, cut with a hash where it is too long."""
        words = re.sub(r"[^a-z0-9]+", "-", self.address.lower()).strip("-")
        name = f"otel-{words}-{self.port}"
        if len(name) <= _LONGEST:
            return name
        return f"{name[:54].rstrip('-')}-{sha256(name.encode()).hexdigest()[:8]}"


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield one change per mesh: all policies with endpoints, and the backends they need.

    Endpoints that are no host and port are reported.
    """
    given: dict[tuple[str, str], str] = {}
    for mesh in view.state.meshes():
        edited: list[tuple[Resource, Json]] = []
        settled: list[Finding] = []
        new: dict[str, Json] = {}
        for policy in view.of_type(*_TYPES):
            if policy.mesh != mesh:
                continue
            body: Json = policy.body
            for path in _endpoints(policy):
                collector = _collector(at_path(policy.body, path))
                if collector is None:
                    yield finding(view, policy, path)
                    continue
                name = _name(view, policy, collector, given)
                if not _exists(view, policy, name):
                    new.setdefault(name, _backend(view, policy, name, collector))
                body = put(body, path[:-1], _referring(at_path(body, path[:-1]), policy, name))
                settled.append(finding(view, policy, path, pending=True))
            if body is not policy.body:
                edited.append((policy, body))
        if edited:
            yield _change(view, edited, list(new.values()), settled)


def _change(
    view: View, edited: list[tuple[Resource, Json]], new: list[Json], settled: list[Finding]
) -> Change:
    (first, body), *others = edited
    edits = [
        ResourceEdit(where=policy.where, manifests=(changed,))
        for policy, changed in others
        if policy.where is not None
    ]
    return change(view, first, [body, *new], settled, others=edits)


def _endpoints(policy: Resource) -> Iterator[FieldPath]:
    places: list[FieldPath] = [("default",)]
    for section in ("to", "from", "rules"):
        places += [(section, i, "default") for i in range(len(items(policy.spec, (section,))))]
    for place in places:
        for index in range(len(items(policy.spec, (*place, "backends")))):
            at = (*policy.spec_path, *place, "backends", index, "openTelemetry")
            has = at_path(policy.body, at)
            if isinstance(has, Mapping) and has.get("endpoint") and "backendRef" not in has:
                yield (*at, "endpoint")


def _collector(endpoint: object) -> _Collector | None:
    found = _ENDPOINT.fullmatch(endpoint) if isinstance(endpoint, str) else None
    if found is None:
        return None
    return _Collector(address=found[1].strip("[]"), port=int(found[3] or _PORT))


def _labels(policy: Resource, name: str) -> dict[str, str]:
    return {DISPLAY_NAME if policy.form is Form.KUBERNETES else LABEL: name}


def _referring(telemetry: Mapping[str, Any], policy: Resource, name: str) -> Json:
    reference = {"kind": KIND, "labels": _labels(policy, name)}
    return {
        "backendRef" if key == "endpoint" else key: reference if key == "endpoint" else value
        for key, value in telemetry.items()
    }


def _name(
    view: View, policy: Resource, collector: _Collector, given: MutableMapping[tuple[str, str], str]
) -> str:
    """Return the name of the backend for a collector: one there is, or a free one.

    On Kubernetes the backends of all meshes stand in one namespace. `given` are the names that
    were found free for a mesh.
    """
    room = "" if policy.form is Form.KUBERNETES else policy.mesh
    backends = [b for b in view.state.of_type(KIND) if room in ("", b.mesh)]
    further = (f"{collector.name}-{number}" for number in count(2))
    return next(
        name
        for name in chain((collector.name,), further)
        if any(
            b.name == name and b.mesh == policy.mesh and b.spec == _spec(collector)
            for b in backends
        )
        or (
            not any(b.name == name for b in backends)
            and given.setdefault((room, name), policy.mesh) == policy.mesh
        )
    )


def _exists(view: View, policy: Resource, name: str) -> bool:
    wanted = _labels(policy, name).items()
    return any(
        backend.mesh == policy.mesh and backend.name == name and wanted <= backend.labels.items()
        for backend in view.state.of_type(KIND)
    )


def _spec(collector: _Collector) -> dict[str, Any]:
    return {
        "endpoint": {"address": collector.address, "port": collector.port},
        "protocol": "grpc",
        "env": {"mode": "Disabled"},
    }


def _backend(view: View, policy: Resource, name: str, collector: _Collector) -> Json:
    if policy.form is Form.UNIVERSAL:
        head: dict[str, Any] = {"type": KIND, "mesh": policy.mesh, "name": name}
        return {**head, "labels": _labels(policy, name), "spec": _spec(collector)}
    return {
        "apiVersion": "kuma.io/v1alpha1",
        "kind": KIND,
        "metadata": {
            "name": name,
            "namespace": view.environment.system_namespace,
            "labels": {MESH: policy.mesh},
        },
        "spec": _spec(collector),
    }
