"""Whatever a Mesh says of its proxies is noticed when it changes, leaf by leaf."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cases import LOADER
from tests.frontdoor import command

MESH = """\
type: Mesh
name: default
meshServices: {mode: Disabled}
mtls:
  enabledBackend: ca
  skipValidation: false
  backends:
  - name: ca
    type: provided
    mode: STRICT
    conf: {cert: {secret: one}, key: {secret: two}}
    dpCert: {requestTimeout: 5s, rotation: {expiration: 1d}}
    rootChain: {requestTimeout: 6s}
networking: {outbound: {passthrough: false}}
routing:
  localityAwareLoadBalancing: true
  zoneEgress: true
  defaultForbidMeshExternalServiceAccess: true
constraints:
  dataplaneProxy: {requirements: [{tags: {team: a}}], restrictions: [{tags: {team: b}}]}
logging:
  defaultBackend: file
  backends: [{name: file, type: file, format: x, conf: {path: /tmp/a}}]
tracing:
  defaultBackend: zip
  backends:
  - name: zip
    type: zipkin
    sampling: 50
    conf: {url: "http://z:1/a", traceId128bit: true, apiVersion: httpJson, sharedSpanContext: false}
metrics:
  enabledBackend: prom
  backends:
  - name: prom
    type: prometheus
    conf: {port: 5670, path: /m, skipMTLS: true, tags: {kuma.io/service: m}}
"""
BESIDE = """\
---
type: Dataplane
name: a
mesh: default
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {team: a, kuma.io/service: a, kuma.io/protocol: http}}]
---
type: TrafficLog
name: l
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {backend: file}
---
type: TrafficTrace
name: t
mesh: default
selectors: [{match: {kuma.io/service: '*'}}]
conf: {backend: zip}
"""
OTHERS = {
    "STRICT": "PERMISSIVE",
    "Disabled": "Everywhere",
    "httpJson": "httpProto",
    "file": "tcp",
    "zipkin": "datadog",
    "provided": "builtin",
}
UNHEARD = {
    "routing.localityAwareLoadBalancing": "no TrafficRoute makes an outbound",
    "metrics.backends.0.conf.tags.kuma.io/service": "a control plane gives the same with others",
}
"""What no proxy here notices, and why."""


def leaves(value: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*at, key))
    else:
        yield at


def other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    return OTHERS.get(value, f"9{value}" if value[0].isdigit() else f"{value}9")


LEAVES = [at for at in leaves(yaml.load(MESH, LOADER)) if at[0] not in ("type", "name")]


@pytest.mark.parametrize("at", LEAVES, ids=lambda at: ".".join(map(str, at)))
def test_a_leaf_of_a_mesh_that_changes_is_noticed(
    at: tuple[str | int, ...], tmp_path: Path
) -> None:
    before = yaml.load(MESH, LOADER)
    after = inner = copy.deepcopy(before)
    for step in at[:-1]:
        inner = inner[step]
    inner[at[-1]] = other(inner[at[-1]])
    for name, mesh in (("before", before), ("after", after)):
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(mesh) + BESIDE)
    sides = [tmp_path / f"{name}.yaml" for name in ("before", "after")]
    live = command("prove", *sides, "--format", "json").json["claims"]["live"]
    heard = ".".join(map(str, at)) not in UNHEARD
    assert (live["verdict"] != "equivalent") is heard
