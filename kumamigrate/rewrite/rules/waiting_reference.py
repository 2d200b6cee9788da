"""What must wait for a decision is taken apart from what can go on to 3.0."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.admit.check import refusals_of
from kumamigrate.dataclass import replace
from kumamigrate.model.resource import Resource, mapping
from kumamigrate.rewrite.change import Change, ResourceEdit
from kumamigrate.rewrite.dataplanes import workload_to_come
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import finding, put
from kumamigrate.rewrite.references.oldrefs import Meaning, references, rewritten
from kumamigrate.rewrite.references.realref import hindered, meaning, waiting_rules
from kumamigrate.rewrite.routes.parts import (
    RouteEntry,
    RoutePart,
    first,
    followers,
    further,
    name_beside,
)
from kumamigrate.rewrite.routes.routes import bound_to_gateway, made_by_gateway_api
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import at_path, path_text

ROUTES = ("MeshHTTPRoute", "MeshTCPRoute")
REST = "rest"
"""Ends the name of what goes on: what waits keeps the old one, which 3.0 refuses as before."""


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield a change for each policy or route of which a part must wait and the rest need not."""
    for owner in view.policies():
        waiting = waiting_rules(view, owner)
        if not waiting or bound_to_gateway(owner) or made_by_gateway_api(owner):
            continue
        if any(workload_to_come(d) for d in view.of_type("Dataplane") if d.mesh == owner.mesh):
            # Labels that come with the upgrade may settle it.
            continue
        made = _split(view, owner, waiting)
        if made is not None:
            yield made


def _split(view: View, owner: Resource, waiting: set[tuple[int, int | None]]) -> Change | None:
    late, rest = _apart(owner, waiting)
    if not rest:
        return None
    targets = [owner.spec["to"][one.at].get("targetRef") for one in rest]
    name = name_beside(view, owner, targets, REST, set())
    if name is None:
        return None
    parts = [RoutePart(entries=late, name=owner.name), RoutePart(entries=rest, name=name)]
    if _is_refused_for_more(view, owner, rest):
        return None
    following = followers(view, owner, parts)
    if isinstance(following, str) or owner.where is None:
        return None
    edits, notes = following
    manifests = (first(owner, parts[0]), further(owner, parts[1]))
    place = hindered(view, owner)[0].path
    settled = finding(
        view, owner, place, pending=True, field=path_text(place), rest=name, notes=notes
    )
    return Change(
        rule=view.rule.id,
        mesh=owner.mesh,
        group=f"{owner.type} {owner.mesh}",
        edits=(ResourceEdit(where=owner.where, manifests=manifests), *edits),
        findings=(settled,),
    )


def _apart(
    owner: Resource, waiting: set[tuple[int, int | None]]
) -> tuple[tuple[RouteEntry, ...], tuple[RouteEntry, ...]]:
    """Return the entries, or rules of them, that must wait, and the others."""
    late: list[RouteEntry] = []
    rest: list[RouteEntry] = []
    for at, entry in enumerate(owner.spec["to"]):
        rules = mapping(entry).get("rules")
        mine = {number for place, number in waiting if place == at}
        if not mine:
            rest.append(RouteEntry(at=at))
        elif None in mine or owner.type not in ROUTES or not isinstance(rules, list):
            late.append(RouteEntry(at=at))
        else:
            others = tuple(n for n in range(len(rules)) if n not in mine)
            late.append(RouteEntry(at=at, rules=tuple(sorted(n for n in mine if n is not None))))
            rest += [RouteEntry(at=at, rules=others)] if others else []
    return tuple(late), tuple(rest)


def _is_refused_for_more(view: View, owner: Resource, rest: tuple[RouteEntry, ...]) -> bool:
    """Say whether the target would refuse the rest as well: then nothing is won."""
    body = owner.body
    for one in references(owner):
        what = meaning(view, owner, one)
        if isinstance(what, Meaning):
            body = put(body, one.path, {**rewritten(one, what), "labels": dict(what.labels)})
    spec = at_path(body, owner.spec_path)
    entries = [_only(spec["to"][one.at], one) for one in rest]
    new = replace(owner, spec={**spec, "to": entries})
    return bool(refusals_of(new, release=view.target_name, environment=view.environment))


def _only(entry: Mapping[str, Any], one: RouteEntry) -> Mapping[str, Any]:
    if one.rules is None:
        return entry
    return {**entry, "rules": [entry["rules"][number] for number in one.rules]}
