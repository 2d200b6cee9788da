"""Which findings make the exit code 1 (`--fail-on`)."""

from __future__ import annotations

from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.rewrite.finding import Danger, Finding, Status
from kumamigrate.world.baseline import OPEN


def counts(finding: Finding, fail_on: str = "") -> bool:
    """Say whether a finding is something to be done; mere advice is not, unless asked for."""
    if finding.status not in OPEN:
        return False
    if fail_on:
        return _is_as_dangerous(finding, fail_on)
    return not (finding.status is Status.MANUAL and finding.danger is Danger.ADVICE)


def fails_unwritten(outcome: Outcome) -> bool:
    """Say whether what would be written counts although it was not: all of it, if nobody says
    what does."""
    fail_on = outcome.options.fail_on
    fixed = (one for one in outcome.findings if one.status is Status.FIXED)
    return not fail_on or any(_is_as_dangerous(one, fail_on) for one in fixed)


def _is_as_dangerous(finding: Finding, fail_on: str) -> bool:
    return fail_on != "none" and finding.danger <= Danger[fail_on.upper().replace("-", "_")]


def to_change(outcome: Outcome) -> set[str]:
    """Return the files that a run would change, as far as a check knows."""
    return {f.file for f in outcome.findings if f.status is Status.PENDING and f.file}
