"""What the tool is made of: locked, hashed, listed, and built the same each time."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.cases import ROOT
from tools.audit import advisories, faults, locked, main
from tools.lock import bill

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
DEV = (ROOT / "requirements" / "dev.lock").read_text()
RUN = (ROOT / "requirements" / "run.lock").read_text()


@pytest.mark.parametrize(
    ("lock", "wanted"),
    [
        (RUN, PROJECT["project"]["dependencies"]),
        (RUN, PROJECT["dependency-groups"]["build"]),
        (DEV, PROJECT["project"]["dependencies"]),
        (DEV, PROJECT["project"]["optional-dependencies"]["dev"]),
    ],
)
def test_a_lock_holds_a_version_that_the_project_takes(lock: str, wanted: list[str]) -> None:
    versions = locked(lock)
    for requirement in map(Requirement, wanted):
        version = versions[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), "python tools/lock.py makes it anew"


@pytest.mark.parametrize("lock", [RUN, DEV])
def test_every_file_of_every_package_is_known_by_its_hash(lock: str) -> None:
    packages = re.split(r"^(?=[A-Za-z])", lock, flags=re.MULTILINE)[1:]
    assert len(packages) == len(locked(lock))
    for package in packages:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", package), package


def test_the_bill_of_materials_lists_what_a_run_needs() -> None:
    listed = json.loads((ROOT / "requirements" / "bom.json").read_text())
    assert listed == bill(RUN)
    assert {c["name"] for c in listed["components"]} == {*locked(RUN)}
    assert all(component["hashes"] for component in listed["components"])


def test_every_dependency_of_a_run_has_its_reason() -> None:
    reasons = (ROOT / "CONTRIBUTING.md").read_text()
    for requirement in map(Requirement, PROJECT["project"]["dependencies"]):
        assert re.search(rf"^\| `{requirement.name}` \| \S", reasons, re.MULTILINE)


def test_two_builds_of_a_wheel_are_the_same_bytes(tmp_path: Path) -> None:
    built = []
    for number in (1, 2):
        copy = tmp_path / f"copy{number}"
        for name in ("kumamigrate", "rules"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, copy / name)
        for path in copy.rglob("*"):
            os.utime(path, (number * 10**9, number * 10**9))
        code = f"import hatchling.build; print(hatchling.build.build_wheel({str(tmp_path)!r}))"
        subprocess.run([sys.executable, "-c", code], cwd=copy, check=True, capture_output=True)
        (wheel,) = tmp_path.glob("*.whl")
        built.append(wheel.read_bytes())
        wheel.unlink()
    assert built[0] == built[1]


def _advisory(name: str = "PyYAML", **said: Any) -> dict[str, Any]:
    package = {"ecosystem": "PyPI", "name": name}
    return {"id": "X-1", "summary": "bad", "affected": [{"package": package, **said}]}


def _range(*events: dict[str, str]) -> dict[str, Any]:
    return {"ranges": [{"type": "ECOSYSTEM", "events": list(events)}]}


@pytest.mark.parametrize(
    ("advisory", "hit"),
    [
        (_advisory(**_range({"introduced": "0"}, {"fixed": "6.0.2"})), True),
        (_advisory(**_range({"introduced": "0"}, {"fixed": "6.0.1"})), False),
        (_advisory(**_range({"introduced": "0"}, {"last_affected": "6.0.1"})), True),
        (_advisory(**_range({"introduced": "0"}, {"fixed": "5"}, {"introduced": "6"})), True),
        (_advisory(versions=["6.0.1"]), True),
        (_advisory(versions=["6.0.0"]), False),
        (_advisory("rich", versions=["6.0.1"]), False),
        ({**_advisory(versions=["6.0.1"]), "withdrawn": "2024-01-01"}, False),
    ],
)
def test_an_advisory_speaks_of_the_versions_it_names(advisory: dict[str, Any], hit: bool) -> None:
    assert bool(list(faults(advisory, {"pyyaml": Version("6.0.1")}))) is hit


def test_what_is_locked_is_held_against_a_dump(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    version = str(locked(DEV)["pyyaml"])
    (tmp_path / "a.json").write_text(json.dumps(_advisory(versions=[version])))
    assert len(list(advisories(tmp_path))) == 1
    assert main(tmp_path) == 1
    assert "X-1" in capsys.readouterr().out
    (tmp_path / "a.json").write_text(json.dumps(_advisory(versions=["0"])))
    assert main(tmp_path) == 0
