"""What a run or a check tells the shell: the worst of what was held, unread or left."""

from __future__ import annotations

from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.flow.verdict import Whole
from kumamigrate.report.exit import Exit, worst
from kumamigrate.report.unread import not_read
from kumamigrate.rewrite.faulty import is_fault
from kumamigrate.rewrite.finding import Danger, Finding, Status
from kumamigrate.world.baseline import OPEN
from kumamigrate.world.scope import Extent

_WHOLE = {
    Whole.PROVEN: Exit.CLEAN,
    Whole.AFTER_SWITCH: Exit.DIFFERENT,
    Whole.UNKNOWN: Exit.INCONCLUSIVE,
    Whole.DIFFERENT: Exit.DIFFERENT,
}


def exit_of_run(outcome: Outcome, *, written: bool) -> Exit:
    """Return the exit code of a run: the worst of what was held, unread or left."""
    codes = [exit_of_state(outcome)]
    for held in outcome.held:
        if held.cause is None:
            codes.append(Exit.DIFFERENT if held.witnesses else Exit.INCONCLUSIVE)
    if _fails(outcome) or (not written and outcome.texts and fails_unwritten(outcome)):
        codes.append(Exit.FINDINGS)
    return worst(codes)


def exit_of_state(outcome: Outcome) -> Exit:
    """Return how far it can be said what a run comes to."""
    return worst([_exit_of_reading(outcome), _exit_of_faults(outcome), _WHOLE[outcome.whole]])


def exit_of_check(outcome: Outcome) -> Exit:
    """Return the exit code of a check: findings, and content that could not be read."""
    codes = [_exit_of_reading(outcome), _exit_of_faults(outcome)]
    return worst([*codes, Exit.FINDINGS if _fails(outcome) else Exit.CLEAN])


def _fails(outcome: Outcome) -> bool:
    return any(counts(finding, outcome.options.fail_on) for finding in outcome.findings)


def _exit_of_faults(outcome: Outcome) -> Exit:
    faults = [*(one.fault for one in outcome.rejections), *map(is_fault, outcome.findings)]
    return Exit.INCONCLUSIVE if any(faults) else Exit.CLEAN


def nothing_there(outcome: Outcome) -> bool:
    """Say whether no file is where manifests were looked for, of which nothing can be clean. Files
    that were named one by one, as a hook does, may be anything."""
    scope = outcome.began.scope
    named = scope is not None and scope.world is Extent.NAMED
    began = outcome.began
    there = outcome.before.repository.examined or outcome.before.inventory or began.beside
    if scope is not None and scope.partial and scope.folders:
        there = any(map(scope.allows, (*began.tree.files, *began.beside)))
    return not there and not outcome.examples and not named


def _exit_of_reading(outcome: Outcome) -> Exit:
    if nothing_there(outcome):
        return Exit.INCONCLUSIVE
    return Exit.INCONCLUSIVE if not_read(outcome.before.repository) else Exit.CLEAN


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
