"""The whole flow: load → plan → apply → read again → prove → keep or hold → report → write.

The prover and the writer are imported where they are called: `check`, and with it the
pre-commit hook, needs neither, and they take longer to import than the hook takes to run.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache, partial
from itertools import product

from kumamigrate.dataclass import dataclass, field, replace
from kumamigrate.errors import KumamigrateError, SourceError, UsageError
from kumamigrate.flow.baselined import with_known, without_known
from kumamigrate.flow.circles import Circles, circles_in, held_for_circles
from kumamigrate.flow.claims import (
    claim_of,
    claims_of,
    resting_on,
    switched_meshes,
    without_carry,
)
from kumamigrate.flow.declined import each_once, held_by_choice
from kumamigrate.flow.deployed import is_deployed
from kumamigrate.flow.everywhere import all_said, merged
from kumamigrate.flow.quiet import settled, silenced
from kumamigrate.flow.told import WHOLE, Progress, silent, telling
from kumamigrate.flow.unfinished import unfinished
from kumamigrate.flow.verdict import Whole, breaks_today, changed_types, whole_of
from kumamigrate.flow.word import asks, begun, may_take, takes, unused, with_cause
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import mesh_services_mode
from kumamigrate.model.versions import at_least
from kumamigrate.prover import Effect, Proof, Verdict
from kumamigrate.prover.claimed import CARRY, LIVE, RELEASE
from kumamigrate.rewrite.audit import without_echoes
from kumamigrate.rewrite.change import Change, Rollout
from kumamigrate.rewrite.filled import without_guesses
from kumamigrate.rewrite.finding import Danger, Finding, Safety, Status
from kumamigrate.rewrite.plan import plan
from kumamigrate.rewrite.rule import Rule
from kumamigrate.rewrite.rulebook import rulebook
from kumamigrate.rewrite.view import View
from kumamigrate.scene.held import Held
from kumamigrate.scene.repository import Rejection
from kumamigrate.scene.trial import Result, Scene, try_changes, without_conflicts
from kumamigrate.world.estate import Estate, Site, apply, single
from kumamigrate.world.options import Options

OLD_FORMS = "legacy-"
"""Rules with such an id convert what the old engine reads."""
NAMED = "removed-kind-named"
"""The rule that looks at texts that are no manifests."""
MOST_PASSES = 10
"""What rules still change after so many passes goes in circles."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a run found and would write. Nothing has been written.

    `before` and `after` are made of all sources; `began` and `ended` are these with what each
    environment gets of them. `texts` holds the new bytes by path, None for a file to remove;
    `grounds` are what each kept change is an edit of, where somebody is asked about them. `steps`
    is what must be deployed separately, in order. `adopted` are files of `before` that are still
    to be written, `examples` what changes in files of other languages.
    """

    options: Options
    before: Scene
    after: Scene
    began: Estate
    ended: Estate
    findings: tuple[Finding, ...]
    held: tuple[Held, ...] = ()
    proof: Proof | None = None
    whole: Whole = Whole.PROVEN
    kept: tuple[Change, ...] = ()
    grounds: tuple[Estate, ...] = field(default=(), repr=False)
    adopted: frozenset[str] = frozenset()
    examples: Mapping[str, tuple[bytes, bytes]] = field(default_factory=dict)

    @property
    def claim(self) -> str:
        """Return the claim that decides, and that the headline speaks of."""
        return claim_of(self.before.source, self.before.target)

    @property
    def rejections(self) -> tuple[Rejection, ...]:
        """Return what the release in use refuses of the repository as it was."""
        return self.before.state(self.before.source)[1]

    @property
    def texts(self) -> dict[str, tuple[bytes | None, bytes | None]]:
        """Return old and new bytes of every file that changes, None for one that is not there."""
        old, new = self.before.repository, self.after.repository
        changed: dict[str, tuple[bytes | None, bytes | None]] = {}
        for path, file in old.files.items():
            later = new.files.get(path)
            if path in self.adopted:
                if later is not None:
                    changed[path] = (None, later.render())
                continue
            if later is file:
                continue  # not edited; the text of a refused file is not what its bytes say
            after = later.render() if later is not None else None
            if after != old.data[path]:
                changed[path] = (old.data[path], after)
        return changed | self._beside(changed) | dict(self.examples)

    @property
    def orphans(self) -> tuple[Resource, ...]:
        """Return adopted policies that are gone in the end: no Git ever held them, so nothing
        takes them away from the control plane."""
        left = {resource.identity for resource in self.after.repository.resources}
        return tuple(
            r
            for r in self.before.repository.resources
            if r.where is not None and r.where.path in self.adopted and r.identity not in left
        )

    def _beside(self, known: Collection[str]) -> dict[str, tuple[bytes | None, bytes | None]]:
        """Return what changes in files that hold no manifest: it moves along with the others."""
        old, new = self.began.tree.files, self.ended.tree.files
        if old is new:
            return {}
        manifests = self.before.repository.files
        return {
            path: (data, new.get(path))
            for path, data in old.items()
            if data is not None
            and new.get(path) != data
            and not (path in known or path in manifests or path in self.adopted)
        }


def check(scene: Scene | Estate, options: Options) -> Outcome:
    """Return what every rule would do or asks, proving and changing nothing."""
    estate = single(scene) if isinstance(scene, Scene) else scene
    findings: list[Finding] = []
    for said in wanted(estate, options):
        findings.extend(said.findings if isinstance(said, Change) else [said])
    if options.dead:
        from kumamigrate.flow.dead import dead_settings

        findings.extend(dead_settings(estate))
    return _outcome(options, estate, estate, findings)


def wanted(estate: Estate, options: Options) -> Iterator[Change | Finding]:
    """Yield what every chosen rule would change or asks, rule by rule; nothing is proven."""
    for rule in chosen_rules(options):
        yield from _said(rule, estate, estate, options)


def migrate(scene: Scene | Estate, options: Options, progress: Progress = silent) -> Outcome:
    """Apply every rule to a fixed point, keeping what is proven, and prove the whole.

    Rules run in dependency order; when one has changed something all are asked again, until
    nothing changes. So are first the rules for old policies, then what can go out now, then all
    of it: what goes out with the upgrade is held against what was deployed before it, of which
    each step was proven. A change that was held is not tried again, but where something goes
    out with the upgrade the last two begin anew: a second run would start from there, and has
    to find nothing. What rules change in circles is held (circles.py), and what writes a document
    that the target refuses in the end is not done (unfinished.py): all begins anew without it.
    """
    before = single(scene) if isinstance(scene, Scene) else scene
    options = begun(options, before.whole.repository)
    circles: Circles = {}
    while True:
        outcome = _migrated(before, options, progress, circles)
        alone = unfinished(before.whole, outcome.ended.whole, outcome.kept)
        if alone.keys() <= circles.keys():
            break
        circles.update(alone)
    # An upgrade changes what proxies get although no file does.
    resources = any(site.applied.repository.resources for site in before.sites)
    upgrade = outcome.claim == RELEASE and resources
    if not (outcome.kept or upgrade):
        return outcome
    progress(WHOLE, 0, 1)
    return _as_a_whole(outcome)


def _migrated(before: Estate, options: Options, progress: Progress, circles: Circles) -> Outcome:
    """Return what all rules come to."""
    rules = chosen_rules(options)
    old_forms = tuple(rule for rule in rules if rule.id.startswith(OLD_FORMS))
    every = tuple(Rollout)
    done = _settle(old_forms, every, before, before, options, progress, circles=circles)
    estate = done.scene
    kept, grounds = [*done.kept], [*done.grounds]
    for _ in range(MOST_PASSES):
        now = (Rollout.NOW,)
        first = _settle(rules, now, estate, estate, options, progress, circles=circles)
        # Where nothing was kept, what was held would be asked the same again.
        held = () if first.kept else first.held
        done = _settle(rules, every, estate, first.scene, options, progress, held, circles)
        estate = done.scene
        kept += (*first.kept, *done.kept)
        grounds += (*first.grounds, *done.grounds)
        if not done.kept:
            break
    findings = [f for change in kept for f in _placed(change, Status.FIXED, before.whole)]
    in_the_end: dict[object, Held] = {one.change.key: one for one in done.held}
    for rule in rules:
        findings.extend(_left(rule, before, estate, options, in_the_end))
    outcome = _outcome(options, before, estate, findings)
    left = tuple(one for one in done.held if not one.change.instead)
    outcome = replace(outcome, kept=tuple(kept), held=left, grounds=tuple(grounds))
    outcome = replace(outcome, findings=(*outcome.findings, *_unused_accepts(outcome, rules)))
    known = with_known(outcome.held, outcome.findings, outcome.options.baseline)
    return replace(outcome, held=known)


def _settle(
    rules: Sequence[Rule],
    rollouts: tuple[Rollout, ...],
    began: Estate,
    base: Estate,
    options: Options,
    progress: Progress,
    known_held: Sequence[Held] = (),
    circles: Circles | None = None,
) -> Result[Estate]:
    """Ask rules again and again until nothing changes, and return what was kept and held.

    `began` is what rules call before, `base` what their changes are held against;
    `known_held` were held against the same. What rules still change after so many passes joins
    the `circles`, and all begins anew without it.
    """
    circles = {} if circles is None else circles
    scene, kept, grounds = base, list[Change](), list[Estate]()
    held: dict[object, Held] = {one.change.key: one for one in known_held}
    last: list[Change] = []
    for _ in range(MOST_PASSES):
        last = []
        for done, rule in enumerate(rules):
            progress(rule.title, done, len(rules))
            since = (began, base)
            result = _run_rule(rule, since, scene, options, held, rollouts, circles, progress)
            # They hold all that was worked out about them: kept only for who looks at each.
            grounds.extend(scene for _ in (result.kept if options.interactive else ()))
            scene = result.scene
            last.extend(result.kept)
            held.update({one.change.key: one for one in result.held})
        kept.extend(last)
        if not last:
            left = each_once(held.values())
            return Result(scene=scene, kept=tuple(kept), held=left, grounds=tuple(grounds))
    circles.update(circles_in(last))
    return _settle(rules, rollouts, began, base, options, progress, known_held, circles)


def _as_a_whole(outcome: Outcome) -> Outcome:
    """Return the outcome with the proof of everything that was kept, and what it comes to."""
    claim, allow = outcome.claim, outcome.options.allow
    sites = [
        (old, new)
        for old, new in zip(outcome.began.sites, outcome.ended.sites, strict=True)
        # Nothing of an environment that was not touched changes on one release.
        if new is not old or claim == RELEASE or len(outcome.began.sites) == 1
    ]
    proofs = [prove_scenes(old.applied, new.applied) for old, new in sites]
    proof = merged((old.name, found) for (old, _), found in zip(sites, proofs, strict=True))
    differs = claim == RELEASE and proof.allowing(claim, allow) is Verdict.DIFFERENT
    once_switched = differs and all(
        _holds_once_switched(old.applied, new.applied, found, allow)
        for (old, new), found in zip(sites, proofs, strict=True)
    )
    return replace(outcome, proof=proof, whole=whole_of(proof, claim, allow, once_switched))


def _holds_once_switched(before: Scene, after: Scene, proof: Proof, allow: Set[Effect]) -> bool:
    """Say whether the upgrade is proven for meshes that have switched to mode Exclusive first.

    One mesh that differs even then is enough for a no, so those are asked first that differ now,
    small ones before; where no outbound is by service tag, a switch changes nothing.
    """
    from kumamigrate.flow.acceptance import has_tag_outbounds

    found = {name: one.claims[RELEASE].allowing(allow) for name, one in proof.meshes.items()}
    differing = {name for name, verdict in found.items() if verdict is Verdict.DIFFERENT}
    state = before.state(before.source)[0]
    modes = {mesh_services_mode(state, mesh) for mesh in differing}
    if differing and ("Exclusive" in modes or not has_tag_outbounds(before)):
        return False
    sizes = Counter(resource.mesh for resource in state.resources)
    order = sorted(found, key=lambda name: (name not in differing, sizes[name]))
    ask = partial(_proof, before, after, (RELEASE,), exclusive=True)
    proofs = (ask(only=frozenset({mesh})) for mesh in order)
    return all(one.allowing(RELEASE, allow) is Verdict.EQUIVALENT for one in proofs)


def must_not_be_written(outcome: Outcome) -> bool:
    """Say whether the steps, proven one by one, change as a sum what proxies read today."""
    upgrade = any(change.rollout is not Rollout.NOW for change in outcome.kept)
    changed = changed_types(outcome.before.repository, outcome.after.repository)
    options = outcome.options
    broken = outcome.proof is not None and breaks_today(
        outcome.proof, changed, options.allow - options.hold
    )
    return broken and not upgrade and not (options.accept or options.accept_at)


def sound(outcome: Outcome) -> Outcome:
    """Return an outcome that may be written.

    Steps that were proven one by one and change as a sum what proxies read today are a fault of
    ours: nothing is written then, unless the user took a rule on their own word
    (KumamigrateError).
    """
    if must_not_be_written(outcome):
        raise KumamigrateError(
            "the changes hold one by one and not together, which is a fault of this tool;"
            " nothing was written. See --dry-run, and please report it"
        )
    return outcome


def write(outcome: Outcome) -> None:
    """Write the outcome: all of it or nothing. Raises SourceError if that cannot be done, and
    KumamigrateError where it may not be."""
    from kumamigrate.source.editing.write import write_all

    sound(outcome)
    root = outcome.before.repository.root
    for path in outcome.adopted & outcome.texts.keys():
        try:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SourceError(path, error.strerror or str(error)) from error
    write_all(root, outcome.texts)


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


def prove_scenes(before: Scene, after: Scene) -> Proof:
    """Prove the claims that matter: live, carry where a mode may still switch, and release where
    the target is another release."""
    from kumamigrate.prover.compose import doubting

    claims = claims_of(before, after)
    proof = _proof(before, after, claims)
    today = _refused_changes(before, after, before.source)
    proof = doubting(proof, today, {LIVE, CARRY})
    if RELEASE in claims:
        upgraded = _refused_changes(before, after, before.target)
        proof = doubting(proof, upgraded, {RELEASE})
    proof = without_carry(proof, switched_meshes(before, after))
    return resting_on(proof, before, after)


def _refused_changes(before: Scene, after: Scene, later: str) -> dict[str, list[str]]:
    """Return by mesh what changed among resources that a release refuses: before the one in use,
    after it a `later` one.

    They take no part in the comparison. One that an earlier release took is still in effect, so
    nobody knows what its change does.
    """
    found: dict[str, list[str]] = {}
    for side, other, release_ in ((before, after, before.source), (after, before, later)):
        there = {resource.canonical_body for resource in other.repository.resources}
        for rejection in side.state(release_)[1]:
            one = rejection.resource
            if one.canonical_body not in there:
                found.setdefault(one.mesh, []).append(
                    f"{one.type} {one.name} is refused by {release_} and not compared:"
                    f" {rejection.problems[0].message}"
                )
    return found


def _proof(
    before: Scene,
    after: Scene,
    claims: tuple[str, ...],
    *,
    exclusive: bool = False,
    only: frozenset[str] | None = None,
) -> Proof:
    """Prove some claims, about some meshes `only`; with `exclusive`, as if the mesh had switched
    first: where old policies say nothing, so no state in which they are converted helps."""
    from kumamigrate.flow.acceptance import as_exclusive, contents_of
    from kumamigrate.prover.prover import prove

    def one(
        before: Scene, after: Scene, claims: tuple[str, ...], meshes: Collection[str] | None
    ) -> Proof:
        asked = meshes if only is None else only if meshes is None else only.intersection(meshes)
        old = before.state(before.source)[0]
        return prove(
            as_exclusive(old) if exclusive else old,
            after.state(before.source)[0],
            claims=claims,
            upgraded=after.state(before.target)[0] if RELEASE in claims else None,
            only=asked,
            same_unread=_same_unread(before, after),
            halfway=not exclusive,
            contents=contents_of(before),
            locate_before=before.locate,
            locate_after=after.locate,
        )

    from kumamigrate.flow.everyworld import in_every_world

    return in_every_world(before, after, claims, one)


def _same_unread(before: Scene, after: Scene) -> bool:
    """Say whether what could not be read is the same text in both scenes, in the same order.

    Two folders are compared as well as two states of one: what the paths begin with is no matter.
    """
    old, new = before.repository, after.repository
    if old.data is new.data:
        return True  # one repository, edited: what was refused cannot be
    texts = [
        [side.data.get(path) for path in sorted({refusal.path for refusal in side.unread})]
        for side in (old, new)
    ]
    return texts[0] == texts[1] and None not in texts[0]


def _run_rule(
    rule: Rule,
    since: tuple[Estate, Estate],
    estate: Estate,
    options: Options,
    held: Mapping[object, Held],
    rollouts: Collection[Rollout],
    circles: Circles,
    progress: Progress = silent,
) -> Result[Estate]:
    """Return what of one rule's changes holds. `since` is what it calls before, and the base."""
    from kumamigrate.flow.everywhere import judge_everywhere

    began, base = since
    result = Result(scene=estate)
    if rule.safety is Safety.REVIEW and not may_take(options, rule.id):
        return result
    said = _said(rule, began, estate, options)
    changes = [c for c in said if isinstance(c, Change) and c.key not in held]
    changes = [c for c in changes if c.rollout in rollouts]
    changes = [c for c in changes if not _silenced(c, estate.whole, options)]
    taken = {c.key for c in changes if _taken(c, estate, options)}
    repository = estate.whole.repository
    changes = [c for c in changes if c.key in taken or not asks(rule, c, repository)]
    stuck = held_for_circles(changes, circles)
    stuck += held_by_choice(changes, options.skip)
    changes = [c for c in changes if all(c is not one.change for one in stuck)]
    result = replace(result, held=tuple(stuck))
    for upgrade, trusted in product((False, True), (False, True)):
        part = [c for c in changes if (c.rollout is not Rollout.NOW) is upgrade]
        part = [c for c in part if (c.key in taken) is trusted]
        # What goes out with the upgrade rests on what went out before: it waits for a next pass.
        if part and not result.kept:
            judge = judge_everywhere(
                rule,
                base,
                upgrade=upgrade,
                take_unknown=trusted,
                allow=options.allow,
                hold=options.hold,
            )
            forms = _other_forms(rule, began, estate, options)
            apart = without_conflicts(part)
            tried = try_changes(estate, apart, telling(judge, progress), apply, forms)
            left = (with_cause(one, options.hold) for one in tried.held)
            result = replace(tried, held=(*result.held, *left))
    return result


