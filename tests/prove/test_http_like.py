"""Which protocols are HTTP to a proxy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frontdoor import command

SHOP = """type: Mesh
name: default
meshServices: {mode: Exclusive}
---
type: MeshService
name: web
mesh: default
labels: {kuma.io/zone: default, kuma.io/origin: zone}
spec:
  selector: {dataplaneTags: {kuma.io/service: web}}
  ports: [{port: 80, targetPort: 80, appProtocol: PROTOCOL}]
---
type: Dataplane
name: web-1
mesh: default
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web, kuma.io/protocol: PROTOCOL}}]
---
type: MeshTimeout
name: t
mesh: default
spec:
  to: [{targetRef: {kind: MeshService, name: web}, default: {http: {requestTimeout: SECONDS}}}]
"""


@pytest.mark.parametrize(
    ("protocol", "verdict"),
    [("http", "different"), ("http2", "different"), ("grpc", "different"), ("tcp", "equivalent")],
)
def test_requests_end_at_services_that_speak_http_in_any_form(
    protocol: str, verdict: str, tmp_path: Path
) -> None:
    text = SHOP.replace("PROTOCOL", protocol)
    for name, seconds in (("a", "9s"), ("b", "5s")):
        (tmp_path / f"{name}.yaml").write_text(text.replace("SECONDS", seconds))
    words = ("prove", tmp_path / "a.yaml", tmp_path / "b.yaml", "--format", "json")
    assert command(*words).json["claims"]["live"]["verdict"] == verdict
