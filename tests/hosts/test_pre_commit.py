"""The pre-commit hooks, by pre-commit itself, from this checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from kumamigrate.arguments import COMMANDS
from tests.cases import ROOT
from tests.checkout import MESH, OLD, git
from tests.hosts.composite import REAL, clean, stand_in

HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
PRE_COMMIT = (sys.executable, "-m", "pre_commit")
CHANGED = OLD.replace("9s", "8s")

needs_pre_commit = pytest.mark.skipif(
    find_spec("pre_commit") is None, reason="pre-commit is not installed"
)
installs = pytest.mark.skipif(
    not REAL, reason="KUMAMIGRATE_HOSTS=1 lets pre-commit install from a package index"
)


def config(tmp_path: Path, repository: str, revision: str = "") -> Path:
    """Return a configuration with all hooks; `local` ones run this checkout."""
    hooks = [{"id": hook["id"]} for hook in HOOKS]
    if repository == "local":
        hooks = [{**hook, "language": "system"} for hook in HOOKS]
    here = {"repo": repository, "hooks": hooks, **({"rev": revision} if revision else {})}
    file = tmp_path / "config.yaml"
    file.write_text(yaml.safe_dump({"repos": [here]}))
    return file


def ran(
    workspace: Path, tmp_path: Path, file: Path, *words: str, env: Mapping[str, str] = {}
) -> subprocess.CompletedProcess[str]:
    stand_in(tmp_path / "bin" / "kumamigrate")
    found = {**clean(), "PRE_COMMIT_HOME": str(tmp_path / "home"), **env}
    if not REAL:
        found["PATH"] = f"{tmp_path / 'bin'}{os.pathsep}{found['PATH']}"
    command = [*PRE_COMMIT, "run", "--config", str(file), "--verbose", *words]
    return subprocess.run(command, cwd=workspace, env=found, capture_output=True, text=True)


def test_every_hook_runs_a_command_that_is_there() -> None:
    known = {command.name for command in COMMANDS}
    assert {hook["id"].removeprefix("kumamigrate-") for hook in HOOKS} <= known
    for hook in HOOKS:
        assert f"kumamigrate {hook['id'].removeprefix('kumamigrate-')}" in hook["entry"]


@needs_pre_commit
def test_pre_commit_takes_the_hooks() -> None:
    command = [*PRE_COMMIT, "validate-manifest", str(ROOT / ".pre-commit-hooks.yaml")]
    subprocess.run(command, check=True)


@needs_pre_commit
def test_check_and_run_look_at_the_whole_repository(workspace: Path, tmp_path: Path) -> None:
    file = config(tmp_path, "local")
    (workspace / "mesh.yaml").write_text(f"{MESH}# touched\n")
    git(workspace, "add", "-A")
    check = ran(workspace, tmp_path, file, "kumamigrate-check")
    assert (check.returncode, "old.yaml:6" in check.stdout) == (1, True), check.stdout
    run = ran(workspace, tmp_path, file, "kumamigrate-run")
    assert (run.returncode, "files were modified by this hook" in run.stdout) == (1, True)
    assert "rules:" in (workspace / "old.yaml").read_text()
    git(workspace, "add", "-A")
    assert ran(workspace, tmp_path, file, "kumamigrate-run").returncode == 0


@needs_pre_commit
@pytest.mark.parametrize(("text", "code"), [(f"# same\n{OLD}", 0), (CHANGED, 1)])
def test_what_is_pushed_is_proven_against_what_the_remote_has(
    text: str, code: int, workspace: Path, tmp_path: Path
) -> None:
    (workspace / "old.yaml").write_text(text)
    git(workspace, "commit", "-qam", "edited")
    refs = (git(workspace, "rev-parse", "origin/main"), git(workspace, "rev-parse", "HEAD"))
    push = ("--hook-stage", "pre-push", "--from-ref", refs[0], "--to-ref", refs[1])
    done = ran(workspace, tmp_path, config(tmp_path, "local"), *push, "kumamigrate-prove")
    assert done.returncode == code, done.stdout + done.stderr
    assert ("Different" if code else "Equivalent") in done.stdout


@needs_pre_commit
def test_without_what_the_remote_has_upstream_is_asked(workspace: Path, tmp_path: Path) -> None:
    git(workspace, "branch", "--set-upstream-to", "origin/main")
    push = ("--hook-stage", "pre-push", "--all-files")
    done = ran(workspace, tmp_path, config(tmp_path, "local"), *push, "kumamigrate-prove")
    assert (done.returncode, "Equivalent" in done.stdout) == (0, True), done.stdout


@needs_pre_commit
@installs
def test_the_hooks_install_from_a_checkout(workspace: Path, tmp_path: Path) -> None:
    revision = git(ROOT, "rev-parse", "HEAD")
    file = config(tmp_path, str(ROOT), revision)
    done = ran(workspace, tmp_path, file, "--all-files", "kumamigrate-check")
    assert (done.returncode, "old.yaml:6" in done.stdout) == (1, True), done.stdout + done.stderr
