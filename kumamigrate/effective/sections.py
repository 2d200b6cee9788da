"""Which sections of which policy types the prover reads; what it does not read is unknown.

A test holds the lists to the tables of the model, so that a type or section that a release brings
is not passed over in silence until somebody reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kumamigrate.effective import settings
from kumamigrate.effective.picture import ON_OUTBOUNDS, ROUTING, TCP_ROUTING
from kumamigrate.universe.side import Side

INBOUND_TYPES = (*settings.INBOUND, "MeshTrafficPermission")
TO_GATEWAYS = ("MeshFaultInjection", "MeshRateLimit")
"""Types whose `to` is for built-in gateways alone."""

READ_BY_SECTION: Mapping[str, tuple[str, ...]] = {
    "to": (*ON_OUTBOUNDS, ROUTING, TCP_ROUTING, *TO_GATEWAYS),
    "from": INBOUND_TYPES,
    "rules": INBOUND_TYPES,
    "default": settings.SINGLE,
}


def is_read(policy_type: str, section: str) -> bool:
    """Whether the prover reads a section of a policy type."""
    return policy_type in READ_BY_SECTION.get(section, ())


def unread_sections(side: Side, policy_type: str) -> Iterator[str]:
    """Yield doubts about what policies of a type say in sections that nobody reads."""
    kind = side.release.policy_types.get(policy_type)
    for section in kind.sections if kind is not None else ():
        if is_read(policy_type, section):
            continue
        for policy in side.state.of_type(policy_type):
            if policy.spec.get(section):
                yield (
                    f"what {policy_type} {policy.name} says in `{section}` is not modelled;"
                    " compare by hand what it does"
                )
