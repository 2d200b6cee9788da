"""Old policies that can go although the rest of their kind must stay: nothing would change.

Where a tie or a decision keeps a kind from being converted, policies that never win, or that say
the same as what would win without them, are removed all the same. What stays is the old engine's
alone, so the question is only whether it comes to the same without them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from kumamigrate.legacy.effects import (
    breakers_before,
    probes_before,
    retries_before,
    timeouts_before,
)
from kumamigrate.legacy.order import Latest
from kumamigrate.legacy.proxy import PASS_THROUGH
from kumamigrate.legacy.selector import ANY, Rank, Tags, matches, rank, selectors_of
from kumamigrate.legacy.sinks import limit_before, logs_before, traces_before
from kumamigrate.legacy.winners import connection_winner, inbound_winner, proxy_winner
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.rewrite.legacy.classes import Classes, class_of, classes_of
from kumamigrate.rewrite.legacy.conversion import Conversion, Dropped
from kumamigrate.rewrite.legacy.permission import clients_of
from kumamigrate.rewrite.legacy.routes import OTHER_SERVICE
from kumamigrate.rewrite.legacy.world import World

Policies = Sequence[Resource]
Cells = Callable[[Policies], list[Any]]
_PROTOCOLS = ("http", "http2", "grpc", "tcp", "kafka", "unknown")
_MOST = 2000
_NOTHING = "it changes nothing: others win, or say the same, wherever it matches"


def with_spare(done: Conversion, world: World) -> Conversion:
    """Return a conversion that cannot be written with what can be removed from its kind."""
    policies = world.old.of(done.kind)
    if done.writable or len(policies) < 2 or any(p.templated for p in policies):
        return done
    cells = _cells_of(done.kind, world)
    if cells is None:
        return done
    return replace(done, spare=tuple(_spare(policies, cells)))


def _spare(policies: Policies, cells: Cells) -> Iterator[Dropped]:
    left = list(policies)
    base = cells(left)
    for policy in policies:
        without = [p for p in left if p is not policy]
        if without and cells(without) == base:
            left = without
            yield Dropped(resource=policy, reason=_NOTHING)


def _cells_of(kind: str, world: World) -> Cells | None:
    """Return what decides a kind: effects, place by place, for some of its policies."""
    old = world.old
    fields = {"TrafficTrace": "selectors", "ProxyTemplate": "selectors"}
    fields |= dict.fromkeys(("TrafficPermission", "RateLimit"), "destinations")
    own = [t for p in old.of(kind) for t in selectors_of(p.spec, fields.get(kind, "sources"))]
    classes = classes_of(own, world)
    if classes.too_many:
        return None
    ranked = _Ranked(old.of(kind))
    every = ranked.apart(_witnesses(classes, own), fields.get(kind, "sources"))
    if kind in _EFFECTS:
        names = [OTHER_SERVICE, PASS_THROUGH, *world.services]
        services = ranked.apart([{SERVICE: name} for name in names], "destinations")
        effect = _remembered(lambda p: _EFFECTS[kind](p, world))
        return lambda some: [
            _said(connection_winner(some, (tags,), s[SERVICE], old.ties), effect)
            for tags in every
            for s in services
        ]
    if kind == "TrafficPermission":
        allowed = _remembered(lambda p: clients_of(p) if p else None)
        return lambda some: [_said(inbound_winner(some, tags, old.ties), allowed) for tags in every]
    if kind == "RateLimit":
        sources = [t for p in old.of(kind) for t in selectors_of(p.spec, "sources")]
        clients = classes_of(sources, world)
        if clients.too_many:
            return None
        asking = ranked.apart(_witnesses(clients, sources), "sources", every_rank=True)
        return lambda some: [_first_limit(some, tags, one) for tags in every for one in asking]
    if kind in ("TrafficTrace", "ProxyTemplate"):
        whole = _remembered(lambda p: _whole(p, world))
        return lambda some: [_said(proxy_winner(some, (tags,), old.ties), whole) for tags in every]
    return None


class _Ranked:
    """The selectors of policies: of places that all of them rank alike, one is enough."""

    def __init__(self, policies: Policies) -> None:
        self._policies = policies

    def apart(self, places: Sequence[Tags], field: str, *, every_rank: bool = False) -> list[Tags]:
        """Return the tag sets that the selectors of a field tell apart, by the best rank of each
        policy or by all of its ranks."""
        selectors = [selectors_of(p.spec, field) for p in self._policies]
        found: dict[Any, Tags] = {}
        for tags in places:
            ranks = (tuple(rank(s) for s in own if matches(s, tags)) for own in selectors)
            kept = ranks if every_rank else (max(all_, default=None) for all_ in ranks)
            found.setdefault(tuple(kept), tags)
        return list(found.values())


def _remembered(effect: Callable[[Resource | None], Any]) -> Callable[[Resource | None], Any]:
    """Return a function that asks for the effect of each policy once."""
    known: dict[int, tuple[Resource | None, Any]] = {}

    def of(policy: Resource | None) -> Any:
        if id(policy) not in known:
            known[id(policy)] = (policy, effect(policy))
        return known[id(policy)][1]

    return of


def _witnesses(classes: Classes, selectors: Iterable[Tags]) -> list[dict[str, str]]:
    """Return the tags of a proxy for each class, and for what selectors only want to be present,
    with a value that nobody names."""
    found = [item.witness for item in classes.classes]
    plain = class_of({}).witness
    for tags in {tuple(sorted(tags.items())): tags for tags in selectors}.values():
        loose = {k: "\x00other" for k, v in tags.items() if v == ANY}
        if loose:
            found += [{**one, **loose, **_exact(tags)} for one in [plain, *found]]
        if len(found) > _MOST:
            break
    return found


def _exact(tags: Tags) -> dict[str, str]:
    return {key: value for key, value in tags.items() if value != ANY}


_EFFECTS: dict[str, Callable[[Resource | None, World], Any]] = {
    "Timeout": lambda p, _: [timeouts_before(p, p, name) for name in _PROTOCOLS],
    "Retry": lambda p, _: [retries_before(p, name) for name in _PROTOCOLS],
    "CircuitBreaker": lambda p, _: breakers_before(p),
    "HealthCheck": lambda p, _: probes_before(p),
    "TrafficLog": lambda p, world: logs_before(p, world.mesh_resource),
    "TrafficRoute": lambda p, _: p.spec.get("conf") if p is not None else None,
}


def _said(found: Latest | None, effect: Callable[[Resource | None], Any]) -> Any:
    """Return the effect of a choice; of a tie that matters, who takes part in it."""
    if found is None:
        return effect(None)
    if found.tie is None:
        return effect(found.policy)
    effects = [effect(p) for p in found.tie.policies]
    if all(one == effects[0] for one in effects[1:]):
        return effects[0]
    return ("tie", found.tie.names)


def _first_limit(policies: Policies, inbound: Tags, client: Tags) -> Any:
    best: Rank | None = None
    found: list[Resource] = []
    for policy in policies:
        if not any(matches(s, inbound) for s in selectors_of(policy.spec, "destinations")):
            continue
        for tags in selectors_of(policy.spec, "sources"):
            if not matches(tags, client):
                continue
            own = rank(tags)
            if best is None or own > best:
                best, found = own, [policy]
            elif own == best and policy not in found:
                found.append(policy)
    limits = [limit_before(p) for p in found]
    if not limits or all(one == limits[0] for one in limits[1:]):
        return limits[0] if limits else {}
    return ("tie", tuple(sorted(p.name for p in found)))


def _whole(policy: Resource | None, world: World) -> Any:
    if policy is None or policy.type == "TrafficTrace":
        return traces_before(policy, world.mesh_resource) if policy else None
    return policy.spec.get("conf")
