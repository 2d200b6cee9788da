"""What selectors lose that only want a tag to be present, and why a policy wins nowhere (C7)."""

from __future__ import annotations

from collections.abc import Iterable

from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.sourcedest.classes import ALWAYS, Classes
from kumamigrate.rewrite.sourcedest.conversion import Manual
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.sourcedest.selector import ANY, selectors_of


def wildcard_notes(
    classes: Classes,
    policies: Iterable[Resource],
    field: str,
    saying_the_same: Iterable[Resource] = (),
) -> tuple[Manual, ...]:
    """Return what presence wildcards lose: proxies with a value nobody has yet (notes C7).

    Nothing where the policy says the same as what counts without it, wherever it wins: then it does
    so for other values as well.
    """
    idle = {policy.identity for policy in saying_the_same}
    asking = [
        (policy, {k for t in selectors_of(policy.spec, field) for k, v in t.items() if v == ANY})
        for policy in policies
        if policy.identity not in idle
    ]
    return tuple(
        Manual(
            resource=first,
            message=f"no reference can say that a tag is present: {tag}: '*' is written out for"
            f" {', '.join(values) or 'no value at all'}, other values are not reached",
            action=f"name the values of {tag}",
            blocking=False,
        )
        for tag, values in classes.wildcards
        for first in [policy for policy, tags in asking if tag in tags][:1]
    )


def never_wins(policy: Resource, world: KnownWorld, field: str) -> str:
    """Return why a policy decides nothing: others do, or nobody is known whom it is for."""
    for tags in selectors_of(policy.spec, field):
        wild = [k for k, v in tags.items() if v == ANY and k not in ALWAYS]
        if all(world.values(key, tags) for key in wild):
            return "it never wins: others rank higher"
    return "no proxy is known that has the tags it is for"
