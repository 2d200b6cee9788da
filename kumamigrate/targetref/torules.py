"""The old rules: lists of subsets with merged confs (matcher.md (h), releases up to 2.14)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from kumamigrate.dataclass import dataclass
from kumamigrate.model.conf import JsonConf
from kumamigrate.model.policytype import Conf, PolicyType
from kumamigrate.model.release import Release
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.targetref.entry import Entry, origin
from kumamigrate.targetref.items import ToReader, has_to_route
from kumamigrate.targetref.merge import merge_entries
from kumamigrate.targetref.routehash import route_hash
from kumamigrate.targetref.subset import (
    ROUTE_HASH,
    Subset,
    Tag,
    covers,
    intersect,
    subset_of,
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SubsetRule:
    """A rule of the old kind. Kuma's deprecated `Rule`."""

    subset: Subset
    conf: JsonConf
    entries: tuple[Entry, ...]

    @property
    def origin(self) -> list[str]:
        """The names of the policies that contribute."""
        return origin(self.entries)


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """An entry with the subset it stands for."""

    subset: Subset
    entry: Entry


def to_items(
    policies: Sequence[Resource],
    kind: PolicyType,
    release: Release,
    routes: Mapping[tuple[str, str], Resource],
    read: ToReader,
) -> tuple[Item, ...]:
    """Return the to-items of policies in merge order.

    `routes` finds the route a top-level MeshHTTPRoute means. A policy with a route in `to` takes
    no part at all.
    """
    out: list[Item] = []
    for policy in policies:
        if has_to_route(policy):
            continue
        entries = read(policy, kind)
        if entries and entries[0].top.kind == "MeshHTTPRoute":
            route = routes.get((policy.mesh, entries[0].top.name or ""))
            if route is not None:
                at = read(route, release.policy_types["MeshHTTPRoute"])
                out.extend(_through_route(entries, route, at, release))
        else:
            out.extend(item for e in entries for item in _plain(e))
    return tuple(out)


def from_items(entries: Sequence[Entry]) -> tuple[Item, ...]:
    """Return the items of `from` entries."""
    return tuple(item for e in entries for item in _plain(e))


def _plain(entry: Entry) -> Iterator[Item]:
    subset = None if entry.target is None else subset_of(entry.target)
    if subset is not None:
        yield Item(subset, entry)


def _through_route(
    entries: Sequence[Entry], route: Resource, destinations: Sequence[Entry], release: Release
) -> Iterator[Item]:
    """Yield an artificial item for each route item, route rule and policy item (matcher.md (g)).

    The policy's own targets are ignored.
    """
    for at in destinations:
        for rule in at.conf.get("rules", ()):
            tag = Tag(ROUTE_HASH, route_hash(rule.get("matches")))
            for entry in entries:
                yield Item(_route_subset(at, tag, release), _via(entry, route))


def _route_subset(at: Entry, tag: Tag, release: Release) -> Subset:
    target = at.target
    if target is None or (
        target.kind in ("Mesh", "MeshSubset") and release.route_to_mesh == "subset"
    ):
        return (tag,)
    return (tag, Tag(SERVICE, target.name or ""))


def _via(entry: Entry, route: Resource) -> Entry:
    return Entry(
        policy=entry.policy,
        section=entry.section,
        index=entry.index,
        top=entry.top,
        target=entry.target,
        conf=entry.conf,
        path=entry.path,
        via=route,
    )


def build_rules(
    items: Sequence[Item], fields: Conf, *, negations: bool, grouping: str
) -> tuple[SubsetRule, ...]:
    """Return the list of rules, in the order in which a look-up walks it."""
    keys = {tag.key for item in items for tag in item.subset}
    if not negations and len(keys) <= 1:
        subsets = list(dict.fromkeys(_canonical(item.subset) for item in items))
        weight: Callable[[Subset], int] = len
    else:
        subsets = list(_candidates([item.subset for item in items], grouping))
        weight = _positives
    rules = [rule for subset in subsets for rule in _rules_for(subset, items, fields)]
    return tuple(sorted(rules, key=lambda r: -weight(r.subset)))


