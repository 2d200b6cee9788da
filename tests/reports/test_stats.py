"""`--stats`: what was met, what it cost, where the time went; nothing else changes for it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.frontdoor import Answer, command

MESH = 'type: Mesh\nname: default\nskipCreatingInitialPolicies: ["*"]\n'
OLD = """type: MeshTimeout
name: t
mesh: default
spec:
  targetRef: {kind: Mesh}
  from: [{targetRef: {kind: Mesh}, default: {idleTimeout: 9s}}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.yaml").write_text(f"{MESH}---\n{OLD}")
    (tmp_path / "b.txt").write_text("nothing")
    (tmp_path / "c.yaml").write_text("a: 1\n")
    return tmp_path


def asked(command_: str, folder: Path, *words: str) -> Answer:
    paths = [folder, folder] if command_ == "prove" else [folder]
    dry = ["--dry-run"] if command_ == "run" else []
    return command(command_, *dry, *paths, "--target", "3.0", *words)


@pytest.mark.parametrize("name", ["run", "check", "prove"])
def test_stats_are_said_aside_and_change_nothing(name: str, folder: Path) -> None:
    plain, told = asked(name, folder), asked(name, folder, "--stats")
    assert (told.out, told.code, plain.err) == (plain.out, plain.code, "")
    size = (folder / "a.yaml").stat().st_size
    (met, cost) = told.err.splitlines()
    assert f"{size} bytes" in met
    assert met.endswith("1 Mesh, 1 MeshTimeout")
    assert re.search(r"stats: \d+ proofs?; reading [\d.]+ s, .*, all [\d.]+ s", cost)


@pytest.mark.parametrize(("name", "proofs"), [("run", 2), ("check", 0), ("prove", 1)])
def test_stats_stand_in_the_json(name: str, proofs: int, folder: Path) -> None:
    told = asked(name, folder, "--stats", "--format", "json").json
    stats = told["stats"]
    assert stats["resources"] == {"Mesh": 1, "MeshTimeout": 1}
    assert stats["proofs"] == proofs  # the one change, and the whole
    seconds = stats["seconds"]
    assert seconds["all"] == pytest.approx(sum(seconds.values()) - seconds["all"], abs=0.01)
    assert ("proving" in seconds, "the whole" in seconds) == (name == "run", name != "check")
    without = asked(name, folder, "--format", "json").json
    assert json.dumps({**told, "stats": None}) == json.dumps({**without, "stats": None})
