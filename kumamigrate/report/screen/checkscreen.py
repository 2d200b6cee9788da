"""The text of a check: what the target would refuse, ignore or read differently, by cause."""

from __future__ import annotations

from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.model.release import known_releases
from kumamigrate.report.beside import beside_lines
from kumamigrate.report.exitcode import counts, nothing_there, to_change
from kumamigrate.report.inventory import inventory_lines
from kumamigrate.report.screen.counted import RUN, count, nothing_line, scope_words
from kumamigrate.report.screen.findingtext import fault_lines, finding_lines
from kumamigrate.report.screen.restblock import rest_lines
from kumamigrate.report.styled import Line, line
from kumamigrate.report.unread import unread_lines
from kumamigrate.report.worldtext import world_lines
from kumamigrate.rewrite.finding import OPEN, Status


def check_lines(
    outcome: Outcome, *, verbose: bool = False, command: str = RUN, later: int = 0
) -> list[Line]:
    """Return the whole text of a check: findings by danger, the worst first. `later` counts what
    only a later release than the target asks for."""
    found = [f for f in outcome.findings if f.status in OPEN]
    target = outcome.before.target
    world = [*world_lines(outcome.began), *inventory_lines(outcome.before)]
    lines = [*world, *([()] if world else [])]
    if found:
        files = len({finding.file for finding in found})
        asking = sum(map(counts, found))
        known = f"{len(found) - asking} to know" if len(found) > asking else ""
        number = count(asking, "finding") if asking or not known else ""
        counted = (", ".join(filter(None, (number, known))), "strong")
        where = f" for Kuma {target}, in {count(files, 'file')}{scope_words(outcome)}"
        lines += [line(counted, where), *finding_lines(found, verbose=verbose, heading=True)]
    elif nothing_there(outcome):
        lines.append(nothing_line())
    else:
        lines.append(line(("Nothing to do", "good"), f" for Kuma {target}{scope_words(outcome)}"))
    more = unread_lines(outcome.before.repository, verbose=verbose, indent="  ")
    lines += [*rest_lines([], more, verbose=verbose), *fault_lines(outcome.rejections)]
    lines += beside_lines(outcome.began, to_change(outcome))
    return lines + _next_lines(outcome, command, later)


def _next_lines(outcome: Outcome, command: str, later: int) -> list[Line]:
    """Name the command that writes what can be written, and the one that asks about later."""
    fixable = sum(finding.status is Status.PENDING for finding in outcome.findings)
    lines: list[Line] = []
    if fixable:
        word = f"{fixable} of them can be tried and proved: "
        lines += [(), line(word, (f"{command} --dry-run", "strong"))]
    if later:
        newest = known_releases()[-1]
        verb = "is" if later == 1 else "are"
        said = f"{count(later, 'more finding')} {verb} of {newest} alone: "
        lines += [] if lines else [()]
        lines.append(line(said, (f"kumamigrate check --target {newest}", "strong")))
    return lines
