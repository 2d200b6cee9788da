"""Which changes of a rule are tried: not what is held, silenced, declined, or of another turn."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kumamigrate.dataclass import replace
from kumamigrate.flow import pending
from kumamigrate.flow.circles import Left, subject_of
from kumamigrate.flow.declined import each_once, refused
from kumamigrate.flow.pending import Pending, Settling, pending_of
from kumamigrate.model.resource import Resource, Where
from kumamigrate.rewrite.change import Change, ResourceEdit, Rollout
from kumamigrate.rewrite.finding import Danger, Finding, Safety, Status
from kumamigrate.scene.held import Cause, Held


def _change(name: str, rollout: Rollout = Rollout.NOW) -> Change:
    finding = Finding(
        rule="r",
        resource=Resource(type="MeshRetry", mesh="default", name=name),
        message="",
        status=Status.PENDING,
        safety=Safety.PROVEN,
        danger=Danger.ADVICE,
    )
    edit = ResourceEdit(where=Where(path=name, document=0), manifests=())
    return Change(rule="r", mesh="", edits=(edit,), findings=(finding,), rollout=rollout)


NOW, LATE = _change("now"), _change("late", Rollout.WITH_UPGRADE)
AFTER = _change("after", Rollout.AFTER_UPGRADE)
ASKED, TAKEN, SILENT = _change("asked"), _change("taken"), _change("silent")
SAID: tuple[Any, ...] = (NOW, LATE, AFTER, ASKED, TAKEN, SILENT, NOW.findings[0])


def _pending(monkeypatch: pytest.MonkeyPatch, **more: Any) -> Pending:
    """Return what is tried of `SAID`: a word is asked for two changes and given for one."""
    monkeypatch.setattr(pending, "said_by", lambda *_: more.get("said", SAID))
    monkeypatch.setattr(pending, "asks", lambda _, change, **__: change in (ASKED, TAKEN))
    monkeypatch.setattr(pending, "is_taken", lambda change, *_: change == TAKEN)
    monkeypatch.setattr(pending, "is_silenced", lambda change, *_: change == SILENT)
    monkeypatch.setattr(pending, "may_take", lambda *_: more.get("word", False))
    nothing: Any = SimpleNamespace(whole=SimpleNamespace(repository=None), skip=frozenset())
    options: Any = SimpleNamespace(skip=more.get("skip", frozenset()))
    rule: Any = SimpleNamespace(id="r", safety=more.get("safety", Safety.PROVEN))
    settling = Settling(
        began=nothing,
        base=nothing,
        options=options,
        rollouts=more.get("rollouts", tuple(Rollout)),
        circles=more.get("circles", {}),
        progress=more.get("progress", lambda *_: None),
    )
    return pending_of(rule, nothing, more.get("held", {}), settling)


def test_what_is_silenced_or_waits_for_a_word_is_not_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = _pending(monkeypatch)
    assert found.changes == (NOW, LATE, AFTER, TAKEN)
    assert (found.taken, found.stuck) == ({TAKEN.key}, ())


def test_what_goes_out_with_the_upgrade_or_on_a_word_goes_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = _pending(monkeypatch)
    assert found.part(upgrade=False, trusted=False) == (NOW,)
    assert found.part(upgrade=False, trusted=True) == (TAKEN,)
    assert found.part(upgrade=True, trusted=False) == (LATE, AFTER)
    assert found.part(upgrade=True, trusted=True) == ()


def test_only_those_whose_turn_it_is_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _pending(monkeypatch, rollouts=(Rollout.NOW,)).changes == (NOW, TAKEN)
    late = (Rollout.WITH_UPGRADE, Rollout.AFTER_UPGRADE)
    assert _pending(monkeypatch, rollouts=late).changes == (LATE, AFTER)


def test_what_was_held_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    held = {NOW.key: Held(change=NOW)}
    assert _pending(monkeypatch, held=held).changes == (LATE, AFTER, TAKEN)


def test_what_goes_in_circles_or_was_declined_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    circles = {("r", subject_of(NOW)): Left("why")}
    found = _pending(monkeypatch, circles=circles, skip=frozenset({refused(LATE)}))
    assert found.changes == (AFTER, TAKEN)
    assert [one.change for one in found.stuck] == [NOW, LATE]


@pytest.mark.parametrize(
    ("form", "tried"), [(NOW, True), (ASKED, False), (SILENT, False)], ids=["free", "asked", "held"]
)
def test_another_form_is_tried_where_nothing_stands_against_it(
    monkeypatch: pytest.MonkeyPatch, form: Change, *, tried: bool
) -> None:
    """Of what goes in circles the form that does not is taken, if it may be."""
    again = replace(AFTER, otherwise=form)
    circles = {("r", subject_of(AFTER)): Left("why")}
    found = _pending(
        monkeypatch, said=(again,), circles=circles, held={SILENT.key: Held(change=SILENT)}
    )
    assert found.changes == ((form,) if tried else ())
    assert [one.change for one in found.stuck] == ([] if tried else [again])


def test_of_what_was_declined_in_several_passes_the_last_is_told() -> None:
    skipped = [Held(change=one, cause=Cause.SKIPPED) for one in (NOW, NOW, LATE)]
    others = [Held(change=NOW, unknown=(why,)) for why in "ab"]
    assert each_once([*skipped, *others]) == (*skipped[1:], *others)


@pytest.mark.parametrize(("word", "number"), [(False, 0), (True, 4)])
def test_a_rule_that_wants_a_word_is_not_asked_without_one(
    monkeypatch: pytest.MonkeyPatch, *, word: bool, number: int
) -> None:
    found = _pending(monkeypatch, safety=Safety.REVIEW, word=word)
    assert len(found.changes) == number
