"""What is asked of a made-up proxy at a place: a check of two sides, and what a reader calls it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kumamigrate.dataclass import dataclass
from kumamigrate.effective.difference import Witness
from kumamigrate.model.resource import Resource
from kumamigrate.prover.claims.carry import as_tags, carry_all
from kumamigrate.prover.slots.mesh import MeshComparison
from kumamigrate.targetref.route import Destination, RealResource, ServiceTag
from kumamigrate.universe.backend import called
from kumamigrate.universe.network import same

Check = Callable[[MeshComparison, Resource], Sequence[Witness]]
"""Returns what differs for a proxy at one place of two sides."""


@dataclass(frozen=True, slots=True)
class LeftByRoutes:
    """Outbounds that a proxy has only where some route reaches it, and what would differ there if
    every proxy had them."""

    destinations: tuple[Destination, ...]
    check: Check


@dataclass(frozen=True, slots=True)
class AskedPlace:
    """What is asked of made-up proxies at one place, and at all places of its kind."""

    policy_type: str
    check: Check
    elsewhere: Check | None
    one_inbound: bool
    left: LeftByRoutes | None = None


def called_together(destinations: Sequence[Destination]) -> str:
    """Return what a reader calls the outbounds to some destinations."""
    more = f" and {len(destinations) - 1} more" if len(destinations) > 1 else ""
    return f"outbound to {called(destinations[0])}{more}"


def at_inbounds(policy_type: str, pair: MeshComparison, proxy: Resource) -> Sequence[Witness]:
    """Return what differs at the inbounds."""
    return pair.inbound_type(proxy, proxy, policy_type)


def at_proxy(policy_type: str, pair: MeshComparison, proxy: Resource) -> Sequence[Witness]:
    """Return what differs in the proxy as a whole."""
    return pair.single_type(proxy, proxy, policy_type)


def at_outbounds(
    policy_type: str, destinations: Sequence[Destination], names: bool, *, reached: bool = False
) -> Check:
    """Return what asks some outbounds; `reached`: as if the new engine made them."""
    asked = tuple(same(destinations))

    def check(pair: MeshComparison, proxy: Resource) -> Sequence[Witness]:
        network = pair.network(asked)
        return pair.at(proxy, proxy, policy_type, network, names=names, reached=reached)

    return check


def carried_over(
    policy_type: str, couples: Sequence[tuple[ServiceTag, RealResource]], ends: bool
) -> Check:
    """Return what asks service tags with what replaces each; `ends`: as outbounds by tag, which a
    release ends."""
    asked = tuple(couples)

    def check(pair: MeshComparison, proxy: Resource) -> Sequence[Witness]:
        found = carry_all(pair, proxy, proxy, policy_type, pair.network(asked), ends=ends)
        return as_tags(found) if ends else found

    return check
