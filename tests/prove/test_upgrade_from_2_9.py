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
