"""What the old engine comes to for one proxy, as the readings of `effective` say it.

Beside it stands what the new engine comes to at the same place: listener and routes by outbound
service, cluster by service, inbound by name, the proxy as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kumamigrate.effective.reading import Values
from kumamigrate.effective.readings import said_by
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.sourcedest.clients import Clients, clients_before
from kumamigrate.sourcedest.order import CreationTie, merge_ties
from kumamigrate.sourcedest.proxy import PASS_THROUGH, TaggedProxy
from kumamigrate.sourcedest.targets import UNKNOWN, common_protocol, live_targets, main_targets
from kumamigrate.sourcedest.winners import OldPolicies, ProxyWinners, winners


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the old engine comes to for one proxy. Keys are services, or inbound names.

    `live` is False where the mesh has no TrafficRoute: then the outbound parts are empty.
    `clients`, `faults` and `limits` are by inbound: who is let in; the FaultInjections and the
    RateLimits in order. `treated` is the protocol of an outbound (C3). `ties` are the choices
    that creation time decides.
    """

    live: bool
    timeouts: Mapping[str, Values] = field(default_factory=dict)
    retries: Mapping[str, Values] = field(default_factory=dict)
    breakers: Mapping[str, Values] = field(default_factory=dict)
    probes: Mapping[str, Values] = field(default_factory=dict)
    logs: Mapping[str, Values] = field(default_factory=dict)
    clients: Mapping[str, Clients] = field(default_factory=dict)
    faults: Mapping[str, tuple[Resource, ...]] = field(default_factory=dict)
    limits: Mapping[str, tuple[Resource, ...]] = field(default_factory=dict)
    traces: Values = field(default_factory=dict)
    template: Resource | None = None
    routes: Mapping[str, Resource] = field(default_factory=dict)
    treated: Mapping[str, str] = field(default_factory=dict)
    ties: tuple[CreationTie, ...] = ()


def facts_of(
    old: OldPolicies, proxy: TaggedProxy, protocols: Mapping[str, str], mesh: Resource | None
) -> Facts:
    """Return what the old engine comes to for a proxy; inert policies come to nothing.

    `protocols` holds the protocol of each service with endpoints. The timeouts of a service are
    those of its outbound's listener and of the cluster named like it.
    """
    won = winners(old, proxy)
    inbound = {i.name: won.inbound.get(i.name) for i in proxy.inbounds}
    trace, template = won.whole.get("TrafficTrace"), won.whole.get("ProxyTemplate")
    logged = [PASS_THROUGH]
    if old.routed:
        logged = [*dict.fromkeys(o.service for o in proxy.outbounds), PASS_THROUGH]
    outbound = _outbound_facts(won, proxy, protocols) if old.routed else {}
    return Facts(
        live=old.routed,
        **outbound,
        logs={
            name: _said(
                "TrafficLog",
                _policy(won.service["TrafficLog"].get(name)),
                "tcp" if name == PASS_THROUGH else outbound["treated"].get(name, ""),
                mesh=mesh,
            )
            for name in logged
        },
        clients={name: clients_before(_policy(found)) for name, found in inbound.items()},
        faults={n: found.policies for n, found in won.lists["FaultInjection"].items()},
        limits={n: found.policies for n, found in won.lists["RateLimit"].items()},
        traces=_said("TrafficTrace", _policy(trace), mesh=mesh),
        template=_policy(template),
        ties=_ties(won, live=old.routed),
    )


def _outbound_facts(
    won: ProxyWinners, proxy: TaggedProxy, protocols: Mapping[str, str]
) -> dict[str, Any]:
    services = tuple(dict.fromkeys(o.service for o in proxy.outbounds))
    timeout = {s: _policy(won.outbound["Timeout"].get(s)) for s in services}
    routes = {s: f.policy for s, f in won.outbound["TrafficRoute"].items()}
    leaders: dict[str, Resource | None] = {}
    clusters: dict[str, None] = {}
    for service in services:
        for tags in live_targets(routes.get(service), service):
            leaders[tags[SERVICE]] = timeout[service]
            clusters[tags[SERVICE]] = None
    reached = set(won.service["Retry"]) & set(services)
    treated = {
        s: common_protocol(
            protocols.get(tags[SERVICE], UNKNOWN) for tags in main_targets(routes.get(s), s)
        )
        for s in services
    }
    return {
        "routes": routes,
        "treated": treated,
        "timeouts": {
            s: _timeouts(
                timeout.get(s),
                leaders.get(s, timeout.get(s)),
                treated.get(s, protocols.get(s, UNKNOWN)),
            )
            for s in (*services, *(c for c in clusters if c not in services))
        },
        "retries": {
            s: _said(
                "Retry",
                _policy(won.service["Retry"].get(s)) if s in reached else None,
                treated[s],
            )
            for s in services
        },
        "breakers": {
            c: _said("CircuitBreaker", _policy(won.service["CircuitBreaker"].get(c)))
            for c in clusters
        },
        "probes": {
            c: _said("HealthCheck", _policy(won.service["HealthCheck"].get(c))) for c in clusters
        },
    }


def _said(
    kind: str, policy: Resource | None, protocol: str = "", mesh: Resource | None = None
) -> Values:
    return {k: v for one in said_by(kind, policy, protocol, mesh) for k, v in one.items()}


def _timeouts(own: Resource | None, leading: Resource | None, protocol: str) -> Values:
    """Return the timeouts of an outbound and of the cluster that another may lead to (C2)."""
    return {**said_by("Timeout", own, protocol)[0], **said_by("Timeout", leading, protocol)[1]}


def _ties(won: ProxyWinners, *, live: bool) -> tuple[CreationTie, ...]:
    chosen = [*won.inbound.values(), *won.whole.values()]
    if live:
        for found in (*won.outbound.values(), *won.service.values()):
            chosen.extend(found.values())
    listed = [
        CreationTie(policies=tuple({p.name: p for p in found.policies}.values()))
        for lists in won.lists.values()
        for found in lists.values()
        if not found.known
    ]
    return merge_ties([*(c.tie for c in chosen), *listed])


def _policy(found: Any) -> Resource | None:
    policy: Resource | None = found.policy if found is not None else None
    return policy
