"""What a rule of an old kind yields: for each mesh the change that converts it, or why it stays."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.dataclass import replace
from kumamigrate.model.versions import at_least
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.sourcedest.aschanges.kindchanges import (
    conversion_change,
    only_fields,
    replaced_removed,
    spare_removed,
    tried_forms,
)
from kumamigrate.rewrite.sourcedest.aschanges.kindfindings import (
    left_to_decide,
    not_side_by_side,
    refused_policies,
    standing_twice,
    to_roll_out,
    to_take_out,
    waiting_for_others,
)
from kumamigrate.rewrite.sourcedest.aschanges.successorsthere import already_converted, or_why
from kumamigrate.rewrite.sourcedest.convert import CONVERTERS
from kumamigrate.rewrite.sourcedest.known import world_of
from kumamigrate.rewrite.sourcedest.spare import spare_of, with_spare
from kumamigrate.rewrite.view import View

BOTH_ACT = ("HealthCheck", "TrafficLog", "ProxyTemplate")
"""Old kinds that act beside their successors (§3): both probe, both log, both patch."""


_LAST_OLD = "2.14"
"""The last release that has both engines; for a later target other rules go on from its form."""


def plan_kind(view: View, kind: str) -> Iterator[Change | Finding]:
    """Yield, for each mesh, one change that converts a whole old kind, or why it stays.

    `kind` is a key of `CONVERTERS`. In stage `expand` the old policies stay beside the new ones
    where that is safe; `contract` (and `auto`) take them away.
    """
    onward = at_least(view.target_name, "3.0")
    target = _LAST_OLD if onward else view.target_name
    for mesh in view.state.meshes():
        if doubles := standing_twice(view, kind, mesh):
            yield from doubles
            continue
        world = world_of(
            view.state,
            mesh,
            target,
            onward=onward,
            on_word=view.rule.id in view.accepted,
            exported=view.exported,
        )
        again = already_converted(world, kind)
        done = again or with_spare(or_why(CONVERTERS[kind](world), world), world)
        yield from refused_policies(view, world, kind)
        standing = replaced_removed(view, world, again) if again is not None else None
        if standing is not None and view.stage == "expand":
            yield from to_roll_out(view, standing)
            continue
        tries = tried_forms(view, world, done) if view.stage != "expand" else []
        yield from tries
        spare = {d.resource.identity for d in done.spare if view.owns(d.resource)}
        spare |= {f.resource.identity for one in tries for f in one.findings if f.resource}
        for said in left_to_decide(view, world, done):
            if said.resource is None or said.resource.identity not in spare:
                yield said
        if again is not None:
            yield from () if standing is None else (standing,)
        elif view.stage == "expand" and kind in BOTH_ACT and done.writable and done.policies:
            yield from not_side_by_side(view, world, kind)
        elif view.stage == "expand" and done.writable and only_fields(done):
            yield from to_take_out(view, done)
        elif done.spare:
            change = spare_removed(view, done)
            yield from () if change is None else (change,)
        elif (change := conversion_change(view, world, done)) is not None:
            rest = replace(done.instead or done, spare=spare_of(kind, world))
            yield replace(change, otherwise=spare_removed(view, rest))
        else:
            yield from waiting_for_others(view, done)
