"""How many made-up proxies a run compares: the price of a proof that no clock can tell.

A commit that makes more of them necessary raises a number here and says why. Twice a search came
to try each set with each route, and only the benchmark would have shown it.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bench.teams import make_teams
from kumamigrate.prover.stages.search import Coverage
from kumamigrate.prover.stages.together import Together
from tests.frontdoor import command

MOST = [("2.14", 4, 390), ("3.0", 8, 1700)]
"""Target, teams with a dozen policies each, proxies; 353 and 1,582 when this was written."""


@pytest.mark.parametrize(("target", "teams", "most"), MOST)
def test_no_more_proxies_are_tried_than_the_policies_need(
    target: str, teams: int, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: Counter[str] = Counter()
    for search in (Coverage, Together):
        _count(search, asked, monkeypatch)
    make_teams(tmp_path / "repository", teams)
    (tmp_path / "repository" / ".git").mkdir()
    repository = tmp_path / "repository"
    command("run", "--dry-run", "--jobs", "1", "--target", target, repository, given=None)
    assert 0 < asked.total() <= most, asked


def _count(search: Any, asked: Counter[str], monkeypatch: pytest.MonkeyPatch) -> None:
    ask = search._ask

    def counting(self: Any, *given: Any) -> Any:
        asked[search.__name__] += 1
        return ask(self, *given)

    monkeypatch.setattr(search, "_ask", counting)
