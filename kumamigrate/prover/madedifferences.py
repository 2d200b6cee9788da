"""Differences at outbounds that either engine makes, told as witnesses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.effective.bothengines.comparedroutes import Table, first_difference
from kumamigrate.effective.bothengines.madeoutbounds import (
    NORMALIZED,
    TREATED,
)
from kumamigrate.effective.bothengines.oldview import OldSide
from kumamigrate.effective.compare import Difference, differences, value_of
from kumamigrate.effective.difference import Effect, Locate, Value, Witness
from kumamigrate.effective.fact import Fact, Key
from kumamigrate.effective.policies.meshtimeout import DOWNSTREAM
from kumamigrate.sourcedest.goduration import Duration
from kumamigrate.universe.traffic import Outbound


class MadeDifferences:
    """Tells differences of two sides; `was` is the earlier one."""

    def __init__(self, was: OldSide, locate: tuple[Locate, Locate]) -> None:
        self.was, self.locate = was, locate

    def witnesses(self, place: Key, old: Fact, new: Fact) -> Iterator[Witness]:
        """Yield what differs at a place; of an outbound that is treated otherwise only that."""
        treated = old.settings.get(TREATED) != new.settings.get(TREATED)
        for found in differences({place: old}, {place: new}):
            if found.field == TREATED or not treated:
                yield self._witness(found)

    def _witness(self, found_: Difference) -> Witness:
        place, name, values = found_.key, found_.field, (found_.before, found_.after)
        shown = [plain(v) for v in values]
        target = ", ".join(place[2:])
        if isinstance(values[0], Table) and isinstance(values[1], Table):
            found = first_difference(*values)
            if found is not None:
                shown = [found[1], found[2]]
                target = f"{target} ({found[0]})" if found[0] != "any request" else target
        direction = {"cluster": "outbound", "listener": "outbound"}.get(place[1], place[1])
        return Witness(
            mesh=self.was.side.mesh,
            proxy="",
            policy_type=place[0],
            direction=direction,
            destination=target,
            place="/".join(place[1:]),
            outbound=Outbound.SERVICE_TAG if direction == "outbound" else None,
            field=name,
            before=self._value(found_.was, name, shown[0], 0),
            after=self._value(found_.now, name, shown[1], 1),
            effect=self._effect(place, name),
        )

    def _effect(self, place: Key, name: str) -> Effect:
        """Say what kind of difference it is: what no targetRef policy can express is residue."""
        if name in (DOWNSTREAM, NORMALIZED):
            return Effect.RESIDUE
        service = place[2].split("{")[0] if len(place) > 2 else ""
        idle = place[:2] == ("MeshTimeout", "cluster") and name == "idleTimeout"
        if idle and self.was.protocol(service) == "grpc":
            return Effect.RESIDUE
        return Effect.VALUE

    def _value(self, outcome: Fact, name: str, value: Any, side: int) -> Value:
        if outcome.found is not None:
            said = value_of(Fact({}, outcome.found), name, value, self.locate[side])
            entry = outcome.found.entries[-1]
            if said.policy:
                return said
            at = self.locate[side](entry.policy, (*entry.policy.spec_path, *entry.path))
            return Value(value=value, policy=entry.policy.name, at=at)
        if len(outcome.old) == 1:
            policy = outcome.old[0]
            at = self.locate[side](policy, (*policy.spec_path, "conf"))
            return Value(value=value, policy=policy.name, at=at)
        return Value(value=value)


def plain(value: Any) -> Any:
    """Return a setting as JSON can hold it."""
    if isinstance(value, Duration):
        return str(value)
    if isinstance(value, Table):
        return value.family or "nothing"
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, frozenset | set):
        return sorted((plain(v) for v in value), key=str)
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return value
