"""Pairs of the kind that rules write, which a running 2.14 control plane was asked about.

`only` names the one kind of difference that Envoy's configuration showed.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cases import GOLDEN
from tests.frontdoor import command

PAIRS = sorted(path.parent for path in (GOLDEN / "asked-2.14").glob("*/verdict.json"))


@pytest.mark.parametrize("folder", PAIRS, ids=lambda folder: folder.name)
def test_the_prover_says_what_envoy_showed(folder: Path) -> None:
    states = (folder / "before.yaml", folder / "after.yaml")
    words = ("--target", "2.14", "--zone", "east", "--format", "json")
    found = command("prove", *states, *words).json["claims"]["live"]["dataplanes"]
    for name, said in json.loads((folder / "verdict.json").read_text())["dataplanes"].items():
        effects = {one["effect"] for one in found[name]["witnesses"]}
        assert effects == (set() if said["same"] else {said["only"]}), name
        assert (found[name]["verdict"] == "equivalent") is said["same"], name
