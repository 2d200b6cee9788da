"""A second run for 3.0 reads files that wait for the upgrade as if 2.14 had them, and says so.

A Universal control plane of 2.x gives no MeshService the label by which 3.0 finds it
(matcher.md (b)); so what the first run writes reaches nobody before the upgrade.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.frontdoor import command

MESH = """\
type: Mesh
name: default
meshServices: {mode: Exclusive}
---
type: MeshService
mesh: default
name: orders
spec:
  selector: {dataplaneLabels: {matchLabels: {app: orders}}}
  ports: [{port: 80, name: http, appProtocol: http}]
"""
POLICY = """\
---
type: MeshTimeout
mesh: default
name: to-orders
spec:
  to:
  - targetRef: {kind: MeshService, name: orders, sectionName: http}
    default: {idleTimeout: 1m}
"""
TO_THREE = ("--target", "3.0")


def test_the_second_run_says_what_waits_and_how_to_compare(tmp_path: Path) -> None:
    applied, folder = tmp_path / "applied", tmp_path / "git"
    folder.mkdir()
    (folder / "m.yaml").write_text(MESH + POLICY, encoding="utf-8")
    shutil.copytree(folder, applied)
    first = command("run", folder, *TO_THREE)
    assert (first.code, "Proved" in first.out, "read here as if" in first.out) == (0, True, False)
    second = command("run", folder, *TO_THREE)
    assert second.code == 4
    assert (
        "  It is of a policy in 3.0's form already, read here as if 2.14 had them: m.yaml:12\n"
    ) in second.out
    assert "kumamigrate prove --target 3.0 --against REVISION" in second.out
    # What it tells to do gives the first run's answer again.
    assert (
        "Equivalent: what proxies read after the upgrade"
        in command("prove", applied, folder, *TO_THREE).out
    )


def test_what_differs_for_other_reasons_is_not_said_to_wait(tmp_path: Path) -> None:
    """3.0 does not read mTLS of a Mesh, in whatever form policies are."""
    mtls = "mtls: {enabledBackend: ca, backends: [{name: ca, type: builtin}]}\n---\n"
    text = MESH.replace("---\n", mtls, 1)
    (tmp_path / "m.yaml").write_text(text, encoding="utf-8")
    said = command("run", tmp_path, *TO_THREE).out
    assert "Not proved" in said
    assert "read here as if" not in said


BY_TAG = """\
type: MeshTimeout
name: v1-calls
mesh: default
spec:
  targetRef: {kind: MeshSubset, tags: {version: v1}}
  to: [{targetRef: {kind: MeshService, name: api}, default: {http: {requestTimeout: 3s}}}]
"""
PROXIES = """\
type: Mesh
name: default
skipCreatingInitialPolicies: ['*']
---
type: Dataplane
name: web-1
mesh: default
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web, version: v1, kuma.io/protocol: http}}]
  outbound: [{port: 10001, tags: {kuma.io/service: api}}]
---
type: Dataplane
name: api-1
mesh: default
networking:
  address: 10.0.0.2
  inbound: [{port: 80, tags: {kuma.io/service: api, kuma.io/protocol: http}}]
"""


def test_what_a_change_would_alter_before_the_upgrade_says_so(tmp_path: Path) -> None:
    """Without the policy a request has no time limit on 2.14 and 15s on 3.0: both values are
    told of one setting, in two releases."""
    (tmp_path / "git").mkdir()
    (tmp_path / "git" / "p.yaml").write_text(BY_TAG, encoding="utf-8")
    (tmp_path / "there.yaml").write_text(PROXIES, encoding="utf-8")
    words = ("run", tmp_path / "git", "--dry-run", "--inventory", tmp_path / "there.yaml")
    said = command(*words, *TO_THREE).out
    assert "request timeout  3s → 15s" in said.partition("LEFT")[0]
    left = said.partition("LEFT")[2]
    assert "held: the change would alter what proxies get on 2.14, before the upgrade\n" in left
    assert "request timeout  3s → off" in left
