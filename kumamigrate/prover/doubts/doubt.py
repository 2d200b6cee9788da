"""Why a verdict cannot be given: what was missing, and what to do about it (product.md §5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from functools import cache
from typing import Any

from kumamigrate.effective.bothengines.whoanswers import successors
from kumamigrate.effective.changed import instead_of_mesh
from kumamigrate.effective.doubted import (
    Doubt,
    DoubtKind,
    doubt_of,
    merged,
    unread_reason,
)
from kumamigrate.effective.outboundfacts import BY_ROUTE
from kumamigrate.effective.sections import unread_sections
from kumamigrate.model.conf import canonical
from kumamigrate.model.kinds import GLOBAL_SCOPED, KUBERNETES, MESH_SCOPED
from kumamigrate.model.packed import packed
from kumamigrate.model.resource import DISPLAY_NAME, Resource
from kumamigrate.source.text import Reason, Refusal
from kumamigrate.targetref.items import to_entries, top_of
from kumamigrate.targetref.resolve import index_of, resolve
from kumamigrate.universe.side import ROUTES, Side

_BESIDE_ROUTES = frozenset({"MeshMetric", "MeshTLS", "MeshTrace", "MeshTrafficPermission"})
"""Policy types to which it does not matter which way requests take."""

_BESIDE_OLD = frozenset(
    {
        *("FaultInjection", "MeshFaultInjection", "TrafficTrace", "MeshTrace"),
        *("MeshMetric", "MeshPassthrough"),
    }
)
"""Types of which nothing depends on where TrafficRoutes lead, nor on what a policy of another
old kind says of a connection: inbounds, the proxy itself, every request sent (legacy.md fact 3).
"""

_OF_CONNECTIONS = frozenset(
    {
        *("TrafficRoute", "Timeout", "Retry", "CircuitBreaker", "HealthCheck", "RateLimit"),
        *("TrafficLog", "TrafficTrace", "FaultInjection"),
    }
)
"""Old kinds that say nothing of what others than their successors set there; a TrafficPermission
says who may scrape metrics as well."""

_PERMISSIONS = frozenset({"TrafficPermission", "MeshTrafficPermission"})
"""They are for inbounds and whom a proxy reaches of ExternalServices, as TrafficRoutes lead."""


def doubts(
    before: Side, after: Side, changed: frozenset[str], *, alike: bool = False
) -> tuple[Doubt, ...]:
    """Return what makes every verdict about a mesh unknown, as advice.

    What is the same on both sides gives the same result, whatever it is: doubts count only for
    policy types in which something changed. `alike`: the same is compared on both sides.
    """
    found = [unread_reason(refusal) for refusal in relevant(before, after, changed)]
    for side in (before, after):
        found += _foreign(side, changed)
        for policy_type in sorted(changed):
            routes = ROUTES if policy_type in BY_ROUTE else ()
            found += templated(side, {policy_type, *routes})
            found += unread_sections(side, policy_type)
    for policy_type in sorted(changed):
        found += _missing_routes(before, after, policy_type, alike=alike)
    return merged(found)


def relevant(before: Side, after: Side, changed: frozenset[str]) -> Iterator[Refusal]:
    """Yield what could not be read and matters where some types changed (world.md §5)."""
    known = before.release.policy_types.keys() | after.release.policy_types.keys()
    sides = (before, after)
    external = any(True for side in sides for _ in side.state.of_type("ExternalService"))
    told = [{(r.kind, r.digest) for r in side.state.unread} for side in sides]
    moved = {kind for kind, _ in told[0] ^ told[1]}
    changed = instead_of_mesh(changed, before.mesh_spec, after.mesh_spec)
    for refusal in dict.fromkeys((*before.state.unread, *after.state.unread)):
        if refusal.mesh in ("", before.mesh) and (
            refusal.kind in moved or concerns(refusal, changed, known, external=external)
        ):
            yield refusal


def concerns(refusal: Refusal, changed: Set[str], policies: Set[str], *, external: bool) -> bool:
    """Say whether something that could not be read matters where some types changed.

    A policy says nothing of other types, but routes decide which traffic others speak of, and
    what is no policy (a Mesh, a Dataplane, an old policy) may matter to all; of old policies that
    stand twice one is there, whichever, and what it cannot touch goes on. `external`: there are
    ExternalServices.
    """
    kind = refusal.kind
    if refusal.reason is Reason.DUPLICATE_IDENTITY and kind in _OF_CONNECTIONS:
        apart = _BESIDE_OLD | (_PERMISSIONS if kind == "TrafficRoute" and not external else set())
        return bool(changed - (apart - {kind, *successors().get(kind, ())}))
    if not kind or kind not in policies or changed - policies:
        return True
    if kind in ROUTES:
        return bool(changed - _BESIDE_ROUTES)
    if changed & set(ROUTES) and kind not in _BESIDE_ROUTES:
        return True
    return kind in changed


def _foreign(side: Side, changed: frozenset[str]) -> Iterator[Doubt]:
    """Yield doubts about kinds that are not modelled."""
    if not changed:
        return
    known = MESH_SCOPED | GLOBAL_SCOPED | KUBERNETES | set(side.release.policy_types)
    for resource in side.state.resources:
        if resource.type in known or not resource.mesh:
            continue
        alone = resource.type in _table("independent")
        if alone and resource.type not in changed:
            continue
        yield doubt_of(
            DoubtKind.NOT_MODELLED,
            resource,
            "is of a kind that is not modelled;"
            " compare by hand what it does, or leave it out of the run",
        )


@cache
def _table(name: str) -> Mapping[str, Any]:
    found: dict[str, Any] = packed("prover/tables", f"{name}.json")
    return found


def templated(side: Side, kinds: Set[str]) -> Iterator[Doubt]:
    """Yield the resources of some kinds of which nobody knows what they say."""
    for resource in side.state.of_type(*sorted(kinds)):
        if resource.templated:
            yield doubt_of(
                DoubtKind.TEMPLATE,
                resource,
                "holds template expressions, whose values are unknown;"
                " render the templates and run on the result",
            )


def _missing_routes(
    before: Side, after: Side, policy_type: str, *, alike: bool
) -> tuple[Doubt, ...]:
    """Return the doubts about routes that are not there.

    Where only other policies and routes change, such a route is as much there or not on both sides,
    and what is said of it the same, as for every route that nobody refers to.
    """
    was, now = (dict.fromkeys(_dangling(side, policy_type)) for side in (before, after))
    found = tuple(was | now)
    if found and alike and was == now:
        same = _stands(before, policy_type) == _stands(after, policy_type)
        return () if same else found
    return found


def _stands(side: Side, policy_type: str) -> list[str]:
    """Return all of a mesh but the policies of other types."""
    others = set(side.release.policy_types) - {policy_type}
    found = (r for r in side.state.resources if r.type not in others)
    return sorted(canonical([r.identity, dict(r.labels), r.body]) for r in found)


def _dangling(side: Side, policy_type: str) -> Iterator[Doubt]:
    """Yield the references to routes that the state lacks."""
    if side.state.complete or policy_type not in side.release.policy_types:
        return
    kind = side.release.policy_types[policy_type]
    index = index_of(side.state)
    names = {r.display_name for r in side.state.of_type("MeshHTTPRoute")}
    for policy in side.state.of_type(policy_type):
        top = top_of(policy, side.release)
        if top.kind == "MeshHTTPRoute" and (top.name or "") not in names:
            yield _dangles(policy, top.name or "")
        for entry in to_entries(policy, kind, side.release):
            target = entry.target
            if target is None or target.kind != "MeshHTTPRoute":
                continue
            if (target.name or dict(target.labels or ()).get(DISPLAY_NAME)) in names:
                continue  # It is there, in a zone or namespace that the reference does not mean.
            if not resolve(policy, target, index, side.release):
                labels = ", ".join(f"{k}={v}" for k, v in target.labels or ())
                yield _dangles(policy, target.name or labels)


def _dangles(policy: Resource, name: str) -> Doubt:
    return doubt_of(
        DoubtKind.MISSING,
        policy,
        f"refers to MeshHTTPRoute {name}, which is neither in the repository"
        " nor in an inventory; add the route, or an inventory that has it",
    )
