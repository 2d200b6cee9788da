"""Changes on trial: what is kept does not depend on bad company, and conflicts wait their turn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kumamigrate.effective.difference import Value, Witness
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.model.state import Environment
from kumamigrate.rewrite.change import Change, ResourceEdit, without_conflicts
from kumamigrate.scene import blame
from kumamigrate.scene.held import Counts, HeldVerdict
from kumamigrate.scene.loadfiles import repository_of
from kumamigrate.scene.scene import Scene
from kumamigrate.scene.trial import apply, try_changes

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

    def judge(_current: Scene, candidate: Scene) -> HeldVerdict:
        bad = (Doubt(DoubtKind.UNREAD, "bad"),)
        return HeldVerdict(unknown=bad if "bad" in _names(candidate) else ())

    result = try_changes(scene, changes, judge, apply)
    assert _names(result.scene) == [f"t{at}" if at in bad else f"good{at}" for at in range(5)]
    assert {held.change.key for held in result.held} == {changes[at].key for at in bad}
    assert all(held.unknown == ("bad",) for held in result.held)


def _differs(name: str, other: str = "") -> Witness:
    return Witness(
        mesh="default",
        proxy="p",
        policy_type="MeshTimeout",
        direction="outbound",
        field="idleTimeout",
        before=Value(value="1s", policy=other),
        after=Value(value="2s", policy=name),
    )


def test_changes_that_differences_name_fail_at_once_however_many_they_are() -> None:
    scene = _scene(40)
    changes = [_rename(scene, at, f"bad{at}" if at % 2 else f"good{at}") for at in range(40)]
    asked: list[int] = []

    def judge(_current: Scene, candidate: Scene) -> HeldVerdict:
        bad = [name for name in _names(candidate) if name.startswith("bad")]
        asked.append(len(bad))
        return HeldVerdict(witnesses=tuple(map(_differs, bad)))

    result = try_changes(scene, changes, judge, apply)
    assert len(result.kept) == 20
    assert len(asked) == 3  # all, the good ones alone, the bad ones on top of them
    assert {one.change.key: [w.after.policy for w in one.witnesses] for one in result.held} == {
        changes[at].key: [f"bad{at}"] for at in range(1, 40, 2)
    }


def test_other_forms_are_tried_together_too() -> None:
    scene = _scene(10)
    changes = [
        replace(_rename(scene, at, f"bad{at}"), otherwise=_rename(scene, at, f"good{at}"))
        for at in range(10)
    ]
    asked: list[int] = []

    def judge(_current: Scene, candidate: Scene) -> HeldVerdict:
        bad = [name for name in _names(candidate) if name.startswith("bad")]
        asked.append(len(bad))
        return HeldVerdict(witnesses=tuple(map(_differs, bad)))

    result = try_changes(scene, changes, judge, apply)
    assert (len(result.kept), asked) == (10, [10, 0])


def test_of_two_changes_that_do_not_go_together_one_is_kept() -> None:
    scene = _scene(3)
    changes = [_rename(scene, at, f"new{at}") for at in range(3)]

    def judge(_current: Scene, candidate: Scene) -> HeldVerdict:
        both = {"new0", "new1"} <= set(_names(candidate))
        return HeldVerdict(witnesses=(_differs("new0", "new1"),) if both else ())

    result = try_changes(scene, changes, judge, apply)
    assert len(result.kept) == 2
    assert [held.change.key for held in result.held] == [changes[1].key]


def test_what_counts_elsewhere_is_asked_for_each_of_the_changes_that_fail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blame, "FEW", 0)  # of more than a few all fail at once
    scene = _scene(2)
    changes = [_rename(scene, at, f"bad{at}") for at in range(2)]
    every = tuple(_differs(f"bad{at}") for at in range(2))

    def judge(_current: Scene, _candidate: Scene) -> HeldVerdict:
        def whole(counts: Counts) -> HeldVerdict:
            return HeldVerdict(witnesses=tuple(filter(counts, (*every, *map(_later, every)))))

        return HeldVerdict(witnesses=every, whole=whole)

    result = try_changes(scene, changes, judge, apply)
    assert [[w.before.value for w in one.witnesses] for one in result.held] == [["1s", "0s"]] * 2


def _later(witness: Witness) -> Witness:
    return replace(witness, before=Value(value="0s"))


def test_no_proof_is_asked_for_when_nothing_changes() -> None:
    def judge(_current: Scene, _candidate: Scene) -> HeldVerdict:
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
