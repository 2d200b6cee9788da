"""Why nobody would miss a setting: who overrules it, or who says the same.

It is asked alone, without others of its kind: what it would do then, the mesh as it is has from
somebody else, whose lines these are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.effective.difference import Value, Witness
from kumamigrate.flow.noticed import MeshWorld, alone, removing, replacing
from kumamigrate.model import duration
from kumamigrate.model.identity import nobody_is_asked
from kumamigrate.model.resource import EFFECT, Resource
from kumamigrate.model.state import State, mesh_services_mode

MOST_LINES = 3
ASKING = ("MeshTLS", "MeshTrafficPermission", "TrafficPermission")
"""Policies about who may connect: without certificates nobody is asked."""
_KEPT = ("targetRef", "matches", "kind", "type")
"""Whom something is for, and which fields beside it count."""
Slots = Mapping[tuple[str, ...], Witness]


@dataclass(frozen=True, kw_only=True)
class Because:
    """A rule under which it is told, and why in a few words."""

    rule: str
    said: str


def cause_of(
    world: MeshWorld, policy: Resource, only: Resource, overruled: str, repeated: str
) -> Because | None:
    """Return why nobody would miss what `only` says of a policy. None: it reaches nobody."""
    without = removing(policy)(world.state)
    single = alone(replacing(policy, only)(world.state), only)
    nobody = removing(policy)(single)
    acts = _by_slot(world.noticed(nobody, single).witnesses)
    if not acts:
        other = world.noticed(single, replacing(policy, _otherwise(only))(single))
        if other.witnesses:
            return Because(rule=repeated, said="it says what Kuma and Envoy do without it")
        return Because(rule=repeated, said="nothing changes with it") if other.unknown else None
    lost = [
        witness.after
        for witness in world.noticed(single, world.state).witnesses
        if witness.slot in acts and witness.before.policy
    ]
    if lost:
        return Because(rule=overruled, said=f"overruled everywhere, by {_lines(lost)}")
    others = _by_slot(world.noticed(nobody, without).witnesses)
    same = [others[slot].after for slot in acts if slot in others]
    if not same:
        return Because(rule=repeated, said="others say the same wherever it matters")
    return Because(rule=repeated, said=f"the same is said by {_lines(same)}")


def why_unread(state: State, policy: Resource) -> str:
    """Return why no proxy reads a policy, where that is plain."""
    if policy.labels.get(EFFECT) == "shadow":
        return f"its label {EFFECT} is shadow"
    top = policy.spec.get("targetRef")
    at_top = isinstance(top, Mapping) and top.get("kind") == "MeshHTTPRoute"
    if at_top and mesh_services_mode(state, policy.mesh) == "Exclusive":
        return "in MeshService mode Exclusive nothing reads a route reference at the top"
    if policy.type in ASKING and nobody_is_asked(state, policy.mesh):
        return f"mesh {policy.mesh} has neither mTLS nor a MeshIdentity, so nobody is asked"
    return ""


def _by_slot(witnesses: Iterable[Witness]) -> Slots:
    return {witness.slot: witness for witness in witnesses}


def _lines(values: Iterable[Value]) -> str:
    """Return policies with their lines, each once, in the order of the lines."""
    said = list(dict.fromkeys(_line(value) for value in sorted(values, key=_order)))
    more = f" and {len(said) - MOST_LINES} more" if len(said) > MOST_LINES else ""
    return ", ".join(said[:MOST_LINES]) + more


def _order(value: Value) -> tuple[str, str, list[int]]:
    file, *numbers = value.at.split(":")
    return (value.policy, file, [int(number) for number in numbers if number.isdecimal()])


def _line(value: Value) -> str:
    name = value.policy.rsplit("/", 1)[-1]
    if not name:
        return "what Kuma does by default"
    return f"{name} ({value.at or 'which the control plane made with the mesh'})"


def _otherwise(policy: Resource) -> Resource:
    """Return a policy with other values in its confs: where they are read, somebody notices."""
    spec = {k: v if k == "targetRef" else _other(v, "") for k, v in policy.spec.items()}
    return replace(policy, spec=spec)


def _other(value: Any, key: str) -> Any:
    if isinstance(value, Mapping):
        return {k: v if k in _KEPT else _other(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [_other(inner, key) for inner in value]
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if not isinstance(value, str):
        return value
    if key == "action":
        return "Allow" if value == "Deny" else "Deny"
    if duration.parse(value) is not None:
        return "7777s" if value != "7777s" else "7778s"
    return f"{value}x"
