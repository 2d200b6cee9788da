"""Why a verdict cannot be given: what was missing, and what to do about it (product.md §5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cache
from typing import Any

from kumamigrate.effective.bothengines.whoanswers import successors
from kumamigrate.effective.changed import instead_of_mesh
from kumamigrate.effective.doubted import (
    Doubt,
    DoubtKind,
    doubt_of,
    merged,
    place_of_text,
    unread_reason,
)
from kumamigrate.effective.outboundfacts import BY_ROUTE
from kumamigrate.effective.policies.patched import PATCH, read_patch
from kumamigrate.effective.sections import TO_GATEWAYS, unread_sections
from kumamigrate.model.conf import canonical
from kumamigrate.model.kinds import GLOBAL_SCOPED, KUBERNETES, MESH_SCOPED
from kumamigrate.model.labels import is_export
from kumamigrate.model.packed import packed
from kumamigrate.model.resource import DISPLAY_NAME, ORIGIN, Form, Resource, mapping, sequence
from kumamigrate.model.state import State
from kumamigrate.prover.slots.mesh import MeshComparison
from kumamigrate.source.text import Reason, Refusal
from kumamigrate.targetref.items import to_entries, top_of
from kumamigrate.targetref.resolve import index_of, resolve
from kumamigrate.targetref.selection import Selection
from kumamigrate.targetref.ties import Tie
from kumamigrate.universe.side import ROUTES, Side

TIED = "nothing decides between them"
"""Stands in every doubt about a tie."""

KRI = "kri_"
"""How names that Envoy resources have for real resources begin."""

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

UNSTABLE_SORT = 12
"""Up to so many policies Go's sort is an insertion sort, which keeps ties in order."""


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


def template_assumptions(*states: State) -> Iterator[str]:
    """Yield what is taken for granted about templates that stay as they are."""
    if any(r.templated for state in states for r in state.resources):
        yield "what templates fill in is the same before and after; values are not compared"


def reader_assumptions(mesh: str, before: State, after: State) -> Iterator[str]:
    """Yield what is taken for granted where backends go out of a Mesh: that nobody reads them."""
    if after.complete or mesh in after.exported:
        return
    old, new = (
        next((r.spec for r in state.of_type("Mesh") if r.name == mesh), {})
        for state in (before, after)
    )
    for section, reader in _READERS.items():
        stay = any(policy.mesh == mesh for policy in after.of_type(reader))
        if old.get(section) and not new.get(section) and not stay:
            yield f"mesh {mesh} has no {reader} elsewhere"


_READERS = {"tracing": "TrafficTrace", "logging": "TrafficLog"}
"""Fields of a Mesh that hold backends, and who alone reads them."""


def export_assumptions(*states: State) -> Iterator[str]:
    """Yield what is taken for granted about resources that look like read from a control plane but
    do not say when it was given them: the API of one zone refuses what is of another."""
    zones = {zone for state in states for zone in _zones_of_exports(state)}
    if len(zones) > 1:
        yield (
            f"what says it is of zone {' or '.join(sorted(zones))} was read from one control plane,"
            " which holds all of it (--zone, creationTime or an inventory settles it)"
        )


def _zones_of_exports(state: State) -> Set[str]:
    """Return the zones that exports without their times name, where nobody says which reads."""
    if state.environment.zone_known or state.environment.mode != "zone":
        return frozenset()
    if "zones of exports" not in state.known:
        state.known["zones of exports"] = frozenset(
            one.zone
            for one in state.resources
            if one.form is Form.UNIVERSAL and not (one.created or one.stored)
            if one.zone and one.labels.get(ORIGIN) != "global" and is_export(one)
        )
    found: Set[str] = state.known["zones of exports"]
    return found


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


def _gateways(side: Side, policy_type: str) -> Iterator[Doubt]:
    """Yield the built-in gateways that policies choose and the state lacks."""
    if side.state.complete or policy_type not in side.release.policy_types:
        return
    names = {r.display_name for r in side.state.of_type("MeshGateway")}
    for policy in side.state.of_type(policy_type):
        top = top_of(policy, side.release)
        if top.kind == "MeshGateway" and (top.name or "") not in names:
            yield doubt_of(
                DoubtKind.GATEWAY,
                policy,
                f"is for MeshGateway {top.name or ''}, which is neither in the"
                " repository nor in an inventory; add the gateway, or an inventory that has it",
            )


