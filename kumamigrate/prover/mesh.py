"""Two sides of one mesh, compared proxy by proxy; what proxies share is compared once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from kumamigrate.effective.bothengines.makers import come_or_gone, tags_carried
from kumamigrate.effective.bothengines.oldview import Made
from kumamigrate.effective.compare import Difference, differences
from kumamigrate.effective.difference import Effect, Witness, each_once
from kumamigrate.effective.fact import LISTENER, NOTHING, Fact, Key
from kumamigrate.effective.outboundfacts import (
    BY_ROUTE,
    ON_OUTBOUNDS,
    facts_by_meaning,
    outbound_facts,
)
from kumamigrate.effective.reading import At, SlotKind, flat
from kumamigrate.effective.readings import READINGS
from kumamigrate.effective.routeorder import only_turned
from kumamigrate.effective.routing import (
    FAILING,
    ROUTING,
    TCP_ROUTING,
    Routing,
    meant,
    names_of,
    routing_facts,
)
from kumamigrate.model.kri import Kri
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.model.state import mesh_services_mode
from kumamigrate.prover.proxyslots import ProxySlots
from kumamigrate.prover.twosides import Witnesses
from kumamigrate.sourcedest.proxy import PASS_THROUGH
from kumamigrate.targetref.backendref import ports_of
from kumamigrate.targetref.entry import Found
from kumamigrate.targetref.explain import winner_of
from kumamigrate.targetref.merge import merge_entries
from kumamigrate.targetref.route import Destination, EffectiveRoute, RealResource, ServiceTag
from kumamigrate.universe.backend import Cluster, called, own_cluster, said_port
from kumamigrate.universe.network import Named, Network
from kumamigrate.universe.side import Side, may_be_transparent

_PATCHES = ("MeshProxyPatch", "ProxyTemplate")


@dataclass(eq=False)
class MeshComparison(ProxySlots):
    """Compares what proxies read on two sides. Everything worked out is kept.

    What an outbound reads of a type depends only on the policies of that type and the routes
    that reach the proxy, so answers are kept by those, not by proxy (matcher-notes §4).
    """

    _outbounds: dict[Any, Witnesses] = field(default_factory=dict, init=False)
    _tables: dict[Any, Witnesses] = field(default_factory=dict, init=False)
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
        self, was: Resource, now: Resource, policy_type: str, network: Network, *, names: bool
    ) -> Witnesses:
        """Return what differs in what all outbounds to some destinations read of a type."""
        key = self._outbound_key(was, now, policy_type, names=names)
        if key is None:
            return ()
        asked = (key, id(network))
        if asked not in self._tables:
            self._tables[asked] = network.differing(
                self.named(was, now, policy_type),
                lambda one, _: self.outbound_type(was, now, policy_type, one, names=names),
            )
        return self._tables[asked]

    def named(self, was: Resource, now: Resource, policy_type: str) -> Named:
        """Return the destinations that some policy in question is about in particular."""
        tags: set[str] = set()
        kris: set[Kri] = set()
        for reach, side, proxy in zip(
            self.reaches, (self.before, self.after), (was, now), strict=True
        ):
            for kind in dict.fromkeys((policy_type, ROUTING, TCP_ROUTING)):
                if kind in side.types:
                    for policy in side.selection(proxy, kind).policies:
                        known = reach.known(policy)
                        tags |= known.tags
                        kris |= known.kris
        return Named(tags, kris)

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
        tagged = self._as_tag(was, destination, _routes_read)
        every = list(differences(*facts))
        said = self.routing_witnesses([d for d in every if _said(tagged, d)], destination)
        found = self.routing_witnesses([d for d in every if not _said(tagged, d)], destination)
        found += tuple(replace(w, effect=Effect.ACTIVATION) for w in said)
        if names:
            found += self._name_witnesses(was, now, old, new, destination, facts)
        if new.http is not None and all(map(all, made)):
            found += tags_carried(self.before.mesh, self.engines, destination)
        return found

    def made(self, was: Resource, now: Resource, destination: Destination) -> tuple[Made, Made]:
        """Return whether the new engine makes an outbound, before and after."""
        return self.engines[0].new(was, destination), self.engines[1].new(now, destination)

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
        self, was: Resource, now: Resource, policy_type: str, destination: Destination
    ) -> Witnesses:
        old = self.routing(self.before, was, destination)
        new = self.routing(self.after, now, destination)
        before = outbound_facts(self.before, was, policy_type, destination, old)
        after = outbound_facts(self.after, now, policy_type, destination, new)
        if self.before.release.name != self.after.release.name:
            before, after = facts_by_meaning(before), facts_by_meaning(after)
        found = differences(before, after, common=True)
        tagged = self._as_tag(was, destination, partial(_tag_facts, was, policy_type))

        def told(difference: Difference) -> Witness:
            witness = self.witness(policy_type, "outbound", difference, destination)
            active = _said(tagged, difference) or self._is_activation(
                was, policy_type, difference, destination
            )
            return replace(witness, effect=Effect.ACTIVATION) if active else witness

        return each_once(map(told, found))

    def _is_activation(
        self, was: Resource, policy_type: str, found: Difference, destination: Destination
    ) -> bool:
        """Whether a policy on a route said so before, to no effect (product.md §1 law 2)."""
        route = found.was.route
        if not isinstance(destination, RealResource) or route is None or route.entry is None:
            return False
        if policy_type not in BY_ROUTE or policy_type not in self.before.types:
            return False
        if not self._is_new_there(policy_type, found):
            return False
        there = self._old_place(was, policy_type, route)
        inert = () if there is None else tuple(e for e in there.entries if e.via is not None)
        if there is None or not inert:
            return False
        conf = merge_entries(inert, self.before.release.policy_types[policy_type].conf("to"))[0]
        said = _said_at_route(policy_type, conf)
        if found.field in said and said[found.field] == found.after:
            return True
        # numRetries: 0 leaves no retry policy at all: where the route switches retries on or off,
        # everything else comes and goes with it, as the old place would have it.
        whole = _said_at_route(policy_type, there.conf)
        old, new = (_together(policy_type, f, found.field) for f in (found.was, found.now))
        switched = not old or not new
        return switched and whole.get(found.field) == found.after

    def _is_new_there(self, policy_type: str, found: Difference) -> bool:
        """Whether the value comes from a policy on a route that had no say on real ones before.

        A policy that took effect and says something else now is no activation, whatever an inert
        policy said.
        """
        if found.now.found is None or found.now.found.level != "route":
            return False
        source = winner_of(found.now.found, tuple(found.field.split(".")))
        if source is None:
            return True
        mine = (
            policy
            for policy in self.before.state.of_type(policy_type)
            if policy.identity == source.policy.identity
        )
        return not any(map(_names_route_in_to, mine))

    def _as_tag(
        self,
        was: Resource,
        destination: Destination,
        facts: Callable[[Side, Routing, Destination], Mapping[Key, Fact]],
    ) -> Mapping[Key, Fact] | None:
        """Return what the service tag read that a destination takes the place of.

        Only where a later release knows no tags and the mesh had outbounds for nothing else: what
        those read may be what the real service reads now (claim *release*). Where real outbounds
        exist too (Everywhere, ReachableBackends), what they read themselves must stay.
        """
        before = self.before
        if not before.tags_mean_services or not isinstance(destination, RealResource):
            return None
        if mesh_services_mode(before.state, before.mesh) != "Disabled":
            return None
        resource = before.real.get(destination.kri.of_section(""))
        if resource is None or resource.type != "MeshService":
            return None
        tag = ServiceTag(_tag_of(resource, destination.kri.section))
        found = facts(before, self.routing(before, was, tag), tag)
        mine = meant(before, own_cluster(tag)).key
        return {
            own_cluster(destination).place if key[0] == "cluster" and key[1] == mine else key: fact
            for key, fact in found.items()
        }

    def _old_place(self, was: Resource, policy_type: str, route: EffectiveRoute) -> Found | None:
        """Return what a route's rule would read at a service-tag outbound."""
        assert route.entry is not None
        target = route.entry.target
        service = (target.name if target is not None else None) or ""
        selection = self.before.selection(was, policy_type)
        return self.before.matcher.service(selection, service, route.hash)

    def routing(self, side: Side, proxy: Resource, destination: Destination) -> Routing:
        """Return the routing of an outbound."""
        return self.engines[side is not self.before].routing(proxy, destination)

    def _route_key(self, side: Side, proxy: Resource) -> tuple[Any, Any]:
        return side.signature(proxy, ROUTING), side.signature(proxy, TCP_ROUTING)

    def _binds_routes(self, proxy: Resource, policy_type: str) -> bool:
        """Whether a policy that reaches a proxy names a route anywhere."""
        selection = self.before.selection(proxy, policy_type)
        if selection.key not in self._binds:
            self._binds[selection.key] = any(_names_route(p) for p in selection.policies)
        return self._binds[selection.key]


