"""The GitLab template, its scripts run in one shell as a runner does."""

from __future__ import annotations

import json
from pathlib import Path
from xml.dom import minidom

import yaml

from tests.cases import ROOT
from tests.checkout import OLD, git
from tests.hosts.composite import gitlab_job


def test_the_job_leaves_what_its_artifacts_name(workspace: Path, tmp_path: Path) -> None:
    ran = gitlab_job(workspace, tmp_path, KUMAMIGRATE_COMMAND="check --target 3.0")
    assert ran.code == 0, ran.log
    template = yaml.safe_load((ROOT / "hosts" / "gitlab.yml").read_text())
    reports = template["kumamigrate"]["artifacts"]["reports"]
    (found,) = [
        one
        for one in json.loads((workspace / reports["codequality"]).read_text())
        if one["check_name"] == "from-section"
    ]
    assert found["location"] == {"path": "old.yaml", "lines": {"begin": 6}}
    assert minidom.parse(str(workspace / reports["junit"])).getElementsByTagName("failure")
    assert (workspace / "kumamigrate" / "report.html").exists()


def test_the_default_is_a_dry_run(workspace: Path, tmp_path: Path) -> None:
    ran = gitlab_job(workspace, tmp_path)
    assert ran.code == 0, ran.log
    assert (workspace / "old.yaml").read_text() == OLD
    assert "Would change 1 file" in (workspace / "kumamigrate" / "comment.md").read_text()


def test_what_is_unsafe_fails_the_job(workspace: Path, tmp_path: Path) -> None:
    (workspace / "old.yaml").write_text(OLD.replace("9s", "8s"))
    git(workspace, "commit", "-qam", "edited by hand")
    ran = gitlab_job(workspace, tmp_path, KUMAMIGRATE_COMMAND="prove --against origin/main")
    assert ran.code == 4
    assert "Different" in (workspace / "kumamigrate" / "comment.md").read_text()
