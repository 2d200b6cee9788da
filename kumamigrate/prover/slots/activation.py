"""Values that begin to work: they were said before, to no effect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumamigrate.effective.compare import Difference
from kumamigrate.effective.fact import Fact
from kumamigrate.effective.reading import At, SlotKind, flat
from kumamigrate.effective.readings import READINGS
from kumamigrate.model.resource import Resource, mapping, mappings
from kumamigrate.targetref.entry import Found
from kumamigrate.targetref.explain import winner_of
from kumamigrate.targetref.merge import merge_entries
from kumamigrate.targetref.route import Destination, EffectiveRoute, RealResource
from kumamigrate.universe.side import Side


def is_activation(
    before: Side, was: Resource, policy_type: str, found: Difference, destination: Destination
) -> bool:
    """Whether a policy on a route said so before, to no effect (product.md §1 law 2)."""
    route = found.was.route
    if not isinstance(destination, RealResource) or route is None or route.entry is None:
        return False
    if policy_type not in before.types or not _is_new_there(before, found):
        return False
    there = _old_place(before, was, policy_type, route)
    inert = () if there is None else tuple(e for e in there.entries if e.via is not None)
    if there is None or not inert:
        return False
    conf = merge_entries(inert, before.release.policy_types[policy_type].conf("to"))[0]
    said = _at_route(policy_type, conf)
    if found.field in said and said[found.field] == found.after:
        return True
    # numRetries: 0 leaves no retry policy at all: where the route switches retries on or off,
    # everything else comes and goes with it, as the old place would have it.
    whole = _at_route(policy_type, there.conf)
    old, new = (_together(policy_type, f, found.field) for f in (found.was, found.now))
    switched = not old or not new
    return switched and whole.get(found.field) == found.after


def _is_new_there(before: Side, found: Difference) -> bool:
    """Whether the value comes from a policy on a route that had no say on real ones before.

    A policy that took effect and says something else now is no activation, whatever an inert
    policy said.
    """
    if found.now.found is None or found.now.found.level != "route":
        return False
    source = winner_of(found.now.found, tuple(found.field.split(".")))
    if source is None:
        return True
    return not any(map(names_route_in_to, before.state.called(source.policy.identity)))


def _old_place(
    before: Side, was: Resource, policy_type: str, route: EffectiveRoute
) -> Found | None:
    """Return what a route's rule would read at a service-tag outbound."""
    assert route.entry is not None
    target = route.entry.target
    service = (target.name if target is not None else None) or ""
    selection = before.selection(was, policy_type)
    return before.matcher.service(selection, service, route.hash)


def _together(policy_type: str, fact: Fact, field: str) -> list[str]:
    """Return the settings that are there or gone together with a field: of a MeshRetry those of
    one protocol, each of which has a retry policy of its own."""
    part = f"{field.partition('.')[0]}."
    return [k for k in fact.settings if policy_type != "MeshRetry" or k.startswith(part)]


def _at_route(policy_type: str, conf: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a conf says at a route, without the defaults of a MeshTimeout it leaves out."""
    if policy_type == "MeshTimeout":
        return flat(conf)
    return READINGS[policy_type].of_conf(conf, At(part=SlotKind.ROUTE))


def names_route_in_to(policy: Resource) -> bool:
    """Whether some entry of `to` is about a route."""
    refs = (mapping(item.get("targetRef")) for item in mappings(policy.spec.get("to")))
    return any(ref.get("kind") == "MeshHTTPRoute" for ref in refs)