def gateway_doubts(before: Side, after: Side, changed: frozenset[str]) -> Iterator[Doubt]:
    """Yield the built-in gateways that changed policies are for and the states lack.

    They concern built-in gateways only, as does what the next function yields.
    """
    for side in (before, after):
        for policy_type in sorted(changed):
            yield from _gateways(side, policy_type)


def unknown_gateway_doubts(before: Side, after: Side, changed: frozenset[str]) -> Iterator[Doubt]:
    """Yield what changed for built-in gateways alone, where the states know none of them."""
    if before.state.complete or any(s.state.complete or _has_gateways(s) for s in (before, after)):
        return
    for policy_type in TO_GATEWAYS:
        if policy_type not in changed or not before.release.subset_rules:
            continue
        left, right = (_to_gateways(side, policy_type) for side in (before, after))
        if left != right:
            yield Doubt(
                DoubtKind.GATEWAY,
                f"`to` of {policy_type} is for built-in gateways, and what it says changed;"
                " add the MeshGateways, or an inventory that has them",
            )


def probe_doubts(before: Side) -> Iterator[Doubt]:
    """Yield health checks that end with service tags: patches of clusters which those name."""
    for policy in before.state.of_type(PATCH):
        for change in sequence(mapping(policy.spec.get("default")).get("appendModifications")):
            read = read_patch(change)
            if read is not None and not read[0].startswith(KRI):
                yield doubt_of(
                    DoubtKind.NAME,
                    policy,
                    f"sets the health checks of cluster {read[0]}, a name that no"
                    " real resource has; probe it with a MeshHealthCheck first, for which its"
                    " inbounds need a protocol other than kafka",
                )


def _has_gateways(side: Side) -> bool:
    return next(side.state.of_type("MeshGateway"), None) is not None


def _to_gateways(side: Side, policy_type: str) -> list[str]:
    """Return what policies say in `to`, with all that decides whom they reach and who wins."""
    return sorted(
        canonical([p.namespace, p.name, dict(p.labels), p.spec.get("targetRef"), p.spec["to"]])
        for p in side.state.of_type(policy_type)
        if p.spec.get("to")
    )


def _dangles(policy: Resource, name: str) -> Doubt:
    return doubt_of(
        DoubtKind.MISSING,
        policy,
        f"refers to MeshHTTPRoute {name}, which is neither in the repository"
        " nor in an inventory; add the route, or an inventory that has it",
    )


def tie_doubts(
    pair: MeshComparison, was: Resource, now: Resource, kinds: Iterable[str] | None = None
) -> dict[str, tuple[Doubt, ...]]:
    """Return by type the ties that decide what a proxy reads where something changed.

    A tie between policies that nobody touched comes out the same on both sides, as long as the
    list is short enough for Kuma's sort to keep the order of ties.
    """
    out: dict[str, tuple[Doubt, ...]] = {}
    for policy_type in sorted(pair.before.types | pair.after.types if kinds is None else kinds):
        sides = ((pair.before, was), (pair.after, now))
        if pair.before.signature(was, policy_type) == pair.after.signature(now, policy_type):
            continue
        found = [
            side.selection(proxy, policy_type) if policy_type in side.types else None
            for side, proxy in sides
        ]
        tied = [_ties(side, selection) for (side, _), selection in zip(sides, found, strict=True)]
        if not any(tied):
            continue
        short = all(s is None or len(s.policies) <= UNSTABLE_SORT for s in found)
        if short and tied[0].keys() == tied[1].keys():
            continue
        ties = (*tied[0].values(), *tied[1].values())
        out[policy_type] = tuple(dict.fromkeys(_tied(policy_type, tie) for tie in ties))
    return out


def _ties(side: Side, selection: Selection | None) -> dict[tuple[Any, ...], Tie]:
    if selection is None:
        return {}
    return {(tie.reason, side.contents.of_all(tie.policies)): tie for tie in selection.ties}


def _tied(policy_type: str, tie: Tie) -> Doubt:
    why = {
        "equal-rank": "Kuma sorts them as equal, so chance decides which one wins",
        "no-order": "their Dataplane references beat each other in a circle",
    }
    first, *others = tie.policies
    return Doubt(
        DoubtKind.TIE,
        f": {TIED}: {why.get(tie.reason, tie.reason)}",
        (f"{policy_type} {first.full_name}", *(one.full_name for one in others)),
        tuple(map(place_of_text, tie.policies)),
        concerns=policy_type,
    )
