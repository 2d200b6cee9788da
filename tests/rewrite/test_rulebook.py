"""Rules are found: each has one way to plan, and no planner is left without a rule."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from kumamigrate.cli import app
from kumamigrate.errors import RulebookError
from kumamigrate.rewrite import rulebook as book
from tests.cases import ROOT
from tests.runner import CliRunner

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


def test_without_rules_nothing_is_called_clean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A damaged installation would find nothing to change in any repository."""
    (tmp_path / "in.yaml").write_text("type: Mesh\nname: default\n")
    monkeypatch.setattr(book, "rules_folder", lambda: tmp_path / "rules")
    book.rulebook.cache_clear()
    try:
        for words in (["check"], ["run", "--dry-run"], ["rules"]):
            paths = [] if words == ["rules"] else [str(tmp_path)]
            result = CliRunner().invoke(app, [*words, *paths])
            assert result.exit_code == 2, words
            assert "rules/ holds no rule: install kumamigrate anew" in result.stderr
    finally:
        book.rulebook.cache_clear()


def test_what_was_read_of_the_rule_files_is_up_to_date() -> None:
    """If this fails, run `python tools/rulebook.py` and commit the file."""
    spec = importlib.util.spec_from_file_location("digest", ROOT / "tools" / "rulebook.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert book.DIGESTED.read_text(encoding="utf-8") == tool.digested()


def test_a_rule_file_that_changed_is_read_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in (ROOT / "rules").glob("*.yaml"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    changed = tmp_path / "legacy-retry.yaml"
    changed.write_text(changed.read_text().replace("title: ", "title: Another ", 1))
    known = {rule.id: rule for rule in book.rulebook()}
    monkeypatch.setattr(book, "rules_folder", lambda: tmp_path)
    read = {rule.id: rule for rule in book.rulebook.__wrapped__()}
    assert read["legacy-retry"].title == f"Another {known['legacy-retry'].title}"
    assert [name for name, one in read.items() if one != known[name]] == ["legacy-retry"]


@pytest.mark.parametrize("broken", [b"", b"[]", b"{", b"\xff", b'{"legacy-retry": []}'])
def test_rules_are_read_without_what_was_read_before(
    broken: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rulebook.json").write_bytes(broken)
    monkeypatch.setattr(book, "DIGESTED", tmp_path / "rulebook.json")
    assert book.rulebook.__wrapped__() == book.rulebook()
