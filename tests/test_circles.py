"""What goes in circles is held, and nothing else is."""

from __future__ import annotations

from kumamigrate.dataclass import replace
from kumamigrate.flow.circles import ALL, Left, circles_in, form_left, held_for_circles, subject_of
from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Danger, Finding, Safety, Status


def _finding(rule: str, name: str | None) -> Finding:
    resource = None if name is None else Resource(type="MeshRetry", mesh="default", name=name)
    return Finding(
        rule=rule,
        resource=resource,
        path=(),
        message="",
        action="",
        status=Status.PENDING,
        safety=Safety.PROVEN,
        danger=Danger.ADVICE,
    )


def _change(rule: str, *names: str | None) -> Change:
    findings = tuple(_finding(rule, name) for name in names)
    return Change(rule=rule, mesh="default", group="", edits=(), findings=findings)


ONE, OTHER, LONE = _change("r", "a", None), _change("s", "a"), _change("r", "b")


def test_a_change_is_about_the_resources_it_names() -> None:
    assert subject_of(ONE) == subject_of(OTHER) != subject_of(LONE)


def test_all_rules_that_change_one_thing_leave_it() -> None:
    circles = circles_in([ONE, OTHER, LONE, ONE])
    held = held_for_circles([_change("t", "a"), LONE, _change("t", "c")], circles)
    assert [(one.change.rule, *one.unknown) for one in held] == [
        ("t", "r and s undo each other's work; finish it by hand"),
        ("r", "r would change it for ever; finish it by hand"),
    ]
    assert held_for_circles([ONE], {}) == []


def test_what_one_rule_leaves_others_may_change() -> None:
    circles = {("r", subject_of(ONE)): Left("no")}
    assert [one.change for one in held_for_circles([ONE, OTHER], circles)] == [ONE]


def test_another_form_takes_the_place_of_one_that_is_left() -> None:
    """The first that is not left itself, if it may be tried."""
    other = replace(ONE, otherwise=replace(OTHER, otherwise=LONE))
    circles = {(ALL, subject_of(ONE)): Left("no")}
    assert form_left(other, circles, lambda _: True) is LONE
    assert form_left(other, circles, lambda _: False) is other
    assert form_left(ONE, circles, lambda _: True) is ONE
    assert form_left(LONE, circles, lambda _: False) is LONE
