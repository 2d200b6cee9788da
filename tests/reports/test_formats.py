"""Reports for code hosts, read by readers of their own."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.dom import minidom

import pytest

from kumamigrate.report.formats.findings import by_cause
from tests.frontdoor import command
from tests.reports.handmade import entry, report

MESH = """type: Mesh
name: default
meshServices: {mode: Exclusive}
skipCreatingInitialPolicies: ["*"]
"""
OLD = """---
type: MeshTimeout
name: by-tags
mesh: default
spec:
  targetRef: {kind: MeshSubset, tags: {version: v9}}
  to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 9s}}}]
"""
BROKEN = "---\ntype: MeshRetry\nname: r\nname: r\nmesh: default\nspec: {}\n"
COMMAND = re.compile(r"::(error|warning|notice) ([^:]*)::(.*)")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a, b::c%.yaml").write_text(MESH + OLD)
    return tmp_path


def asked(folder: Path, form: str, *more: str) -> str:
    return command("check", folder, "--target", "3.0", "--format", form, *more).out


def unescaped(text: str) -> str:
    for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, char)
    return text


def test_annotations_of_github_stand_on_the_line(folder: Path) -> None:
    found = [COMMAND.fullmatch(line) for line in asked(folder, "github").splitlines()]
    assert all(found)
    (subset,) = [m for m in found if m and "top-level-mesh-subset" in m[2]]
    properties = dict(part.split("=", 1) for part in subset[2].split(","))
    assert unescaped(properties["file"]).endswith("a, b::c%.yaml")
    assert (properties["line"], subset[1]) == ("10", "error")
    assert "3.0 refuses" in unescaped(subset[3])


def test_of_two_held_changes_of_a_rule_in_one_file_each_says_its_own_reason() -> None:
    """A comment on a pull request says why; the first one of the file was taken for all."""
    said = [
        entry(status="held", rule="from-section", file="a.yaml", message=name, resource=None)
        for name in ("one", "two")
    ]
    made = report([], said)
    made["held"] = [
        {
            "rule": "from-section",
            "resources": ["a.yaml"],
            "about": [{"resource": None, "message": name}],
            "witnesses": [],
            "unknown": [f"why {name} is held"],
            "refused": [],
        }
        for name in ("two", "one")
    ]
    causes = by_cause(said, made)
    assert [cause.why for cause in causes] == [
        "cannot tell: why one is held",
        "cannot tell: why two is held",
    ]


def test_sarif_names_rules_places_and_fingerprints(folder: Path) -> None:
    report = json.loads(asked(folder, "sarif"))
    (run,) = report["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert (report["version"], rules) == ("2.1.0", sorted(rules))
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note")
        assert result["message"]["text"]
    (subset,) = [r for r in run["results"] if r["ruleId"] == "top-level-mesh-subset"]
    place = subset["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith("a%2C%20b%3A%3Ac%25.yaml")
    assert place["region"]["startLine"] == 10
    marks = [r["partialFingerprints"]["kumamigrate/v1"] for r in run["results"]]
    assert len(set(marks)) == len(marks)


def test_sarif_brings_what_would_change_and_any_program_can_make_it(tmp_path: Path) -> None:
    inbound = "from: [{targetRef: {kind: Mesh}, default: {idleTimeout: 9s}}]"
    old = f"{MESH}---\ntype: MeshTimeout\nname: t  # é\nmesh: default\nspec:\n  {inbound}  # ü"
    file = tmp_path / "ä b.yaml"
    file.write_text(old)
    words = ("run", tmp_path, "--target", "3.0")
    report = json.loads(command(*words, "--dry-run", "--format", "sarif").out)
    results = report["runs"][0]["results"]
    (fix,) = [fix for result in results for fix in result.get("fixes", ())]
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"]["uri"].endswith("%C3%A4%20b.yaml")
    text = old
    for one in sorted(change["replacements"], key=lambda r: -r["deletedRegion"]["charOffset"]):
        start = one["deletedRegion"]["charOffset"]
        end = start + one["deletedRegion"]["charLength"]
        text = text[:start] + one["insertedContent"]["text"] + text[end:]
    command(*words)
    assert text == file.read_text() != old
    written = json.loads(command(*words, "--format", "sarif").out)["runs"][0]["results"]
    assert not [result for result in written if "fixes" in result]


@pytest.mark.parametrize("form", ["sarif", "gitlab"])
def test_fingerprints_do_not_move_with_the_lines(form: str, folder: Path) -> None:
    before = re.findall(r"[0-9a-f]{40}", asked(folder, form))
    file = folder / "a, b::c%.yaml"
    file.write_text("# one more line\n" + file.read_text())
    assert re.findall(r"[0-9a-f]{40}", asked(folder, form)) == before != []


def test_gitlab_takes_its_own_severities(folder: Path) -> None:
    entries = json.loads(asked(folder, "gitlab"))
    severities = {e["check_name"]: e["severity"] for e in entries}
    assert severities["top-level-mesh-subset"] == "critical"
    assert set(severities.values()) <= {"info", "minor", "major", "critical", "blocker"}
    assert all(e["location"]["lines"]["begin"] >= 1 and e["location"]["path"] for e in entries)


def test_junit_counts_what_failed_and_holds_any_name(tmp_path: Path) -> None:
    text = OLD.replace("name: by-tags", 'name: "\\e[31m<b>&]]>\\x01"')
    (tmp_path / "a.yaml").write_text(MESH + text)
    (suite,) = minidom.parseString(asked(tmp_path, "junit")).getElementsByTagName("testsuite")
    cases, failures = (suite.getElementsByTagName(t) for t in ("testcase", "failure"))
    assert int(suite.getAttribute("tests")) == len(cases)
    assert int(suite.getAttribute("failures")) == len(failures) >= 1
    assert any("<b>&]]>" in case.getAttribute("name") for case in cases)


def test_nothing_to_do_is_one_case_that_passed(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(MESH)
    out = command("check", tmp_path, "--format", "junit").out
    (suite,) = minidom.parseString(out).getElementsByTagName("testsuite")
    assert (suite.getAttribute("tests"), suite.getAttribute("failures")) == ("1", "0")


@pytest.mark.parametrize("form", ["sarif", "github", "gitlab", "junit"])
def test_what_was_not_read_is_never_silence(form: str, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(MESH + BROKEN)
    answer = command("check", tmp_path, "--format", form)
    assert (answer.code, "not-read" in answer.out) == (3, True)


@pytest.mark.parametrize("form", ["sarif", "github", "junit"])
def test_a_run_that_is_not_proven_says_so(form: str, folder: Path) -> None:
    answer = command("run", folder, "--target", "3.0", "--dry-run", "--format", form)
    assert answer.code == 4
    assert "not proved" in answer.out


def test_one_run_makes_many_reports(folder: Path, tmp_path: Path) -> None:
    names = {"sarif": "r.sarif", "junit": "r.xml", "json": "r.json"}
    words = [w for form, name in names.items() for w in ("--output", f"{form}={tmp_path / name}")]
    answer = command("check", folder, "--target", "3.0", *words)
    assert answer.out.startswith("Kuma")  # the text, as without
    assert json.loads((tmp_path / "r.json").read_text())["schema"] == "kumamigrate.report/1"
    assert json.loads((tmp_path / "r.sarif").read_text())["runs"]
    assert minidom.parse(str(tmp_path / "r.xml")).getElementsByTagName("failure")


@pytest.mark.parametrize("output", ["pdf=r.pdf", "sarif", "sarif="])
def test_a_form_that_nobody_knows_is_said(output: str, folder: Path) -> None:
    answer = command("check", folder, "--output", output)
    assert (answer.code, f"--output {output}: write FORMAT=FILE" in answer.err) == (2, True)


@pytest.mark.parametrize("place", [".", "missing/r.json"])
def test_what_cannot_be_saved_is_said_before_anything_is_written(
    place: str, tmp_path: Path
) -> None:
    text = (
        "type: MeshTimeout\nname: t\nmesh: default\nspec:\n  targetRef: {kind: Mesh}\n"
        "  from: [{targetRef: {kind: Mesh}, default: {idleTimeout: 9s}}]\n"
    )
    (tmp_path / "policies").mkdir()
    file = tmp_path / "policies/t.yaml"
    file.write_text(text)
    answer = command("run", file.parent, "--output", f"json={tmp_path / place}")
    assert (answer.code, "name a file in a folder that is there" in answer.err) == (2, True)
    assert file.read_text() == text
    command("run", file.parent)
    assert "rules:" in file.read_text()  # there was something to write


@pytest.mark.parametrize("form", ["sarif", "github", "gitlab", "junit"])
def test_a_proof_says_its_differences_on_their_lines(form: str, tmp_path: Path) -> None:
    default = "to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 9s}}}]"
    before, after = tmp_path / "before", tmp_path / "after"
    for folder, text in ((before, default), (after, default.replace("9s", "8s"))):
        folder.mkdir()
        policy = f"---\ntype: MeshTimeout\nname: t\nmesh: default\nspec:\n  {text}\n"
        (folder / "a.yaml").write_text(MESH + policy)
    same = command("prove", before, before, "--format", form)
    answer = command("prove", before, after, "--format", form)
    assert (same.code, answer.code) == (0, 4)
    assert "proof-different" not in same.out
    assert "9s → 8s" in answer.out.replace("\\u2192", "→")
    line = {"sarif": '"startLine": 10', "gitlab": '"begin": 10', "github": "line=10,"}
    assert line.get(form, "a.yaml:10") in answer.out
