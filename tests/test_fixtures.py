"""Every fixture case: the edit byte for byte, the verdict, and the laws no rule author writes."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kumamigrate.effective.difference import HARMLESS
from kumamigrate.flow.judging.everyworld import UP_TO_25
from kumamigrate.flow.pipeline import migrate, must_not_be_written
from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.flow.sumproof import prove_scenes
from kumamigrate.model.initial import CHOICES, NONE
from kumamigrate.model.state import Environment
from kumamigrate.rewrite.rulebook import rulebook
from kumamigrate.scene.scene import owned_by_both
from kumamigrate.world.options import Options
from kumamigrate.world.survey import scene_of
from tests.cases import Case, cases, contents
from tests.frontdoor import some
from tests.settled import settled

_COMMENT = re.compile(r"(?:^|\s)#.*$", re.MULTILINE)
_RESOURCE = re.compile(rb"^(?:kind|type):", re.MULTILINE)


def options_of(case: Case) -> Options:
    """What a run over a fixture is asked to do."""
    proof = case.proof
    flags: dict[str, Any] = proof.get("flags", {})
    given = flags.get("initial_policies", "none")
    environment = Environment(
        mode=flags.get("control_plane_mode", "zone"),
        zone=flags.get("zone", "default"),
        mesh_services=flags.get("mesh_services"),
        # Most cases are about something else; "open" leaves it open what a mesh was given.
        initial_policies=None if given == "open" else given,
    )
    return Options(
        target=proof.get("target", "2.14"),
        source=flags.get("from", ""),
        stage=flags.get("stage", "auto"),
        environment=environment,
        inventory=tuple(case.folder / name for name in flags.get("inventory", ())),
        select=tuple(proof.get("rules", [case.rule])),
        accept=tuple(flags.get("accept", ())),
    )


def _run(folder: Path, options: Options) -> Outcome:
    return migrate(scene_of([Path()], folder, options), options)


def _after(folder: Path, outcome: Outcome) -> dict[str, bytes]:
    files: dict[str, bytes | None] = dict(contents(folder))
    files.update({path: new for path, (_, new) in outcome.texts.items()})
    return {path: data for path, data in files.items() if data is not None}


def _comments(files: dict[str, bytes]) -> Counter[str]:
    return Counter(
        found.strip() for data in files.values() for found in _COMMENT.findall(data.decode())
    )


def _resources(files: dict[str, bytes]) -> int:
    return sum(len(_RESOURCE.findall(data)) for data in files.values())


def _lost(before: dict[str, bytes], after: dict[str, bytes]) -> list[str]:
    """Return the comments that are gone; one that stands twice may go once with a resource."""
    old, new = _comments(before), _comments(after)
    resources = [
        sum(len(_RESOURCE.findall(d)) for d in files.values()) for files in (before, after)
    ]
    fewer = resources[0] > resources[1]
    return [text for text in old - new if not (fewer and new[text])]


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case.rule}/{case.name}")
def test_case(case: Case, tmp_path: Path) -> None:
    """The files come out byte for byte, the findings and verdict are the ones written down."""
    options = options_of(case)
    outcome = _run(case.before, options)
    after = _after(case.before, outcome)
    assert {p: d.decode() for p, d in after.items()} == {
        p: d.decode() for p, d in case.expected.items()
    }
    assert _findings(outcome, case) == case.proof.get("findings", [])
    assert not must_not_be_written(outcome)
    verdict = case.proof.get("verdict")
    if verdict is not None:
        assert outcome.proof is not None
        assert outcome.proof.verdict("live").value == verdict
    assert _lost(contents(case.before), after) == []
    for path, data in after.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    assert settled(scene_of([Path()], tmp_path, options), options).texts == {}


def _findings(outcome: Outcome, case: Case) -> list[dict[str, Any]]:
    """The findings with the keys that the case writes down."""
    written = case.proof.get("findings", [])
    keys = set().union(*written) if written else {"rule", "status", "resource", "line"}
    found = []
    for finding in outcome.findings:
        full = {
            "rule": finding.rule,
            "status": finding.status.value,
            "resource": finding.resource.name if finding.resource else "",
            "file": finding.file,
            "line": finding.line,
            "column": finding.column,
            "message": finding.message,
            "action": finding.action,
        }
        found.append({key: value for key, value in full.items() if key in keys})
    return found


WRITING = [case for case in cases() if (case.folder / "after").is_dir()]
ON_2_X = [case for case in WRITING if case.proof.get("target", "2.14") == "2.14"]


@pytest.mark.parametrize("case", some(ON_2_X), ids=lambda case: f"{case.rule}/{case.name}")
def test_what_is_written_unasked_holds_whatever_the_mesh_was_given(
    case: Case, tmp_path: Path
) -> None:
    """Nobody says which initial policies there are: what a run writes holds with each of them."""
    options = options_of(case)
    options = replace(options, environment=replace(options.environment, initial_policies=None))
    outcome = settled(scene_of([Path()], case.before, options), options)
    for path, data in _after(case.before, outcome).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    for given in CHOICES if outcome.texts and not options.accept else ():
        environment = replace(options.environment, initial_policies=given)
        asked = replace(options, environment=environment)
        sides = (scene_of([Path()], root, asked) for root in (case.before, tmp_path))
        proof = prove_scenes(*owned_by_both(*sides))
        assert [w for w in proof.witnesses("live") if w.effect not in HARMLESS] == [], given


EXCLUSIVE = [
    case
    for case in cases()
    if case.rule == "route-in-target-ref"
    and any(b"mode: Exclusive" in data for data in contents(case.before).values())
]


@pytest.mark.parametrize("case", some(EXCLUSIVE), ids=lambda case: case.name)
def test_policies_up_to_2_5_have_no_say_in_what_real_outbounds_carry_over(case: Case) -> None:
    """In mode Exclusive the old engine makes no outbound: the same is written with and without."""
    options = options_of(case)
    written = []
    for given in (NONE, UP_TO_25):
        environment = replace(options.environment, initial_policies=given)
        asked = replace(options, environment=environment)
        outcome = settled(scene_of([Path()], case.before, asked), asked)
        written.append({path: new for path, (_, new) in outcome.texts.items()})
    assert written[0] == written[1]


def test_every_rule_has_a_case_that_rewrites_or_reports_and_one_that_leaves_alone() -> None:
    by_rule = {
        rule.id: [case.name for case in cases() if case.rule == rule.id] for rule in rulebook()
    }
    assert [rule for rule, names in by_rule.items() if len(names) < 2] == []
    assert [rule for rule, names in by_rule.items() if "leaves-alone" not in names] == []


def test_every_fixture_folder_belongs_to_a_rule() -> None:
    known = {rule.id for rule in rulebook()}
    assert {case.rule for case in cases()} <= known
