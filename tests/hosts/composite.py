"""Runs what code hosts run: the steps of a composite action, the scripts of a GitLab job."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.cases import ROOT

REAL = bool(os.environ.get("KUMAMIGRATE_HOSTS"))
"""Whether packages are installed as a host would, from a registry; else this checkout is used."""
_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


@dataclass
class Ran:
    """What a job left: its exit code, its log, outputs, step summary and the folder it used."""

    code: int
    log: str
    outputs: Mapping[str, str] = field(default_factory=dict)
    summary: str = ""


def clean() -> dict[str, str]:
    """Return the environment of a host: none of ours that says where this checkout is."""
    return {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "LANG", "PIP_INDEX_URL")}


def stand_in(program: Path) -> None:
    """Put this checkout where an installation would put the program."""
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(
        f'#!/usr/bin/env bash\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m kumamigrate "$@"\n'
    )
    program.chmod(0o755)


def act(workspace: Path, temporary: Path, **inputs: str) -> Ran:
    """Run the composite action of this checkout in a workspace, as a runner does."""
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    unknown = inputs.keys() - action["inputs"].keys()
    assert not unknown, unknown
    given = {name: str(one.get("default", "")) for name, one in action["inputs"].items()} | inputs
    known: dict[str, Any] = {f"inputs.{name}": value for name, value in given.items()}
    known["github.action_path"] = str(ROOT)
    if not REAL:
        stand_in(temporary / "kumamigrate" / "kumamigrate")
    log, summary, code = "", temporary / "summary", 0
    summary.touch()
    for number, step in enumerate(action["runs"]["steps"]):
        assert step["shell"] == "bash"
        # A script holds no expression: what a workflow passes in would become its text.
        assert not _EXPRESSION.search(step["run"])
        outputs = temporary / f"outputs-{number}"
        outputs.touch()
        env = {
            **clean(),
            "GITHUB_OUTPUT": str(outputs),
            "GITHUB_STEP_SUMMARY": str(summary),
            "GITHUB_WORKSPACE": str(workspace),
            "GITHUB_ACTIONS": "true",
            "CI": "true",
            "RUNNER_TEMP": str(temporary),
            **{name: _filled(value, known) for name, value in step.get("env", {}).items()},
        }
        script = temporary / f"step-{number}.sh"
        script.write_text(step["run"])
        shell = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)]
        done = subprocess.run(shell, cwd=workspace, env=env, capture_output=True, text=True)
        log, code = log + done.stdout + done.stderr, done.returncode
        for line in outputs.read_text().splitlines():
            name, _, value = line.partition("=")
            known[f"steps.{step.get('id')}.outputs.{name}"] = value
        if code:
            break
    told = {name: _filled(one["value"], known) for name, one in action["outputs"].items()}
    return Ran(code, log, told, summary.read_text())


def _filled(text: str, known: Mapping[str, Any]) -> str:
    return _EXPRESSION.sub(lambda found: str(known.get(found[1], "")), text)


def gitlab_job(workspace: Path, temporary: Path, **variables: str) -> Ran:
    """Run the job of the GitLab template: variables, then both scripts in one shell."""
    template = yaml.safe_load((ROOT / "hosts" / "gitlab.yml").read_text(encoding="utf-8"))
    job = template["kumamigrate"]
    env = clean() | {name: str(value) for name, value in job["variables"].items()}
    env |= {"CI": "true", "GITLAB_CI": "true", **variables}
    before = list(job["before_script"])
    if REAL:
        subprocess.run([sys.executable, "-m", "venv", temporary / "venv"], check=True)
        env["PATH"] = f"{temporary / 'venv' / 'bin'}:{env['PATH']}"
        env["KUMAMIGRATE_PACKAGE"] = str(ROOT)
    else:
        before = []
        stand_in(temporary / "bin" / "kumamigrate")
        env["PATH"] = f"{temporary / 'bin'}:{env['PATH']}"
    script = "\n".join(["set -eo pipefail", *before, *job["script"]])
    done = subprocess.run(
        ["bash", "-c", script], cwd=workspace, env=env, capture_output=True, text=True
    )
    allowed = done.returncode in job["allow_failure"]["exit_codes"]
    return Ran(0 if allowed else done.returncode, done.stdout + done.stderr)
