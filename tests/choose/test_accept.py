"""`--accept RULE@file:line`: one place on the user's word, and no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumamigrate.flow.word import _is_at
from kumamigrate.scene.repository import Repository
from kumamigrate.source.reading.load import read_file
from kumamigrate.world.accepted import Accepted
from tests.choose.conftest import MakeShop
from tests.choose.shop import MESH, Shop, findings

RULE = "zipkin-without-defaults"
OLD = ("--from", "2.9")
TRACE = """\
type: MeshTrace
name: %s
mesh: default
spec:
  default:
    backends:
      - type: Zipkin
        zipkin: {url: http://zipkin:9411}
"""


@pytest.fixture
def traces(make_shop: MakeShop) -> Shop:
    """Two policies that a rule of safety *review* would change."""
    return make_shop({"mesh.yaml": MESH, "teams/a.yaml": TRACE % "a", "teams/b.yaml": TRACE % "b"})


def asked(traces: Shop) -> dict[str, int]:
    """The line of each finding that waits for the user's word."""
    report = traces.run("run", "--dry-run", *OLD, "--format", "json")
    return {f: n for rule, status, f, n in findings(report) if (rule, status) == (RULE, "manual")}


def test_only_the_place_named_is_written(traces: Shop) -> None:
    lines = asked(traces)
    assert set(lines) == {"teams/a.yaml", "teams/b.yaml"}
    word = f"{RULE}@teams/a.yaml:{lines['teams/a.yaml']}"
    done = traces.run("run", *OLD, "--accept", word, "--format", "json")
    assert traces.read("teams/a.yaml") != TRACE % "a"
    assert traces.read("teams/b.yaml") == TRACE % "b"
    statuses = {f: status for rule, status, f, _ in findings(done) if rule == RULE}
    assert statuses == {"teams/a.yaml": "fixed", "teams/b.yaml": "manual"}


def test_a_place_may_be_named_from_where_the_user_stands_and_with_a_column(traces: Shop) -> None:
    line = asked(traces)["teams/a.yaml"]
    for word in (f"{RULE}@a.yaml:{line}", f"{RULE}@teams/a.yaml:{line}:9"):
        done = traces.run(
            "run", "--dry-run", *OLD, "--accept", word, "--format", "json",
            inside="teams",
        )  # fmt: skip
        assert (RULE, "fixed", "teams/a.yaml", line) in findings(done)


def test_a_place_where_nothing_of_the_rule_stands_is_a_finding(traces: Shop) -> None:
    line = asked(traces)["teams/a.yaml"]
    word = f"{RULE}@teams/a.yaml:{line + 1}"
    done = traces.run("run", *OLD, "--accept", word, "--format", "json")
    assert traces.read("teams/a.yaml") == TRACE % "a"
    said = [f for f in done.json["findings"] if f["rule"] == "unused-accept"]
    assert [(f["file"], f["line"]) for f in said] == [("teams/a.yaml", line + 1)]
    assert f"line {line} there" in said[0]["action"]
    assert done.code != 0


def test_a_file_that_is_not_there_is_a_finding(traces: Shop) -> None:
    done = traces.run("run", "--dry-run", "--accept", f"{RULE}@gone.yaml:3", "--format", "json")
    said = [f for f in done.json["findings"] if f["rule"] == "unused-accept"]
    assert [(f["file"], f["line"]) for f in said] == [("gone.yaml", 3)]
    assert "no such file" in said[0]["action"]


@pytest.mark.parametrize("word", [f"{RULE}@teams/a.yaml", f"{RULE}@:3", f"{RULE}@a.yaml:x"])
def test_what_is_no_place_is_refused(traces: Shop, word: str) -> None:
    done = traces.run("run", "--accept", word)
    assert (done.code, "write RULE or RULE@file:line" in done.err) == (2, True)


def test_an_unknown_rule_at_a_place_is_refused(traces: Shop) -> None:
    done = traces.run("run", "--accept", "no-such-rule@teams/a.yaml:3")
    assert (done.code, "there is no rule no-such-rule" in done.err) == (2, True)


def test_the_settings_may_name_places(traces: Shop) -> None:
    line = asked(traces)["teams/b.yaml"]
    traces.write("kumamigrate.toml", f'accept = ["{RULE}@teams/b.yaml:{line}"]\n')
    done = traces.run("run", "--dry-run", *OLD, "--format", "json")
    statuses = {f: status for rule, status, f, _ in findings(done) if rule == RULE}
    assert statuses == {"teams/a.yaml": "manual", "teams/b.yaml": "fixed"}


def test_a_place_is_a_line_of_the_text_before_other_rules_moved_it(make_shop: MakeShop) -> None:
    """The first document has two lines less when the rule comes to the second one."""
    first = (
        "type: MeshTimeout\nname: t\nmesh: default\nspec:\n  from:\n    - targetRef:\n"
        "        kind: Mesh\n      default: {http: {requestTimeout: 7s}}\n"
    )
    second = (
        "type: MeshTrafficPermission\nname: p\nmesh: default\nspec:\n  from:\n"
        "    - targetRef: {kind: Mesh}\n      default: {action: ALLOW}\n"
    )
    shop = make_shop({"mesh.yaml": MESH, "a.yaml": f"{first}---\n{second}"})
    word = "permission-action-upper-case@a.yaml:16"
    done = shop.run("run", "--accept", word, "--format", "json")
    fixed = {rule for rule, status, _, _ in findings(done) if status == "fixed"}
    assert {"from-section", "permission-action-upper-case"} <= fixed
    assert "action: Allow" in shop.read("a.yaml")
    assert not [f for f in done.json["findings"] if f["rule"] == "unused-accept"]


PLACE = Accepted(rule="from-section", file="a.yaml", line=2, text=b"one\ntwo\nthree\n")


@pytest.mark.parametrize(
    ("now", "there"),
    [
        (b"one\ntwo\nthree\n", [2]),
        (b"zero\none\ntwo\nthree\n", [3]),
        (b"one\nthree\n", []),
        (b"two\nthree\n", [1]),
    ],
)
def test_a_place_is_where_its_line_went(now: bytes, there: list[int]) -> None:
    repository = Repository(root=Path("/nowhere"), files={"a.yaml": read_file("a.yaml", now)})
    found = [n for n in range(-1, 6) if _is_at(PLACE, ("a.yaml", n), repository)]
    assert found == there
    assert not any(_is_at(PLACE, ("b.yaml", n), repository) for n in range(5))
