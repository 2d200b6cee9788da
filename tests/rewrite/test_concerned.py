"""What a rule says it is about holds: of anything else it has nothing to say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kumamigrate.rewrite.concerned import concerns, subject_of
from kumamigrate.rewrite.plan import planner_of
from kumamigrate.rewrite.rule import Rule
from kumamigrate.rewrite.rulebook import rulebook
from kumamigrate.rewrite.view import View
from kumamigrate.scene.scene import Scene
from kumamigrate.world.options import Options
from kumamigrate.world.survey import scene_of
from tests.cases import Case, cases
from tests.frontdoor import some

ROADS = (("", "2.14"), ("", "3.0"), ("2.6", "2.14"), ("2.14", "3.0"))


def _view(rule: Rule, scene: Scene) -> View:
    state, rejections = scene.state(scene.source)
    return View(
        rule=rule,
        state=state,
        before=state,
        target_name=scene.target,
        editable=frozenset(scene.repository.files),
        refused=tuple(one.resource for one in rejections),
    )


@pytest.mark.parametrize("case", some(cases()), ids=lambda one: f"{one.rule}/{one.name}")
def test_a_rule_that_is_not_concerned_says_nothing(case: Case) -> None:
    inventory = tuple(case.folder / n for n in case.proof.get("flags", {}).get("inventory", ()))
    for source, target in ROADS:
        options = Options(target=target, source=source, inventory=inventory)
        scene = scene_of([Path()], case.folder / "before", options)
        for rule in rulebook():
            view = _view(rule, scene)
            if not concerns(rule, view.state, view.refused):
                assert tuple(planner_of(rule.id, rule.planner)(view)) == (), rule.id


def test_a_rule_is_concerned_by_a_word_in_one_of_its_types_only() -> None:
    case = next(
        one for one in cases() if (one.rule, one.name) == ("from-section", "both-directions")
    )
    scene = scene_of([Path()], case.folder / "before", Options())
    rules = {rule.id: rule for rule in rulebook()}
    rule = rules["from-section"]
    asked = (scene.state(scene.source)[0], scene.refused())
    assert concerns(rule, *asked)
    for other in ({"mentions": ("fromage",)}, {"about": ("MeshRetry",)}):
        assert not concerns(replace(rule, **other), *asked)


def test_what_a_rule_is_about_comes_from_its_file_its_selector_or_its_old_kind() -> None:
    rules = {rule.id: rule for rule in rulebook()}
    assert subject_of(rules["zone-proxy"])[0] == {"ZoneIngress", "ZoneEgress"}
    assert subject_of(rules["legacy-retry"]) == ({"Retry"}, frozenset())
    assert subject_of(rules["legacy-mesh-logging"]) == ({"Mesh"}, {"logging"})
    assert "MeshTimeout" in subject_of(rules["from-section"])[0]
    assert subject_of(rules["deprecated-form"])[0] == frozenset()
