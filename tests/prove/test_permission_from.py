"""`from` of MeshTrafficPermission counts only where neither rules nor a MeshIdentity end it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kumamigrate.cli import app
from tests.prove.states import COMMITTED
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
        (IDENTITY.replace("APP", "db").partition("  provider")[0], False),
        (IDENTITY.replace("APP", "db").replace("Signed: true", "Signed: false"), False),
    ],
    ids=["alone", "rules", "identity", "identity of others", "no provider", "refused provider"],
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


def _verdict(tmp_path: Path, text: str) -> str:
    paths = []
    for action in ("Allow", "Deny"):
        path = tmp_path / f"{action}.yaml"
        path.write_text(text.replace("ACTION", action), encoding="utf-8")
        paths.append(str(path))
    words = ["prove", *paths, "--target", "2.14", "--format", "json"]
    result = CliRunner().invoke(app, words)
    found: dict[str, str] = json.loads(result.stdout)["claims"]["live"]["dataplanes"]["db-1"]
    return found["verdict"]


@pytest.mark.parametrize("mode", ["Disabled", "Everywhere", "ReachableBackends"])
def test_without_real_services_no_identity_ends_from(mode: str, tmp_path: Path) -> None:
    """A control plane told so: in such a mesh a MeshIdentity gives out no certificates."""
    text = MESH.replace("Exclusive", mode) + IDENTITY.replace("APP", "db")
    assert _verdict(tmp_path, text) == "different"


@pytest.mark.parametrize(("name", "dead"), [("aaa", False), ("zzz", True)])
def test_of_identities_that_select_alike_the_smaller_name_counts(
    name: str, dead: bool, tmp_path: Path
) -> None:
    """Even where it has no provider: then the proxy has no identity, and reads `from`."""
    bare = IDENTITY.replace("APP", "db").partition("  provider")[0]
    text = MESH + IDENTITY.replace("APP", "db") + bare.replace("name: identity", f"name: {name}")
    assert _verdict(tmp_path, text) == ("equivalent" if dead else "different")


def test_where_nobody_knows_whether_an_identity_is_ready_from_counts(tmp_path: Path) -> None:
    own_ca = IDENTITY.replace("APP", "db").replace(
        "autogenerate: {enabled: true}\n      insecureAllowSelfSigned: true",
        "ca: {certificate: {type: File, file: {path: /c}}, privateKey: {type: File, "
        "file: {path: /k}}}",
    )
    assert "privateKey" in own_ca
    assert _verdict(tmp_path, MESH + own_ca) == "different"


@pytest.mark.parametrize("path", sorted((COMMITTED / "identity-2.14").glob("*.yaml")))
def test_a_control_plane_says_which_identity_ends_from(path: Path) -> None:
    """Each inbound got its RBAC from `from`, or from rules, of which there are none."""
    read = json.loads(path.with_suffix(".json").read_text())["permissions"]
    words = ["inspect", str(path), "--release", "2.14", "--zone", "east"]
    shown = CliRunner().invoke(app, words).stdout
    assert "from web" in shown
    assert ("no effect" in shown) is (read == "rules")
