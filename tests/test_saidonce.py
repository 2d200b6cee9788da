"""What a rule says in several environments is said once, and each form of a change is tried."""

from __future__ import annotations

from kumamigrate.flow.saidonce import all_said
from kumamigrate.model.resource import Where
from kumamigrate.rewrite.change import Change, ResourceEdit

WHERE = Where(path="a.yaml", document=0)


def _change(value: str) -> Change:
    edit = ResourceEdit(where=WHERE, manifests=({"value": value},))
    return Change(rule="r", mesh="default", edits=(edit,), findings=())


def _tried(change: Change | None) -> list[object]:
    found: list[object] = []
    while change is not None:
        found.append(change.edits[0].manifests[0])
        change = change.otherwise
    return found


def test_each_form_of_a_change_is_tried_once_in_the_order_of_environments() -> None:
    sites = [(_change(value),) for value in ("one", "two", "one", "three", "two")]
    (said,) = all_said(sites)
    assert isinstance(said, Change)
    assert _tried(said) == [{"value": value} for value in ("one", "two", "three")]
