"""Doubts are values: one is another if it says the same of the same, wherever that stands."""

from __future__ import annotations

from kumamigrate.effective.doubted import Doubt, DoubtKind

HERE = Doubt(DoubtKind.MISSING, "refers to nothing", ("MeshRetry a",), ("a.yaml:3",))


def test_a_doubt_that_moved_is_the_same_doubt() -> None:
    moved = Doubt(DoubtKind.MISSING, "refers to nothing", ("MeshRetry a",), ("b.yaml:9",))
    assert {HERE} == {moved}
    assert str(HERE) == "MeshRetry a (a.yaml:3) refers to nothing"
    assert str(moved) == "MeshRetry a (b.yaml:9) refers to nothing"


def test_doubts_about_others_or_of_other_kinds_are_others() -> None:
    other = Doubt(DoubtKind.MISSING, "refers to nothing", ("MeshRetry b",), ("a.yaml:3",))
    kind = Doubt(DoubtKind.TEMPLATE, "refers to nothing", ("MeshRetry a",), ("a.yaml:3",))
    assert len({HERE, other, kind}) == 3


def test_several_are_named_with_their_places() -> None:
    tied = Doubt(DoubtKind.TIE, ": chance decides", ("MeshRetry a", "b"), ("a.yaml:3", ""))
    assert str(tied) == "MeshRetry a (a.yaml:3) and b: chance decides"
    assert str(Doubt(DoubtKind.FAULT, "a fault")) == "a fault"
