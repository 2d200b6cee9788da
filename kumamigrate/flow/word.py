"""What is written only on the user's word, and where that was given.

A rule may ask for it (safety *review*), or a change that takes away what denies or limits. The
word is for a rule, or for one place as a report names it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from kumamigrate.dataclass import replace
from kumamigrate.prover import Effect
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Danger, Finding, Safety, Status
from kumamigrate.rewrite.restraint import takes_restraint_away
from kumamigrate.rewrite.rule import Rule
from kumamigrate.scene.held import Cause, Held
from kumamigrate.scene.repository import Repository
from kumamigrate.scene.samelines import old_lines, text_lines
from kumamigrate.world.accepted import Accepted
from kumamigrate.world.options import Options

UNUSED = "unused-accept"
Places = Iterable[tuple[str, int]]
"""Files and lines, as they are at the moment."""


def begun(options: Options, repository: Repository) -> Options:
    """Return the options of a run whose texts, from which places are counted, are known."""
    places = (replace(one, text=repository.data.get(one.file, b"")) for one in options.accept_at)
    return replace(options, accept_at=tuple(places))


def takes(options: Options, rule: str, places: Places, repository: Repository) -> bool:
    """Say whether the user takes what a rule wants at some places of a repository."""
    if rule in options.accept:
        return True
    mine = [one for one in options.accept_at if one.rule == rule]
    return bool(mine) and any(_is_at(one, place, repository) for place in places for one in mine)


def may_take(options: Options, rule: str) -> bool:
    """Say whether the user takes what a rule wants at some place."""
    return rule in options.accept or any(one.rule == rule for one in options.accept_at)


def asks(rule: Rule, change: Change, repository: Repository) -> bool:
    """Say whether a change is written only on the user's word."""
    if rule.safety is Safety.REVIEW or any(f.safety is Safety.REVIEW for f in change.findings):
        return True
    return takes_restraint_away(change, repository.by_place)


def with_cause(held: Held, hold: Set[Effect]) -> Held:
    """Return a held change with what it was left for, if only for what is on hold."""
    effects = {witness.effect for witness in held.witnesses}
    if not effects or not effects <= hold or held.unknown or held.refusals:
        return held
    return replace(held, cause=Cause(min(effects).value))


def unused(
    places: Iterable[Accepted],
    findings: Iterable[Finding],
    before: Repository,
    after: Repository,
) -> Iterator[Finding]:
    """Yield a finding for each place where nothing of its rule was found to be accepted."""
    listed = list(findings)
    for one in places:
        spoken = [f for f in listed if f.rule == one.rule and f.file == one.file]
        if not any(_is_of(one, f, after) for f in spoken):
            told = one.file in before.files or one.file in before.data
            yield _nothing_there(one, spoken, known=told)


def _is_of(one: Accepted, finding: Finding, after: Repository) -> bool:
    if finding.status is Status.FIXED:  # told of the text before the run
        return finding.line == one.line
    return _is_at(one, (finding.file, finding.line), after)


def _is_at(one: Accepted, place: tuple[str, int], repository: Repository) -> bool:
    file, line = place
    if file != one.file:
        return False
    now = repository.files[file].render() if file in repository.files else one.text
    if now == one.text:
        return line == one.line
    lines = old_lines(text_lines(one.text), text_lines(now))
    return 0 < line <= len(lines) and lines[line - 1] == one.line


def _nothing_there(one: Accepted, spoken: list[Finding], *, known: bool) -> Finding:
    lines = sorted({finding.line for finding in spoken})
    if not known:
        action = "there is no such file; leave it out"
    elif lines:
        action = f"it speaks of line {', '.join(map(str, lines))} there"
    else:
        action = "leave it out: it speaks of no line of this file"
    return Finding(
        rule=UNUSED,
        resource=None,
        message=f"nothing of {one.rule} is here to be accepted (--accept {one})",
        action=action,
        danger=Danger.DEPRECATED,
        file=one.file,
        line=one.line,
        column=1,
    )
