"""Edits that running control planes were asked about, each state twice: labels that identities,
patches and trust domains are made of; an old Timeout that goes beside a MeshTimeout, where a
TrafficRoute gives an outbound another protocol than its service has.

`same` says of a Dataplane whether its Envoy has the same configuration, but for what endpoints and
listeners carry of labels; `told` what is said where nobody compares certificates.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cases import GOLDEN
from tests.frontdoor import command

PAIRS = sorted(path.parent for path in (GOLDEN / "edits").glob("*/*/verdict.json"))


@pytest.mark.parametrize("folder", PAIRS, ids=lambda folder: f"{folder.parent.name}-{folder.name}")
def test_the_verdict_is_what_the_control_plane_showed(folder: Path) -> None:
    states = (folder / "before.yaml", folder / "after.yaml")
    words = ("--from", folder.parent.name, "--target", folder.parent.name, "--zone", "east")
    found = command("prove", *states, *words, "--format", "json").json["claims"]["live"]
    answer = json.loads((folder / "verdict.json").read_text())
    told = answer.get("told", {})
    for name, same in answer["same"].items():
        expected = told.get(name, "equivalent" if same else "different")
        assert found["dataplanes"][name]["verdict"] == expected, name
