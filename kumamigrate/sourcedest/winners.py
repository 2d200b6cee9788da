"""The old engine's choice: one policy per connection, inbound or proxy (legacy.md §2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from kumamigrate.dataclass import dataclass, field
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.model.state import State
from kumamigrate.sourcedest.admit import accepted
from kumamigrate.sourcedest.order import Latest, Ties, latest, newest_first, options_of
from kumamigrate.sourcedest.proxy import PASS_THROUGH, TaggedProxy
from kumamigrate.sourcedest.selector import (
    Rank,
    Tags,
    best_rank,
    matches,
    rank,
    selectors_in,
)
from kumamigrate.sourcedest.targets import live_targets, route_targets

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class OldPolicies:
    """The old policies of one mesh that its control plane accepted, by kind, in file order."""

    mesh: str
    by_kind: Mapping[str, tuple[Resource, ...]]
    ties: Ties = Ties.UNKNOWN
    refused: tuple[Resource, ...] = ()

    def of(self, kind: str) -> tuple[Resource, ...]:
        """Return the accepted policies of one kind."""
        return self.by_kind.get(kind, ())

    @property
    def routed(self) -> bool:
        """Whether an accepted TrafficRoute exists; else nothing outbound works (§0 fact 3)."""
        return bool(self.of("TrafficRoute"))


def old_policies(state: State, mesh: str, ties: Ties = Ties.UNKNOWN) -> OldPolicies:
    """Return what the old engine of a mesh has to choose from.

    What a template stands for may be acceptable, so templated policies are not refused here.
    """
    own = [r for r in state.of_type(*OLD_POLICIES) if r.mesh == mesh]
    others = [r for r in state.of_type("ExternalService") if r.mesh == mesh]
    taken = [r for r in own if r.templated or accepted(r, others)]
    kinds: dict[str, list[Resource]] = {}
    for policy in taken:
        kinds.setdefault(policy.type, []).append(policy)
    refused = tuple(r for r in own if not any(r is t for t in taken))
    by_kind = {kind: tuple(items) for kind, items in kinds.items()}
    return OldPolicies(mesh=mesh, by_kind=by_kind, ties=ties, refused=refused)


def _highest(
    policies: Iterable[Resource], rank_of: Callable[[Resource], Rank | None], ties: Ties
) -> Latest | None:
    ranks = ((policy, rank_of(policy)) for policy in policies)
    ranked = [(policy, own) for policy, own in ranks if own is not None]
    highest = max((own for _, own in ranked), default=None)
    return latest([policy for policy, own in ranked if own == highest], ties) if ranked else None


def connection_winner(
    policies: Sequence[Resource], sources: Sequence[Tags], service: str, ties: Ties
) -> Latest | None:
    """Return the policy of a connection from a proxy with these tag sets to a service (§2.3)."""
    destination = {SERVICE: service}

    def rank_of(policy: Resource) -> Rank | None:
        source = best_rank(selectors_in(policy, "sources"), sources)
        if source is None:
            return None
        target = best_rank(selectors_in(policy, "destinations"), (destination,))
        return None if target is None else source + target

    return _highest(policies, rank_of, ties)


def inbound_winner(policies: Sequence[Resource], tags: Tags, ties: Ties) -> Latest | None:
    """Return the TrafficPermission of an inbound: by destination alone (§2.4)."""
    return _highest(policies, lambda p: best_rank(selectors_in(p, "destinations"), (tags,)), ties)


def proxy_winner(policies: Sequence[Resource], sets: Sequence[Tags], ties: Ties) -> Latest | None:
    """Return the TrafficTrace or ProxyTemplate of a proxy (§2.2)."""

    def rank_of(policy: Resource) -> Rank | None:
        selectors = selectors_in(policy, "selectors")
        return best_rank(selectors, sets) if selectors else rank({})

    return _highest(policies, rank_of, ties)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """All policies of an inbound, in the old engine's order. `known` is False in a tie."""

    policies: tuple[Resource, ...] = ()
    known: bool = True


