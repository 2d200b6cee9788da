"""How much a later release asks for that the target does not, which a check leaves out."""

from __future__ import annotations

from kumamigrate.dataclass import replace
from kumamigrate.flow.pipeline import Outcome, check
from kumamigrate.model.release import known_releases
from kumamigrate.rewrite.finding import OPEN, Danger, Finding
from kumamigrate.scene.trial import Scene
from kumamigrate.world.estate import Estate

Asked = tuple[str, object]


def asked_later(outcome: Outcome) -> int:
    """Return how many findings the newest release asks for beyond those of an outcome."""
    newest = known_releases()[-1]
    if outcome.before.target == newest:
        return 0
    options = replace(outcome.options, target=newest, source=outcome.before.source)
    later = check(_aiming_at(outcome.began, newest), options)
    known = {_asked(finding) for finding in outcome.findings}
    return len({_asked(finding) for finding in later.findings if _counts(finding)} - known)


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
