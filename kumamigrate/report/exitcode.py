"""What a run or a check tells the shell: the worst of what was held, unread or left."""

from __future__ import annotations

from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.flow.verdict import Whole
from kumamigrate.report.counting import counts, fails_unwritten
from kumamigrate.report.exit import Exit, worst
from kumamigrate.report.unread import not_read
from kumamigrate.rewrite.faulty import is_fault

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


def _exit_of_reading(outcome: Outcome) -> Exit:
    return Exit.INCONCLUSIVE if not_read(outcome.before.repository) else Exit.CLEAN
