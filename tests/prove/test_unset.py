"""Releases that differ by themselves (legacy-notes C16): a mesh that nobody changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frontdoor import command

MESH = """type: Mesh
name: default
skipCreatingInitialPolicies: ["*"]
---
type: Dataplane
mesh: default
name: web-1
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web, kuma.io/protocol: http}}]
"""
TIMEOUT = """---
type: MeshTimeout
mesh: default
name: inbound
spec:
  targetRef: {kind: Mesh}
  from:
    - targetRef: {kind: Mesh}
      default: {connectionTimeout: 10s, http: {requestTimeout: 0s}}
"""


@pytest.mark.parametrize(
    ("old", "new", "differs"),
    [("2.9", "2.14", True), ("2.9", "2.10", True), ("2.10", "2.14", False), ("2.6", "2.9", False)],
)
def test_without_a_timeout_newer_releases_bring_their_own(
    old: str, new: str, *, differs: bool, tmp_path: Path
) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(MESH)
    words = ("--from", old, "--target", new)
    proved = command("prove", file, file, *words, "--format", "json")
    proxies = proved.json["claims"]["release"]["dataplanes"]
    found = {
        (w["direction"], w["field"], w["before"]["value"], w["after"]["value"])
        for w in proxies["web-1"]["witnesses"]
    }
    assert (("inbound", "http.requestTimeout", "0s", "15s") in found) is differs
    assert proved.code == (4 if differs else 0)
    ran = command("run", file, *words)
    assert (ran.code == 4, "request timeout  off → 15s" in ran.out) == (differs, differs)


def test_a_policy_with_the_old_values_keeps_them(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(MESH + TIMEOUT)
    words = ("--from", "2.9", "--target", "2.14", "--format", "json")
    claims = command("prove", file, file, *words).json["claims"]
    changed = {
        (w["direction"], w["field"])
        for proxy in claims["release"]["dataplanes"].values()
        for w in proxy["witnesses"]
    }
    assert not changed & {("inbound", "http.requestTimeout"), ("inbound", "connectionTimeout")}
