"""The text of a run: what changes, what that rests on, what is left; then the next step."""

from __future__ import annotations

from collections.abc import Sequence

from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.flow.verdict import Whole
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.release import known_releases
from kumamigrate.report.beside import beside_lines
from kumamigrate.report.exit import Exit
from kumamigrate.report.exitcode import counts, exit_of_state, nothing_there
from kumamigrate.report.inventory import inventory_lines
from kumamigrate.report.outcome import orders_of
from kumamigrate.report.screen.changeblock import change_lines
from kumamigrate.report.screen.counted import (
    RUN,
    count,
    is_on_word,
    nothing_line,
    scope_words,
)
from kumamigrate.report.screen.leftblock import left_lines
from kumamigrate.report.screen.onscreen import OnScreen
from kumamigrate.report.screen.restblock import facts_of, rest_lines
from kumamigrate.report.styled import Line, line
from kumamigrate.report.unread import unread_lines
from kumamigrate.report.worldtext import world_lines

MOST_FILES = 20
"""As many files of a step are listed; of more it is said how many they are."""


def run_lines(
    outcome: Outcome, *, written: bool, verbose: bool = False, command: str = RUN
) -> list[Line]:
    """Return the whole text of a run: first what the world was, then the blocks."""
    screen = OnScreen(outcome, written, verbose, command)
    world = [*world_lines(outcome.began), *inventory_lines(outcome.before)]
    changes = change_lines(screen)
    head = [] if outcome.texts else [_nothing(outcome)]
    lines = [*world, *([()] if world else []), *head, *changes]
    lines += _rest_lines(screen)
    lines += left_lines(screen)
    lines += beside_lines(outcome.began, outcome.texts)
    return lines + _next_lines(screen)


def _nothing(outcome: Outcome) -> Line:
    """Say that no file changes, and whether that is because all is well."""
    target = outcome.before.target
    if nothing_there(outcome):
        return nothing_line()
    waiting = sum(counts(finding) for finding in outcome.findings)
    if waiting:
        looked = f"{count(waiting, 'finding')} to look at for Kuma {target}{scope_words(outcome)}"
        return line(("Nothing was written", "warn"), f"; {looked}")
    return line(("Nothing to change", "good"), f" for Kuma {target}{scope_words(outcome)}")


def _rest_lines(screen: OnScreen) -> list[Line]:
    outcome = screen.outcome
    proof = outcome.proof
    scene = outcome.before
    old = any(r.type in OLD_POLICIES for r in (*scene.repository.resources, *scene.inventory))
    facts = [] if proof is None else facts_of(proof, old_policies=old, verbose=screen.verbose)
    more = unread_lines(outcome.before.repository, verbose=screen.verbose, indent="  ")
    return rest_lines(facts, more, verbose=screen.verbose)


def _next_lines(screen: OnScreen) -> list[Line]:
    """Say in which order to deploy, and what to do next."""
    outcome = screen.outcome
    lines = [*_order_lines(screen), *_written_lines(screen)]
    newest, target = known_releases()[-1], outcome.before.target
    settled = exit_of_state(outcome) is Exit.CLEAN and not outcome.held
    if settled and target != newest and not any(counts(f) for f in outcome.findings):
        more = " more" if outcome.texts and not screen.written else ""
        later = f"what {newest} needs: kumamigrate check --target {newest}"
        lines += [] if lines else [()]
        lines.append(line(f"Nothing{more} is left to do for {target}; {later}"))
    return lines


def _written_lines(screen: OnScreen) -> list[Line]:
    outcome = screen.outcome
    if not outcome.texts:
        return []
    if screen.written:
        return [(), line("Review with git diff.")]
    return [(), line(_what_to_write(outcome), (screen.command, "strong"))]


def _what_to_write(outcome: Outcome) -> str:
    """Return the words before the command that writes, which claim no more than was proven."""
    if outcome.whole in (Whole.PROVEN, Whole.AFTER_SWITCH):
        return "To write this: "
    taken = ", ".join(dict.fromkeys(c.rule for c in outcome.kept if is_on_word(outcome, c.rule)))
    if taken:
        return f"To write this, of which {taken} is on your word and not proven: "
    return "To write these edits, which are safe one by one: "


def _order_lines(screen: OnScreen) -> list[Line]:
    """Return what must be deployed separately; nothing where one commit is enough."""
    lines: list[Line] = []
    orders: Sequence[tuple[str, tuple[str, ...]]] = orders_of(screen.outcome)
    for number, (words, files) in enumerate(orders, start=1):
        if not files:
            lines.append(line(f"  {number}. {words}"))
            continue
        many = len(files) > MOST_FILES and not screen.verbose
        shown = f"{len(files)} files, which --verbose lists" if many else ", ".join(files)
        lines.append(line(f"  {number}. {words}: ", (shown, "" if many else "place")))
    return [(), line(("Deploy in this order", "strong")), *lines] if lines else []
