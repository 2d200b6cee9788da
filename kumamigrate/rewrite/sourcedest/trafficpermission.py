"""TrafficPermission → MeshTrafficPermission: one policy per class of inbounds (§1.1, notes C10)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kumamigrate.dataclass import replace
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.rewrite.sourcedest.apart import in_parts
from kumamigrate.rewrite.sourcedest.classes import WinnerClass, classes_by, inhabited, prune
from kumamigrate.rewrite.sourcedest.conversion import (
    Conversion,
    Dropped,
    Json,
    Manual,
    NewPolicy,
    among,
    distinct,
)
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.rewrite.sourcedest.newpolicies import PolicyDraft, emit
from kumamigrate.rewrite.sourcedest.notconverted import standstill
from kumamigrate.rewrite.sourcedest.wildcards import never_wins, wildcard_notes
from kumamigrate.sourcedest.order import CreationTie, Latest, merge_ties
from kumamigrate.sourcedest.selector import ANY, matches, selectors_of, tags_of
from kumamigrate.sourcedest.targets import zone_egress
from kumamigrate.sourcedest.winners import inbound_winner

Clients = frozenset[tuple[tuple[str, str], ...]]
"""Tag sets of which a client must carry one; the empty set of tags is any client."""

_DENY: Json = {"targetRef": {"kind": "Mesh"}, "default": {"action": "Deny"}}


def clients_of(permission: Resource) -> Clients:
    """Return who a TrafficPermission lets in.

    A `'*'` matches any value and absence too (the RBAC filter leaves it out, §1.1); what a
    broader source lets in already is left out.
    """
    sets = {
        frozenset((key, value) for key, value in tags.items() if value != ANY)
        for tags in selectors_of(permission.spec, "sources")
    }
    broadest = [s for s in sets if not any(other < s for other in sets)]
    return frozenset(tuple(sorted(tags)) for tags in broadest)


def convert_traffic_permission(world: KnownWorld) -> Conversion:
    """Return the MeshTrafficPermissions for the TrafficPermissions of a mesh."""
    return in_parts(world, _convert)


def _convert(world: KnownWorld, staying: Sequence[Resource]) -> Conversion:
    """Return the conversion of all but what decides with policies that stay.

    An inbound is selected by every class that its own lies in, so those get no new policy either.
    """
    policies = world.old.of("TrafficPermission")
    stopped = standstill(
        world, "TrafficPermission", "MeshTrafficPermission", policies, routed=False
    )
    if stopped is not None:
        return stopped
    classes = classes_by("destinations", policies, world)
    ties: list[CreationTie | None] = []
    winners: dict[WinnerClass, Resource | None] = {}
    for item in classes.classes:
        found = inbound_winner(policies, item.witness, world.old.ties)
        winners[item] = found.policy if found else None
        differ = found and found.tie and len({clients_of(p) for p in found.tie.policies}) > 1
        if found and differ and inhabited(item, classes.classes, world):
            ties.append(found.tie)
    stays = among(staying)
    old = [c for c, w in winners.items() if w is not None and stays(w)]
    apart = [c for c in winners if any(o.within(c) for o in old)]
    stay = distinct([*staying, *(w for c in apart if (w := winners[c]) is not None)])
    kept_back = among(stay)
    kept = prune({c: clients_of(w) if w else None for c, w in winners.items() if c not in apart})
    drafts = tuple(
        PolicyDraft(item=item, winners=(winner,), from_=_from(item, clients_of(winner)))
        for item in kept
        if (winner := winners[item]) is not None
    )
    dropped = _dropped([p for p in policies if not kept_back(p)], winners.values(), drafts, world)
    same = [d.resource for d in dropped if d.reason == _SAME]
    result = Conversion(
        kind="TrafficPermission",
        mesh=world.mesh,
        target=world.target,
        policies=emit(
            world,
            "MeshTrafficPermission",
            drafts,
            chosen_by="destinations",
        ),
        dropped=dropped,
        kept=stay,
        manual=(
            *wildcard_notes(classes, policies, "destinations", same),
            *(_decides_too(p) for p in stay if not stays(p)),
            *(_for_metrics(w) for c in kept if (w := winners[c]) and _is_of_metrics(c, world)),
        ),
        ties=merge_ties(t for t in ties if t and not any(map(stays, t.policies))),
        steps=("apply all MeshTrafficPermissions before any TrafficPermission is deleted",),
    )
    return _with_external(result, world)


METRICS = "dataplane-metrics"
"""The service as which Kuma asked up to 2.4 who may scrape the metrics of a proxy."""


def _is_of_metrics(item: WinnerClass, world: KnownWorld) -> bool:
    known = (tags.get(SERVICE) for proxy in world.proxies for tags in proxy.tag_sets)
    return item.witness[SERVICE] == METRICS and METRICS not in known


def _for_metrics(policy: Resource) -> Manual:
    return Manual(
        resource=policy,
        message=f"{METRICS} is no service of a proxy: Kuma up to 2.4 asked so who may scrape"
        " metrics, and nothing since; delete what is written for it, unless one of yours has it",
        action="delete the MeshTrafficPermission for it",
        blocking=False,
    )


def _decides_too(policy: Resource) -> Manual:
    return Manual(
        resource=policy,
        message="it stays: a new policy in its place would decide where others have to stay",
        action="decide about the other TrafficPermissions first",
        blocking=False,
    )


def _from(item: WinnerClass, clients: Clients) -> list[Json]:
    if () in clients:
        return [_allow(())]
    allowed = [_allow(tags) for tags in sorted(clients)]
    return allowed if not item.tags else [_DENY, *allowed]


def _allow(tags: tuple[tuple[str, str], ...]) -> Json:
    ref: Json = (
        {"kind": "MeshSubset", "tags": WinnerClass(tags).as_map} if tags else {"kind": "Mesh"}
    )
    return {"targetRef": ref, "default": {"action": "Allow"}}


_SAME = "it lets in the same clients as the policy that would win without it"


def _dropped(
    policies: Iterable[Resource],
    won: Iterable[Resource | None],
    drafts: Iterable[PolicyDraft],
    world: KnownWorld,
) -> tuple[Dropped, ...]:
    wins = among(w for w in won if w is not None)
    carried = among(w for draft in drafts for w in draft.winners)
    result = []
    for policy in policies:
        if not wins(policy):
            reason = never_wins(policy, world, "destinations")
            result.append(Dropped(resource=policy, reason=reason))
        elif not carried(policy):
            result.append(Dropped(resource=policy, reason=_SAME))
    return tuple(result)


def guards(world: KnownWorld) -> list[tuple[str, Latest | None]]:
    """Return ExternalServices, each with the TrafficPermission that says who reaches it (§2.7).

    None where a zone egress asks new policies too.
    """
    if zone_egress(world.mesh_resource):
        return []
    found = []
    for service in world.state.of_type("ExternalService"):
        if service.mesh == world.mesh:
            tags = tags_of(service.spec.get("tags"))
            guard = inbound_winner(world.old.of("TrafficPermission"), tags, world.old.ties)
            found.append((tags.get(SERVICE, service.name), guard))
    return found


def _with_external(result: Conversion, world: KnownWorld) -> Conversion:
    """Keep what TrafficPermissions still do for ExternalServices (§2.7).

    Without zone egress the old path filters them by TrafficPermission, the new path does not.
    """
    guarded = guards(world)
    if not guarded:
        return result
    kept: list[Resource] = []
    notes: list[Manual] = []
    for name, found in guarded if world.old.routed else ():
        if found is None:
            continue
        used = world.led_to(name)
        notes.append(_keeps(found.policy, name) if used else _gives_up(found.policy, name))
        kept += [found.policy] if used else []
    inbound = {i.service for proxy in world.proxies for i in proxy.inbounds}
    only = {name for name, _ in guarded} - inbound
    return replace(
        result,
        policies=tuple(p for p in result.policies if not _for_kept(p, only, kept)),
        kept=distinct([*result.kept, *kept]),
        dropped=tuple(d for d in result.dropped if not any(k is d.resource for k in kept)),
        manual=(*result.manual, *notes),
    )


def _for_kept(policy: NewPolicy, only: set[str], kept: Iterable[Resource]) -> bool:
    """Whether a policy is for an ExternalService alone, which the old one goes on to guard."""
    named = policy.spec["targetRef"].get("name")
    return named in only and any(policy.home is old for old in kept)


def _keeps(policy: Resource, service: str) -> Manual:
    clients = clients_of(policy)
    who = "every proxy" if any(matches(dict(c), {}) for c in clients) else "some proxies"
    return Manual(
        resource=policy,
        message=f"it stays: it decides that {who} may reach ExternalService {service},"
        " and a MeshTrafficPermission has no say there without zone egress",
        action=f"turn on zone egress, or make {service} a MeshExternalService, or accept that"
        " every proxy reaches it",
        blocking=False,
    )


def _gives_up(policy: Resource, service: str) -> Manual:
    return Manual(
        resource=policy,
        message=f"no known proxy has an outbound to ExternalService {service}; a new one could not"
        " be limited as this policy did",
        action=f"turn on zone egress, or make {service} a MeshExternalService, before there is one",
        blocking=False,
    )
