"""What the move of a route reference says to its reader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.filled import RENDER, hidden
from kumamigrate.rewrite.finding import Danger, Finding, Safety, Status
from kumamigrate.rewrite.routes.movedunits import CompensationChoice, CompensationProblem, Unit
from kumamigrate.rewrite.routes.routes import ROUTE
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import FieldPath, at_path

EVERYWHERE = ("Everywhere", "ReachableBackends")
"""Modes in which both kinds of outbound exist."""


def copied_notes(
    view: View, unit: Unit, problem: CompensationProblem, choice: CompensationChoice
) -> Iterator[str]:
    """Yield what was copied into the entries of a policy, and where it came from."""
    for copied in choice.copied:
        first = next(u for u in problem.units if u.on(copied.route))
        if first is unit:
            yield f"copied {'.'.join(copied.path)} {_shown(copied.value)}, which route" + (
                f" {copied.route.display_name} inherited{_whence(view, copied.entry, copied.path)}"
            )
    for draft in choice.drafts:
        if draft.group and draft.stands_for.identity == unit.policy.identity:
            yield f"{draft.name} says it for proxies that read something else as well"


def _whence(view: View, entry: Any, path: Sequence[str]) -> str:
    if entry is None:
        return ""
    policy = entry.policy
    at = view.locate(policy, (*policy.spec_path, *entry.path, *path))
    return f" from {policy.type} {policy.display_name}" + (f" ({at})" if at else "")


def rank_notes(choice: CompensationChoice, policy: Resource) -> Iterator[str]:
    """Yield why the new policy has a top-level reference at all."""
    if choice.rank is not None:
        yield (
            f"kind {choice.rank['kind']} at the top selects every proxy and keeps"
            f" {policy.name} ahead of policies with a narrower selector"
        )


def by_service_tag(view: View, mesh: str) -> Resource | None:
    """Return a Dataplane that lists an outbound by service tag: such exist in every mode."""
    for dataplane in view.state.of_type("Dataplane"):
        outbounds = at_path(dataplane.spec, ("networking", "outbound"))
        if dataplane.mesh != mesh or not isinstance(outbounds, list):
            continue
        if any(at_path(outbound, ("backendRef",)) is None for outbound in outbounds):
            return dataplane
    return None


def mode_notes(view: View, mesh: str) -> list[str]:
    """Return what a policy beside the old one does in the mesh's mode, and what settles it."""
    mode, dataplane = view.mode(mesh), by_service_tag(view, mesh)
    if mode == "Exclusive" and dataplane is not None:
        return [
            f"Dataplane {dataplane.name} has an outbound by service tag, which reads the old place"
            " only; give it a backendRef, then run again"
        ]
    if mode is None:
        return [
            "nothing here says which MeshService mode the mesh runs: in Disabled the new policy"
            " waits, in the others it takes effect at once; the Mesh in the repository, an"
            " inventory or --mesh-services settles it"
        ]
    if mode in EVERYWHERE:
        return [
            "the old policy stays for outbounds by service tag; the new one beside it takes effect"
            f" on outbounds to MeshServices, which mode {mode} has as well"
        ]
    return [
        "the old policy stays; the new one beside it waits for the day the mesh goes to mode"
        " Exclusive: then run again, and the old one goes"
    ]


def why_not(problem: CompensationProblem, choice: CompensationChoice) -> str:
    """Return what to do where no form fits."""
    for route in problem.routes:
        entries = route.spec.get("to")
        if isinstance(entries, list) and len(entries) > 1:
            return (
                f"One entry carries one conf, but the destinations of {route.display_name} inherit"
                " different values: split it first, kumamigrate run --select multi-entry-route"
            )
    owners = {s.owner.display_name for s, _ in choice.misses}
    others = sorted(owners - {r.display_name for r in problem.routes})
    if others:
        return (
            f"MeshHTTPRoute {others[0]} has the same matches and counts as the owner of these"
            " requests: give the policy an entry for it too, or make the matches differ"
        )
    return (
        "No form was found that keeps what every proxy reads: the witness shows who would read"
        " something else"
    )


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def too_early(view: View, policy: Resource) -> Finding:
    """Say that the target release knows no other place."""
    return manual(
        view,
        policy,
        f"{policy.type} {policy.name} names a route at the top; {view.target_name} knows no other"
        f" place, {view.rule.since} is the first that takes it in spec.to[]",
        f"Leave it until all control planes run {view.rule.since} or later",
        danger=Danger.ADVICE,
    )


