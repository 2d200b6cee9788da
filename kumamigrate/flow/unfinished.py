"""New documents that the target refuses in the end, or warns about: what wrote them is not done.

A split whose parts do not get to the target is no step on the way: the reader finds two documents
that wait where one did; of policies on a route, which the target takes with a warning, so too. An
old source/destination policy is nothing to the target, and what it becomes for the release in use
is written by a run for that release: a run for the target writes it where it gets there, and where
the user asks for it all the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from kumamigrate.admit.check import warnings_of
from kumamigrate.flow.circles import Circles, Left, Subject, subject_of
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.release import release
from kumamigrate.model.resource import Identity, Resource
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.routes.routes import old_route_name
from kumamigrate.scene.blame import written
from kumamigrate.scene.held import Cause
from kumamigrate.scene.scene import Scene

OLD_FORMS = "legacy-"
"""Rules with such an id convert what the old engine reads."""


def unfinished(
    before: Scene,
    after: Scene,
    kept: Iterable[Change],
    taken: Callable[[Change], bool],
    selected: Collection[str] = (),
) -> Circles:
    """Return what is to be left alone, so that nothing new is refused by the target, and no
    policy on a route is doubled.

    `taken` says what the user takes on their own word. A split by a rule that is `selected` is
    what was asked for.
    """
    changes = list(kept)
    left: Circles = {}
    for cause, new in (
        (Cause.WARNED, _new_and_warned(before, after)),
        (Cause.REFUSED, _new_and_refused(before, after)),
    ):
        found: dict[tuple[str, Subject], list[str]] = defaultdict(list)
        for resource, why in new:
            maker = _maker(resource, changes)
            if maker is None or (maker.rule.startswith(OLD_FORMS) and taken(maker)):
                continue
            if cause is Cause.WARNED and maker.rule in selected:
                continue
            found[maker.rule, subject_of(maker)].append(f"{resource.type} {resource.name}: {why}")
        left |= {key: Left(_reason(whys), cause) for key, whys in found.items()}
    return left


def _reason(whys: Sequence[str]) -> str:
    first, *more = whys
    return f"{first}, and {len(more)} more" if more else first


def _new_and_refused(before: Scene, after: Scene) -> Iterator[tuple[Resource, str]]:
    if after.target == after.source:
        return
    there, mine = _identities(before), _identities(after)
    sections = release(after.target).policy_types
    for rejection in after.state(after.target)[1]:
        one = rejection.resource
        if one.identity in mine - there and one.type not in OLD_POLICIES:
            kind = sections.get(one.type)
            by_tags = one.spec.get("from") and kind is not None and "from" not in kind.sections
            message = rejection.problems[0].message
            yield one, f"{after.target} has no `from`" if by_tags else message


def _new_and_warned(before: Scene, after: Scene) -> Iterator[tuple[Resource, str]]:
    """Yield the policies on routes that are new: what splits a route copies them."""
    there = _identities(before)
    for one in after.repository.resources:
        if old_route_name(one) is not None and one.identity not in there:
            for problem in warnings_of(one, release=after.target)[:1]:
                yield one, str(problem)


def _identities(scene: Scene) -> set[Identity]:
    return {resource.identity for resource in scene.repository.resources}


def _maker(resource: Resource, changes: Iterable[Change]) -> Change | None:
    """Return the first change that wrote a resource."""
    name = (resource.type, resource.name)
    return next((change for change in changes if name in set(written(change))), None)
