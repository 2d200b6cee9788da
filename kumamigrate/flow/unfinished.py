"""New documents that the target refuses in the end: the changes that wrote them are not made.

A split whose parts do not get to the target is no step on the way: the reader finds two documents
that wait where one did. An old source/destination policy is nothing to the target, and what it
becomes for the release in use is written by a run for that release: a run for the target writes it
where it gets there, and where the user asks for it all the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from kumamigrate.flow.circles import Circles, Left, Subject, subject_of
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.release import release
from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.change import Change
from kumamigrate.scene.blame import written
from kumamigrate.scene.held import Cause
from kumamigrate.scene.scene import Scene

OLD_FORMS = "legacy-"
"""Rules with such an id convert what the old engine reads."""


def unfinished(
    before: Scene, after: Scene, kept: Iterable[Change], taken: Callable[[Change], bool]
) -> Circles:
    """Return what is to be left alone, so that nothing new is refused by the target.

    `taken` says what the user takes on their own word.
    """
    if after.target == after.source:
        return {}
    changes = list(kept)
    found: dict[tuple[str, Subject], list[str]] = defaultdict(list)
    for resource, why in _new_and_refused(before, after):
        maker = _maker(resource, changes)
        if maker is None or (maker.rule.startswith(OLD_FORMS) and taken(maker)):
            continue
        found[maker.rule, subject_of(maker)].append(f"{resource.type} {resource.name}: {why}")
    return {key: Left(_reason(whys), Cause.REFUSED) for key, whys in found.items()}


def _reason(whys: Sequence[str]) -> str:
    first, *more = whys
    return f"{first}, and {len(more)} more" if more else first


def _new_and_refused(before: Scene, after: Scene) -> Iterator[tuple[Resource, str]]:
    there = {resource.identity for resource in before.repository.resources}
    mine = {resource.identity for resource in after.repository.resources}
    sections = release(after.target).policy_types
    for rejection in after.state(after.target)[1]:
        one = rejection.resource
        if one.identity in mine - there and one.type not in OLD_POLICIES:
            kind = sections.get(one.type)
            by_tags = one.spec.get("from") and kind is not None and "from" not in kind.sections
            message = rejection.problems[0].message
            yield one, f"{after.target} has no `from`" if by_tags else message


def _maker(resource: Resource, changes: Iterable[Change]) -> Change | None:
    """Return the first change that wrote a resource."""
    name = (resource.type, resource.name)
    return next((change for change in changes if name in set(written(change))), None)
