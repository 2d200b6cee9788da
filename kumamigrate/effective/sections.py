"""Which sections of which policy types the prover reads; what it does not read is unknown.

A test holds the lists to the tables of the model, so that a type or section that a release brings
is not passed over in silence until somebody reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.effective.reading import SlotKind
from kumamigrate.effective.readings import READINGS, read_at
from kumamigrate.effective.routing import ROUTING, TCP_ROUTING
from kumamigrate.model.policytype import PolicyType
from kumamigrate.universe.side import Side

INBOUND_TYPES = tuple(name for name, one in READINGS.items() if one.of_rules is not None)
TO_GATEWAYS = ("MeshFaultInjection", "MeshRateLimit")
"""Types whose `to` is for built-in gateways alone."""
_ON_OUTBOUNDS = read_at(SlotKind.ROUTE, SlotKind.LISTENER, SlotKind.CLUSTER)

READ_BY_SECTION: Mapping[str, tuple[str, ...]] = {
    "to": (*_ON_OUTBOUNDS, ROUTING, TCP_ROUTING, *TO_GATEWAYS),
    "from": INBOUND_TYPES,
    "rules": INBOUND_TYPES,
    "default": read_at(SlotKind.PROXY),
}


def is_read(policy_type: str, section: str) -> bool:
    """Whether the prover reads a section of a policy type."""
    return policy_type in READ_BY_SECTION.get(section, ())


def unread_sections(side: Side, policy_type: str) -> Iterator[Doubt]:
    """Yield doubts about what policies of a type say in sections that nobody reads."""
    kind = side.release.policy_types.get(policy_type)
    for section in kind.sections if kind is not None else ():
        if is_read(policy_type, section):
            assert kind is not None
            yield from _unread_leaves(side, kind, section)
            continue
        for policy in side.state.of_type(policy_type):
            if policy.spec.get(section):
                yield Doubt(
                    DoubtKind.NOT_MODELLED,
                    f"what {policy_type} {policy.name} says in `{section}` is not modelled;"
                    " compare by hand what it does",
                )


def _unread_leaves(side: Side, kind: PolicyType, section: str) -> Iterator[Doubt]:
    """Yield doubts about leaves of a schema that no reading has: none, as long as a test holds."""
    missing = unread_leaves(kind, section)
    for policy in side.state.of_type(kind.name) if missing else ():
        for path in missing:
            if _says(policy.spec.get(section), ("default", *path.split("."))):
                yield Doubt(
                    DoubtKind.NOT_MODELLED,
                    f"what {kind.name} {policy.name} says in `{section}` of {path} is not"
                    " modelled; compare by hand what it does",
                )


def unread_leaves(kind: PolicyType, section: str) -> tuple[str, ...]:
    """Return the leaves of a section of a policy type that no reading has."""
    reading = READINGS.get(kind.name)
    if reading is None:
        return ()
    every = (leaf for top in kind.conf(section).values() for leaf in top.walk() if not leaf.fields)
    return tuple(
        path for path in (leaf.path.replace("[]", "") for leaf in every) if not reading.has(path)
    )


def _says(node: Any, path: tuple[str, ...]) -> bool:
    """Whether something stands at a path, lists seen through."""
    if isinstance(node, list):
        return any(_says(item, path) for item in node)
    if not path:
        return node is not None
    if not isinstance(node, Mapping):
        return False
    inner = node.get(path[0], node if path[0] == "default" else None)
    return _says(inner, path[1:])
