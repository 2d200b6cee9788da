"""What a baseline holds back, and what of it is settled."""

from __future__ import annotations

from typing import Any

from kumamigrate.flow.baselined import NOTE
from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.report.styled import Line, line


def baseline_json(outcome: Outcome) -> dict[str, Any]:
    """Return how many findings the baseline knows, and how many of these are settled."""
    baseline = outcome.options.baseline
    if baseline is None:
        return {}
    known, settled = _numbers(outcome)
    told = {"file": baseline.file.name, "known": known}
    return {"baseline": told if settled is None else {**told, "settled": settled}}


def baseline_lines(outcome: Outcome) -> list[Line]:
    """Return the same for people, in one line."""
    baseline = outcome.options.baseline
    if baseline is None:
        return []
    known, settled = _numbers(outcome)
    verb = "stands" if known == 1 else "stand"
    said = f"{known} finding{'' if known == 1 else 's'} {verb} in {baseline.file.name}"
    more = f"; {settled} of it settled: kumamigrate baseline prune" if settled else ""
    return [(), line(said, more)] if known or more else []


def _numbers(outcome: Outcome) -> tuple[int, int | None]:
    """Return how many known findings there are, and how many are not any more. None: not all
    that the baseline is about was looked at."""
    options, baseline, scope = outcome.options, outcome.options.baseline, outcome.began.scope
    assert baseline is not None
    known = sum(1 for finding in outcome.findings if NOTE in finding.notes)
    narrow = options.select or options.ignore or (scope is not None and scope.partial)
    if narrow or baseline.target != outcome.before.target or (scope and scope.world == "named"):
        return known, None
    return known, baseline.size - known
