"""Meshes that a running 2.9 and a running 2.14 were both asked about, twice: what the upgrade alone
changes of each Dataplane, by meaning, tags that every span gets left out.

*activation*: a setting that 2.9 does not read there begins to work.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cases import GOLDEN
from tests.frontdoor import command

MESHES = sorted((GOLDEN / "upgrade-2.9").glob("*.yaml"))


@pytest.mark.parametrize("path", MESHES, ids=lambda path: path.stem)
def test_the_upgrade_changes_what_both_control_planes_showed(path: Path) -> None:
    words = ("--from", "2.9", "--target", "2.14", "--zone", "east", "--initial-policies", "none")
    found = command("prove", path, path, *words, "--format", "json").json["claims"]["release"]
    for name, expected in json.loads(path.with_suffix(".json").read_text()).items():
        one = found["dataplanes"][name]
        effects = {witness["effect"] for witness in one["witnesses"]} - {"name"}
        kinds = {"different": {"value"}, "activation": {"activation"}, "equivalent": set()}
        assert effects == kinds[expected], name
        assert (one["verdict"] == "equivalent") is (expected == "equivalent"), name


FAULTS = """\
type: MeshFaultInjection
mesh: default
name: f
spec:
  targetRef: {kind: Mesh, proxyTypes: [Sidecar]}
  from:
  - targetRef: CLIENTS
    default: {http: [{abort: {httpStatus: 500, percentage: 50}}]}
---
type: MeshTimeout
mesh: default
name: as-before
spec:
  targetRef: {kind: Mesh}
  from:
  - targetRef: {kind: Mesh}
    default:
      connectionTimeout: 10s
      idleTimeout: 2h
      http: {requestTimeout: 0s, streamIdleTimeout: 1h, maxStreamDuration: 0s}
"""


@pytest.mark.parametrize("clients", ["{kind: Mesh}", "{kind: MeshSubset, tags: {team: a}}"])
@pytest.mark.parametrize(("first", "last"), [("2.9", "2.14"), ("2.9", "2.9"), ("2.10", "2.14")])
def test_faults_reach_grpc_from_2_10_on_whether_or_not_a_dataplane_is_listed(
    clients: str, first: str, last: str, tmp_path: Path
) -> None:
    (tmp_path / "a.yaml").write_text(FAULTS.replace("CLIENTS", clients))
    words = ("--from", first, "--target", last, "--format", "json")
    claims = command("prove", tmp_path, tmp_path, *words).json["claims"]
    fields = {
        (witness["policyType"], witness["field"])
        for claim in claims.values()
        for proxy in claim["dataplanes"].values()
        for witness in proxy["witnesses"]
    }
    wanted = {("MeshFaultInjection", "spared")} if (first, last) == ("2.9", "2.14") else set()
    assert {one for one in fields if one[0] == "MeshFaultInjection"} == wanted