def _said(
    rule: Rule, before: Estate, estate: Estate, options: Options
) -> tuple[Change | Finding, ...]:
    """Return what a rule says of the sources of every environment, each thing once."""
    texts = estate.texts if rule.id == NAMED else {}
    return all_said(
        plan(replace(_view(rule, old, new, options, estate.editable_of(new)), texts=texts))
        for old, new in zip(before.sites, estate.sites, strict=True)
    )


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
        from kumamigrate.flow.everyworld import open_to

        for world in open_to(site.written for site in estate.sites):
            old, new = (_in_world(one, world) for one in (before, estate))
            for said in _said(rule, old, new, options):
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


def _view(rule: Rule, old: Site, new: Site, options: Options, editable: frozenset[str]) -> View:
    before, scene = old.written, new.written
    return View(
        rule=rule,
        state=scene.state(scene.source)[0],
        before=before.state(before.source)[0],
        target_name=scene.target,
        stage=options.stage,
        editable=editable,
        refused=scene.refused(),
        locate=before.locate,
        deployed=partial(is_deployed, before),
        accepted=frozenset((*options.accept, *(one.rule for one in options.accept_at))),
    )


def _left(
    rule: Rule, before: Estate, estate: Estate, options: Options, held: dict[object, Held]
) -> Iterator[Finding]:
    """Yield what a rule still says in the end: what was held, and what asks for a decision."""
    scene = estate.whole
    for said in _said(rule, before, estate, options):
        if isinstance(said, Finding):
            yield from _at_place([said], scene)
        elif said.key in held and said.instead:
            from kumamigrate.scene.losses import losses  # no check holds anything

            lost = losses(held[said.key])
            yield from _at_place([replace(f, notes=(*f.notes, *lost)) for f in said.instead], scene)
        elif said.key in held:
            yield from _placed(said, Status.HELD, scene)
        elif _silenced(said, scene, options):
            yield from _placed(said, Status.SUPPRESSED, scene)
        elif asks(rule, said, scene.repository) and not _taken(said, estate, options):
            yield from _to_review(said, scene)


