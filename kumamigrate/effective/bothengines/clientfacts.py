"""What a client meets at an inbound, of whichever engine answers there (legacy.md §3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import permutations, product
from typing import Any

from kumamigrate.effective.bothengines.callers import BARE, Identity, Named
from kumamigrate.effective.fact import Fact, Key, one_of
from kumamigrate.effective.inboundfacts import inbound_fact
from kumamigrate.effective.mtlsmode import MTLS_UNKNOWN, inbound_mode
from kumamigrate.effective.policies import meshratelimit
from kumamigrate.effective.policies.meshfault import FAULTS, GRPC_SINCE, faults_of, old_faults
from kumamigrate.effective.policies.meshsections import OFF, PERMISSIVE, STRICT
from kumamigrate.effective.reading import At, SlotKind, Values
from kumamigrate.model.protocols import HTTP_LIKE
from kumamigrate.model.resource import Resource
from kumamigrate.model.versions import at_least
from kumamigrate.sourcedest.clients import Clients, admits_before, bears, clients_before
from kumamigrate.sourcedest.order import Options, options_of
from kumamigrate.sourcedest.proxy import PROTOCOL, Inbound, proxy_of
from kumamigrate.sourcedest.selector import Rank, matches, rank, selectors_of
from kumamigrate.sourcedest.winners import inbound_list, inbound_winner
from kumamigrate.targetref.entry import Found
from kumamigrate.targetref.inbound import InboundPoint
from kumamigrate.targetref.selection import Point
from kumamigrate.universe.side import Side

MOST_ORDERS = 24


def client_facts(side: Side, proxy: Resource, policy_type: str, clients: Named) -> dict[Key, Fact]:
    """Return what each of some clients meets at the inbounds of a proxy, of a policy type."""
    found: dict[Key, Fact] = {}
    for inbound in proxy_of(proxy, side.state.environment.zone).inbounds:
        at = InboundClients(side, proxy, inbound)
        read = {
            "MeshTrafficPermission": at.admitted,
            "MeshFaultInjection": at.faults,
            "MeshRateLimit": at.limit,
        }[policy_type]
        for name, client in clients.items():
            found[("inbound", at.key, name)] = read(client)
    return found


class InboundClients:
    """What clients meet at one inbound of one proxy: who answers is said type by type (§3)."""

    def __init__(self, side: Side, proxy: Resource, inbound: Inbound) -> None:
        self.side, self.proxy, self.inbound = side, proxy, inbound
        self.key = inbound.name.rsplit(":", 1)[0]

    def _point(self, policy_type: str) -> tuple[Point | None, InboundPoint | None]:
        if policy_type not in self.side.types:
            return None, None
        selection = self.side.selection(self.proxy, policy_type)
        point = next((p for p in selection.points if p.key == self.key), None)
        if point is None:
            return None, None
        return point, self.side.matcher.inbound(selection, point)

    @cached_property
    def _mtls(self) -> str | None:
        """The mode of the inbound: STRICT keeps clients without a sidecar away; None: unknown."""
        read = self._point("MeshTLS")[1]
        known = self.side.certified(self.proxy)
        return inbound_mode(self.side.mesh_resource, read, certified=known)

    def _met(self, client: Identity, effects: Sequence[Values]) -> tuple[Sequence[Values], str]:
        """Return what a client meets, if it can get here, and why that is undecided."""
        if client != BARE or self._mtls in (OFF, PERMISSIVE):
            return effects, "creation time"
        return ([{}], "") if self._mtls == STRICT else ([{}, *effects], MTLS_UNKNOWN)

    @cached_property
    def _permission(self) -> InboundPoint | None:
        return self._point("MeshTrafficPermission")[1]

    @cached_property
    def _permitted(self) -> tuple[Options, tuple[Clients, ...]]:
        """The old policies of which one decides, and whom each lets in."""
        old = self.side.old
        found = inbound_winner(old.of("TrafficPermission"), self.inbound.tags, old.ties)
        options = options_of(found)
        return options, tuple(map(clients_before, options))

    def admitted(self, client: Identity) -> Fact:
        """Return whether a client is let in."""
        read = self._permission
        if read is not None and (read.from_rules or read.rules):
            if read.rules:
                said = inbound_fact(self.side, "MeshTrafficPermission", read).settings
                return one_of([said or {"allowed": False}], (), _whole(read))
            return one_of([_lets_in(read, client)], (), _whole(read))
        options, let_in = self._permitted
        effects = [{"allowed": admits_before(clients, client)} for clients in let_in]
        return one_of(effects, options, None, "creation time")

    def faults(self, client: Identity) -> Fact:
        """Return the faults a client meets; any FaultInjection keeps the new ones away (§3)."""
        old = self.side.old
        listed = inbound_list(old.of("FaultInjection"), self.inbound.tags, old.ties)
        if listed.policies:
            orders = [listed.policies] if listed.known else _orders(listed.policies, client)
            before: list[Values] = [{FAULTS: old_faults(_met_by(o, client))} for o in orders]
            effects, why = self._met(client, before)
            return one_of(effects, listed.policies, None, why)
        _, read = self._point("MeshFaultInjection")
        # It does nothing to TCP, and to gRPC only since a release (§1.7).
        release = self.side.release.name
        kinds = HTTP_LIKE if at_least(release, GRPC_SINCE) else ("http", "http2")
        if not self._may_speak(kinds):
            return one_of([{FAULTS: []}], (), _whole(read))
        if read is not None and any(rule.match for rule in read.rules):
            return one_of([{"rules": repr([(r.match, r.conf) for r in read.rules])}], (), None)
        confs = [] if read is None else [r.conf for r in read.rules] or _all_met(read, client)
        effects, why = self._met(client, [{FAULTS: faults_of(confs)}])
        return one_of(effects, (), _whole(read), why)

    def _may_speak(self, protocols: Sequence[str]) -> bool:
        """Whether the inbound may be of one of some protocols: one made up may be of any."""
        undecided = self.proxy.made_up and PROTOCOL not in self.inbound.tags
        return undecided or self.inbound.protocol in protocols

    def limit(self, client: Identity) -> Fact:
        """Return the limit a client meets first; any RateLimit keeps the new ones away (§3)."""
        policies = [
            p
            for p in self.side.old.of("RateLimit")
            if any(matches(s, self.inbound.tags) for s in selectors_of(p.spec, "destinations"))
        ]
        if policies:
            options = _first_limits(policies, client)
            if not self._may_speak(HTTP_LIKE):  # its limits are of HTTP requests
                return one_of([{}], (), None)
            at = At(part=SlotKind.INBOUND)
            before = [meshratelimit.of_old(policy, at) for policy in options]
            effects, why = self._met(client, before)
            return one_of(effects, options, None, why)
        _, read = self._point("MeshRateLimit")
        if read is None:
            return one_of([{}])
        if any(rule.match for rule in read.rules):
            return one_of([{"rules": repr([(r.match, r.conf) for r in read.rules])}], (), None)
        fact = inbound_fact(self.side, "MeshRateLimit", read)
        effects, why = self._met(client, [fact.settings])
        return one_of(effects, (), fact.found, why)


def _whole(read: InboundPoint | None) -> Found | None:
    """Return the entries of an inbound as something a witness can point at."""
    if read is None:
        return None
    rules: Sequence[Any] = read.rules or read.from_rules
    entries = tuple(dict.fromkeys(e for rule in rules for e in rule.entries))
    return Found(confs=(rules[0].conf,), entries=entries, level="mesh") if entries else None


def _holds(rule: Any, client: Identity) -> bool:
    return all(((t.key, t.value) in client) != t.negated for t in rule.subset)


def _lets_in(read: InboundPoint, client: Identity) -> Values:
    """Return whether `from` lets a client in, and whether it notes that it should not have."""
    actions = {rule.conf.get("action") for rule in read.from_rules if _holds(rule, client)}
    noted = {"shadow denied": True} if "AllowWithShadowDeny" in actions else {}
    return {"allowed": bool(actions & {"Allow", "AllowWithShadowDeny"}), **noted}


def _all_met(read: InboundPoint, client: Identity) -> list[Mapping[str, Any]]:
    """Return the confs of all rules that a client's header matches (notes C19).

    Envoy gets the negated tags of a rule as one inverted expression, with the last value of each
    key, so a client meets each rule of whose tags in it it lacks any: rules that differ in several
    tags, or in several values, overlap.
    """
    found: list[Mapping[str, Any]] = []
    for rule in read.from_rules:
        asked = [(t.key, t.value) in client for t in rule.subset if not t.negated]
        inverted = {t.key: t.value for t in sorted(rule.subset) if t.negated}
        negated = [pair in client for pair in inverted.items()]
        if all(asked) and not (negated and all(negated)):
            found.append(rule.conf)
    return found


def _first_limits(policies: Sequence[Resource], client: Identity) -> tuple[Resource | None, ...]:
    """Return whose limit a client may meet first: by rank of the source that fits it (G1)."""
    best: Rank | None = None
    found: list[Resource] = []
    for policy in policies:
        for tags in selectors_of(policy.spec, "sources"):
            if not bears(client, tags):
                continue
            own = rank(tags)
            if best is None or own > best:
                best, found = own, [policy]
            elif own == best and policy not in found:
                found.append(policy)
    return tuple(found) or (None,)


def _met_by(policies: Sequence[Resource], client: Identity) -> list[Resource]:
    """Return the policies with a source that a client bears."""
    return [p for p in policies if any(bears(client, s) for s in selectors_of(p.spec, "sources"))]


def _orders(policies: Sequence[Resource], client: Identity) -> Iterable[Sequence[Resource]]:
    """Return the orders in which policies of equal rank may stand; too many: two that differ."""
    groups: dict[Rank, list[Resource]] = {}
    for policy in policies:
        if any(bears(client, s) for s in selectors_of(policy.spec, "sources")):
            groups.setdefault(rank(selectors_of(policy.spec, "sources")[0]), []).append(policy)
    count = 1
    for group in groups.values():
        for size in range(2, len(group) + 1):
            count *= size
    ordered = [groups[key] for key in sorted(groups, reverse=True)]
    if count > MOST_ORDERS:
        plain = [p for group in ordered for p in group]
        return [plain, plain[::-1]]
    return [
        [p for group in chosen for p in group]
        for chosen in product(*(permutations(group) for group in ordered))
    ]
