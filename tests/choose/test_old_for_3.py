"""What an old policy becomes for 2.14, and 3.0 would refuse: for 3.0 only on one's word."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases import FIXTURES
from tests.frontdoor import Answer, command

CASE = FIXTURES / "legacy-traffic-permission" / "not-for-3.0" / "before"
FILE = "permissions.yaml"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for one in CASE.iterdir():
        (tmp_path / one.name).write_bytes(one.read_bytes())
    return tmp_path


def run(folder: Path, *words: str, target: str = "3.0") -> Answer:
    return command("run", folder, "--target", target, "--initial-policies", "none", *words)


def test_the_report_names_what_would_be_refused_and_the_way(folder: Path) -> None:
    said = run(folder).out
    assert "2  left as before: 3.0 would refuse what they become\n" in said
    assert "MeshTrafficPermission allow-all: 3.0 has no `from`, and 1 more" in said
    assert "`kumamigrate run --target 2.14` writes it for 2.14; then run for 3.0 again" in said
    assert "it cannot be told" not in said


def test_it_is_a_finding_and_no_doubt(folder: Path) -> None:
    report = run(folder, "--format", "json").json
    (held,) = report["held"]
    assert (held["rule"], held["cause"]) == ("legacy-traffic-permission", "refused")
    assert held["unknown"][0].startswith("MeshTrafficPermission allow-all: 3.0 has no `from`")


def test_a_comment_on_a_pull_request_says_so_too(folder: Path) -> None:
    said = run(folder, "--dry-run", "--format", "markdown").out
    assert "left as before, since the target would refuse what it becomes" in said


def test_on_ones_word_it_is_written(folder: Path) -> None:
    run(folder, "--accept", "legacy-traffic-permission")
    assert "type: TrafficPermission" not in (folder / FILE).read_text()


def test_the_release_in_use_gets_it(folder: Path) -> None:
    run(folder, target="2.14")
    assert "type: TrafficPermission" not in (folder / FILE).read_text()
