"""What the rules share that only report: which resources, and how a finding is worded.

Where a rule that can change something speaks of the same field, its word is enough.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from kumamigrate.admit.check import refusals_of
from kumamigrate.model.problem import Problem
from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.finding import Finding, Status
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import FieldPath, path_text

_WHOLE = (("type",), ("kind",))
"""What is said about the kind of a resource is about all of it."""
AUDITS = frozenset({"refused-by-release", "ignored-field", "deprecated-form"})


def owned(view: View) -> Iterator[Resource]:
    """Yield the repository's resources, those refused by the release in use included."""
    yield from (r for r in view.state.resources if view.owns(r))
    yield from (r for r in view.refused if view.owns(r))


def refused(view: View, resource: Resource) -> tuple[Problem, ...]:
    """Return why the target refuses a resource."""
    if is_taken(view, resource):
        return ()
    return refusals_of(resource, release=view.target.name, environment=view.environment)


def is_taken(view: View, resource: Resource) -> bool:
    """Say whether a resource stands in a state of the target, which has taken it."""
    return view.target.name == view.source.name and not view.was_refused(resource)


def audit_finding(view: View, resource: Resource, path: FieldPath, *, problem: str = "") -> Finding:
    """Return the finding of an audit rule about one field."""
    rule = view.rule
    words = {"release": view.target.name, "field": path_text(path), "problem": problem}
    return Finding(
        rule=rule.id,
        resource=resource,
        path=path,
        message=rule.message.format(**words),
        action=rule.action,
        safety=rule.safety,
        danger=rule.danger,
    )


def without_echoes(findings: Iterable[Finding]) -> list[Finding]:
    """Drop what an audit says about a field that an open finding of another rule is about.

    A field lies about another when one contains the other.
    """
    listed = list(findings)
    spoken: dict[object, list[FieldPath]] = defaultdict(list)
    for finding in listed:
        if finding.rule not in AUDITS and finding.status is not Status.FIXED and finding.resource:
            spoken[finding.resource.where].append(finding.path)
    return [
        finding
        for finding in listed
        if finding.rule not in AUDITS
        or finding.resource is None
        or not any(_near(finding.path, path) for path in spoken[finding.resource.where])
    ]


def _near(one: FieldPath, other: FieldPath) -> bool:
    if one in _WHOLE:
        return True
    shared = min(len(one), len(other))
    return one[:shared] == other[:shared]
