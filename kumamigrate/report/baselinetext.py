"""What a baseline holds back, and what of it is settled."""

from __future__ import annotations

from collections import Counter
from typing import Any

from kumamigrate.flow.baselined import NOTE
from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.report.styled import Line, line
from kumamigrate.rewrite.finding import Status
from kumamigrate.world.baseline import key_of


def baseline_json(outcome: Outcome, *, written: bool = True) -> dict[str, Any]:
    """Return how many findings the baseline knows, and how many of these are settled; what is not
    `written` has settled nothing yet."""
    baseline = outcome.options.baseline
    if baseline is None:
        return {}
    known, settled = _numbers(outcome)
    if settled is not None and not written:
        settled -= _to_be_written(outcome, settled)
    told = {"file": baseline.file.name, "known": known}
    return {"baseline": told if settled is None else {**told, "settled": settled}}


def baseline_lines(outcome: Outcome, *, written: bool = True) -> list[Line]:
    """Return the same for people, in one line. What is not `written` has settled nothing yet."""
    baseline = outcome.options.baseline
    if baseline is None:
        return []
    known, settled = _numbers(outcome)
    pending = 0 if written or settled is None else _to_be_written(outcome, settled)
    verb = "stands" if known == 1 else "stand"
    said = f"{known} finding{'' if known == 1 else 's'} {verb} in {baseline.file.name}"
    gone = (settled or 0) - pending
    more = f"; {gone} of it settled: kumamigrate baseline prune" if gone else ""
    more += f"; {pending} of it settled once this is written" if pending else ""
    return [(), line(said, more)] if known or more else []


def _to_be_written(outcome: Outcome, settled: int) -> int:
    """Return how many of the settled findings are so only once the run is written."""
    assert outcome.options.baseline is not None
    known = Counter(outcome.options.baseline.known)
    fixed = Counter(key_of(f) for f in outcome.findings if f.status is Status.FIXED)
    return min(settled, (known & fixed).total())


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