def dangling(view: View, policy: Resource, name: str) -> Finding:
    """Say that the route is nowhere to be found."""
    masked = hidden(view.state, policy.mesh, ROUTE)
    if masked is not None:
        return manual(
            view,
            policy,
            f"{policy.type} {policy.name} names MeshHTTPRoute {name}. Cannot tell whether that is"
            f" the one whose name a template fills in ({view.locate(masked, ())})",
            RENDER,
        )
    return manual(
        view,
        policy,
        f"{policy.type} {policy.name} names MeshHTTPRoute {name}, which is neither in the"
        " repository nor in the inventory",
        f"If {name} lives elsewhere, pass it with --inventory; if it is gone, remove the policy:"
        " moved, the fault would no longer show",
    )


def ambiguous(view: View, policy: Resource, name: str, routes: Sequence[Resource]) -> Finding:
    """Say that several routes have the name, and where they stand."""
    places = " and ".join(
        f"{r.namespace + '/' if r.namespace else ''}{r.name} ({view.locate(r, ())})" for r in routes
    )
    return manual(
        view,
        policy,
        f"{policy.type} {policy.name} names MeshHTTPRoute {name}, and {len(routes)} routes are"
        f" called so: {places}",
        "Decide which one is meant, and name it in spec.to[] with its namespace: today the proxies"
        " of one and the matches of another are taken",
    )


def at_gateway(view: View, policy: Resource, route: Resource) -> Finding:
    """Say that routes of built-in gateways have no new form."""
    return manual(
        view,
        policy,
        f"{policy.type} {policy.name} names MeshHTTPRoute {route.display_name}, which is attached"
        " to a MeshGateway: spec.to[] does not reach routes of gateways",
        "Keep it as it is while the gateway lives; 3.0 removes built-in gateways, so decide what"
        " replaces this one",
    )


def dead(
    view: View, policy: Resource, route: Resource, path: FieldPath = ("targetRef",)
) -> Finding:
    """Say that no proxy has both the policy and the route."""
    return manual(
        view,
        policy,
        f"{policy.type} {policy.name} reaches no proxy: none that it selects can have MeshHTTPRoute"
        f" {route.display_name} ({view.locate(route, ())})",
        "Remove the policy, or select proxies that the route selects too",
        path=path,
        danger=Danger.ADVICE,
    )


def unreachable(view: View, policy: Resource, route: Resource) -> Finding:
    """Say that no exact reference to the route can be written."""
    return manual(
        view,
        policy,
        f"{policy.type} {policy.name} names MeshHTTPRoute {route.display_name} of another zone or"
        " store, which no name in spec.to[] reaches, and no label tells it from other routes",
        "Give the route a label of its own and refer to it by that label",
    )


def no_name(view: View, policy: Resource) -> Finding:
    """Say that nothing can stand beside the policy."""
    return manual(
        view,
        policy,
        f"{policy.type} {policy.name} names its route at the top, and no name is free for the"
        " policy that should stand beside it",
        "Write it by hand, under a name that sorts like this one",
    )


def not_yet(view: View, policy: Resource) -> Finding:
    """Say why the old half must stay for now."""
    mode = view.mode(policy.mesh)
    why = f"mode {mode}" if mode else "an unknown mode"
    return manual(
        view,
        policy,
        f"{policy.type} {policy.name} names its route at the top; its new half stands, but the"
        f" mesh is in {why}, where the old half may still be read",
        "Set meshServices.mode of the Mesh to Exclusive first, or say --mesh-services Exclusive",
    )


def nothing_to_contract(view: View, policy: Resource) -> Finding:
    """Say that the new half is missing."""
    return manual(
        view,
        policy,
        f"{policy.type} {policy.name} names its route at the top and has no new half yet",
        "Run kumamigrate run --stage expand first",
    )


def manual(
    view: View,
    policy: Resource,
    message: str,
    action: str,
    *,
    path: FieldPath = ("targetRef",),
    danger: Danger | None = None,
) -> Finding:
    """Return a finding that asks for a decision."""
    return Finding(
        rule=view.rule.id,
        resource=policy,
        path=(*policy.spec_path, *path),
        message=message,
        action=action,
        status=Status.MANUAL,
        safety=Safety.MANUAL,
        danger=view.rule.danger if danger is None else danger,
    )


def pending(
    view: View, policy: Resource, *, message: str, action: str = "", notes: tuple[str, ...] = ()
) -> Finding:
    """Return a finding that comes with a change."""
    return Finding(
        rule=view.rule.id,
        resource=policy,
        path=(*policy.spec_path, "targetRef"),
        message=message,
        action=action,
        status=Status.PENDING,
        safety=view.rule.safety,
        danger=view.rule.danger,
        notes=notes,
    )
