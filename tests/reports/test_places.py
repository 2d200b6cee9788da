"""Where things are said to stand, what a verdict rests on, and what Git cannot give."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kumamigrate.report.screen.difftext import proxy_words
from kumamigrate.scene.samelines import old_lines
from tests.frontdoor import command
from tests.test_story import MESH, ROUTE, committed

INBOUND = """---
type: MeshTimeout
name: both
mesh: default
spec:
  from: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 3s}}}]
  to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 3s}}}]
"""
LATER = """---
type: MeshTimeout
name: by-tags
mesh: default
spec:
  targetRef: {kind: MeshSubset, tags: {version: v9}}
  to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 9s}}}]
"""


def test_a_dry_run_names_lines_of_the_text_on_disk(tmp_path: Path) -> None:
    """The policy above becomes two, so everything below it moves."""
    file = tmp_path / "a.yaml"
    text = MESH + INBOUND + LATER
    file.write_text(text)
    dry = command("run", file, "--dry-run", "--format", "json").json
    (finding,) = [f for f in dry["findings"] if f["resource"]["name"] == "by-tags"]
    assert text.splitlines()[finding["line"] - 1].strip().startswith("targetRef: {kind: MeshSubset")
    command("run", file)
    written = file.read_text()
    assert written.count("---") == text.count("---") + 1
    after = command("run", file, "--format", "json").json
    (finding,) = [f for f in after["findings"] if f["resource"]["name"] == "by-tags"]
    line = written.splitlines()[finding["line"] - 1]
    assert line.strip().startswith("targetRef: {kind: MeshSubset")


def test_a_value_that_takes_effect_stands_on_the_line_that_is_named(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(MESH + INBOUND + ROUTE)
    dry = command("run", file, "--dry-run", "--format", "json").json
    witnesses = [
        w
        for proxy in dry["proof"]["claims"]["live"]["dataplanes"].values()
        for w in proxy["witnesses"]
        if w["effect"] == "activation"
    ]
    assert witnesses
    for witness in witnesses:
        _, line, _ = witness["after"]["at"].rsplit(":", 2)
        assert "requestTimeout: 40s" in (MESH + INBOUND + ROUTE).splitlines()[int(line) - 1]


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("abc", "abc", [1, 2, 3]),
        ("abc", "axbc", [1, 2, 2, 3]),
        ("abc", "ac", [1, 3]),
        ("abc", "axyc", [1, 2, 2, 3]),
        ("", "ab", [1, 1]),
        ("abc", "abcxy", [1, 2, 3, 3, 3]),
    ],
)
def test_new_lines_stand_where_old_ones_did(old: str, new: str, lines: list[int]) -> None:
    assert list(old_lines(list(old), list(new))) == lines


def test_a_tag_and_a_label_that_say_the_same_are_said_once() -> None:
    assert proxy_words("any proxy with app=web and app=web") == "any proxy with app=web"
    assert proxy_words("any proxy with a=1, b=2 and namespace c") == (
        "any proxy with a=1 and b=2 and namespace c"
    )
    assert proxy_words("any proxy") == "any proxy"
    assert proxy_words("web-1") == "web-1"


def test_what_a_verdict_takes_for_granted_stands_with_it(tmp_path: Path) -> None:
    """In the proof and in the text, of `run` and of `prove`: services, releases, flags."""
    file = tmp_path / "a.yaml"
    file.write_text(ROUTE.removeprefix("---\n"))
    settings = ("--target", "2.13", "--mesh-services", "Exclusive")
    proved = command("prove", file, file, *settings, "--format", "json").json
    said = command("prove", file, file, *settings).out
    facts = proved["assumptions"]
    assert any("2.13 is read like 2.14" in fact for fact in facts)
    assert "mesh default runs in MeshService mode Exclusive (--mesh-services)" in facts
    assert all(fact in said for fact in facts)
    ran = command("run", file, *settings, "--dry-run", "--format", "json").json
    assert any("kuma.io/display-name=orders" in fact for fact in ran["proof"]["assumptions"])
    assert set(facts) <= set(ran["proof"]["assumptions"])


def test_a_revision_that_is_not_here_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.yaml").write_text(MESH)
    here = committed(tmp_path / "files", tmp_path / "here")
    answer = command("prove", here, "--against", "origin/main")
    assert answer.code == 2
    assert "origin/main is not in this clone; in CI fetch with depth 0" in answer.err
    assert "fatal" not in answer.err
    shallow = tmp_path / "shallow"
    subprocess.run(["git", "clone", "-q", "--depth", "1", here.as_uri(), str(shallow)], check=True)
    assert "this clone is shallow" in command("prove", shallow, "--against", "HEAD~1").err


def test_without_git_the_way_out_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(MESH)
    answer = command("prove", tmp_path, "--against", "HEAD")
    assert (answer.code, "kumamigrate prove BEFORE AFTER" in answer.err) == (2, True)
