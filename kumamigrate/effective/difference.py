"""Differences as values: this proxy, this traffic, this field, both values and who gave them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from kumamigrate.dataclass import dataclass, field
from kumamigrate.model.resource import MADE_UP_NETWORK, Resource
from kumamigrate.source.text import FieldPath

if TYPE_CHECKING:  # reports of `check` need these values, and no traffic
    from kumamigrate.universe.traffic import Outbound

Locate = Callable[[Resource, FieldPath], str]
"""Returns `file:line:column` of a field, the path counted from the manifest's root."""


class Effect(StrEnum):
    """What kind of difference a witness is (product.md §5)."""

    VALUE = "value"
    ACTIVATION = "activation"
    NAME = "name"
    RESIDUE = "residue"


HARMLESS = frozenset({Effect.ACTIVATION, Effect.NAME, Effect.RESIDUE})
"""Differences with which a change may still be written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One side of a difference. `policy` is empty where a default applies.

    `filled`: the policy leaves the value out, and its release fills it in.
    """

    value: Any = None
    policy: str = ""
    at: str = ""
    filled: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """One difference: this proxy, this traffic, this field, these two values.

    `outbound` is None for what does not belong to an outbound. `route` is the match of the
    route, None for what concerns all routes. `destination` is what a reader calls the
    destination, `place` its identity, which *live* and *carry* share.
    """

    mesh: str
    proxy: str
    policy_type: str
    direction: str
    destination: str = ""
    place: str = ""
    outbound: Outbound | None = None
    route: Mapping[str, Any] | None = None
    field: str
    before: Value
    after: Value
    effect: Effect = Effect.VALUE

    @property
    def slot(self) -> tuple[str, ...]:
        """The setting that differs, whatever the values and the proxy."""
        route = "" if self.route is None else _canonical(self.route)
        return (self.mesh, self.policy_type, self.direction, self.place, route, self.field)

    @property
    def key(self) -> tuple[str, ...]:
        """The whole difference: proxy, setting, both values."""
        return (self.proxy, *self.slot, *self.values)

    @property
    def values(self) -> tuple[str, str]:
        """Both values, as text that is equal exactly for equal ones."""
        return _canonical(self.before.value), _canonical(self.after.value)


def inbound_and_client(witness: Witness) -> tuple[str, str]:
    """Return the address of the inbound that a difference is at and the client that meets it,
    each empty where there is none to name."""
    address, _, client = witness.destination.partition(", ")
    return "" if address.startswith(MADE_UP_NETWORK) else address, client


def each_once(found: Iterable[Witness]) -> tuple[Witness, ...]:
    """Return differences without those that were told before."""
    once: list[Witness] = []
    by_slot: dict[tuple[str, ...], list[Witness]] = {}
    for witness in found:
        # Few are of one slot, and their values take long to compare.
        same = by_slot.setdefault((witness.proxy, *witness.slot), [])
        if all(witness.values != other.values for other in same):
            same.append(witness)
            once.append(witness)
    return tuple(once)


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=str)


def _canonical(value: Any) -> str:
    return _ENCODER.encode(value)
