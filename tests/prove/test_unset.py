"""Releases that differ by themselves (legacy-notes C16): a mesh that nobody changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumamigrate.effective.difference import Effect
from kumamigrate.effective.policies.meshtimeout import DOWNSTREAM
from kumamigrate.effective.unset import unset_differences
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import State
from kumamigrate.universe.contents import Contents
from kumamigrate.universe.side import Side
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


OLD = """---
type: TrafficRoute
mesh: default
name: route-all
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {destination: {kuma.io/service: '*'}}
---
type: Timeout
mesh: default
name: slow
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {connectTimeout: 2s}
"""


def test_an_old_timeout_keeps_nothing_over_the_upgrade(tmp_path: Path) -> None:
    """Of it 2.14 leaves half, and inbounds were never its own (legacy.md fact 6)."""
    file = tmp_path / "a.yaml"
    file.write_text(MESH + OLD)
    words = ("--from", "2.9", "--target", "2.14", "--format", "json")
    claims = command("prove", file, file, *words).json["claims"]
    found = {
        (w["field"], w["before"]["value"], w["after"]["value"])
        for w in claims["release"]["dataplanes"]["web-1"]["witnesses"]
    }
    assert ("http.requestTimeout", "0s", "15s") in found
    assert ("connectionTimeout", "10s", "5s") in found
    assert "Timeout slow" in str(claims["release"])
    same = command("prove", file, file, "--target", "2.9", "--format", "json").json["claims"]
    assert same["live"]["verdict"] == "equivalent"


LIMIT = """---
type: RateLimit
mesh: default
name: limit
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: web}}]
conf: {http: {requests: 5, interval: 1s}}
"""


def test_up_to_2_9_requests_carry_tags_in_every_mesh(tmp_path: Path) -> None:
    """So a mesh where something reads them carries them before and after (prover.md §6 F)."""
    file = tmp_path / "a.yaml"
    web = MESH.replace(
        "inbound:", "outbound: [{port: 81, tags: {kuma.io/service: web}}]\n  inbound:"
    )
    file.write_text(web + TIMEOUT + LIMIT)
    words = ("--from", "2.9", "--target", "2.14", "--format", "json")
    assert "x-kuma-tags" not in str(command("prove", file, file, *words).json["claims"])


ROUTE = OLD.split("---\n")[1]
ZEROS = """---
type: MeshTimeout
mesh: default
name: off
spec:
  targetRef: {kind: Mesh}
  to:
  - targetRef: {kind: Mesh}
    default: {connectionTimeout: 5s, idleTimeout: 0s,
              http: {requestTimeout: 0s, streamIdleTimeout: 0s, maxStreamDuration: 0s}}
"""


@pytest.mark.parametrize(
    ("added", "direction", "field", "before", "after"),
    [
        (TIMEOUT, "inbound", "http.requestTimeout", "15s", "0s"),
        (ZEROS, "outbound", "idleTimeout", "1h0m0s", "0s"),
    ],
    ids=["inbound", "outbound"],
)
def test_beside_a_traffic_route_newer_releases_have_values_of_their_own(
    added: str, direction: str, field: str, before: str, after: str, tmp_path: Path
) -> None:
    """A 2.14 has them whatever engine makes the outbounds, so a first MeshTimeout takes them away;
    a 2.9 has nothing of the kind (seen on a control plane; legacy-notes C16)."""
    outbound = "outbound: [{port: 81, tags: {kuma.io/service: web}}]\n  inbound:"
    mesh = MESH.replace("inbound:", outbound)
    (tmp_path / "a.yaml").write_text(f"{mesh}---\n{ROUTE}")
    (tmp_path / "b.yaml").write_text(
        f"{mesh}{added}" + (f"---\n{ROUTE}" if added is TIMEOUT else "")
    )
    words = (tmp_path / "a.yaml", tmp_path / "b.yaml", "--target", "2.14", "--format", "json")
    live = command("prove", *words).json["claims"]["live"]["dataplanes"]["web-1"]
    found = {
        (w["direction"], w["field"], w["before"]["value"], w["after"]["value"], w["effect"])
        for w in live["witnesses"]
    }
    assert (direction, field, before, after, "value") in found


def test_what_clients_see_of_an_idle_timeout_at_an_inbound_is_residue() -> None:
    """legacy-notes C4: no targetRef policy sets it."""
    mesh = Resource(type="Mesh", mesh="", name="default", labels={}, spec={})
    old, new = (
        Side(State(release=release, resources=(mesh,)), "default", Contents())
        for release in ("2.9", "2.14")
    )
    effects = {one.field: one.effect for one in unset_differences(old, new)}
    assert effects.pop(DOWNSTREAM) is Effect.RESIDUE
    assert set(effects.values()) == {Effect.VALUE}
