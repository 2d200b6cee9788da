"""How much a later release asks for that the target does not, which a check leaves out."""

from __future__ import annotations

from kumamigrate.dataclass import replace
from kumamigrate.flow.asked import chosen_rules
from kumamigrate.flow.pipeline import check
from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.model.release import known_releases
from kumamigrate.model.versions import at_least
from kumamigrate.rewrite.finding import OPEN, Danger, Finding
from kumamigrate.rewrite.rule import Rule
from kumamigrate.scene.scene import Scene
from kumamigrate.world.estate import Estate

Asked = tuple[str, object]


def asked_later(outcome: Outcome) -> int:
    """Return how many findings the newest release asks for beyond those of an outcome."""
    newest, target = known_releases()[-1], outcome.before.target
    rules = [rule.id for rule in chosen_rules(outcome.options) if _is_later(rule, target)]
    if target == newest or not rules:
        return 0
    source = outcome.before.source
    options = replace(outcome.options, target=newest, source=source, select=tuple(rules))
    later = check(_aiming_at(outcome.began, newest), options)
    known = {_asked(finding) for finding in outcome.findings}
    return len({_asked(finding) for finding in later.findings if _counts(finding)} - known)


def _is_later(rule: Rule, target: str) -> bool:
    """Say whether a rule has nothing to say yet: the target takes the old form without a word."""
    if not rule.required or at_least(target, rule.required):
        return False
    return not (rule.warned and at_least(target, rule.warned))


def _counts(finding: Finding) -> bool:
    return finding.status in OPEN and finding.danger is not Danger.ADVICE


def _asked(finding: Finding) -> Asked:
    resource = finding.resource
    return (finding.rule, finding.file if resource is None else resource.identity)


def _aiming_at(estate: Estate, target: str) -> Estate:
    """Return an estate as a run to another release has it."""

    def aimed(scene: Scene) -> Scene:
        return replace(scene, target=target)

    sites = (
        replace(site, written=aimed(site.written), applied=aimed(site.applied))
        for site in estate.sites
    )
    return replace(estate, whole=aimed(estate.whole), sites=tuple(sites))