def _taken(change: Change, estate: Estate, options: Options) -> bool:
    """Say whether the user takes a change on their own word."""
    placed = ((f.file, f.line) for f in _at_place(change.findings, estate.whole))
    return takes(options, change.rule, placed, estate.whole.repository)


def _unused_accepts(outcome: Outcome, rules: Iterable[Rule]) -> Iterator[Finding]:
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


def _to_review(change: Change, scene: Scene) -> Iterator[Finding]:
    """Yield the findings of a change that waits for the user's word."""
    for finding in _placed(change, Status.MANUAL, scene):
        word = f"look at it with --accept {change.rule} --dry-run; without --dry-run it is written"
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


def _placed(change: Change, status: Status, scene: Scene) -> Iterator[Finding]:
    for finding in _at_place(change.findings, scene):
        if finding.status is not Status.PENDING:
            yield finding
        elif status is Status.FIXED:
            yield replace(finding, status=status, action="")
        else:
            yield replace(finding, status=status)


def _at_place(findings: Iterable[Finding], scene: Scene) -> Iterator[Finding]:
    for finding in findings:
        if finding.file or finding.resource is None:
            yield finding
            continue
        file, line, column = scene.repository.place(scene.where(finding.resource), finding.path)
        yield replace(finding, file=file, line=line, column=column)


def _silenced(change: Change, scene: Scene, options: Options) -> bool:
    return silenced(tuple(_at_place(change.findings, scene)), scene, options)


def _outcome(
    options: Options, began: Estate, ended: Estate, findings: Iterable[Finding]
) -> Outcome:
    before, after = began.whole, ended.whole
    drifts = (one for site in began.sites for one in _drift(options, site.written))
    said = (*findings, *drifts)
    due = without_echoes(_due(said, options, before.target))
    mine = began.editable | ended.editable
    placed = tuple(
        finding
        for finding in _at_place(without_guesses(due, rulebook()), after)
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
        place=lambda some: _at_place(some, after),
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
