"""The GitHub action, step by step as a runner runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.cases import ROOT
from tests.checkout import OLD, git
from tests.hosts.composite import act


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    folder = tmp_path / "runner temp"
    folder.mkdir()
    return folder


def test_a_dry_run_annotates_sums_up_and_leaves_reports(workspace: Path, temporary: Path) -> None:
    ran = act(workspace, temporary)
    assert ran.code == 0, ran.log
    assert ran.outputs["exit-code"] == "1"  # something would change, and it is proven
    assert ran.summary.startswith("<!-- kumamigrate -->\n### Would change 1 file; no live value")
    folder = Path(ran.outputs["folder"])
    assert Path(ran.outputs["comment"]).read_text() == ran.summary
    assert json.loads(Path(ran.outputs["sarif"]).read_text())["version"] == "2.1.0"
    assert "--- a/old.yaml" in (folder / "plan.patch").read_text()
    assert (folder / "report.html").read_text().startswith("<!DOCTYPE html>")
    assert git(workspace, "status", "--porcelain") == ""  # a dry run, and reports lie elsewhere


def test_a_check_annotates_lines(workspace: Path, temporary: Path) -> None:
    ran = act(workspace, temporary, command="check", target="3.0", fail="any")
    assert ran.code == 1
    assert "::error file=old.yaml,line=6,col=9,title=from-section" in ran.log


@pytest.mark.parametrize(("text", "code"), [(OLD, 0), (OLD.replace("9s", "8s"), 4)])
def test_a_proof_against_the_base_decides(
    text: str, code: int, workspace: Path, temporary: Path
) -> None:
    (workspace / "old.yaml").write_text(f"# a comment\n{text}")
    git(workspace, "commit", "-qam", "edited by hand")
    ran = act(workspace, temporary, command="prove", against="origin/main")
    assert (ran.code, ran.outputs["exit-code"]) == (code, str(code)), ran.log
    assert ("Different" if code else "Equivalent") in ran.summary
    assert ("::error file=old.yaml,line=7," in ran.log) is bool(code)


def test_a_shallow_checkout_is_told_what_to_do(
    workspace: Path, temporary: Path, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "-q", "--depth", "1", workspace.as_uri(), str(tmp_path / "shallow"))
    ran = act(tmp_path / "shallow", temporary, command="prove", against="HEAD~1")
    assert ran.code == 2
    assert "fetch-depth: 0" in ran.log


@pytest.mark.parametrize(
    ("fail", "code"), [("any", 1), ("unsafe", 0), ("broken", 0), ("sometimes", 2)]
)
def test_what_fails_is_chosen(fail: str, code: int, workspace: Path, temporary: Path) -> None:
    assert act(workspace, temporary, fail=fail).code == code


def test_inputs_are_values_and_no_script(workspace: Path, temporary: Path) -> None:
    odd = workspace / "$(touch pwned) `touch pwned`;touch pwned"
    odd.mkdir()
    (odd / "a b.yaml").write_text(OLD.replace("name: t", "name: other"))
    git(workspace, "add", "-A")
    git(workspace, "commit", "-qm", "odd")
    paths = f"{odd.name}\n\nmesh.yaml\n"
    ran = act(workspace, temporary, command="check", paths=paths, arguments="--target\n3.0")
    assert (ran.code, ran.outputs["exit-code"]) == (0, "1"), ran.log
    assert not list(workspace.rglob("pwned"))
    assert "$(touch pwned)" in ran.summary
    assert act(workspace, temporary, command="run; touch pwned").code == 2
    assert not list(workspace.rglob("pwned"))


def test_the_action_says_what_it_takes_and_gives() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert all(one["description"] for one in action["inputs"].values())
    assert all(one["description"] for one in action["outputs"].values())
    assert action["runs"]["using"] == "composite"
