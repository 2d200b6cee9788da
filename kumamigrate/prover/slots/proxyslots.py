"""What differs in a proxy as a whole and at its inbounds, of whichever engine answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from kumamigrate.effective.bothengines.callers import Callers
from kumamigrate.effective.bothengines.clientfacts import client_facts
from kumamigrate.effective.bothengines.whoanswers import BY_CLIENT
from kumamigrate.effective.compare import differences, too_many_ways
from kumamigrate.effective.difference import Effect, Witness
from kumamigrate.effective.doubted import Doubt
from kumamigrate.effective.fact import Fact, Key
from kumamigrate.effective.mtlsmode import TLS, TLS_ONLY, may_show_certificate
from kumamigrate.effective.policies.meshfault import FAULTS, FILTER_NAME, same_but_for_units
from kumamigrate.effective.policies.meshtrace import (
    BACKENDS,
    CALLED_BY_INBOUND,
    OF_RELEASE,
    OUTBOUNDS,
    TRACED,
)
from kumamigrate.effective.proxyfacts import (
    LOG,
    calls_http,
    has_http,
    old_of_proxy,
    other_services,
    passthrough_fact,
    probed_services,
    single_fact,
)
from kumamigrate.effective.routing import ROUTING, is_reached
from kumamigrate.effective.sections import INBOUND_TYPES, READ_BY_SECTION
from kumamigrate.model.conf import canonical
from kumamigrate.model.resource import Resource
from kumamigrate.prover.slots.letin import Read, admitted_facts, go_by_clients
from kumamigrate.prover.slots.rulenames import renamed
from kumamigrate.prover.slots.twosides import SAME, SlotsCompared, TwoSides, Witnesses
from kumamigrate.prover.stages.local import NAMED_RULES
from kumamigrate.sourcedest.proxy import PASS_THROUGH, proxy_of
from kumamigrate.targetref.permission import PERMISSION
from kumamigrate.targetref.route import ServiceTag
from kumamigrate.targetref.selection import Point
from kumamigrate.universe.dataplaneparts import may_be_transparent, networking
from kumamigrate.universe.side import Side

_WITH_SPANS = (OF_RELEASE, CALLED_BY_INBOUND)
Points = Mapping[str, Point]
SINGLE_TYPES = READ_BY_SECTION["default"]


def _as_traced(witness: Witness) -> Witness:
    """Return a difference, as what it is where a MeshTrace takes the place of a TrafficTrace."""
    came = witness.before.value is None
    if witness.field == OUTBOUNDS and (came or witness.after.value == TRACED):
        return replace(witness, effect=Effect.ACTIVATION)
    if witness.field == (OF_RELEASE if came else CALLED_BY_INBOUND):
        return replace(witness, effect=Effect.RESIDUE)
    return witness


@dataclass(eq=False)
class ProxySlots(TwoSides):
    """Compares all but the outbounds of proxies; what proxies share is compared once.

    `beyond` says whom of the callers nobody names, and so was not compared.
    """

    beyond: dict[str, None] = field(default_factory=dict, init=False)
    _compared: dict[Any, SlotsCompared] = field(default_factory=dict, init=False)
    _inbounds: dict[Any, Witnesses] = field(default_factory=dict, init=False)

    @cached_property
    def callers(self) -> Callers:
        """The clients that old policies and new ones tell apart."""
        return Callers(self.before, self.after)

    def proxy(self, was: Resource, now: Resource) -> Witnesses:
        """Return what differs in single-item policies, and for traffic that passes through."""
        found = tuple(w for kind in SINGLE_TYPES for w in self.single_type(was, now, kind))
        return (*found, *self.passed(was, now).witnesses) if LOG in self.covered else found

    def single_type(self, was: Resource, now: Resource, policy_type: str) -> Witnesses:
        """Return what differs in what a proxy reads of one single-item policy type."""
        return self.single(was, now, policy_type).witnesses

    def undecided(self, was: Resource, now: Resource, policy_type: str) -> tuple[Doubt, ...]:
        """Return what nobody knows of what a proxy reads of a covered type, as old policies tie."""
        if policy_type in SINGLE_TYPES:
            return self.single(was, now, policy_type).doubts
        if policy_type == LOG:
            return self.passed(was, now).doubts
        return self.at_clients(was, now, policy_type).doubts if self.by_client(policy_type) else ()

    def passed(self, was: Resource, now: Resource) -> SlotsCompared:
        """Compare the log of traffic that passes through, where both engines write one."""
        facts = passthrough_fact(self.before, was), passthrough_fact(self.after, now)
        return self.slot(("passed",), LOG, "outbound", facts, ServiceTag(PASS_THROUGH))

    def single(self, was: Resource, now: Resource, policy_type: str) -> SlotsCompared:
        """Compare what a proxy reads of one single-item policy type."""
        if not self.compares(policy_type):
            return SAME
        read = self._read(self.before, was, policy_type), self._read(self.after, now, policy_type)
        shape = (self._shape(self.before, was), self._shape(self.after, now))
        same = self.same_ground and self.same_outbounds and shape[0][-1] == shape[1][-1]
        if read[0] == read[1] and same and policy_type not in self.moved:
            return SAME
        key = (policy_type, *read, shape)
        if key not in self._compared:
            facts = (
                single_fact(self.before, was, policy_type, self.probed[0]),
                single_fact(self.after, now, policy_type, self.probed[1]),
            )
            found = self.slot(("proxy",), policy_type, "proxy", facts)
            told = (
                _as_traced(one)
                for one in found.witnesses
                if one.field not in _WITH_SPANS or self._traces_alike(*facts)
            )
            self._compared[key] = replace(found, witnesses=tuple(told))
        return self._compared[key]

    def _traces_alike(self, was: Fact, now: Fact) -> bool:
        """Whether a proxy traces on both sides, which are of one release: else the tags that come
        with each span are no difference of their own."""
        traced = all(BACKENDS in fact.settings for fact in (was, now))
        return traced and self.before.release == self.after.release

    @cached_property
    def probed(self) -> tuple[frozenset[str], frozenset[str]]:
        """The services of each side whose probes of patches both engines are asked for."""
        if "MeshHealthCheck" not in self.covered:
            return frozenset(), frozenset()
        return probed_services(self.before), probed_services(self.after)

    def _read(self, side: Side, proxy: Resource, policy_type: str) -> tuple[Any, ...]:
        """Return the policies of either engine that decide what a proxy reads, by content."""
        old = [p for p in old_of_proxy(side, proxy, policy_type) if p is not None]
        return side.signature(proxy, policy_type), side.contents.of_all(old)

    def _shape(self, side: Side, proxy: Resource) -> tuple[Any, ...]:
        shape = (has_http(side, proxy), calls_http(side, proxy), may_be_transparent(proxy))
        services = other_services(proxy) if side.old.by_kind else ()
        return (services, *shape, side.old.routed and is_reached(side, proxy, ROUTING))

    def inbounds(self, was: Resource, now: Resource) -> Witnesses:
        """Return what differs at the inbounds that both sides have."""
        return tuple(w for kind in INBOUND_TYPES for w in self.inbound_type(was, now, kind))

    def inbound_type(self, was: Resource, now: Resource, policy_type: str) -> Witnesses:
        """Return what differs in what inbounds read of one policy type."""
        if not self.compares(policy_type):
            return ()
        points_b, points_a = (
            {p.key: p for p in side.selection(proxy, policy_type).points}
            if policy_type in side.types
            else {}
            for side, proxy in ((self.before, was), (self.after, now))
        )
        found: Witnesses = ()
        if policy_type in NAMED_RULES:
            found = tuple(self._names(was, now, policy_type, (points_b, points_a)))
        if self.by_client(policy_type):
            return (*found, *self.at_clients(was, now, policy_type).witnesses)
        for name in dict.fromkeys((*points_b, *points_a, *self._rewritten(was, now, policy_type))):
            old, new = points_b.get(name), points_a.get(name)
            found += self._inbound(was, now, policy_type, name, old, new)
        return found

    def _names(
        self, was: Resource, now: Resource, policy_type: str, points: tuple[Points, Points]
    ) -> Iterator[Witness]:
        """Yield where Envoy calls what rules make otherwise, as policies have other names."""
        effect = Effect.VALUE if self.names_matter_to(was, now) else Effect.NAME
        for name in (name for name in points[0] if name in points[1]):
            read = (
                Read(self.before, was, points[0][name]),
                Read(self.after, now, points[1][name]),
            )
            yield from (replace(w, effect=effect) for w in renamed(policy_type, *read))

    def by_client(self, policy_type: str) -> bool:
        """Whether what inbounds read of a type is compared by what clients meet there."""
        return policy_type in BY_CLIENT and policy_type in self.covered

    def at_clients(self, was: Resource, now: Resource, policy_type: str) -> SlotsCompared:
        """Compare what clients meet at the inbounds of a proxy, of either engine."""
        if policy_type in TLS_ONLY and not self._shows_certificate(was, now):
            return SAME
        sides = ((self.before, was), (self.after, now))
        read = (side.signature(proxy, kind) for side, proxy in sides for kind in (policy_type, TLS))
        shape = tuple(canonical(networking(proxy)) for proxy in (was, now))
        key = (policy_type, was.made_up, *shape, *read)
        if key not in self._compared:
            self._compared[key] = self._at_clients(was, now, policy_type)
        return self._compared[key]

    def _at_clients(self, was: Resource, now: Resource, policy_type: str) -> SlotsCompared:
        clients, loose = self.callers.of(policy_type, was, now)
        old = client_facts(self.before, was, policy_type, clients)
        new = client_facts(self.after, now, policy_type, clients)
        found: list[Witness] = []
        doubts: dict[Doubt, None] = {}
        for key in old.keys() & new.keys() if old.keys() != new.keys() else old:
            met = self.slot(key, policy_type, "inbound", (old[key], new[key]))
            here = [_met(key, witness) for witness in met.witnesses]
            if self.known and key[2] in loose:
                if any(one.effect is Effect.VALUE for one in here):
                    self.beyond[f"clients with {key[2]} and values that nobody names"] = None
                continue
            found += here
            doubts.update(dict.fromkeys(met.doubts))
        if policy_type in self.callers.too_many:
            doubts[too_many_ways(policy_type)] = None
        return SlotsCompared(tuple(found), tuple(doubts))

    def _rewritten(self, was: Resource, now: Resource, policy_type: str) -> tuple[str, ...]:
        """Return the inbounds that a policy changes which reaches the proxy by another of them, or
        the Mesh, which speaks of all.

        A release that changes those that no policy reaches does so in every mesh; proxies that
        nobody lists say no more than that.
        """
        sides = (self.before, self.after)
        if policy_type not in self.moved:
            if policy_type != "MeshTimeout" or all(self.always):
                return ()
            reached = any(self._reached(was, now, policy_type))
            if not reached and (was.made_up or not any(policy_type in s.types for s in sides)):
                return ()
        zone = self.before.state.environment.zone
        return tuple(i.name.rpartition(":")[0] for i in proxy_of(was, zone).inbounds)

    def _reached(self, was: Resource, now: Resource, policy_type: str) -> tuple[bool, bool]:
        """Return whether any policy of a type reaches a proxy, before and after."""
        there = (self.before.signature(was, policy_type), self.after.signature(now, policy_type))
        return there[0] != 0, there[1] != 0

    def _inbound(
        self,
        was: Resource,
        now: Resource,
        policy_type: str,
        name: str,
        old: Point | None,
        new: Point | None,
    ) -> Witnesses:
        sig_b = self.before.contents.of_list(old.policies) if old is not None else 0
        sig_a = self.after.contents.of_list(new.policies) if new is not None else 0
        reached = self._reached(was, now, policy_type)
        same = self.same_ground and policy_type not in self.moved
        if sig_b == sig_a and reached[0] == reached[1] and same:
            return ()
        if policy_type in TLS_ONLY and not self._shows_certificate(was, now):
            return ()
        effect = Effect.VALUE if self.names_matter_to(was, now) else Effect.NAME
        known = (
            *(self.before.identified(was), self.after.identified(now)),
            *(self.before.certified(was), self.after.certified(now)),
        )
        transparent = (may_be_transparent(was), may_be_transparent(now))
        reads = (
            Read(self.before, was, old, self.always[0]),
            Read(self.after, now, new, self.always[1]),
        )
        heard = [read.protocol(policy_type) for read in reads]
        key = (policy_type, sig_b, sig_a, effect, *known, *reached, *transparent, *heard)
        if key not in self._inbounds:
            clients = policy_type == PERMISSION and go_by_clients(*reads)
            both = admitted_facts(*reads) if clients else [r.fact(policy_type) for r in reads]
            facts: tuple[dict[Key, Fact], ...] = tuple({("inbound",): one} for one in both)
            self._inbounds[key] = tuple(
                replace(w, effect=effect) if w.field == FILTER_NAME else w
                for w in (
                    self.witness(policy_type, "inbound", d, None) for d in differences(*facts)
                )
            )
        return tuple(replace(w, destination=name) for w in self._inbounds[key])

    def _shows_certificate(self, was: Resource, now: Resource) -> bool:
        """Whether a proxy may have a certificate, so that permissions and MeshTLS do something.

        On one release it counts as if it had: somebody may switch mTLS on once a change is in.
        """
        if self.before.release == self.after.release:
            return True
        return any(
            may_show_certificate(proxy, side.state, by_mesh=side.release.subset_rules)
            for side, proxy in ((self.before, was), (self.after, now))
        )


def _met(key: Key, witness: Witness) -> Witness:
    """Return a difference as one that a client meets at an inbound."""
    _, inbound, client = key
    values = witness.before.value, witness.after.value
    # With the old unit the control plane failed.
    harmless = witness.field == FAULTS and same_but_for_units(*values)
    effect = Effect.ACTIVATION if harmless else Effect.VALUE
    named = f"{inbound}, {client}"
    return replace(witness, destination=named, place=named, effect=effect)
