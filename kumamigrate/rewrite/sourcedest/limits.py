"""RateLimit → MeshRateLimit (§1.8). What limits single clients has no successor before SPIFFE ids.

An old RateLimit on an inbound switches MeshRateLimits off there, so policies that never meet on an
inbound are converted or kept apart from each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.model.resource import SERVICE, ZONE, Resource, sequence
from kumamigrate.rewrite.sourcedest.apart import in_parts, sharing, stays_too
from kumamigrate.rewrite.sourcedest.classes import WinnerClass, classes_by, prune
from kumamigrate.rewrite.sourcedest.confnotes import Notes
from kumamigrate.rewrite.sourcedest.conversion import Conversion, Dropped, Json, Manual, distinct
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.rewrite.sourcedest.newpolicies import PolicyDraft, emit
from kumamigrate.rewrite.sourcedest.notconverted import standstill
from kumamigrate.rewrite.sourcedest.wildcards import wildcard_notes
from kumamigrate.sourcedest.oldconf import differing, read_conf
from kumamigrate.sourcedest.order import CreationTie, latest, merge_ties, newest_first
from kumamigrate.sourcedest.selector import ANY, Rank, Tags, matches, rank, selectors_of, tags_of

_SHORTEST = 50_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Inbound:
    """What one class of inbounds has: the policy for all clients, those on its way, and a tie."""

    listed: tuple[Resource, ...]
    winner: Resource | None = None
    single: Resource | None = None
    tie: CreationTie | None = None


def convert_rate_limit(world: KnownWorld) -> Conversion:
    """Return the MeshRateLimits for the RateLimits of a mesh, group by group."""
    return in_parts(world, _convert)


def _convert(world: KnownWorld, staying: Sequence[Resource]) -> Conversion:
    policies = world.old.of("RateLimit")
    stopped = standstill(world, "RateLimit", "MeshRateLimit", policies, routed=False)
    if stopped is not None:
        return stopped
    classes = classes_by("destinations", policies, world)
    table = {item: _inbound(item, policies, world) for item in classes.classes}
    notes: list[Manual] = []
    stuck = _stuck(policies, table, world, notes, staying)
    free = {
        item: replace(found, winner=None) if any(p in stuck for p in found.listed) else found
        for item, found in table.items()
    }
    drafts = _drafts(free, world, notes)
    moved = [p for p in policies if p not in stuck]
    carried = [w for draft in drafts for w in draft.winners]
    return Conversion(
        kind="RateLimit",
        mesh=world.mesh,
        target=world.target,
        policies=emit(
            world,
            "MeshRateLimit",
            drafts,
            chosen_by="destinations",
            sidecar=True,
        ),
        dropped=tuple(
            Dropped(resource=p, reason="its limit is never the first that a request meets")
            for p in moved
            if p not in carried
        ),
        manual=distinct([*wildcard_notes(classes, policies, "destinations"), *notes]),
        ties=merge_ties(f.tie for f in free.values() if f.winner is not None),
        steps=(
            "apply the MeshRateLimits first: they do nothing while a RateLimit matches the"
            " inbound, and take over when it is deleted",
        ),
    )


def _inbound(item: WinnerClass, policies: Iterable[Resource], world: KnownWorld) -> _Inbound:
    listed = [
        p
        for p in policies
        if any(matches(tags, item.witness) for tags in selectors_of(p.spec, "destinations"))
    ]
    ranked: dict[Rank, list[tuple[Resource, Tags]]] = {}
    for policy in listed:
        for tags in selectors_of(policy.spec, "sources"):
            ranked.setdefault(rank(tags), []).append((policy, tags))
    met = tuple(listed)
    for key in sorted(ranked, reverse=True):
        every = [p for p, tags in ranked[key] if _any_client(tags)]
        single = [p for p, tags in ranked[key] if not _any_client(tags)]
        if single and not (every and _before(every, single, world)):
            return _Inbound(listed=met, single=single[0])
        if every:
            found = latest(distinct(every), world.old.ties)
            tie = found.tie if found.tie and differing(found.tie.policies) else None
            return _Inbound(listed=met, winner=found.policy, tie=tie)
    return _Inbound(listed=met)


def _before(every: list[Resource], single: list[Resource], world: KnownWorld) -> bool:
    ordered, known = newest_first(distinct([*every, *single]), world.old.ties)
    return known and ordered[0] in every and ordered[0] not in single


def _any_client(tags: Tags) -> bool:
    return set(tags) <= {SERVICE, ZONE} and all(value == ANY for value in tags.values())


def _stuck(
    policies: Iterable[Resource],
    table: Mapping[WinnerClass, _Inbound],
    world: KnownWorld,
    notes: list[Manual],
    staying: Sequence[Resource],
) -> list[Resource]:
    """Return the policies that must stay, with all that share an inbound with one of them."""
    stuck: list[Resource] = list(staying)
    for found in table.values():
        if found.single is not None:
            stuck.append(found.single)
            notes.append(_per_client(found.single))
    external = {
        tags_of(r.spec.get("tags")).get(SERVICE, "") for r in world.state.of_type("ExternalService")
    }
    for policy in policies:
        for tags in selectors_of(policy.spec, "destinations"):
            hit = sorted(s for s in external if s and matches(tags, {SERVICE: s}))
            if hit and world.old.routed:
                stuck.append(policy)
                notes.append(_client_side(policy, hit[0]))
    spread = sharing(stuck, (f.listed for f in table.values()))
    notes.extend(stays_too(policy) for policy in spread if policy not in stuck)
    return list(spread)


def _per_client(policy: Resource) -> Manual:
    return Manual(
        resource=policy,
        message="it limits single clients; MeshRateLimit can only do that by SPIFFE id, which"
        " needs MeshIdentity",
        action="limit all clients together, or keep it until identities exist",
        path=("sources",),
        blocking=False,
    )


def _client_side(policy: Resource, service: str) -> Manual:
    return Manual(
        resource=policy,
        message=f"it limits requests to ExternalService {service} where they leave;"
        " sidecars have no such limit any more",
        action="turn on zone egress and limit there, or drop the limit",
        path=("destinations",),
        blocking=False,
    )


def _drafts(
    table: Mapping[WinnerClass, _Inbound], world: KnownWorld, notes: list[Manual]
) -> tuple[PolicyDraft, ...]:
    values: dict[WinnerClass, Json | None] = {}
    for item, found in table.items():
        values[item] = limit_conf(found.winner, notes) if found.winner is not None else None
    drafts = []
    kept = prune(values)
    for item, conf in kept.items():
        winner = table[item].winner
        below = [values[c] for c in kept if c != item and item.within(c) and values[c]]
        if winner is None or conf is None or (not conf and not below):
            continue
        section = conf or {"local": {"http": {"disabled": True}}}
        drafts.append(_draft(item, winner, section, world))
    return tuple(drafts)


def _draft(item: WinnerClass, winner: Resource, conf: Json, world: KnownWorld) -> PolicyDraft:
    if world.with_rules:
        return PolicyDraft(item=item, winners=(winner,), rules=[{"default": conf}])
    entry = {"targetRef": {"kind": "Mesh"}, "default": conf}
    return PolicyDraft(item=item, winners=(winner,), from_=[entry])


def limit_conf(policy: Resource, notes: list[Manual]) -> Json:
    """Return the MeshRateLimit conf of a RateLimit; without `http` it limits nothing."""
    conf = read_conf("RateLimit", policy.spec)
    http = conf.get("http")
    if http is None:
        return {}
    found = Notes()
    if http["interval"].ns <= _SHORTEST:
        found.lost("the interval must be above 50ms now", "http", "interval")
    rate = {"num": http["requests"], "interval": str(http["interval"])}
    result: Json = {"local": {"http": {"requestRate": rate}}}
    limited = _on_limit(http.get("onRateLimit") or {}, found)
    if limited:
        result["local"]["http"]["onRateLimit"] = limited
    notes.extend(
        note.manual(policy, "choose another value in the old policy") for note in found.items
    )
    return result


def _on_limit(values: Mapping[str, object], notes: Notes) -> Json:
    result: Json = {}
    status = values.get("status")
    if status == 0:
        notes.lost("status 0 is refused now; leave it out for 429", "http", "onRateLimit", "status")
    elif status is not None:
        result["status"] = status
    headers: dict[str, list[Json]] = {}
    for index, header in enumerate(sequence(values.get("headers"))):
        kind = "add" if header.get("append") else "set"
        if "," in header["value"]:
            notes.lost(
                "a comma would split this header into several values",
                "http",
                "onRateLimit",
                "headers",
                index,
            )
        headers.setdefault(kind, []).append({"name": header["key"], "value": header["value"]})
    if headers:
        result["headers"] = headers
    return result
