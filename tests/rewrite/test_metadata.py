"""Declarative rules about labels, annotations and fields: the cases a table can say."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.model.read import read_resources
from kumamigrate.model.state import State
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.declarative.metadatarules import plan
from kumamigrate.rewrite.declarative.steps import edited, hit_paths
from kumamigrate.rewrite.finding import Danger, Finding, Safety, Status
from kumamigrate.rewrite.manifest import cut, put, rename
from kumamigrate.rewrite.rule import Rule, RuleSelector, Step
from kumamigrate.rewrite.view import View
from kumamigrate.source.reading.load import read_file
from kumamigrate.source.value import Moved

POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: web
  labels: {app: web}
  annotations:
    old: "%s"
    new: other
"""


def _rule(table: dict[str, Any]) -> Rule:
    return Rule(
        id="r",
        title="t",
        why="w",
        source=(),
        safety=Safety.PROVEN,
        danger=Danger.ADVICE,
        table=table,
    )


def _said(case: dict[str, Any], value: str = "yes") -> list[Change | Finding]:
    resources = read_resources(read_file("pod.yaml", (POD % value).encode()))
    state = State(release="2.14", resources=resources)
    rule = _rule({"objects": ["pods"], "annotations": {"old": case}})
    view = View(
        rule=rule,
        state=state,
        before=state,
        target_name="2.14",
        editable=frozenset(["pod.yaml"]),
    )
    return list(plan(view))


def _metadata(said: list[Change | Finding]) -> Any:
    (change,) = said
    assert isinstance(change, Change)
    (manifest,) = change.edits[0].manifests
    assert isinstance(manifest, dict)
    return manifest["metadata"]


def test_a_rename_to_a_name_that_says_something_else_is_a_question() -> None:
    (said,) = _said({"rename": "new"})
    assert isinstance(said, Finding)
    assert said.status is Status.MANUAL
    assert "new stands here too and says other" in said.action


def test_a_rename_takes_the_text_along_and_keeps_its_place() -> None:
    annotations = _metadata(_said({"rename": "newest"}))["annotations"]
    assert list(annotations) == ["newest", "new"]
    assert annotations["newest"] == Moved(("metadata", "annotations", "old"))


def test_an_annotation_becomes_a_label() -> None:
    metadata = _metadata(_said({"label": True}))
    assert metadata["labels"] == {"app": "web", "old": Moved(("metadata", "annotations", "old"))}
    assert metadata["annotations"] == {"new": "other"}


@pytest.mark.parametrize("value", ["no", "enabled"])
def test_a_case_counts_only_for_its_value(value: str) -> None:
    assert _said({"value": "yes", "drop": True}, value) == []


def test_what_is_to_be_kept_says_nothing() -> None:
    assert _said({"keep": True}) == []


def test_cutting_takes_what_is_empty_without_it() -> None:
    assert cut({"a": {"b": [{"c": 1}]}, "d": 2}, ("a", "b", 0, "c")) == {"d": 2}
    assert cut({"a": {"b": [1, 2]}}, ("a", "b", 0)) == {"a": {"b": [2]}}
    assert cut({"a": {"b": 0, "c": 1}}, ("a", "c")) == {"a": {"b": 0}}


def test_putting_makes_the_way_and_changes_nothing_else() -> None:
    old = {"a": [{"b": 1}]}
    assert put(old, ("a", 0, "c", "d"), 2) == {"a": [{"b": 1, "c": {"d": 2}}]}
    assert old == {"a": [{"b": 1}]}


def test_renaming_with_a_new_value_edits_the_old_text() -> None:
    assert rename({"x": "0"}, ("x",), "y", "1") == {"y": Moved(("x",), "1")}


def _select(where: dict[str, Any], unless: dict[str, Any] | None = None) -> Rule:
    selector = RuleSelector(types=("T",), fields=("a[]",), where=where, unless=unless or {})
    rule = _rule({})
    return Rule(**{f: getattr(rule, f) for f in rule.__slots__ if f != "select"}, select=selector)


@pytest.mark.parametrize(
    ("where", "hits"),
    [
        ({"k": {"pattern": "^x"}}, [("a", 0)]),
        ({"k": {"inner": 1}}, [("a", 2)]),
        ({"k": ["xy", "z"]}, [("a", 0)]),
        ({"k": False}, [("a", 3)]),
    ],
    ids=["a pattern", "something inside", "one of a list", "absence"],
)
def test_a_test_may_be(where: dict[str, Any], hits: list[Any]) -> None:
    spec = {"a": [{"k": "xy"}, {"k": 5}, {"k": {"inner": 1}}, {"j": 1}, "text"]}
    assert hit_paths(_select(where), spec) == hits


def test_only_mappings_can_lack_a_key() -> None:
    assert hit_paths(_select({}, {"k": True}), {"a": ["text", {"j": 1}]}) == [("a", 1)]


def test_a_step_moves_the_text_below_a_key_that_holds_a_dot() -> None:
    step = Step(verb="move", arguments={"from": ["service"], "to": ["tags", "kuma.io/service"]})
    after = edited({"a": {"service": "web"}}, ("a",), (step,), above=("spec", "a"))
    moved = Moved(("spec", "a", "service"))
    assert after == {"a": {"tags": {"kuma.io/service": moved}}}


def test_defaults_do_not_overwrite_and_trimming_keeps_the_rest() -> None:
    steps = (
        Step(verb="default", arguments={"x": 1, "y": 2}),
        Step(verb="trim", arguments={"path": "/"}),
    )
    assert edited({"x": 0, "path": "/a//"}, (), steps, above=()) == {"x": 0, "path": "/a", "y": 2}
