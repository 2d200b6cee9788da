"""When a kind is not converted at all: nothing to do, inert, or new policies are there already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kumamigrate.effective.policies.patched import only_probes
from kumamigrate.model.resource import SERVICE, Resource, mapping, mappings, sequence
from kumamigrate.rewrite.sourcedest.classes import ALWAYS, Classes
from kumamigrate.rewrite.sourcedest.conversion import Conversion, Dropped, Manual, distinct, named
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.sourcedest.selector import ANY, Tags, selectors_of, tags_of

INBOUND = ("TrafficPermission", "FaultInjection", "RateLimit")
"""Kinds that choose by destination, and decide there alone."""
PASSED_ALONE = "inert: without a TrafficRoute only what passes through proxies is logged"
INERT = "inert: the mesh has no TrafficRoute, so the old engine sets nothing on outbounds"


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
    stock = stock_policies(world, new)
    if stock:
        return _shadowed(world, old, policies, stock)
    present = acting(world, old, new)
    besides = _at_others if old in INBOUND else _for_others
    if present and not besides(present, policies):
        return _overruled(world, old, policies, present)
    return None


def acting(world: KnownWorld, old: str, new: str) -> list[Resource]:
    """Return the new policies of a mesh that act where an old kind does: others say nothing of
    inbounds, or nothing of what leaves proxies."""
    sections = ("from", "rules") if old in INBOUND else ("to", "default")
    return [
        r
        for r in world.existing(new)
        if not only_probes(r) and (r.templated or any(r.spec.get(k) for k in sections))
    ]


def said_of_services(present: Iterable[Resource]) -> Mapping[str, Mapping[str, Any]] | None:
    """Return what new policies say of each service, None unless they name each, one policy one."""
    found: dict[str, Mapping[str, Any]] = {}
    for policy in present:
        for item in mappings(policy.spec.get("to")):
            ref = mapping(item.get("targetRef"))
            service = ref.get("name")
            if set(ref) != {"kind", "name"} or ref["kind"] != "MeshService" or service in found:
                return None
            found[str(service)] = mapping(item.get("default"))
    return found or None


def overruled_by(present: Sequence[Resource]) -> str:
    """Return why an old policy goes that says nothing beside new ones."""
    names = named(sorted(r.name for r in present))
    return f"{present[0].type} {names} says all that proxies read"


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


def _for_others(present: Iterable[Resource], policies: Iterable[Resource]) -> bool:
    """Say whether new policies name other services than the old ones, one by one.

    So it is where a part of the kind had to stay for a while; only destinations count.
    """
    wanted = {t.get(SERVICE, ANY) for p in policies for t in selectors_of(p.spec, "destinations")}
    named = services_named(present)
    return bool(wanted) and ANY not in wanted and named is not None and named.isdisjoint(wanted)


def _at_others(present: Iterable[Resource], policies: Iterable[Resource]) -> bool:
    """Say whether no inbound can be selected by a new and by an old policy."""
    old = [tags for p in policies for tags in selectors_of(p.spec, "destinations")]
    new = [_selected(policy) for policy in present]
    return all(tags is not None and all(_differ(tags, o) for o in old) for tags in new)


def names_inbounds(present: Iterable[Resource]) -> bool:
    """Say whether each of some new policies is for some inbounds, and none for all."""
    refs = [mapping(policy.spec.get("targetRef")) for policy in present]
    return all(ref.get("name") or ref.get("tags") or ref.get("labels") for ref in refs)


def _selected(policy: Resource) -> dict[str, str] | None:
    """Return the tags that a policy selects inbounds by, None where it goes by something else."""
    ref = mapping(policy.spec.get("targetRef"))
    named = {SERVICE: str(ref.get("name", ""))}
    match ref.get("kind"):
        case "MeshSubset":
            return tags_of(ref.get("tags"))
        case "MeshService" if set(ref) == {"kind", "name"}:
            return named
        case "MeshServiceSubset":
            return {**tags_of(ref.get("tags")), **named}
    return None


def _differ(one: Tags, two: Tags) -> bool:
    return any(ANY not in (one[k], two[k]) and one[k] != two[k] for k in one.keys() & two.keys())


def services_named(present: Iterable[Resource]) -> frozenset[str] | None:
    """Return the services that new policies are for, None unless they name each and no more."""
    named: set[str] = set()
    for policy in present:
        to = policy.spec.get("to")
        if set(policy.spec) - {"targetRef", "to"} or not isinstance(to, list):
            return None
        refs = [mapping(mapping(item).get("targetRef")) for item in to]
        if any(set(ref) != {"kind", "name"} or ref["kind"] != "MeshService" for ref in refs):
            return None
        named |= {ref["name"] for ref in refs}
    return frozenset(named)


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
        dropped = tuple(Dropped(resource=p, reason=INERT) for p in policies)
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


def stock_policies(world: KnownWorld, new: str) -> tuple[Resource, ...]:
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


def sharing(
    stuck: Iterable[Resource], groups: Iterable[tuple[Resource, ...]]
) -> tuple[Resource, ...]:
    """Return the policies that must stay because some that share an inbound with them do.

    `groups` holds, for every class of inbounds, the policies that match it. FaultInjection and
    RateLimit only: one old policy on an inbound switches the new ones off there (§3).
    """
    every = tuple(groups)
    spread = distinct(stuck)
    while True:
        more = [p for group in every if any(p in spread for p in group) for p in group]
        grown = distinct([*spread, *more])
        if len(grown) == len(spread):
            return spread
        spread = grown


def stays_too(policy: Resource) -> Manual:
    """Return the note for a policy that stays because of another one."""
    return Manual(
        resource=policy,
        message=f"it stays, because it shares inbounds with a {policy.type} that has no"
        " equivalent, and an inbound answers to one engine only",
        action=f"decide about the other {policy.type}",
        blocking=False,
    )


def gateway_notes(
    world: KnownWorld, old: str, policies: tuple[Resource, ...]
) -> tuple[Manual, ...]:
    """Return what cannot be kept on built-in gateways: there other rules pick (§2.8)."""
    gateways = [r for r in world.state.of_type("MeshGateway") if r.mesh == world.mesh]
    if not gateways or len(policies) < 2:
        return ()
    return (
        Manual(
            resource=policies[0],
            message=f"a built-in gateway picks the {old} of a route by other rules: one for any"
            " service goes first, else the oldest",
            action=f"check the routes of {', '.join(sorted(r.name for r in gateways))}, and give"
            " them policies of their own",
            blocking=False,
        ),
    )
