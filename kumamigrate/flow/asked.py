"""What rules say of the sources of every environment, and where in the files it stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from weakref import ref

from kumamigrate.dataclass import replace
from kumamigrate.errors import UsageError
from kumamigrate.flow.baselined import without_known
from kumamigrate.flow.deployed import is_deployed
from kumamigrate.flow.quiet import settled, silenced
from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.flow.saidonce import all_said
from kumamigrate.flow.word import asks, may_take, takes, unused
from kumamigrate.model.versions import at_least
from kumamigrate.rewrite.audit import without_echoes
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.filled import without_guesses
from kumamigrate.rewrite.finding import Danger, Finding, Status
from kumamigrate.rewrite.plan import may_speak, plan
from kumamigrate.rewrite.rule import Rule
from kumamigrate.rewrite.rulebook import rulebook
from kumamigrate.rewrite.view import View
from kumamigrate.scene.held import Held
from kumamigrate.scene.scene import Scene
from kumamigrate.world.estate import Estate, Site
from kumamigrate.world.options import Options

NAMED = "removed-kind-named"
"""The rule that looks at texts that are no manifests."""


def chosen_rules(options: Options) -> tuple[Rule, ...]:
    """Return the rules a run uses, in order. Raises UsageError for an unknown rule id."""
    known = {rule.id for rule in rulebook()}
    taken = (*options.accept, *(one.rule for one in options.accept_at))
    for name in (*options.select, *options.ignore, *taken):
        if name not in known:
            raise UsageError(f"there is no rule {name}; kumamigrate rules lists them")
    return tuple(
        rule
        for rule in rulebook()
        if (not options.select or rule.id in options.select) and rule.id not in options.ignore
    )


def said_by(
    rule: Rule, before: Estate, estate: Estate, options: Options
) -> tuple[Change | Finding, ...]:
    """Return what a rule says of the sources of every environment, each thing once.

    A run asks until nothing changes any more, and once more in the end: of the same it is told
    what was said.
    """
    known = estate.said.get(rule.id)
    if known is not None and known[0]() is before and known[1] is options:
        found: tuple[Change | Finding, ...] = known[2]
        return found
    said = all_said(
        _said(rule, old, new, options, estate)
        for old, new in zip(before.sites, estate.sites, strict=True)
    )
    estate.said[rule.id] = (ref(before), options, said)
    return said


def _said(
    rule: Rule, old: Site, new: Site, options: Options, estate: Estate
) -> tuple[Change | Finding, ...]:
    """Return what a rule says of one environment: most have nothing to say of most."""
    scene = new.written
    state = scene.state(scene.source)[0]
    if not may_speak(rule, state, scene.refused(), scene.target):
        return ()
    return plan(_view(rule, old, new, options, estate))


def _view(rule: Rule, old: Site, new: Site, options: Options, estate: Estate) -> View:
    before, scene = old.written, new.written
    return View(
        rule=rule,
        state=scene.state(scene.source)[0],
        before=before.state(before.source)[0],
        target_name=scene.target,
        stage=options.stage,
        editable=estate.editable_of(new),
        refused=scene.refused(),
        locate=before.locate,
        texts=estate.texts if rule.id == NAMED else {},
        deployed=partial(is_deployed, before),
        accepted=frozenset((*options.accept, *(one.rule for one in options.accept_at))),
        exported=scene.inventory,
    )


def left_by(
    rule: Rule, before: Estate, estate: Estate, options: Options, held: dict[object, Held]
) -> Iterator[Finding]:
    """Yield what a rule still says in the end: what was held, and what asks for a decision."""
    scene = estate.whole
    for said in said_by(rule, before, estate, options):
        if isinstance(said, Finding):
            yield from at_place([said], scene)
        elif said.key in held and said.instead:
            from kumamigrate.scene.losses import losses  # no check holds anything

            lost = losses(held[said.key])
            yield from at_place([replace(f, notes=(*f.notes, *lost)) for f in said.instead], scene)
        elif said.key in held:
            yield from placed(said, Status.HELD, scene)
        elif is_silenced(said, scene, options):
            yield from placed(said, Status.SUPPRESSED, scene)
        elif waits_for_word(rule, said, estate, options):
            yield from to_review(said, scene)


def waits_for_word(rule: Rule, change: Change, estate: Estate, options: Options) -> bool:
    """Say whether a change is written only on the user's word, which was not given."""
    repository = estate.whole.repository
    return asks(rule, change, repository) and not is_taken(change, estate, options)


