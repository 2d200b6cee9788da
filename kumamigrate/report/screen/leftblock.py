"""The third block: what is left, by cause; each cause once, with its places and the way out."""

from __future__ import annotations

from collections.abc import Iterable

from kumamigrate.flow.verdict import Whole
from kumamigrate.report.screen.causes import (
    doubts,
    sentences,
)
from kumamigrate.report.screen.counted import count
from kumamigrate.report.screen.findingtext import fault_lines, finding_lines
from kumamigrate.report.screen.heldtext import held_lines, places_in
from kumamigrate.report.screen.onscreen import OnScreen
from kumamigrate.report.styled import Line, line
from kumamigrate.report.unread import Numbers, numbers_of, with_numbers
from kumamigrate.rewrite.faulty import is_fault
from kumamigrate.rewrite.finding import Danger, Finding, Status

MOST_REASONS = 4


def left_lines(screen: OnScreen) -> list[Line]:
    """Return what a run leaves: what cannot be told, what was held, what asks for a decision."""
    outcome = screen.told
    manual = [f for f in outcome.findings if f.status in (Status.MANUAL, Status.PENDING)]
    lines = [*_unknown_lines(screen), *held_lines(screen)]
    lines += finding_lines(manual, verbose=screen.verbose)
    lines += fault_lines(outcome.rejections)
    if not lines:
        return []
    held = [finding for finding in places_in(screen.held) if finding is not None]
    asking = [f for f in manual if f.danger is not Danger.ADVICE or is_fault(f)]
    number = len({_called(finding) for finding in (*asking, *held)})
    advice = len(manual) - len(asking)
    known = f", {advice} to know" if advice else ""
    said = f"  {count(number, 'resource')}{known}" if number else ""
    settled = outcome.proof is None or outcome.whole is Whole.PROVEN
    if advice and advice == len(manual) and not held and settled:
        said = f"  nothing to do for {outcome.before.target}, {advice} to know"
    return [(), line(("LEFT", "strong"), said), *lines]


def _called(finding: Finding) -> tuple[str, ...]:
    resource = finding.resource
    return (finding.rule, finding.file) if resource is None else resource.identity


def _unknown_lines(screen: OnScreen) -> list[Line]:
    """Return why it cannot be told what the run comes to, each reason once."""
    outcome = screen.outcome
    if outcome.proof is None or outcome.whole is Whole.PROVEN:
        return []
    numbers = numbers_of(outcome.before.repository)
    reasons = outcome.proof.unknown(outcome.claim)
    return reason_lines(reasons, numbers, verbose=screen.verbose, indent="  ")


def reason_lines(
    reasons: Iterable[str], numbers: Numbers, *, verbose: bool, indent: str
) -> list[Line]:
    """Return what cannot be told, each cause once."""
    called = doubts(with_numbers(reasons, numbers))
    said = called if verbose else sentences(called)
    most = len(said) if verbose else MOST_REASONS
    lines = [line(indent, ("cannot tell: ", "warn"), why) for why in said[:most]]
    if len(said) > most:
        lines.append(line(indent, (f"… and {len(said) - most} more: --verbose", "dim")))
    return lines
