"""Rules asked again and again until nothing changes; what holds is kept, the rest is held."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import product

from kumamigrate.dataclass import replace
from kumamigrate.flow.asked import (
    chosen_rules,
    is_taken,
    left_by,
    outcome_of,
    placed,
    said_by,
    unused_accepts,
)
from kumamigrate.flow.baselined import with_known
from kumamigrate.flow.circles import Circles, circles_in
from kumamigrate.flow.declined import each_once
from kumamigrate.flow.judging.everywhere import judge_everywhere
from kumamigrate.flow.judging.everyworld import open_to
from kumamigrate.flow.pending import Settling, pending_of
from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.flow.told import Progress, telling
from kumamigrate.flow.unfinished import OLD_FORMS, unfinished
from kumamigrate.flow.word import with_cause
from kumamigrate.rewrite.change import Change, Rollout, without_conflicts
from kumamigrate.rewrite.finding import Status
from kumamigrate.rewrite.rule import Rule
from kumamigrate.scene.held import Held
from kumamigrate.scene.trial import Result, try_changes
from kumamigrate.world.estate import Estate, apply
from kumamigrate.world.options import Options

MOST_PASSES = 10
"""What rules still change after so many passes goes in circles."""


def settled_by_rules(before: Estate, options: Options, progress: Progress) -> Outcome:
    """Return what all rules come to, what holds applied and the rest held; not proven as a sum.

    First come the rules for old policies, then what can go out now, then all of it: what goes out
    with the upgrade is held against what was deployed before it, of which each step was proven. A
    change that was held is not tried again, but where something goes out with the upgrade the last
    two begin anew: a second run would start from there, and has to find nothing. What rules change
    in circles is held (circles.py), and what writes a document that the target refuses in the end
    is not done (unfinished.py): all begins anew without it.
    """
    circles: Circles = {}
    while True:
        outcome = _settled_but_for(circles, before, options, progress)
        taken = partial(is_taken, estate=outcome.ended, options=options)
        ended = outcome.ended.whole
        alone = unfinished(before.whole, ended, outcome.kept, taken, options.select)
        if alone.keys() <= circles.keys():
            return outcome
        circles.update(alone)


def _settled_but_for(
    circles: Circles, before: Estate, options: Options, progress: Progress
) -> Outcome:
    rules = chosen_rules(options)
    old_forms = tuple(rule for rule in rules if rule.id.startswith(OLD_FORMS))
    settling = Settling(
        began=before,
        base=before,
        options=options,
        rollouts=tuple(Rollout),
        circles=circles,
        progress=progress,
    )
    done = _settle(old_forms, settling)
    estate = done.scene
    kept, grounds = [*done.kept], [*done.grounds]
    for _ in range(MOST_PASSES):
        settling = replace(settling, began=estate, base=estate)
        first = _settle(rules, replace(settling, rollouts=(Rollout.NOW,)))
        # Where nothing was kept, what was held would be asked the same again.
        held = () if first.kept else first.held
        done = _settle(rules, replace(settling, base=first.scene), held)
        estate = done.scene
        kept += (*first.kept, *done.kept)
        grounds += (*first.grounds, *done.grounds)
        if not done.kept:
            break
    findings = [f for change in kept for f in placed(change, Status.FIXED, before.whole)]
    in_the_end: dict[object, Held] = {one.change.key: one for one in done.held}
    for rule in rules:
        findings.extend(left_by(rule, before, estate, options, in_the_end))
    outcome = outcome_of(options, before, estate, findings)
    left = tuple(one for one in done.held if not one.change.instead)
    outcome = replace(outcome, kept=tuple(kept), held=left, grounds=tuple(grounds))
    outcome = replace(outcome, findings=(*outcome.findings, *unused_accepts(outcome, rules)))
    known = with_known(outcome.held, outcome.findings, outcome.options.baseline)
    return replace(outcome, held=known)


def _settle(
    rules: Sequence[Rule], settling: Settling, known_held: Sequence[Held] = ()
) -> Result[Estate]:
    """Ask rules again and again until nothing changes, and return what was kept and held.

    `known_held` were held against the same base. What rules still change after so many passes
    joins the circles, and all begins anew without it.
    """
    scene, kept, grounds = settling.base, list[Change](), list[Estate]()
    held: dict[object, Held] = {one.change.key: one for one in known_held}
    last: list[Change] = []
    for _ in range(MOST_PASSES):
        last = []
        for done, rule in enumerate(rules):
            settling.progress(rule.title, done, len(rules))
            result = _run_rule(rule, scene, held, settling)
            # They hold all that was worked out about them: kept only for who looks at each.
            grounds.extend(scene for _ in (result.kept if settling.options.interactive else ()))
            scene = result.scene
            last.extend(result.kept)
            held.update({one.change.key: one for one in result.held})
        kept.extend(last)
        if not last:
            left = each_once(held.values())
            return Result(scene=scene, kept=tuple(kept), held=left, grounds=tuple(grounds))
    settling.circles.update(circles_in(last))
    return _settle(rules, settling, known_held)


def _run_rule(
    rule: Rule, estate: Estate, held: Mapping[object, Held], settling: Settling
) -> Result[Estate]:
    """Return what of one rule's changes holds."""
    options = settling.options
    pending = pending_of(rule, estate, held, settling)
    result = Result(scene=estate, held=pending.stuck)
    ways = product((False, True), (False, True)) if pending.changes else ()
    for upgrade, trusted in ways:
        part = pending.part(upgrade=upgrade, trusted=trusted)
        # What goes out with the upgrade rests on what went out before: it waits for a next pass.
        if part and not result.kept:
            judge = judge_everywhere(
                rule.claims,
                settling.base,
                upgrade=upgrade,
                take_unknown=trusted,
                allow=options.allow,
                hold=options.hold,
            )
            forms = _other_forms(rule, settling.began, estate, options)
            apart = without_conflicts(part)
            tried = try_changes(estate, apart, telling(judge, settling.progress), apply, forms)
            left = (with_cause(one, options.hold) for one in tried.held)
            result = replace(tried, held=(*result.held, *left))
    return result


def _other_forms(
    rule: Rule, before: Estate, estate: Estate, options: Options
) -> Callable[[Change], Change | None]:
    """Return what tells the form to try after one that does not hold: its own other one, else
    what the rule would write if it knew which initial policies are there (world.md §1).

    One that holds beside them may hold without them as well: a name that sorts before theirs.
    """

    @cache
    def elsewhere() -> dict[object, tuple[Change, ...]]:
        found: dict[object, list[Change]] = defaultdict(list)
        for world in open_to(site.written for site in estate.sites):
            old, new = (_in_world(one, world) for one in (before, estate))
            for said in said_by(rule, old, new, options):
                if isinstance(said, Change):
                    found[said.key].append(replace(said, otherwise=None))
        return {key: tuple(forms) for key, forms in found.items()}

    def other(change: Change) -> Change | None:
        if change.otherwise is not None:
            return change.otherwise
        forms = elsewhere().get(change.key, ())
        edits = [form.edits for form in forms]
        tried = edits.index(change.edits) + 1 if change.edits in edits else 0
        seen = edits[:tried]
        return next((f for f in forms[tried:] if f.edits not in (*seen, change.edits)), None)

    return other


def _in_world(estate: Estate, world: str) -> Estate:
    """Return an estate whose meshes were given the initial policies of a world, where open."""
    sites = tuple(replace(s, written=s.written.in_world(world)) for s in estate.sites)
    return replace(estate, sites=sites)
