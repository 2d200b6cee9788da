"""New documents that the target refuses in the end: the changes that wrote them are not made.

A split whose parts do not get to the target is no step on the way: the reader finds two documents
that wait where one did. What takes the place of an old source/destination policy is none of these:
the target has no kind for that policy at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kumamigrate.flow.circles import Circles, subject_of
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.change import Change
from kumamigrate.scene.blame import written
from kumamigrate.scene.trial import Scene

OLD_FORMS = "legacy-"


def unfinished(before: Scene, after: Scene, kept: Iterable[Change]) -> Circles:
    """Return what is to be left alone, so that nothing new is refused by the target."""
    if after.target == after.source:
        return {}
    changes = list(kept)
    found: Circles = {}
    for resource, why in _new_and_refused(before, after):
        maker = _maker(resource, changes)
        if maker is not None:
            name = f"{resource.type} {resource.name}"
            found[maker.rule, subject_of(maker)] = (
                f"{after.target} would refuse {name}, which would be new: {why}"
            )
    return found


def _new_and_refused(before: Scene, after: Scene) -> Iterator[tuple[Resource, str]]:
    there = {resource.identity for resource in before.repository.resources}
    mine = {resource.identity for resource in after.repository.resources}
    for rejection in after.state(after.target)[1]:
        one = rejection.resource
        if one.identity in mine - there and one.type not in OLD_POLICIES:
            yield one, rejection.problems[0].message


def _maker(resource: Resource, changes: Iterable[Change]) -> Change | None:
    """Return the first change that wrote a resource, unless it converts old policies."""
    name = (resource.type, resource.name)
    made = (change for change in changes if name in set(written(change)))
    first = next(made, None)
    return None if first is None or first.rule.startswith(OLD_FORMS) else first
