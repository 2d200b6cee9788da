"""What run, check and prove print is what is published, and nothing that is not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.cases import ROOT
from tests.frontdoor import command
from tests.reports.handmade import report
from tests.schemas import FILE, against_the_schema, schema

EXAMPLES = [ROOT / "fixtures" / "example", *sorted((ROOT / "fixtures" / "examples").iterdir())]
BROKEN = "type: MeshRetry\nname: r\nname: r\nmesh: default\nspec: {}\n"
UNTOLD = (
    "type: MeshTimeout\nname: t\nmesh: other\nspec:\n  targetRef: {kind: MeshHTTPRoute, name: x}\n"
)


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(schema())
    assert FILE.is_relative_to(ROOT / "kumamigrate")  # it is installed with the package


@pytest.fixture(params=EXAMPLES, ids=lambda path: path.name)
def tree(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    copy = tmp_path / "tree"
    shutil.copytree(request.param / "before", copy)
    for path in (copy, *copy.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    (copy / "broken.yaml").write_text(BROKEN)
    (copy / "untold.yaml").write_text(UNTOLD)
    (copy / "guide.md").write_text(f"```yaml\n{UNTOLD}```\n")
    return copy


@pytest.mark.parametrize(
    "words",
    [
        ("check", "--target", "3.0"),
        ("run", "--dry-run", "--markdown", "--hold", "activation", "--stats"),
    ],
    ids=" ".join,
)
def test_reports_hold_nothing_that_is_not_published(words: tuple[str, ...], tree: Path) -> None:
    answer = command(*words, tree, "--format", "json", given=None)
    assert against_the_schema(answer.json, strict=True) == ""


def test_a_run_and_its_proof_hold_nothing_that_is_not_published(tree: Path, tmp_path: Path) -> None:
    before = tmp_path / "before"
    shutil.copytree(tree, before)
    words = ("--target", "3.0", "--format", "json")
    ran = command("run", tree, *words, "--deletions", "kubectl", given=None)
    assert ran.code
    assert against_the_schema(ran.json, strict=True) == ""
    answer = command("prove", before, tree, *words, given=None)
    assert against_the_schema(answer.json, strict=True) == ""


@pytest.mark.parametrize(
    "words",
    [
        {"schema": "kumamigrate.report/2"},
        {"findings": [{"rule": "x"}]},
        {"written": "no"},
        {"meshes": [{"mesh": "m", "changed": -1, "files": 0}]},
    ],
    ids=str,
)
def test_what_has_another_shape_is_refused(words: dict[str, object], tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(UNTOLD)
    told = command("check", tmp_path, "--format", "json").json
    assert against_the_schema(told) == ""
    assert against_the_schema({**told, **words}) != ""
    assert against_the_schema({**told, "more": 1}) == ""
    assert against_the_schema({**told, "more": 1}, strict=True) != ""


def test_a_report_made_by_hand_is_one_but_for_the_world() -> None:
    made = report([], [])
    missing = {"world": {"files": 0, "read": "git", "environments": []}, "inventory": []}
    assert against_the_schema({**made, **missing, "embedded": [], "readBy": []}) == ""
    assert json.dumps(made)
