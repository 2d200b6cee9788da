"""docs/coverage.md says for every change which rule answers it, or why none does."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import pytest

from kumamigrate.rewrite.rulebook import rulebook
from tests.cases import ROOT


@pytest.fixture(scope="module")
def coverage() -> ModuleType:
    spec = importlib.util.spec_from_file_location("coverage_page", ROOT / "tools" / "coverage.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_row_has_a_rule_or_a_reason_and_every_rule_a_row(coverage: ModuleType) -> None:
    assert coverage.problems(rulebook()) == []


def test_the_page_is_what_the_rules_say(coverage: ModuleType) -> None:
    """If this fails, run `python tools/coverage.py` and commit the page."""
    assert coverage.PAGE.read_text(encoding="utf-8") == coverage.page(rulebook())


def test_a_row_that_nothing_answers_is_found(
    coverage: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"section": "s", "rows": [{"id": "new-thing", "what": "something"}]}]
    monkeypatch.setattr(coverage, "sections", lambda: rows)
    assert "new-thing: neither a rule nor a reason" in coverage.problems(())


def test_row_ids_are_unique(coverage: ModuleType) -> None:
    ids = [row["id"] for section in coverage.sections() for row in section["rows"]]
    assert len(ids) == len(set(ids))
