"""When a kind is not converted at all: nothing to do, inert, shadowed, or new policies say it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kumamigrate.model.resource import SERVICE, Resource, mapping, sequence
from kumamigrate.rewrite.sourcedest.besidenew import (
    acting,
    besides_others,
    overruled_by,
    services_named,
)
from kumamigrate.rewrite.sourcedest.conversion import Conversion, Dropped, Manual, named
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.sourcedest.selector import ANY, selectors_of

_INERT = "inert: the mesh has no TrafficRoute, so the old engine sets nothing on outbounds"


def standstill(
    world: KnownWorld, old: str, new: str, policies: tuple[Resource, ...], *, routed: bool = True
) -> Conversion | None:
    """Return what there is to say when a kind cannot or need not be converted, else None.

    `routed`: the kind works only where an accepted TrafficRoute exists (legacy.md fact 3).
    """
    if not policies:
        return Conversion(kind=old, mesh=world.mesh, target=world.target)
    masked = templated(policies)
    if masked:
        return Conversion(kind=old, mesh=world.mesh, target=world.target, manual=masked)
    if routed and not world.old.routed:
        return _inert(world, old, policies)
    stock = _stock_policies(world, new)
    if stock:
        return _shadowed(world, old, policies, stock)
    present = acting(world, old, new)
    if present and not besides_others(old, present, policies):
        return _overruled(world, old, policies, present)
    return None


def templated(policies: Iterable[Resource]) -> tuple[Manual, ...]:
    """Return what is unknown because a template stands for it: then winners are unknown too."""
    return tuple(
        Manual(
            resource=policy,
            message="a template stands in it, so who wins is unknown",
            action="convert the rendered manifests, or write the values out",
        )
        for policy in policies
        if policy.templated
    )


def _inert(world: KnownWorld, old: str, policies: tuple[Resource, ...]) -> Conversion:
    if world.no_defaults("TrafficRoute"):
        dropped = tuple(Dropped(resource=p, reason=_INERT) for p in policies)
        return Conversion(kind=old, mesh=world.mesh, target=world.target, dropped=dropped)
    return unrouted(world, old, policies)


def unrouted(world: KnownWorld, old: str, policies: Iterable[Resource]) -> Conversion:
    """Return what to ask where nobody knows whether the mesh has a TrafficRoute."""
    manual = tuple(
        Manual(
            resource=policy,
            message="whether it does anything is unknown: only a TrafficRoute makes it work, and"
            " the state holds none, but a mesh made before 2.6 has route-all from its creation",
            action="say --initial-policies none|2.5|2.6, or give an --inventory of the mesh",
        )
        for policy in policies
    )
    return Conversion(kind=old, mesh=world.mesh, target=world.target, manual=manual)


def _stock_policies(world: KnownWorld, new: str) -> tuple[Resource, ...]:
    """Return the default policies that a control plane since 2.6 makes with a mesh (§4)."""
    words = {
        "MeshTimeout": "timeout",
        "MeshRetry": "retry",
        "MeshCircuitBreaker": "circuit-breaker",
    }
    if new not in words:
        return ()
    name = f"mesh-{words[new]}-all-{world.mesh}"
    return tuple(r for r in world.existing(new) if r.display_name == name)


def _shadowed(
    world: KnownWorld, old: str, policies: tuple[Resource, ...], stock: tuple[Resource, ...]
) -> Conversion:
    name = stock[0].name
    manual = tuple(
        Manual(
            resource=policy,
            message=f"{name} sets the limits on every proxy, but its detectors still eject (both"
            " engines act)",
            action=f"write the detectors into {name}, then delete it",
        )
        if _still_ejects(policy, stock[0])
        else Manual(
            resource=policy,
            message=f"shadowed today: {name} answers on every proxy, this {old} does not",
            action=f"delete it, or change {name} if its values are what you want",
        )
        for policy in policies
    )
    return Conversion(kind=old, mesh=world.mesh, target=world.target, manual=manual)


def _still_ejects(policy: Resource, stock: Resource) -> bool:
    """Whether an old CircuitBreaker has detectors and the stock policy has none (notes C26)."""
    confs = [mapping(mapping(i).get("default")) for i in sequence(stock.spec.get("to"))]
    own = mapping(policy.spec.get("conf")).get("detectors")
    return bool(own) and not any(conf.get("outlierDetection") for conf in confs)


def _overruled(
    world: KnownWorld, old: str, policies: Iterable[Resource], present: Sequence[Resource]
) -> Conversion:
    """Return what to do where new policies stand beside the old: those may say nothing more."""
    new = present[0].type
    names = named(sorted(r.name for r in present))
    return Conversion(
        kind=old,
        mesh=world.mesh,
        target=world.target,
        perhaps=tuple(
            Dropped(resource=policy, reason=overruled_by(present)) for policy in policies
        ),
        manual=tuple(
            Manual(
                resource=policy,
                message=f"the mesh has {new} policies already ({names}); both engines act",
                action=_parted(old, new, policy, present)
                or f"remove this {old} once the {new} says the same, or take those away",
            )
            for policy in policies
        ),
    )


def _parted(old: str, new: str, policy: Resource, present: Sequence[Resource]) -> str:
    """Return what parts an old policy from new ones that probe as well: both do, at one service,
    and no new policy makes two probes of it. Empty where that is not it."""
    shared = services_named(present)
    wanted = {t.get(SERVICE, ANY) for t in selectors_of(policy.spec, "destinations")}
    both = sorted(shared if ANY in wanted else shared & wanted) if shared else ()
    if old != "HealthCheck" or not both:
        return ""
    services = named(both)
    return (
        f"{services} would have one probe of two, which no {new} keeps: name under destinations"
        f" all services but {services}, then this {old} converts and {services} keeps the probe of"
        f" the {new}; or take that away"
    )
