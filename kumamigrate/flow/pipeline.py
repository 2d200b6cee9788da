"""The whole flow: load → plan → apply → read again → prove → keep or hold → report → write.

The prover and the writer are imported where they are called: `check`, and with it the
pre-commit hook, needs neither, and they take longer to import than the hook takes to run.
"""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.errors import KumamigrateError, SourceError
from kumamigrate.flow.asked import chosen_rules, outcome_of, said_by, to_review, waits_for_word
from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.flow.told import WHOLE, Progress, silent
from kumamigrate.flow.verdict import breaks_today, changed_types
from kumamigrate.flow.word import begun
from kumamigrate.prover.claimed import RELEASE
from kumamigrate.rewrite.change import Change, Rollout
from kumamigrate.rewrite.finding import Finding
from kumamigrate.scene.scene import Scene
from kumamigrate.world.estate import Estate, single
from kumamigrate.world.options import Options


def check(scene: Scene | Estate, options: Options) -> Outcome:
    """Return what every rule would do or asks, proving and changing nothing."""
    estate = single(scene) if isinstance(scene, Scene) else scene
    word_given = begun(options, estate.whole.repository)
    findings: list[Finding] = []
    for rule in chosen_rules(options):
        for said in said_by(rule, estate, estate, options):
            if isinstance(said, Finding):
                findings.append(said)
            elif waits_for_word(rule, said, estate, word_given):
                findings.extend(to_review(said, estate.whole))
            else:
                findings.extend(said.findings)
    if options.dead:
        from kumamigrate.flow.dead.dead import dead_settings

        findings.extend(dead_settings(estate))
    return outcome_of(options, estate, estate, findings)


def wanted(estate: Estate, options: Options) -> Iterator[Change | Finding]:
    """Yield what every chosen rule would change or asks, rule by rule; nothing is proven."""
    for rule in chosen_rules(options):
        yield from said_by(rule, estate, estate, options)


def migrate(scene: Scene | Estate, options: Options, progress: Progress = silent) -> Outcome:
    """Apply every rule to a fixed point, keeping what is proven, and prove the whole.

    Rules run in dependency order; when one has changed something all are asked again, until
    nothing changes (fixedpoint.py); what that comes to as a sum is proven once more (sumproof.py).
    """
    from kumamigrate.flow.fixedpoint import settled_by_rules
    from kumamigrate.flow.sumproof import as_a_whole

    before = single(scene) if isinstance(scene, Scene) else scene
    options = begun(options, before.whole.repository)
    outcome = settled_by_rules(before, options, progress)
    # An upgrade changes what proxies get although no file does.
    resources = any(site.applied.repository.resources for site in before.sites)
    upgrade = outcome.claim == RELEASE and resources
    if not (outcome.kept or upgrade):
        return outcome
    progress(WHOLE, 0, 1)
    return as_a_whole(outcome)


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
