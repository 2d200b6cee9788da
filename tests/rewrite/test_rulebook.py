"""Rules are found: each has one way to plan, and no planner is left without a rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumamigrate.errors import RulebookError
from kumamigrate.rewrite import rulebook as book
from tests.cases import ROOT

REWRITE = ROOT / "kumamigrate" / "rewrite"


def _modules(folder: str) -> set[str]:
    names = {path.stem.replace("_", "-") for path in (REWRITE / folder).glob("*.py")}
    return names - {"--init--"}


def test_every_rule_has_exactly_one_way_to_plan() -> None:
    own = _modules("rules")
    ways = {
        rule.id: (rule.id in own, bool(rule.planner), rule.select is not None)
        for rule in book.rulebook()
    }
    assert {name: way for name, way in ways.items() if sum(way) != 1} == {}


def test_no_planner_is_left_without_a_rule() -> None:
    rules = book.rulebook()
    assert _modules("rules") <= {rule.id for rule in rules}
    assert _modules("planners") == {rule.planner for rule in rules if rule.planner}


def test_a_planner_that_is_not_there_is_a_fault_of_the_rule_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / "rules" / "legacy-retry.yaml").read_text()
    (tmp_path / "legacy-retry.yaml").write_text(text.replace("old-kind", "no-such"))
    monkeypatch.setattr(book, "rules_folder", lambda: tmp_path)
    monkeypatch.setattr(book, "rulebook", book.rulebook.__wrapped__)
    with pytest.raises(RulebookError, match=r"legacy-retry\.yaml: planner: there is no no-such"):
        book.rulebook()
