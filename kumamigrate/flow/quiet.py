"""What is left alone because a comment in the text says so, and comments that say nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from kumamigrate.model.versions import at_least
from kumamigrate.rewrite.finding import Finding, Status
from kumamigrate.rewrite.rule import Rule
from kumamigrate.rewrite.rulebook import rulebook
from kumamigrate.scene.scene import Scene
from kumamigrate.scene.suppress import Suppressions, Used
from kumamigrate.world.options import Options

DEAD = ("unreached-policy", "overruled-setting", "repeated-setting", "undecided-setting")
OTHER_NAMES = ("inventory-drift", *DEAD)
"""What findings may be called besides the rules of the rulebook, and be silenced by."""

Place = Callable[[Iterable[Finding]], Iterable[Finding]]
"""Says where findings stand."""


def silenced(findings: Collection[Finding], scene: Scene, options: Options) -> bool:
    """Say whether some finding of a change is to be left alone."""
    marks = Suppressions(scene.repository, {f.file for f in findings}, options.today)
    return any(marks.of(finding) for finding in findings)


def settled(
    findings: Iterable[Finding],
    said: Iterable[Finding],
    *,
    files: Iterable[str],
    scene: Scene,
    options: Options,
    rules: Iterable[Rule],
    place: Place,
) -> tuple[Finding, ...]:
    """Return findings, those silenced by a mark as such, and what is wrong with the marks.

    `said` is all that rules said: a mark for what is not due for the target is needed all the
    same, when another target is asked for.
    """
    marks = Suppressions(scene.repository, files, options.today)
    used: Used = set()
    result = marks.settled(findings, used)
    if not marks.any:
        return result
    # What is settled is told of the text before the run, which may have moved.
    marks.settled(place(f for f in said if f.status is not Status.FIXED), used)
    known = (*(rule.id for rule in rulebook()), *OTHER_NAMES)
    asked = {rule.id for rule in rules if _speaks(rule, scene)}
    asked |= {"inventory-drift"} if scene.inventory and not options.select else set()
    asked |= set(DEAD) if options.dead else set()
    return (*result, *marks.complaints(used, known=known, asked=asked.__contains__))


def _speaks(rule: Rule, scene: Scene) -> bool:
    """Say whether a rule has anything to say for the releases of a scene."""
    over = bool(rule.until) and at_least(scene.target, rule.until)
    early = bool(rule.since) and not at_least(scene.target, rule.since)
    past = bool(rule.source_before) and at_least(scene.source, rule.source_before)
    return not (over or early or past)
