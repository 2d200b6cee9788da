"""Built-in gateways: their rule lists are compared as a whole, listener by listener.

What a virtual host reads depends on the order of the store, which Git does not hold; where that
order would matter the matcher reports a tie, and the verdict is unknown (matcher-notes §1.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kumamigrate.effective.difference import Value, Witness
from kumamigrate.model.resource import (
    Resource,
)
from kumamigrate.prover.slots.mesh import MeshComparison
from kumamigrate.universe.dataplaneparts import networking
from kumamigrate.universe.side import Side

_NAMES = ("origin", "policies", "warnings")
_INBOUND, _FROM = "inboundRules ", "fromRules "


def is_builtin(proxy: Resource) -> bool:
    """Whether a Dataplane is a built-in gateway."""
    gateway = networking(proxy).get("gateway")
    return isinstance(gateway, Mapping) and str(gateway.get("type") or "").upper() == "BUILTIN"


def gateway_witnesses(
    pair: MeshComparison, was: Resource, now: Resource, types: Iterable[str] | None = None
) -> Iterator[Witness]:
    """Yield what differs in the rules of a built-in gateway, one witness for each list; of some
    `types` of policies, or of all."""
    every = sorted(pair.before.types | pair.after.types) if types is None else types
    for policy_type in every:
        same = pair.before.signature(was, policy_type) == pair.after.signature(now, policy_type)
        if same and pair.same_ground and pair.same_routes:
            continue
        old, new = (_lists(s, p, policy_type) for s, p in ((pair.before, was), (pair.after, now)))
        for place in sorted({*old, *new}):
            if old.get(place) != new.get(place):
                yield Witness(
                    mesh=pair.before.mesh,
                    proxy="",
                    policy_type=policy_type,
                    direction="gateway",
                    destination=place,
                    place=place,
                    field="rules",
                    before=Value(value=old.get(place)),
                    after=Value(value=new.get(place)),
                )


def _lists(side: Side, proxy: Resource, policy_type: str) -> dict[str, Any]:
    """Return every list a gateway reads of a type by its place; empty ones are left out."""
    if policy_type not in side.types:
        return {}
    answer = side.matcher.rules(proxy, policy_type).as_json()
    out: dict[str, Any] = {}
    for key, value in answer.items():
        if key in _NAMES:
            continue
        for place, rules in value.items() if isinstance(value, Mapping) else (("", value),):
            bare = _bare(rules)
            if bare not in ([], {"rules": [], "resourceRules": []}, None):
                out[f"{key} {place}".strip()] = bare
    # Who reads rules of an inbound, those for all of `from` among them, reads no `from` besides.
    read = {place.removeprefix(_INBOUND) for place in out if place.startswith(_INBOUND)}
    return {p: one for p, one in out.items() if p not in {f"{_FROM}{place}" for place in read}}


def _bare(value: Any) -> Any:
    """Return rules without the names of the policies they came from; a conf may say `origin`,
    too."""
    if isinstance(value, Mapping):
        return {k: v if k == "conf" else _bare(v) for k, v in value.items() if k not in _NAMES}
    if isinstance(value, list):
        return [_bare(v) for v in value]
    return value