def _rules_for(subset: Subset, items: Sequence[Item], fields: Conf) -> Iterator[SubsetRule]:
    entries = tuple(item.entry for item in items if covers(item.subset, subset))
    for conf in merge_entries(entries, fields):
        yield SubsetRule(subset=subset, conf=conf, entries=entries)


def _positives(subset: Subset) -> int:
    return sum(not tag.negated for tag in subset)


def _canonical(subset: Subset) -> Subset:
    return tuple(sorted(subset))


def _candidates(subsets: Sequence[Subset], grouping: str) -> Iterator[Subset]:
    groups = components(subsets) if grouping == "components" else cliques(subsets)
    for group in groups:
        yield from _combinations({tag for at in group for tag in subsets[at]})


def _combinations(tags: set[Tag]) -> Iterator[Subset]:
    """Yield every choice of one value, or none of the values, for each key.

    The first key turns fastest, from its last value to its first, then to "none of them".
    """
    values: dict[str, list[str]] = {}
    for tag in sorted(tags):
        known = values.setdefault(tag.key, [])
        if tag.value not in known:
            known.append(tag.value)
    choices = [_choices(key, mine) for key, mine in values.items()]
    counter = [0] * len(choices)
    while True:
        for digit, options in enumerate(choices):
            counter[digit] = (counter[digit] + 1) % len(options)
            if counter[digit]:
                break
        yield tuple(t for options, at in zip(choices, counter, strict=True) for t in options[at])
        if not any(counter):
            return


def _choices(key: str, values: Sequence[str]) -> list[Subset]:
    one: list[Subset] = [(Tag(key, value),) for value in reversed(values)]
    return [*one, tuple(Tag(key, value, negated=True) for value in values)]


def clique_name(nodes: Sequence[int]) -> str:
    """Return the text by which cliques are ordered."""
    return ":".join(str(n) for n in sorted(nodes))


def cliques(subsets: Sequence[Subset]) -> list[tuple[int, ...]]:
    """Return the maximal cliques of intersecting subsets, in the order rules come from them."""
    near = _neighbours(subsets)
    found: list[tuple[int, ...]] = []
    # Bron-Kerbosch with pivot, on an explicit stack: a mesh may have thousands of items.
    stack = [(frozenset[int](), frozenset(near), frozenset[int]())]
    while stack:
        chosen, open_, closed = stack.pop()
        if not open_ and not closed:
            found.append(tuple(sorted(chosen)))
            continue
        pivot = max(open_ | closed, key=lambda n: (len(near[n] & open_), -n))
        for node in sorted(open_ - near[pivot]):
            stack.append((chosen | {node}, open_ & near[node], closed & near[node]))
            open_, closed = open_ - {node}, closed | {node}
    return sorted((c for c in found if c), key=clique_name, reverse=True)


def components(subsets: Sequence[Subset]) -> list[tuple[int, ...]]:
    """Return the connected components of intersecting subsets (2.6), by their first item."""
    near, seen, out = _neighbours(subsets), set[int](), []
    for start in range(len(subsets)):
        if start in seen:
            continue
        group, todo = {start}, [start]
        while todo:
            fresh = near[todo.pop()] - group
            group |= fresh
            todo.extend(fresh)
        seen |= group
        out.append(tuple(sorted(group)))
    return out


def _neighbours(subsets: Sequence[Subset]) -> dict[int, frozenset[int]]:
    """Return who intersects whom; equal subsets are compared once."""
    alike: dict[Subset, list[int]] = {}
    for at, subset in enumerate(subsets):
        alike.setdefault(_canonical(subset), []).append(at)
    near: dict[int, set[int]] = {at: set() for at in range(len(subsets))}
    groups = list(alike.items())
    for i, (a, mine) in enumerate(groups):
        for b, theirs in groups[i:]:
            if intersect(a, b):
                for at in mine:
                    near[at].update(theirs)
                for at in theirs:
                    near[at].update(mine)
    return {at: frozenset(others - {at}) for at, others in near.items()}
