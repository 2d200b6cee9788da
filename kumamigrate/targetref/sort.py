"""All precedence in one place (matcher.md (c)): later in a list wins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cmp_to_key
from typing import Any, NamedTuple, TypeVar

from kumamigrate.model.release import Release
from kumamigrate.model.resource import ORIGIN, ROLE, Resource, mapping
from kumamigrate.model.targetref import TargetRef

T = TypeVar("T")

# Below these lengths Go's two sorts are plain insertion sorts, which keeps ties in order.
_UNSTABLE_SMALL = 12
_STABLE_SMALL = 20


class Ranked(NamedTuple):
    """What precedence looks at: a policy, its top-level reference, and for items their target."""

    policy: Resource
    top: TargetRef
    target: TargetRef | None = None


Level = Callable[[Release, Ranked, Ranked], int]
Key = Callable[[Release, Ranked], int]
RankKey = tuple[int, ...]
Keys = Callable[[], Sequence[RankKey] | None]


def compare(release: Release, levels: Sequence[str], a: Ranked, b: Ranked) -> int:
    """Return <0, 0 or >0 by the first level that tells two apart."""
    for level in levels:
        result = LEVELS[level](release, a, b)
        if result:
            return result
    return 0


def sort_unstable(
    items: Sequence[T], cmp: Callable[[T, T], int], keys: Keys = lambda: None
) -> list[T]:
    """Sort as the control plane sorts matched policies: ties of long lists have no order.

    `keys` are those of the items in the same order, where they have some (`keys_of`).
    """
    return _sort(items, cmp, _UNSTABLE_SMALL, keys)


def sort_stable(
    items: Sequence[T], cmp: Callable[[T, T], int], keys: Keys = lambda: None
) -> list[T]:
    """Sort as the control plane sorts items: ties keep their order."""
    return _sort(items, cmp, _STABLE_SMALL, keys)


def keys_of(
    release: Release, levels: Sequence[str], ranked: Sequence[Ranked]
) -> list[RankKey] | None:
    """Return what sorts as `compare` does, but in one pass; None where no key can say it.

    References to Dataplanes by name and by labels beat each other in circles, and levels that
    are about one kind need the kinds told apart before.
    """
    identity = "identity" in release.dataplane_rank
    if identity and any(one.top.kind == "Dataplane" and one.top.name for one in ranked):
        return None
    order = release.kind_order
    for level, kind in _ABOUT_ONE.items():
        of = _target if level == "section" else _top
        alike = {of(one).kind for one in ranked if order.get(of(one).kind, 0) == order.get(kind, 0)}
        if level in levels and kind in alike and len(alike) > 1:
            return None
    names = sorted({one.policy.display_name for one in ranked}, reverse=True)
    later = {name: at for at, name in enumerate(names)}
    keys: dict[str, Key] = {**_KEYS, "name": lambda _, one: later[one.policy.display_name]}
    told = [keys[level] for level in levels]
    return [tuple([key(release, one) for key in told]) for one in ranked]


def _sort(items: Sequence[T], cmp: Callable[[T, T], int], small: int, keys: Keys) -> list[T]:
    if len(items) > small:
        known = keys()
        if known is None:
            return sorted(items, key=cmp_to_key(cmp))
        return [items[at] for at in sorted(range(len(items)), key=known.__getitem__)]
    # The order of Dataplane references is not transitive, so the algorithm matters.
    out: list[T] = []
    for item in items:
        at = len(out)
        while at and cmp(item, out[at - 1]) < 0:
            at -= 1
        out.insert(at, item)
    return out


def _kind(release: Release, a: Ranked, b: Ranked) -> int:
    order = release.kind_order
    return order.get(a.top.kind, 0) - order.get(b.top.kind, 0)


def _dataplane(release: Release, a: Ranked, b: Ranked) -> int:
    if a.top.kind != "Dataplane" or b.top.kind != "Dataplane":
        return 0
    if "identity" in release.dataplane_rank:
        if a.top.name and b.top.labels:
            return 1
        if a.top.labels and b.top.name:
            return -1
    return bool(a.top.section_name) - bool(b.top.section_name)


def _origin(release: Release, a: Ranked, b: Ranked) -> int:
    order = release.origin_order
    none = order["none"]
    mine = order.get(a.policy.labels.get(ORIGIN, ""), none)
    return mine - order.get(b.policy.labels.get(ORIGIN, ""), none)


def _gateway_tags(_: Release, a: Ranked, b: Ranked) -> int:
    if a.top.kind != "MeshGateway" or b.top.kind != "MeshGateway":
        return 0
    return len(a.top.tags or ()) - len(b.top.tags or ())


def _role(release: Release, a: Ranked, b: Ranked) -> int:
    order = release.role_order
    mine = order.get(role_of(a.policy), order["system"])
    return mine - order.get(role_of(b.policy), order["system"])


def _name(_: Release, a: Ranked, b: Ranked) -> int:
    mine, other = a.policy.display_name, b.policy.display_name
    return (mine < other) - (mine > other)


def _to_kind(release: Release, a: Ranked, b: Ranked) -> int:
    order = release.kind_order
    return order.get(_target(a).kind, 0) - order.get(_target(b).kind, 0)


def _section(_: Release, a: Ranked, b: Ranked) -> int:
    if _target(a).kind != "MeshService" or _target(b).kind != "MeshService":
        return 0
    return bool(_target(a).section_name) - bool(_target(b).section_name)


def _target(ranked: Ranked) -> TargetRef:
    return ranked.target or ranked.top


def _top(ranked: Ranked) -> TargetRef:
    return ranked.top


def role_of(policy: Resource) -> str:
    """Return the policy's role; none written means system."""
    return policy.labels.get(ROLE) or "system"


LEVELS: dict[str, Level] = {
    "kind": _kind,
    "dataplane": _dataplane,
    "origin": _origin,
    "gatewayTags": _gateway_tags,
    "role": _role,
    "name": _name,
    "toKind": _to_kind,
    "section": _section,
}


_ABOUT_ONE = {"dataplane": "Dataplane", "gatewayTags": "MeshGateway", "section": "MeshService"}
"""Levels that compare references of one kind only, and say nothing of others."""

_KEYS: dict[str, Key] = {
    "kind": lambda release, one: release.kind_order.get(one.top.kind, 0),
    "dataplane": lambda _, one: one.top.kind == "Dataplane" and bool(one.top.section_name),
    "origin": lambda release, one: release.origin_order.get(
        one.policy.labels.get(ORIGIN, ""), release.origin_order["none"]
    ),
    "gatewayTags": lambda _, one: len(one.top.tags or ()) if one.top.kind == "MeshGateway" else 0,
    "role": lambda release, one: release.role_order.get(
        role_of(one.policy), release.role_order["system"]
    ),
    "toKind": lambda release, one: release.kind_order.get(_target(one).kind, 0),
    "section": lambda _, one: (
        _target(one).kind == "MeshService" and bool(_target(one).section_name)
    ),
}
"""By level what of one policy or item it goes by, but for names, of which the smaller is later."""


def match_rank(match: dict[str, Any] | None) -> tuple[bool, bool, bool]:
    """Return the sort key of an inbound match: spiffeID first, Exact before Prefix, then sni."""
    said = match or {}
    spiffe = mapping(said.get("spiffeID")).get("type")
    return spiffe != "Exact", spiffe != "Prefix", not said.get("sni")
