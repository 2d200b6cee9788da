"""Route entries beside other entries of `spec.to[]` (reports.md §1.4, product.md §1 law 2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kumamigrate.model.resource import Resource, mapping
from kumamigrate.model.versions import at_least
from kumamigrate.rewrite.change import Change, ResourceEdit
from kumamigrate.rewrite.declarative.steps import with_spec
from kumamigrate.rewrite.finding import Finding, Safety, Status
from kumamigrate.rewrite.routes.routes import ROUTE, old_route_name
from kumamigrate.rewrite.siblings import name_behind, sibling
from kumamigrate.rewrite.view import View
from kumamigrate.source.value import Moved

TYPES = ("MeshTimeout", "MeshRetry", "MeshAccessLog", "MeshLoadBalancingStrategy")


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield a split where no proxy reads the old place, else what is lost and what to do."""
    if at_least(view.target_name, "3.0"):
        return
    for policy in view.of_type(*TYPES):
        items = policy.spec.get("to")
        if not isinstance(items, list) or old_route_name(policy) is not None:
            continue
        routes = [at for at, item in enumerate(items) if _is_route(item)]
        if not routes or len(routes) == len(items):
            continue
        name = name_behind(policy, "route", view.state)
        if view.mode(policy.mesh) != "Exclusive" or name is None or policy.where is None:
            yield _reported(view, policy, routes[0])
        else:
            yield _split(view, policy, routes, name)


def _is_route(item: Any) -> bool:
    return mapping(mapping(item).get("targetRef")).get("kind") == ROUTE


def _split(view: View, policy: Resource, routes: list[int], name: str) -> Change:
    assert policy.where is not None
    items = policy.spec["to"]
    rest = [item for at, item in enumerate(items) if at not in routes]
    moved = [Moved((*policy.spec_path, "to", at)) for at in routes]
    others = {k: v for k, v in policy.spec.items() if k not in ("from", "rules")}
    return Change(
        rule=view.rule.id,
        mesh=policy.mesh,
        group=f"{policy.type} {policy.mesh}",
        edits=(
            ResourceEdit(
                where=policy.where,
                manifests=(
                    with_spec(policy, {**policy.spec, "to": rest}),
                    sibling(policy, name, {**others, "to": moved}),
                ),
            ),
        ),
        findings=(
            _finding(
                view,
                policy,
                routes[0],
                f"{policy.type} {policy.name} names a route beside other targets; its route"
                f" entries become {name}",
            ),
        ),
    )


def _reported(view: View, policy: Resource, at: int) -> Finding:
    return _finding(
        view,
        policy,
        at,
        f"{policy.type} {policy.name} names a route beside other targets: service-tag outbounds"
        " read none of its entries",
        action=(
            "Put the route entries into a policy of their own. The other entries then take effect"
            " on service-tag outbounds, which today they do not: decide whether they should"
        ),
    )


def _finding(view: View, policy: Resource, at: int, message: str, *, action: str = "") -> Finding:
    return Finding(
        rule=view.rule.id,
        resource=policy,
        path=(*policy.spec_path, "to", at, "targetRef"),
        message=message,
        action=action,
        status=Status.MANUAL if action else Status.PENDING,
        safety=Safety.MANUAL if action else view.rule.safety,
        danger=view.rule.danger,
    )
