"""Pairs of policies in a global control plane with two zones, whose own control planes were asked
what their proxies are configured with. An inventory of the global one stands beside them.

`same` says of each Dataplane whether Envoy's configuration was; `told` what is said beside that,
where nobody can know from a global control plane what its zones have.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cases import GOLDEN
from tests.frontdoor import command

PAIRS = sorted(path.parent for path in (GOLDEN / "zones").glob("*/*/verdict.json"))


@pytest.mark.parametrize("folder", PAIRS, ids=lambda folder: f"{folder.parent.name}-{folder.name}")
def test_each_zone_has_what_was_handed_out_in_its_own_way(folder: Path) -> None:
    states = (folder / "before.yaml", folder / "after.yaml")
    release, inventory = folder.parent.name, folder.parent / "inventory.yaml"
    words = ("--from", release, "--target", release, "--control-plane-mode", "global")
    more = ("--inventory", inventory, "--format", "json")
    found = command("prove", *states, *words, *more).json["claims"]["live"]["dataplanes"]
    answer = json.loads((folder / "verdict.json").read_text())
    told = answer.get("told", {})
    for name, same in answer["same"].items():
        expected = told.get(name, "equivalent" if same else "different")
        assert found[name]["verdict"] == expected, name
