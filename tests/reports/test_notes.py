"""Findings of one cause: what is said of some of them names their places, and all are counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frontdoor import command

MESH = """\
type: Mesh
name: default
meshServices: {mode: Exclusive}
mtls: {enabledBackend: ca, backends: [{name: ca, type: builtin}]}
"""
PERMISSION = """\
---
type: MeshTrafficPermission
mesh: default
name: for-APP
spec:
  targetRef: {kind: Dataplane, labels: {app: APP}}
  from: [{targetRef: WHO, default: {action: Allow}}]
"""
ANYBODY = "{kind: Mesh}"
OPENS = 'for the clients known: rules: [{default: {allow: [{spiffeID: {type: Prefix, value: "spiffe://default"}}]}}]'
UNKNOWN = "no Dataplane or workload is known, so neither are the clients"


def _permission(app: str, who: str) -> str:
    return PERMISSION.replace("APP", app).replace("WHO", who)


def _tagged(service: str) -> str:
    return f"{{kind: MeshSubset, tags: {{kuma.io/service: {service}}}}}"


def test_a_suggestion_for_one_permission_is_none_for_another(tmp_path: Path) -> None:
    policies = _permission("shop", ANYBODY) + _permission("vault", _tagged("prometheus"))
    (tmp_path / "all.yaml").write_text(MESH + policies)
    said = command("check", tmp_path).out
    assert f"       all.yaml:11   {OPENS}\n" in said
    assert f"       all.yaml:18   {UNKNOWN}\n" in said


def test_what_is_said_of_all_stands_without_a_place(tmp_path: Path) -> None:
    policies = _permission("shop", ANYBODY) + _permission("vault", ANYBODY)
    (tmp_path / "all.yaml").write_text(MESH + policies)
    assert f"       {OPENS}\n" in command("check", tmp_path).out


TIED = """\
type: TrafficPermission
mesh: default
name: to-NAME
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: NAME}}]
"""


def test_what_is_held_is_counted_and_named_resource_by_resource(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One change takes the place of three old permissions."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text(MESH)
    (tmp_path / "b.yaml").write_text(MESH + "networking: {outbound: {passthrough: false}}\n")
    for name in ("x", "y", "z"):
        (tmp_path / f"{name}.yaml").write_text(TIED.replace("NAME", name))
    said = command("run", "--dry-run").out
    assert "3 findings to look at" in said
    assert "LEFT  3 resources\n    3  held: it cannot be told what changes" in said
    assert "       x.yaml:1, y.yaml:1, z.yaml:1\n" in said
    verbose = command("run", "--dry-run", "--verbose").out
    assert all(f"{name}.yaml:1   TrafficPermission to-{name}   " in verbose for name in "xyz")
