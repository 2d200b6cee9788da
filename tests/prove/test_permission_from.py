"""`from` of MeshTrafficPermission counts only where neither rules nor a MeshIdentity end it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kumamigrate.cli import app
from tests.runner import CliRunner

MESH = """type: Mesh
name: default
mtls: {enabledBackend: ca, backends: [{name: ca, type: builtin}]}
meshServices: {mode: Exclusive}
skipCreatingInitialPolicies: ["*"]
---
type: Dataplane
name: db-1
mesh: default
labels: {app: db}
networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: db}}]}
---
type: MeshTrafficPermission
name: from-web
mesh: default
spec: {from: [{targetRef: {kind: Mesh}, default: {action: ACTION}}]}
"""
RULES = """---
type: MeshTrafficPermission
name: rules
mesh: default
spec: {rules: [{default: {allow: [{spiffeID: {type: Prefix, value: spiffe://default}}]}}]}
"""
IDENTITY = """---
type: MeshIdentity
name: identity
mesh: default
spec:
  selector: {dataplane: {matchLabels: {app: APP}}}
  spiffeID: {trustDomain: default.mesh.local, path: /workload/db}
  provider:
    type: Bundled
    bundled:
      autogenerate: {enabled: true}
      insecureAllowSelfSigned: true
      meshTrustCreation: Enabled
"""


@pytest.mark.parametrize(
    ("more", "dead"),
    [
        ("", False),
        (RULES, True),
        (IDENTITY.replace("APP", "db"), True),
        (IDENTITY.replace("APP", "web"), False),
    ],
    ids=["alone", "rules", "identity", "identity of others"],
)
def test_from_counts_only_where_nothing_ends_it(more: str, dead: bool, tmp_path: Path) -> None:
    paths = []
    for action in ("Allow", "Deny"):
        path = tmp_path / f"{action}.yaml"
        path.write_text(MESH.replace("ACTION", action) + more, encoding="utf-8")
        paths.append(str(path))
    words = ["prove", *paths, "--target", "2.14", "--format", "json"]
    result = CliRunner().invoke(app, words)
    found = json.loads(result.stdout)["claims"]["live"]["dataplanes"]["db-1"]
    assert found["verdict"] == ("equivalent" if dead else "different")
    shown = CliRunner().invoke(app, ["inspect", paths[0], "--release", "2.14"]).stdout
    assert ("no effect" in shown) is dead