def is_taken(change: Change, estate: Estate, options: Options) -> bool:
    """Say whether the user takes a change on their own word."""
    placed = ((f.file, f.line) for f in at_place(change.findings, estate.whole))
    return takes(options, change.rule, placed, estate.whole.repository)


def unused_accepts(outcome: Outcome, rules: Iterable[Rule]) -> Iterator[Finding]:
    """Yield what was accepted at a place where there is nothing of the kind."""
    before, after = outcome.before.repository, outcome.after.repository
    mine = outcome.began.editable | outcome.ended.editable
    asked = {rule.id for rule in rules}
    places = (
        one
        for one in outcome.options.accept_at
        if one.rule in asked and (one.file in mine or one.file not in before.files)
    )
    return unused(places, outcome.findings, before, after)


def to_review(change: Change, scene: Scene) -> Iterator[Finding]:
    """Yield the findings of a change that waits for the user's word."""
    for finding in placed(change, Status.MANUAL, scene):
        word = (
            f"look at it with `kumamigrate run --accept {change.rule} --dry-run`; without --dry-run"
            " it is written"
        )
        action = f"{finding.action.rstrip('.')}; {word}" if finding.action else word
        yield replace(finding, action=action)


def _due(findings: Iterable[Finding], options: Options, target: str) -> Iterator[Finding]:
    """Yield what concerns the target release, as dangerous as it is there.

    What only a later release refuses or reads differently is at most deprecated now. Where the
    target does not even warn, no decision is asked for yet, unless the rule was selected or has
    to say that the target is too old for its new form.
    """
    rules = {rule.id: rule for rule in rulebook()}
    for finding in findings:
        rule = rules.get(finding.rule)
        if rule is None or not rule.required or at_least(target, rule.required):
            yield finding
            continue
        warned = bool(rule.warned) and at_least(target, rule.warned)
        early = bool(rule.since) and not at_least(target, rule.since)
        asked = rule.id in options.select or may_take(options, rule.id)
        if finding.status is not Status.MANUAL or warned or early or asked:
            yield replace(finding, danger=max(finding.danger, Danger.DEPRECATED))


def placed(change: Change, status: Status, scene: Scene) -> Iterator[Finding]:
    for finding in at_place(change.findings, scene):
        if finding.status is not Status.PENDING:
            yield finding
        elif status is Status.FIXED:
            yield replace(finding, status=status, action="")
        else:
            yield replace(finding, status=status)


def at_place(findings: Iterable[Finding], scene: Scene) -> Iterator[Finding]:
    for finding in findings:
        if finding.file or finding.resource is None:
            yield finding
            continue
        file, line, column = scene.repository.place(scene.where(finding.resource), finding.path)
        yield replace(finding, file=file, line=line, column=column)


def is_silenced(change: Change, scene: Scene, options: Options) -> bool:
    return silenced(tuple(at_place(change.findings, scene)), scene, options)


def outcome_of(
    options: Options, began: Estate, ended: Estate, findings: Iterable[Finding]
) -> Outcome:
    before, after = began.whole, ended.whole
    drifts = (one for site in began.sites for one in _drift(options, site.written))
    said = (*findings, *drifts)
    due = without_echoes(_due(said, options, before.target))
    mine = began.editable | ended.editable
    placed = tuple(
        finding
        for finding in at_place(without_guesses(due, rulebook()), after)
        # What stands outside of the paths given is read, and not spoken of.
        if finding.file in mine or finding.file not in before.repository.files
    )
    told = settled(
        placed,
        said,
        files=ended.editable,
        scene=after,
        options=options,
        rules=chosen_rules(options),
        place=lambda some: at_place(some, after),
    )
    return Outcome(
        options=options,
        before=before,
        after=after,
        began=began,
        ended=ended,
        findings=without_known(sorted(told, key=_order), options.baseline),
    )


def _drift(options: Options, before: Scene) -> Iterable[Finding]:
    if options.select or not before.inventory:
        return ()
    from kumamigrate.flow.drift import drift

    return drift(before)


def _order(finding: Finding) -> tuple[str, int, int, str, str]:
    return (finding.file, finding.line, finding.column, finding.rule, finding.message)
