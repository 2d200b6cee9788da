"""A release that is like the one before costs one row: every fixture comes out as it does there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kumamigrate.flow.pipeline import migrate
from kumamigrate.model import release as release_module
from kumamigrate.model.packed import packed
from kumamigrate.model.release import known_releases, newest_two, release
from kumamigrate.world.survey import scene_of
from tests.cases import ROOT, Case, cases
from tests.test_fixtures import options_of

_NO_RELEASES = {"self.shape", "world"}
"""The form of an answer, and what a mesh was given at creation: named after releases."""

_QUOTED = re.compile(r"""["']\d+\.\d+["']""")
"""How a release stands in a source; where none does, there is nothing to look for."""
NEXT = {"3.0": "3.1", "2.14": "2.15"}


@pytest.fixture
def next_releases(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Know a 2.15 like 2.14 and a 3.1 like 3.0, each by one row."""
    rows = {new: {"base": old} for old, new in NEXT.items()}
    between = {**packed("model/tables", "between.json"), **rows}
    real = packed

    def patched(folder: str, name: str) -> Any:
        return between if name == "between.json" else real(folder, name)

    monkeypatch.setattr(release_module, "packed", patched)
    for cached in (release, known_releases):
        getattr(cached, "cache_clear", lambda: None)()
    yield
    monkeypatch.undo()
    for cached in (release, known_releases):
        getattr(cached, "cache_clear", lambda: None)()


_CASES = list(
    {
        (case.rule, target): case
        for case in reversed(cases())
        if (target := case.proof.get("target")) in NEXT
    }.values()
)
"""One case for each rule and target: what a release has is asked the same way by all others."""


@pytest.mark.usefixtures("next_releases")
@pytest.mark.parametrize("case", _CASES, ids=lambda case: f"{case.rule}/{case.name}")
def test_a_fixture_comes_out_as_with_the_release_before(case: Case) -> None:
    """The same bytes, the same findings at the same places, the same verdict."""
    options = options_of(case)
    new = replace(options, target=NEXT[options.target])
    old = replace(options, source=options.source or newest_two(options.target))
    new = replace(new, source=options.source or newest_two(new.target))
    results = []
    for one in (old, new):
        done = migrate(scene_of([Path()], case.before, one), one)
        found = [(f.rule, f.file, f.line, f.status.value) for f in done.findings]
        verdicts = done.proof and {c: done.proof.verdict(c) for c in ("live", "release")}
        results.append((done.texts, found, verdicts))
    assert results[0] == results[1]


def test_no_code_asks_for_one_release_by_name() -> None:
    """Releases differ in tables; where code must ask, it asks for "this one or newer"."""
    asked = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted((ROOT / "kumamigrate").rglob("*.py"))
        if _QUOTED.search(text := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Compare)
        and any(isinstance(op, (ast.Eq, ast.NotEq)) for op in node.ops)
        and any(_is_release(side) for side in (node.left, *node.comparators))
        and ast.unparse(node.left) not in _NO_RELEASES
    ]
    assert asked == []


def _is_release(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.fullmatch(r"\d+\.\d+", node.value) is not None
    )
