"""Which engine makes an outbound of a proxy (legacy.md §2.9), and what stands on those it makes.

As long as a mesh holds a TrafficRoute, the old engine makes the outbounds that no route of the new
kind takes over. Real outbounds are the new engine's alone: where it leaves a proxy to the old one,
the proxy has none, in any mode.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from kumamigrate.effective.difference import Effect, Value, Witness
from kumamigrate.effective.routing import ROUTING, TCP_ROUTING
from kumamigrate.model.protocols import HTTP_LIKE, UNKNOWN_PROTOCOL
from kumamigrate.model.resource import Resource
from kumamigrate.model.versions import version
from kumamigrate.targetref.route import Destination, ServiceTag
from kumamigrate.universe.backend import called, place_of
from kumamigrate.universe.side import Side
from kumamigrate.universe.traffic import Outbound

OUTBOUND_ITSELF = "outbound"
"""The field of a difference that is about an outbound being there at all."""
TAGS_HEADER = "request header x-kuma-tags"
"""The tags of a proxy, on each HTTP request it sends: the old engine always writes them, the new
one where some policy of the mesh may read them."""
TAGGING = ("FaultInjection", "RateLimit", "MeshFaultInjection")
"""Kinds of which one in a mesh is enough for the header to stand on all HTTP outbounds."""
ALWAYS_TAGGED = (2, 9)
"""Up to this release the new engine writes the header anyway, whoever reads it."""

Made = tuple[bool, ...]
"""Whether the new engine makes an outbound, for each protocol it may have."""
Witnesses = tuple[Witness, ...]


@dataclass(frozen=True)
class Makers:
    """The makers of outbounds on one side."""

    side: Side

    @property
    def routed(self) -> bool:
        """Whether the old engine makes any outbound at all."""
        return self.side.old.routed

    @cached_property
    def tagging(self) -> str:
        """The kind of policy for which outbounds carry the tags of their proxy; "" for none."""
        there = {*self.side.old.by_kind, *self.side.types}
        return next((kind for kind in TAGGING if kind in there), "")

    @property
    def tags(self) -> bool:
        """Whether HTTP outbounds that the new engine makes carry the tags of their proxy."""
        return bool(self.tagging) or self.always_tags

    @property
    def always_tags(self) -> bool:
        """Whether outbounds carry the tags of their proxy whatever policies there are."""
        return version(self.side.release.name) <= ALWAYS_TAGGED

    def new(self, proxy: Resource, destination: Destination) -> Made:
        """Return whether the new engine makes an outbound of a proxy."""
        if not self.routed:
            return (True,)
        http, tcp = self.reaches(proxy, ROUTING), self.reaches(proxy, TCP_ROUTING)
        protocol = self.side.protocol(destination)
        if protocol == UNKNOWN_PROTOCOL:
            return (http or (tcp and self.names(proxy, TCP_ROUTING, destination)), tcp)
        if protocol in HTTP_LIKE:
            return (http or (tcp and self.names(proxy, TCP_ROUTING, destination)),)
        return (tcp,)

    def reaches(self, proxy: Resource, kind: str) -> bool:
        """Return whether a route of a kind reaches a proxy that says anything of outbounds."""
        if kind not in self.side.types:
            return False
        return any(p.spec.get("to") for p in self.side.selection(proxy, kind).policies)

    def names(self, proxy: Resource, kind: str, destination: Destination) -> bool:
        """Return whether a route of a kind that reaches a proxy is about a destination."""
        selection = self.side.selection(proxy, kind)
        return self.side.matcher.lookup(selection, destination) is not None


def come_or_gone(mesh: str, made: tuple[Made, Made], destination: Destination) -> Witnesses:
    """Return the witness of a real outbound that TrafficRoutes take away, or no longer do.

    One that comes reads what policies say as written: an activation.
    """
    if made[0] == made[1]:
        return ()
    gone = any(made[0]) and not all(made[1])
    effect = Effect.VALUE if gone else Effect.ACTIVATION
    return (_witness(mesh, ROUTING, destination, OUTBOUND_ITSELF, tuple(map(all, made)), effect),)


def tags_carried(mesh: str, makers: tuple[Makers, Makers], destination: Destination) -> Witnesses:
    """Return whether requests begin or cease to carry the tags of the proxy.

    Without any policy left that reads the header, losing it is what no policy can express. A
    release that stops writing it where nothing reads it changes nothing that policies do.
    """
    was, now = (one.tagging for one in makers)
    if bool(was) == bool(now) or any(one.always_tags for one in makers):
        return ()
    effect = Effect.RESIDUE if was else Effect.VALUE
    there = (bool(was), bool(now))
    return (_witness(mesh, was or now, destination, TAGS_HEADER, there, effect),)


def _witness(
    mesh: str,
    kind: str,
    destination: Destination,
    field: str,
    there: tuple[bool, ...],
    effect: Effect,
) -> Witness:
    tag = isinstance(destination, ServiceTag)
    before, after = (Value(value="present" if one else None) for one in there)
    return Witness(
        mesh=mesh,
        proxy="",
        policy_type=kind,
        direction="outbound",
        destination=called(destination),
        place=place_of(destination),
        outbound=Outbound.SERVICE_TAG if tag else Outbound.REAL,
        field=field,
        before=before,
        after=after,
        effect=effect,
    )