def inbound_list(policies: Sequence[Resource], tags: Tags, ties: Ties) -> Listed:
    """Return the FaultInjections or RateLimits of an inbound (§2.4, notes G1).

    One entry per matching destination selector, by the rank of the *first* source.
    """
    hits = [
        policy
        for policy in policies
        for selector in selectors_in(policy, "destinations")
        if matches(selector, tags)
    ]
    ranked: dict[Rank, list[Resource]] = {}
    for policy in hits:
        ranked.setdefault(rank(selectors_in(policy, "sources")[0]), []).append(policy)
    result: list[Resource] = []
    known = True
    for key in sorted(ranked, reverse=True):
        ordered, sure = newest_first(ranked[key], ties)
        result.extend(ordered)
        known = known and sure
    return Listed(policies=tuple(result), known=known)


def ends_of(old: OldPolicies, proxy: TaggedProxy, outbounds: Iterable[Tags]) -> Iterator[Tags]:
    """Yield the tags of all clusters to which outbounds of a proxy, told by theirs, may lead.

    Each outbound's own, which it has without a TrafficRoute, and all targets of the TrafficRoute
    that wins, or of any that may win in a tie.
    """
    for tags in outbounds:
        yield tags
        service = tags.get(SERVICE, "")
        won = connection_winner(old.of("TrafficRoute"), proxy.tag_sets, service, old.ties)
        for route in options_of(won):
            yield from live_targets(route, service, tags)


def led_to(old: OldPolicies, proxy: TaggedProxy) -> frozenset[str]:
    """Return the services at which traffic of a proxy's outbounds may end."""
    ends = ends_of(old, proxy, (outbound.tags for outbound in proxy.outbounds))
    return frozenset(tags.get(SERVICE, "") for tags in ends)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyWinners:
    """All that the old engine chose for one proxy.

    `outbound` and `service` hold, per kind, the winner by service; `inbound` the
    TrafficPermission by inbound name; `lists` FaultInjection and RateLimit by inbound name;
    `whole` TrafficTrace and ProxyTemplate.
    """

    proxy: TaggedProxy
    outbound: Mapping[str, Mapping[str, Latest]] = field(default_factory=dict)
    service: Mapping[str, Mapping[str, Latest]] = field(default_factory=dict)
    inbound: Mapping[str, Latest] = field(default_factory=dict)
    lists: Mapping[str, Mapping[str, Listed]] = field(default_factory=dict)
    whole: Mapping[str, Latest] = field(default_factory=dict)


OUTBOUND_KINDS = ("TrafficRoute", "Timeout", "RateLimit")
TARGET_KINDS = ("Retry", "CircuitBreaker", "HealthCheck")
LIST_KINDS = ("FaultInjection", "RateLimit")
WHOLE_KINDS = ("TrafficTrace", "ProxyTemplate")


def winners(old: OldPolicies, proxy: TaggedProxy) -> ProxyWinners:
    """Return what the old engine chose for a proxy, inert choices included (notes G10)."""
    sets = proxy.tag_sets
    services = tuple(dict.fromkeys(outbound.service for outbound in proxy.outbounds))

    def choose(kind: str, names: Iterable[str]) -> dict[str, Latest]:
        found = {n: connection_winner(old.of(kind), sets, n, old.ties) for n in names}
        return _present(found)

    outbound = {kind: choose(kind, services) for kind in OUTBOUND_KINDS}
    targets: list[str] = []
    for service in services:
        route = outbound["TrafficRoute"].get(service)
        targets.extend(route_targets(route.policy if route else None, service))
    reached = tuple(dict.fromkeys(targets))
    by_service = {kind: choose(kind, reached) for kind in TARGET_KINDS}
    by_service["TrafficLog"] = choose("TrafficLog", (*services, PASS_THROUGH))
    return ProxyWinners(
        proxy=proxy,
        outbound=outbound,
        service=by_service,
        inbound=_present(
            {
                i.name: inbound_winner(old.of("TrafficPermission"), i.tags, old.ties)
                for i in proxy.inbounds
            }
        ),
        lists={
            kind: {i.name: inbound_list(old.of(kind), i.tags, old.ties) for i in proxy.inbounds}
            for kind in LIST_KINDS
        },
        whole=_present({k: proxy_winner(old.of(k), sets, old.ties) for k in WHOLE_KINDS}),
    )


def _present(found: Mapping[str, _T | None]) -> dict[str, _T]:
    return {key: value for key, value in found.items() if value is not None}