def _said(tagged: Mapping[Key, Fact] | None, found: Difference) -> bool:
    """Whether the service tag read before what the difference has after."""
    if tagged is None:
        return False
    fact = tagged.get(found.key)
    if fact is None:
        return not found.now.settings
    there = (found.field in fact.settings) == (found.field in found.now.settings)
    return there and fact.settings.get(found.field) == found.after


def _presence(route: Fact) -> str | None:
    """Return whether there is a route, and whether it answers all requests with an error."""
    if not route.settings:
        return None
    return "present, answers 500" if route.settings.get(FAILING) == "all" else "present"


def _routes_read(side: Side, routing: Routing, _destination: Destination) -> Mapping[Key, Fact]:
    return routing_facts(side, routing)


def _tag_facts(
    was: Resource, policy_type: str, side: Side, routing: Routing, tag: Destination
) -> Mapping[Key, Fact]:
    return outbound_facts(side, was, policy_type, tag, routing, as_real=True)


def _tag_of(service: Resource, section: str) -> str:
    """Return the service tag that stands for a port of a MeshService."""
    if service.labels.get(SERVICE):
        return service.labels[SERVICE]
    if not service.namespace_label:
        return service.display_name
    numbers = {str(p.get("name") or p.get("port")): p.get("port") for p in ports_of(service.spec)}
    return f"{service.display_name}_{service.namespace_label}_svc_{numbers.get(section, section)}"


def _together(policy_type: str, fact: Fact, field: str) -> list[str]:
    """Return the settings that are there or gone together with a field: of a MeshRetry those of
    one protocol, each of which has a retry policy of its own."""
    part = f"{field.partition('.')[0]}."
    return [k for k in fact.settings if policy_type != "MeshRetry" or k.startswith(part)]


def _said_at_route(policy_type: str, conf: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a conf says at a route, without the defaults of a MeshTimeout it leaves out."""
    if policy_type == "MeshTimeout":
        return flat(conf)
    return READINGS[policy_type].of_conf(conf, At(part=SlotKind.ROUTE))


def _names_route(policy: Resource) -> bool:
    top = policy.spec.get("targetRef")
    on_route = isinstance(top, Mapping) and top.get("kind") == "MeshHTTPRoute"
    return on_route or _names_route_in_to(policy)


def _names_route_in_to(policy: Resource) -> bool:
    items = policy.spec.get("to")
    listed = items if isinstance(items, list) else []
    refs = [item.get("targetRef") for item in listed if isinstance(item, Mapping)]
    return any(isinstance(r, Mapping) and r.get("kind") == "MeshHTTPRoute" for r in refs)
