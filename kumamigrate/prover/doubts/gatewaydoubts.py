"""What is not known of built-in gateways, and of names that only service tags make: it concerns
those that read it, and no other proxy."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.effective.doubted import Doubt, DoubtKind, doubt_of
from kumamigrate.effective.policies.patched import PATCH, read_patch
from kumamigrate.effective.sections import TO_GATEWAYS
from kumamigrate.model.conf import canonical
from kumamigrate.model.resource import mapping, sequence
from kumamigrate.targetref.items import top_of
from kumamigrate.universe.side import Side

KRI = "kri_"
"""How names that Envoy resources have for real resources begin."""


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


def _has_gateways(side: Side) -> bool:
    return next(side.state.of_type("MeshGateway"), None) is not None


def _to_gateways(side: Side, policy_type: str) -> list[str]:
    """Return what policies say in `to`, with all that decides whom they reach and who wins."""
    return sorted(
        canonical([p.namespace, p.name, dict(p.labels), p.spec.get("targetRef"), p.spec["to"]])
        for p in side.state.of_type(policy_type)
        if p.spec.get("to")
    )
