"""Outbounds that come or go with the engine that makes them, and what stands on all it makes."""

from __future__ import annotations

from kumamigrate.effective.bothengines.oldview import Made, OldSide
from kumamigrate.effective.difference import Effect, Value, Witness
from kumamigrate.effective.routing import ROUTING
from kumamigrate.targetref.route import Destination, ServiceTag
from kumamigrate.universe.backend import called, place_of
from kumamigrate.universe.traffic import Outbound

OUTBOUND_ITSELF = "outbound"
"""The field of a difference that is about an outbound being there at all."""
TAGS_HEADER = "request header x-kuma-tags"
"""The tags of a proxy, on each HTTP request it sends: the old engine always writes them, the new
one where some policy of the mesh may read them."""
Witnesses = tuple[Witness, ...]


def come_or_gone(mesh: str, made: tuple[Made, Made], destination: Destination) -> Witnesses:
    """Return the witness of a real outbound that TrafficRoutes take away, or no longer do.

    One that comes reads what policies say as written: an activation.
    """
    if made[0] == made[1]:
        return ()
    gone = any(made[0]) and not all(made[1])
    effect = Effect.VALUE if gone else Effect.ACTIVATION
    return (_witness(mesh, ROUTING, destination, OUTBOUND_ITSELF, tuple(map(all, made)), effect),)


def tags_carried(
    mesh: str, engines: tuple[OldSide, OldSide], destination: Destination
) -> Witnesses:
    """Return whether requests begin or cease to carry the tags of the proxy.

    Without any policy left that reads the header, losing it is what no policy can express. A
    release that stops writing it where nothing reads it changes nothing that policies do.
    """
    was, now = (one.tagging for one in engines)
    if bool(was) == bool(now) or any(one.always_tags for one in engines):
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
