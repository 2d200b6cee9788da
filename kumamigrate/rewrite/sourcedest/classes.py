"""Classes of proxies that selectors can tell apart, and which of them need a policy (notes C6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from kumamigrate.dataclass import dataclass
from kumamigrate.model.resource import SERVICE, ZONE, Resource
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.sourcedest.proxy import TaggedProxy
from kumamigrate.sourcedest.selector import ANY, Tags, matches, selectors_of

_V = TypeVar("_V")
_OTHER = "\x00other"
"""A service or zone that no selector names. Every proxy has these two tags."""
ALWAYS = (SERVICE, ZONE)
"""The tags that every proxy has."""
_LIMIT = 400


def _as_written(tag: tuple[str, str]) -> tuple[bool, bool, str]:
    key, _ = tag
    return (key != SERVICE, not key.startswith("kuma.io/"), key)


@dataclass(frozen=True, slots=True)
class WinnerClass:
    """All proxies (or inbounds) that carry these tags, sorted by key."""

    tags: tuple[tuple[str, str], ...]

    @property
    def as_map(self) -> dict[str, str]:
        """The tags as a map, in the order people write them: the service, Kuma's, one's own."""
        return dict(sorted(self.tags, key=_as_written))

    @property
    def witness(self) -> dict[str, str]:
        """The tags of a proxy that is in this class and, of those here, in no narrower one."""
        return {**dict.fromkeys(ALWAYS, _OTHER), **self.as_map}

    def within(self, other: WinnerClass) -> bool:
        """Say whether this class is part of another, or the same."""
        return set(other.tags) <= set(self.tags)


@dataclass(frozen=True, slots=True, kw_only=True)
class Classes:
    """The classes of some selectors, broadest first, closed under intersection.

    `wildcards` are tags that a selector only wants to be present, with the values for which
    that was written out; proxies with other values cannot be referred to. `too_many` is True
    when there were more classes than is sensible; then there are none.
    """

    classes: tuple[WinnerClass, ...]
    wildcards: tuple[tuple[str, tuple[str, ...]], ...] = ()
    too_many: bool = False


def class_of(tags: Tags) -> WinnerClass:
    """Return the class with these tags."""
    return WinnerClass(tuple(sorted(tags.items())))


def classes_of(selectors: Iterable[Tags], world: KnownWorld) -> Classes:
    """Return the classes that these selectors tell apart, `{}` included.

    `'*'` for service and zone says nothing, since every proxy has them; any other `'*'` is
    written out for the values that it may have where the rest of its selector matches (notes C7).
    """
    wild: dict[str, set[str]] = {}
    seeds: set[frozenset[tuple[str, str]]] = set()
    for selector in selectors:
        seeds |= _written_out(selector, world, wild)
    closed: set[frozenset[tuple[str, str]]] = {frozenset()}
    for seed in sorted(seeds, key=sorted):
        closed |= {joined for tags in closed if (joined := _join(tags, seed)) is not None}
        if len(closed) > _LIMIT:
            return Classes(classes=(), wildcards=_listed(wild), too_many=True)
    ordered = sorted((WinnerClass(tuple(sorted(t))) for t in closed), key=_broad_first)
    return Classes(classes=tuple(ordered), wildcards=_listed(wild))


def classes_by(field: str, policies: Iterable[Resource], world: KnownWorld) -> Classes:
    """Return the classes that the selectors in a field of policies tell apart."""
    return classes_of((tags for p in policies for tags in selectors_of(p.spec, field)), world)


def _listed(wild: Mapping[str, set[str]]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((key, tuple(sorted(values))) for key, values in sorted(wild.items()))


def _written_out(
    selector: Tags, world: KnownWorld, wild: dict[str, set[str]]
) -> set[frozenset[tuple[str, str]]]:
    sets: list[dict[str, str]] = [{}]
    for key, value in selector.items():
        if value != ANY:
            sets = [{**tags, key: value} for tags in sets]
        elif key not in ALWAYS:
            values = world.values(key, selector)
            wild.setdefault(key, set()).update(values)
            sets = [{**tags, key: known} for tags in sets for known in values]
    return {frozenset(tags.items()) for tags in sets}


def _join(
    one: frozenset[tuple[str, str]], two: frozenset[tuple[str, str]]
) -> frozenset[tuple[str, str]] | None:
    joined = one | two
    return joined if len({key for key, _ in joined}) == len(joined) else None


def _broad_first(item: WinnerClass) -> tuple[int, tuple[tuple[str, str], ...]]:
    return (len(item.tags), item.tags)


def largest(tags: Tags, classes: Sequence[WinnerClass]) -> WinnerClass:
    """Return the narrowest class that these tags are in; classes hold `{}` and are closed."""
    return max((c for c in classes if matches(c.as_map, tags)), key=lambda c: len(c.tags))


def dwellers(
    item: WinnerClass, classes: Sequence[WinnerClass], proxies: Iterable[TaggedProxy]
) -> list[TaggedProxy]:
    """Return the proxies of which some inbound (or the gateway) reads this class."""
    return [
        proxy for proxy in proxies if any(largest(tags, classes) == item for tags in proxy.tag_sets)
    ]


def inhabited(item: WinnerClass, classes: Sequence[WinnerClass], world: KnownWorld) -> bool:
    """Say whether a listed proxy reads a class; where none is listed, any may."""
    return not world.listed or bool(dwellers(item, classes, world.proxies))


def connected(
    item: WinnerClass,
    classes: Sequence[WinnerClass],
    world: KnownWorld,
    service: str,
    named: Iterable[str],
) -> bool:
    """Say whether a listed proxy of a class has an outbound to a service.

    `named` are the services with a name of their own; any other stands for all the rest. A
    proxy without outbounds is transparent and reaches everything.
    """
    if not world.listed:
        return True
    known = frozenset(named)
    for proxy in dwellers(item, classes, world.proxies):
        own = {o.service for o in proxy.outbounds}
        if not own or service in own or (service not in known and own - known):
            return True
    return False


def prune(values: Mapping[WinnerClass, _V]) -> dict[WinnerClass, _V]:
    """Return the classes, broadest first, that differ from some class they directly lie in (C6).

    `{}` stays. Every proxy reads its largest class, so the others need no policy.
    """
    kept: dict[WinnerClass, _V] = {}
    for item, value in values.items():
        direct = _directly_around(item, kept)
        if not direct or any(kept[c] != value for c in direct):
            kept[item] = value
    return kept


def _directly_around(item: WinnerClass, among: Iterable[WinnerClass]) -> list[WinnerClass]:
    """Return the narrowest classes among some that this one lies in, itself left out."""
    around = [c for c in among if c != item and item.within(c)]
    return [c for c in around if not any(o != c and o.within(c) for o in around)]
