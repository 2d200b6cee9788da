"""Changes on trial: what is kept does not depend on bad company, and conflicts wait their turn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.model.state import Environment
from kumamigrate.rewrite.change import Change, ResourceEdit
from kumamigrate.scene.repository import repository_of
from kumamigrate.scene.trial import Scene, Verdict, apply, try_changes, without_conflicts

TEXT = "type: MeshTimeout\nname: t%d\nmesh: default\nspec:\n  to: []  # keep\n"


def _scene(number: int) -> Scene:
    files = {f"{at}.yaml": (TEXT % at).encode() for at in range(number)}
    return Scene(
        repository=repository_of(files, root=Path()),
        inventory=(),
        environment=Environment(),
        source="2.14",
        target="2.14",
    )


def _rename(scene: Scene, at: int, name: str, group: str = "") -> Change:
    resource = scene.repository.resources[at]
    assert resource.where is not None
    manifest = {**resource.body, "name": name}
    edit = ResourceEdit(where=resource.where, manifests=(manifest,))
    return Change(rule="r", mesh="default", edits=(edit,), findings=(), group=group)


def _names(scene: Scene) -> list[str]:
    return [resource.name for resource in scene.repository.resources]


@pytest.mark.parametrize("bad", [set(), {0}, {3}, {1, 2}, {0, 1, 2, 3, 4}])
@pytest.mark.parametrize("groups", [1, 2, 5])
def test_every_good_change_is_kept_and_every_bad_one_held(bad: set[int], groups: int) -> None:
    scene = _scene(5)
    changes = [
        _rename(scene, at, "bad" if at in bad else f"good{at}", group=str(at % groups))
        for at in range(5)
    ]

    def judge(_current: Scene, candidate: Scene) -> Verdict:
        bad = (Doubt(DoubtKind.UNREAD, "bad"),)
        return Verdict(unknown=bad if "bad" in _names(candidate) else ())

    result = try_changes(scene, changes, judge, apply)
    assert _names(result.scene) == [f"t{at}" if at in bad else f"good{at}" for at in range(5)]
    assert {held.change.key for held in result.held} == {changes[at].key for at in bad}
    assert all(held.unknown == ("bad",) for held in result.held)


def test_no_proof_is_asked_for_when_nothing_changes() -> None:
    def judge(_current: Scene, _candidate: Scene) -> Verdict:
        raise AssertionError

    assert try_changes(_scene(1), [], judge, apply).kept == ()


def test_of_two_changes_to_one_resource_the_second_waits() -> None:
    scene = _scene(2)
    first, again, other = _rename(scene, 0, "a"), _rename(scene, 0, "b"), _rename(scene, 1, "c")
    assert without_conflicts([first, again, other]) == (first, other)


@pytest.mark.parametrize(("comment", "left"), [("", []), ("  # keep", ["# keep\n"])])
def test_a_file_is_removed_when_not_even_a_comment_is_left(comment: str, left: list[str]) -> None:
    text = (TEXT % 0).replace("  # keep", comment)
    scene = replace(_scene(1), repository=repository_of({"0.yaml": text.encode()}, root=Path()))
    where = scene.repository.resources[0].where
    assert where is not None
    gone = Change(
        rule="r", mesh="default", edits=(ResourceEdit(where=where, manifests=()),), findings=()
    )
    applied = apply(scene, [gone])
    assert isinstance(applied, Scene)
    assert [file.text for file in applied.repository.files.values()] == left
