"""One difference made of two: what the old engine's end changes, and the upgrade then.

An upgrade beside TrafficRoutes is proven in two steps, each with its differences. A reader has one
outbound before and one after.
"""

from __future__ import annotations

from collections.abc import Iterable

from kumamigrate.dataclass import replace
from kumamigrate.effective.difference import Effect, Witness

_Place = tuple[str, ...]


def joined(witnesses: Iterable[Witness]) -> list[Witness]:
    """Return differences, of which each that goes on from another begins where that one did.

    Of one proxy, service and setting; the first is of a service's outbound as a whole, the second
    of a route or a port of it. Two that come to nothing stay two.
    """
    told = list(witnesses)
    first = {_place(w): w for w in told if w.effect is Effect.VALUE and w.route is None}
    gone: set[int] = set()
    found: list[Witness] = []
    for witness in told:
        start = first.get(_place(witness))
        goes_on = start is not None and start is not witness and witness.effect is Effect.VALUE
        if start is not None and goes_on and _meet(start, witness):
            gone.add(id(start))
            witness = replace(witness, before=start.before)
        found.append(witness)
    return [witness for witness in found if id(witness) not in gone]


def _place(witness: Witness) -> _Place:
    service = witness.destination.split(":")[0]
    way = str(witness.outbound), witness.direction
    return (witness.mesh, witness.proxy, witness.policy_type, witness.field, service, *way)


def _meet(first: Witness, second: Witness) -> bool:
    values = first.before.value, first.after.value, second.before.value, second.after.value
    return bool(values[1] == values[2] and values[0] != values[3])
