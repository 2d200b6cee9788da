"""Two sides of one mesh, compared proxy by proxy; what proxies share is compared once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from kumamigrate.effective.compare import Difference, differences
from kumamigrate.effective.difference import Effect, Witness, each_once
from kumamigrate.effective.fact import Fact, Key
from kumamigrate.effective.outboundfacts import (
    ON_CLUSTERS,
    ON_OUTBOUNDS,
    facts_by_meaning,
    leaving_facts,
    outbound_facts,
)
from kumamigrate.effective.routing import (
    ROUTING,
    TCP_ROUTING,
)
from kumamigrate.model.resource import Resource
from kumamigrate.prover.slots.activation import is_activation, names_route_in_to
from kumamigrate.prover.slots.routeslots import RouteSlots
from kumamigrate.prover.slots.twosides import Witnesses
from kumamigrate.targetref.route import Destination
from kumamigrate.universe.dataplaneparts import may_be_transparent
from kumamigrate.universe.network import Couple, Network

FactsOf = Callable[..., dict[Key, Fact]]
"""What is read of one policy type where a destination is reached."""


@dataclass(eq=False)
class MeshComparison(RouteSlots):
    """Compares what proxies read on two sides. Everything worked out is kept.

    What an outbound reads of a type depends only on the policies of that type and the routes
    that reach the proxy, so answers are kept by those, not by proxy (matcher-notes §4).
    """

    _outbounds: dict[Any, Witnesses] = field(default_factory=dict, init=False)
    _tables: dict[Any, Witnesses] = field(default_factory=dict, init=False)
    _networks: dict[tuple[Couple, ...], Network] = field(default_factory=dict, init=False)
    _binds: dict[Any, bool] = field(default_factory=dict, init=False)

    def outbound(
        self, was: Resource, now: Resource, destination: Destination, *, names: bool = True
    ) -> Witnesses:
        """Return what differs at one outbound that exists on both sides (claim *live*)."""
        check = partial(self.outbound_type, was, now, destination=destination, names=names)
        return tuple(w for kind in (ROUTING, *ON_OUTBOUNDS) for w in check(kind))

    def outbounds(
        self, was: Resource, now: Resource, network: Network, *, names: bool = True
    ) -> Witnesses:
        """Return what differs at all destinations of a transparent proxy."""
        kinds = (ROUTING, *ON_OUTBOUNDS)
        return tuple(w for t in kinds for w in self.at(was, now, t, network, names=names))

    def at(
        self,
        was: Resource,
        now: Resource,
        policy_type: str,
        network: Network,
        *,
        names: bool,
        reached: bool = False,
    ) -> Witnesses:
        """Return what differs in what all outbounds to some destinations read of a type."""
        inputs = self._outbound_key(was, now, policy_type, names=names)
        if inputs is None:
            return ()
        key = (network, inputs, reached)
        if key not in self._tables:
            ask = partial(self._at_one, was, now, policy_type, inputs, names=names, reached=reached)
            is_named = partial(self.is_named, was, now, policy_type)
            self._tables[key] = network.differing(is_named, lambda one, _: ask(one))
        return self._tables[key]

    def leaving(self, was: Resource, now: Resource, network: Network) -> Witnesses:
        """Return what differs at the clusters of what lies outside the mesh for a zone egress,
        which no route leads to."""
        found: Witnesses = ()
        for policy_type in ON_CLUSTERS:
            inputs = self._outbound_key(was, now, policy_type)
            if inputs is not None:
                is_named = partial(self.is_named, was, now, policy_type)
                check = partial(self._leaving_to, was, now, policy_type)
                found += network.differing(is_named, check)
        return found

    def _leaving_to(
        self, was: Resource, now: Resource, policy_type: str, one: Destination, _: Destination
    ) -> Witnesses:
        return self._compare_type(was, now, policy_type, one, leaving_facts)

    def network(self, couples: tuple[Couple, ...]) -> Network:
        """Return destinations of both sides, those together that nobody tells apart."""
        if couples not in self._networks:
            self._networks[couples] = Network(self.before, self.after, couples)
        return self._networks[couples]

    def is_named(
        self, was: Resource, now: Resource, policy_type: str, destination: Destination
    ) -> bool:
        """Whether some policy in question is about a destination in particular."""
        return any(
            reach.is_named(proxy, kind, destination)
            for reach, proxy in zip(self.reaches, (was, now), strict=True)
            for kind in (policy_type, ROUTING, TCP_ROUTING)
        )

    def outbound_type(
        self,
        was: Resource,
        now: Resource,
        policy_type: str,
        destination: Destination,
        *,
        names: bool = True,
        reached: bool = False,
    ) -> Witnesses:
        """Return what differs in what an outbound reads of one policy type, or in its routes.

        `names`: their names count as well. `reached`: as if the new engine made the outbound.
        """
        inputs = self._outbound_key(was, now, policy_type, names=names)
        if inputs is None:
            return ()
        return self._at_one(
            was, now, policy_type, inputs, destination, names=names, reached=reached
        )

    def _at_one(
        self,
        was: Resource,
        now: Resource,
        policy_type: str,
        inputs: tuple[Any, ...],
        destination: Destination,
        *,
        names: bool,
        reached: bool,
    ) -> Witnesses:
        key = (destination, inputs, reached)
        if key not in self._outbounds:
            if policy_type == ROUTING:
                found = self._routes(was, now, destination, names=names)
            elif reached or self._is_mine(was, now, policy_type, destination):
                found = self._compare_type(was, now, policy_type, destination)
            else:
                found = ()
            self._outbounds[key] = found
        return self._outbounds[key]

    def _outbound_key(
        self, was: Resource, now: Resource, policy_type: str, *, names: bool = False
    ) -> tuple[Any, ...] | None:
        """Return all that an outbound's differences in a type depend on; None: there are none."""
        if not self.compares(policy_type):
            return None
        route_b, route_a = self._route_key(self.before, was), self._route_key(self.after, now)
        if policy_type == ROUTING:
            same = self.same_ground and self.same_outbounds and self.same_routes
            if same and route_b == route_a:
                return None
            matter = names and self.names_matter_to(was, now)
            return (ROUTING, route_b, route_a, names, matter)
        said = policy_type in self.before.types or policy_type in self.after.types
        if not said and not self.unsaid:
            return None
        sig_b = self.before.signature(was, policy_type)
        sig_a = self.after.signature(now, policy_type)
        if (
            self.same_ground
            and policy_type not in self.moved
            and sig_b == sig_a
            and route_b == route_a
            and (self.same_routes or not self._binds_routes(was, policy_type))
        ):
            return None
        transparent = (may_be_transparent(was), may_be_transparent(now))
        return (policy_type, sig_b, sig_a, route_b, route_a, *transparent)

    def _compare_type(
        self,
        was: Resource,
        now: Resource,
        policy_type: str,
        destination: Destination,
        of: FactsOf = outbound_facts,
    ) -> Witnesses:
        old = self.routing(self.before, was, destination)
        new = self.routing(self.after, now, destination)
        before = of(self.before, was, policy_type, destination, old)
        after = of(self.after, now, policy_type, destination, new)
        if self.before.release.name != self.after.release.name:
            before, after = facts_by_meaning(before), facts_by_meaning(after)
        found = differences(before, after, common=True)

        def told(difference: Difference) -> Witness:
            witness = self.witness(policy_type, "outbound", difference, destination)
            active = is_activation(self.before, was, policy_type, difference, destination)
            return replace(witness, effect=Effect.ACTIVATION) if active else witness

        return each_once(map(told, found))

    def _binds_routes(self, proxy: Resource, policy_type: str) -> bool:
        """Whether a policy that reaches a proxy names a route anywhere."""
        selection = self.before.selection(proxy, policy_type)
        if selection.key not in self._binds:
            self._binds[selection.key] = any(_names_route(p) for p in selection.policies)
        return self._binds[selection.key]


def _names_route(policy: Resource) -> bool:
    top = policy.spec.get("targetRef")
    on_route = isinstance(top, Mapping) and top.get("kind") == "MeshHTTPRoute"
    return on_route or names_route_in_to(policy)
