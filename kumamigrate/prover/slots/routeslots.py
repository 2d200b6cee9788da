"""Routes of outbounds on two sides: where they lead, which come and go, what they are called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kumamigrate.effective.bothengines.comeorgone import come_or_gone, tags_carried
from kumamigrate.effective.bothengines.oldview import Made
from kumamigrate.effective.compare import Difference, differences
from kumamigrate.effective.difference import Effect, Witness, each_once
from kumamigrate.effective.fact import LISTENER, NOTHING, Fact, Key
from kumamigrate.effective.routing import (
    FAILING,
    ROUTING,
    TCP_ROUTING,
    Routing,
    names_of,
    routing_facts,
)
from kumamigrate.effective.turnedroutes import only_turned
from kumamigrate.model.resource import Resource
from kumamigrate.prover.slots.proxyslots import ProxySlots
from kumamigrate.prover.slots.twosides import Witnesses
from kumamigrate.sourcedest.proxy import PASS_THROUGH
from kumamigrate.targetref.route import Destination, RealResource, ServiceTag
from kumamigrate.universe.backend import Cluster, called, said_port
from kumamigrate.universe.side import Side

_PATCHES = ("MeshProxyPatch", "ProxyTemplate")


@dataclass(eq=False)
class RouteSlots(ProxySlots):
    """Compares the routes of outbounds on two sides."""

    def made(self, was: Resource, now: Resource, destination: Destination) -> tuple[Made, Made]:
        """Return whether the new engine makes an outbound, before and after."""
        return self.engines[0].new(was, destination), self.engines[1].new(now, destination)

    def routing(self, side: Side, proxy: Resource, destination: Destination) -> Routing:
        """Return the routing of an outbound."""
        return self.engines[side is not self.before].routing(proxy, destination)

    def _is_mine(
        self, was: Resource, now: Resource, policy_type: str, destination: Destination
    ) -> bool:
        """Whether what the new engine reads at an outbound is all there is to compare.

        Traffic that passes through goes by no outbound: both engines log it, routes or none.
        """
        if destination == ServiceTag(PASS_THROUGH):
            return policy_type not in self.covered
        made = self.made(was, now, destination)
        if isinstance(destination, RealResource):
            return made[0] == made[1] and any(made[0])
        return all(map(all, made)) or policy_type not in self.covered

    def _routes(
        self, was: Resource, now: Resource, destination: Destination, *, names: bool
    ) -> Witnesses:
        made = self.made(was, now, destination)
        if isinstance(destination, RealResource) and (made[0] != made[1] or not any(made[0])):
            return come_or_gone(self.before.mesh, made, destination)
        if not self._is_mine(was, now, ROUTING, destination):
            return ()
        old = self.routing(self.before, was, destination)
        new = self.routing(self.after, now, destination)
        facts = (
            routing_facts(self.before, old),
            routing_facts(self.after, new),
        )
        found = self.routing_witnesses(differences(*facts), destination)
        if names:
            found += self._name_witnesses(was, now, old, new, destination, facts)
        if new.http is not None and all(map(all, made)):
            found += tags_carried(self.before.mesh, self.engines, destination)
        return found

    def routing_witnesses(self, found: Iterable[Difference], destination: Destination) -> Witnesses:
        """Return differences of routes as witnesses; a whole route that comes or goes is one."""
        out = each_once(self._routed(one, destination) for one in found)
        routes = any(w.route is not None and w.field == "matches" for w in out)
        # A route that comes or goes changes the list of matches too; one witness is enough.
        return tuple(
            self._turned(w)
            for w in out
            if not (routes and w.route is None and w.field == "matches")
        )

    def _routed(self, difference: Difference, destination: Destination) -> Witness:
        one_sided = not difference.was.settings or not difference.now.settings
        if difference.key[0] == "route" and one_sided:
            there, then = _presence(difference.was), _presence(difference.now)
            difference = replace(difference, field="matches", before=there, after=then)
        kind = TCP_ROUTING if difference.key[0] == "tcp" else ROUTING
        return self.witness(kind, "outbound", difference, destination)

    def _turned(self, witness: Witness) -> Witness:
        """Return a witness, a harmless one where routes that exclude each other change places.

        A patch may go by the place of a route.
        """
        if witness.field != "matches" or witness.route is not None:
            return witness
        was, now = witness.before.value, witness.after.value
        listed = isinstance(was, list) and isinstance(now, list)
        if not listed or self._is_patched() or not only_turned(was, now):
            return witness
        return replace(witness, effect=Effect.NAME)

    def _is_patched(self) -> bool:
        sides = (self.before, self.after)
        return any(True for side in sides for _ in side.state.of_type(*_PATCHES))

    def _name_witnesses(
        self,
        was: Resource,
        now: Resource,
        old: Routing,
        new: Routing,
        destination: Destination,
        facts: tuple[Mapping[Key, Fact], Mapping[Key, Fact]],
    ) -> Witnesses:
        names_b, names_a = names_of(old), names_of(new)
        effect = Effect.VALUE if self.names_matter_to(was, now) else Effect.NAME
        found = (
            Difference(
                key=key,
                field="name",
                before=names_b[key],
                after=names_a[key],
                was=facts[0][key],
                now=facts[1][key],
            )
            for key in names_b
            if key in names_a and names_b[key] != names_a[key]
        )
        told = (self.witness(ROUTING, "outbound", one, destination) for one in found)
        return each_once(replace(one, effect=effect) for one in told)

    def renamed_outbound(
        self, was: Resource, now: Resource, address: str, destination: Cluster
    ) -> Witnesses:
        """Return that an outbound is called otherwise, although it leads where it led.

        A MeshExternalService has one port and any number finds it; listener and routes are named
        after the one that is said.
        """
        old, new = (said_port(proxy, address) for proxy in (was, now))
        at = destination.destination
        if old == new or not isinstance(at, RealResource) or at.kri.type != "MeshExternalService":
            return ()
        said = Difference(
            key=LISTENER,
            field="name",
            before=called(RealResource(at.kri.of_section(old))),
            after=called(RealResource(at.kri.of_section(new))),
            was=NOTHING,
            now=NOTHING,
        )
        effect = Effect.VALUE if self.names_matter_to(was, now) else Effect.NAME
        return (replace(self.witness(ROUTING, "outbound", said, at), effect=effect),)

    def _route_key(self, side: Side, proxy: Resource) -> tuple[Any, Any]:
        return side.signature(proxy, ROUTING), side.signature(proxy, TCP_ROUTING)


def _presence(route: Fact) -> str | None:
    """Return whether there is a route, and whether it answers all requests with an error."""
    if not route.settings:
        return None
    return "present, answers 500" if route.settings.get(FAILING) == "all" else "present"
