"""Proxies made up for old policies: one for every set of tags that selectors tell apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

from kumamigrate.effective.bothengines.oldview import OldSide
from kumamigrate.effective.bothengines.whoanswers import BESIDE, OUTBOUND, kinds_of
from kumamigrate.model.resource import MESH, PROXY_TYPE, SERVICE, ZONE, Resource
from kumamigrate.sourcedest.selector import ANY, Tags, selectors_of
from kumamigrate.targetref.items import to_entries
from kumamigrate.universe.oldtraits import split, traits_of
from kumamigrate.universe.side import ROUTES

ANY_SERVICE = "any-other-service"
ANY_VALUE = "any-value"
MOST_PROXIES = 1_000

Traits = frozenset[tuple[str, str]]
"""Tags and labels of a proxy, keys as in oldtraits.py."""
TraitSets = Sequence[tuple[dict[str, str], bool]]

_FIELDS = {
    "TrafficPermission": ("destinations",),
    "FaultInjection": ("destinations",),
    "RateLimit": ("destinations",),
    "TrafficTrace": ("selectors",),
    "ProxyTemplate": ("selectors",),
}


def services_of(was: OldSide, now: OldSide, covered: frozenset[str]) -> set[str]:
    """Return the services that either side names, and one that nobody does."""
    found = {ANY_SERVICE, *was.known, *now.known}
    for side in (was, now):
        for kind in side.old.by_kind:
            for policy in side.old.of(kind):
                for tags in selectors_of(policy.spec, "destinations"):
                    found.add(tags.get(SERVICE, ANY))
                found |= _destinations(policy)
        for policy_type in covered & side.side.types & set(OUTBOUND):
            for policy in side.side.state.of_type(policy_type):
                kind_ = side.side.release.policy_types[policy_type]
                for entry in to_entries(policy, kind_, side.side.release):
                    if entry.target is not None and entry.target.name:
                        found.add(entry.target.name)
    return found - {"", ANY}


def trait_sets(
    was: OldSide,
    now: OldSide,
    policy_type: str,
    *,
    on_routes: bool,
    pairs: Sequence[tuple[Traits, Traits]] = (),
    among: Iterable[Tags] | None = None,
) -> list[tuple[dict[str, str], bool]] | None:
    """Return tags and labels of proxies to try (oldtraits.py); True where a value stands for any
    that nobody names. None: there are too many.

    Whoever has one half of `pairs` has the other. With `among` only proxies that have at least
    one of these sets of traits.
    """
    seeds: set[Traits] = set()
    for tags in _selectors(was, now, policy_type, on_routes=on_routes):
        seeds.add(frozenset(tags.items()))
    wholes = {seed: whole(seed, pairs) for seed in _written_out(seeds)}
    closed: set[Traits] = {frozenset()}
    if among is not None:
        asked = _written_out({frozenset(tags.items()) for tags in among}, seeds)
        closed = {one for one in (whole(seed, pairs) for seed in asked) if one is not None}
    for seed in sorted({one for one in wholes.values() if one is not None}, key=sorted):
        closed |= {own | seed for own in closed if _agree(own, seed)}
        if len(closed) > MOST_PROXIES:
            return None
    result = []
    for own in sorted(closed, key=lambda t: (len(t), sorted(t))):
        loose = any(v == ANY_VALUE and k not in (SERVICE, ZONE) for k, v in own)
        result.append((dict(own), loose))
    return result


def whole(seed: Traits, pairs: Sequence[tuple[Traits, Traits]]) -> Traits | None:
    """Return traits with those that go with them, None where they contradict."""
    found, grown = seed, True
    while grown:
        grown = False
        for old, new in pairs:
            for mine, other in ((old, new), (new, old)):
                if mine <= found and not other <= found:
                    if not _agree(found, other):
                        return None
                    found, grown = found | other, True
    return found


def _agree(one: Traits, two: Traits) -> bool:
    """Say whether no key has two values."""
    return len(dict((*one, *two))) == len(one | two)


def _selectors(was: OldSide, now: OldSide, policy_type: str, *, on_routes: bool) -> Iterator[Tags]:
    outbound = policy_type in OUTBOUND
    kinds = list(kinds_of(policy_type))
    if outbound:
        kinds.append("TrafficRoute")
    for side in (was, now):
        for kind in kinds:
            fields = _FIELDS.get(kind, ("sources",))
            for policy in side.old.of(kind):
                for name in fields:
                    yield from selectors_of(policy.spec, name)
        for kind in (policy_type, *(ROUTES if outbound else ()), *BESIDE.get(policy_type, ())):
            if kind in side.side.types:
                for policy in side.side.state.of_type(kind):
                    yield traits_of(policy, side.side, on_routes=on_routes) or {}


def _written_out(seeds: Set[Traits], more: Set[Traits] = frozenset()) -> set[Traits]:
    """Replace "present" by every value that is named for the key, and by one that is not.

    `more` are other traits that name values.
    """
    values: dict[str, set[str]] = {}
    for seed in (*seeds, *more):
        for key, value in seed:
            if value != ANY:
                values.setdefault(key, set()).add(value)
    result = set()
    for seed in seeds:
        sets: list[dict[str, str]] = [{}]
        for key, value in sorted(seed):
            options = [value] if value != ANY else [ANY_VALUE, *sorted(values.get(key, ()))]
            if value == ANY and key in (SERVICE, ZONE):
                continue  # every proxy has these two
            sets = [{**tags, key: option} for tags in sets for option in options]
        result |= {frozenset(tags.items()) for tags in sets}
    return result


def _destinations(node: Any) -> set[str]:
    """Return the services that the conf of a TrafficRoute leads to."""
    found: set[str] = set()
    conf = node.spec.get("conf") if isinstance(node, Resource) else node
    if not isinstance(conf, Mapping):
        return found
    target = conf.get("destination")
    if isinstance(target, Mapping):
        found.add(str(target.get(SERVICE, ANY)))
    for name in ("split", "http"):
        items = conf.get(name)
        for item in items if isinstance(items, list) else ():
            found |= _destinations(item)
    return found


def made_up(sets: Sequence[Tags], zone: str, mesh: str) -> Resource | None:
    """Return a Dataplane with an inbound for each set of traits, None if they contradict."""
    inbounds = []
    labels = {MESH: mesh, PROXY_TYPE: "sidecar", **({ZONE: zone} if zone else {})}
    for at, traits in enumerate(sets):
        tags, own = split(traits)
        if any(labels.get(key, value) != value for key, value in own.items()):
            return None
        labels |= own
        base = {SERVICE: ANY_SERVICE, ZONE: zone or "any-zone"}
        inbounds.append({"port": 10_000 + at, "tags": {**base, **tags}})
    return Resource(
        type="Dataplane",
        mesh=mesh,
        name="any-proxy",
        labels=labels,
        spec={"networking": {"address": "192.0.2.1", "inbound": inbounds}},
        made_up=True,
    )


def called(sets: Sequence[Tags]) -> str:
    """Return what a reader calls a made-up proxy."""
    parts = []
    for traits in sets:
        tags, labels = split(traits)
        shown = {k: "any other" if v == ANY_VALUE else v for k, v in sorted(tags.items())}
        pairs = [f"{k}={v}" for k, v in (*shown.items(), *sorted(labels.items()))]
        parts.append(", ".join(dict.fromkeys(pairs)))
    if parts == [""]:
        return "any proxy"
    if len(parts) == 1:
        return f"any proxy with {parts[0]}"
    return "any proxy with one inbound of " + " and one of ".join(parts)
