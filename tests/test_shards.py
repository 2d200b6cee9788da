"""Parts of the environments, proven apart and put together, come to what one machine says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kumamigrate.errors import UsageError
from kumamigrate.flow.shard import Shard, shard_of
from tests.frontdoor import command

MESH = "type: Mesh\nname: default\nskipCreatingInitialPolicies: ['*']\n"
TIMEOUT = """type: MeshTimeout
mesh: default
name: t
spec:
  targetRef: {kind: Mesh}
  to:
    - targetRef: {kind: Mesh}
      default: {idleTimeout: %s}
"""
SECONDS = {"aa": "10s", "bb": "20s", "cc": "30s", "dd": "40s", "ee": "50s"}


def _write(root: Path, seconds: dict[str, str]) -> Path:
    for name, value in seconds.items():
        folder = root / "clusters" / name
        folder.mkdir(parents=True)
        (folder / "mesh.yaml").write_text(MESH, encoding="utf-8")
        (folder / "t.yaml").write_text(TIMEOUT % value, encoding="utf-8")
    (root / "kumamigrate.toml").write_text("", encoding="utf-8")
    return root


def _parts(root: Path, of: int, before: Path, after: Path) -> list[Path]:
    found = []
    for number in range(1, of + 1):
        answer = command("prove", before, after, "--shard", f"{number}/{of}", "--format", "json")
        found.append(root / f"part-{number}-of-{of}.json")
        found[-1].write_text(answer.out, encoding="utf-8")
    return found


def _told(data: dict[str, Any]) -> dict[str, Any]:
    """What has to be the same: verdicts, and every difference."""
    return {
        name: (
            claim["verdict"],
            claim["allowing"],
            sorted(json.dumps(one, sort_keys=True) for one in claim["dataplanes"].values()),
            claim.get("unknown", []),
        )
        for name, claim in data["claims"].items()
    }


@pytest.fixture(params=["same", "different", "broken"])
def states(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path]:
    """Two states of five environments, of which none, one or the last differs."""
    later = {"same": {}, "different": {"cc": "31s"}, "broken": {"ee": "{{ value }}"}}
    before = _write(tmp_path / "before", SECONDS)
    return before, _write(tmp_path / "after", {**SECONDS, **later[request.param]})


@pytest.mark.parametrize("of", [1, 2, 3, 7])
def test_all_parts_say_together_what_one_machine_says(
    of: int, states: tuple[Path, Path], tmp_path: Path
) -> None:
    whole = command("prove", *states, "--format", "json")
    parts = _parts(tmp_path, of, *states)
    merged = command("merge", *reversed(parts), "--format", "json", given=None)
    assert merged.code == whole.code
    assert _told(merged.json) == _told(whole.json)
    assert merged.json["decides"] == whole.json["decides"]
    environments = [name for part in merged.json["shards"] for name in part["environments"]]
    assert sorted(environments) == sorted(SECONDS)
    text = command("merge", *parts, given=None)
    assert text.code == whole.code
    assert f"5 environments in {of} part" in text.out


def test_a_proof_without_one_of_its_parts_is_none(tmp_path: Path) -> None:
    states = (_write(tmp_path / "a", SECONDS), _write(tmp_path / "b", SECONDS))
    one, two, three = _parts(tmp_path, 3, *states)
    said = command("merge", one, three, given=None)
    assert (said.code, said.out) == (2, "")
    assert "part 2 of 3 is missing" in said.err
    assert "also stands in" in command("merge", one, two, three, one, given=None).err
    assert "needs the reports" in command("merge", given=None).err


def test_parts_of_other_states_are_not_put_together(tmp_path: Path) -> None:
    before = _write(tmp_path / "a", SECONDS)
    one, _ = _parts(tmp_path, 2, before, _write(tmp_path / "b", SECONDS))
    (tmp_path / "later").mkdir()
    changed = _write(tmp_path / "c", {**SECONDS, "aa": "11s"})
    _, two = _parts(tmp_path / "later", 2, before, changed)
    said = command("merge", one, two, given=None)
    assert said.code == 2
    assert "of other states" in said.err


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"schema": "kumamigrate.proof/1"}'])
def test_what_is_no_part_is_refused(text: str, tmp_path: Path) -> None:
    report = tmp_path / "part.json"
    report.write_text(text, encoding="utf-8")
    said = command("merge", report, given=None)
    assert (said.code, said.out) == (2, "")
    assert "part.json" in said.err


@pytest.mark.parametrize("words", ["0/2", "3/2", "1", "1/0", "a/b", "1/2/3", "-1/2", "01/2"])
def test_a_part_that_cannot_be_is_refused(words: str) -> None:
    with pytest.raises(UsageError, match="write I/N"):
        shard_of(words)


def test_each_environment_is_in_exactly_one_part() -> None:
    for of in range(1, 9):
        found = [name for at in range(1, of + 1) for name in Shard(at, of).mine(list(SECONDS))]
        assert sorted(found) == sorted(SECONDS)
