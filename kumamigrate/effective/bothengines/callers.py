"""Clients of inbounds beside old policies: one for each set of tags that selectors tell apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cached_property
from itertools import product
from typing import Any

from kumamigrate.dataclass import dataclass, field
from kumamigrate.effective.bothengines.whoanswers import kinds_of
from kumamigrate.model.resource import SERVICE, ZONE, Resource, mappings
from kumamigrate.sourcedest.proxy import TaggedProxy, proxy_of
from kumamigrate.sourcedest.selector import ANY, Tags, selectors_of, tags_of
from kumamigrate.universe.side import Side

OTHER = "\x00other"
BARE = frozenset[tuple[str, str]]()
"""A client without a sidecar: it sends no header x-kuma-tags (notes C20)."""
MOST_CLIENTS = 400

Identity = frozenset[tuple[str, str]]
Named = Mapping[str, Identity]
"""Clients by what a reader is shown of them."""


@dataclass
class Callers:
    """The clients that policies of two sides tell apart, type by type."""

    before: Side
    after: Side
    too_many: dict[str, None] = field(default_factory=dict)
    """The types that tell apart more than can be tried."""
    _found: dict[tuple[Any, ...], tuple[Named, Set[str]]] = field(default_factory=dict)

    def of(self, policy_type: str, was: Resource, now: Resource) -> tuple[Named, Set[str]]:
        """Return the clients of a proxy to ask for, as far as anybody whose policies reach it tells
        them apart, by what they show; and those with values that nobody names."""
        reaching = tuple(
            side.selection(proxy, policy_type).policies if policy_type in side.types else ()
            for side, proxy in ((self.before, was), (self.after, now))
        )
        key = (policy_type, *(tuple(map(id, policies)) for policies in reaching))
        if key not in self._found:
            listed = [policy for policies in reaching for policy in policies]
            self._found[key] = self._told_apart(policy_type, listed)
        return self._found[key]

    def _told_apart(self, policy_type: str, reaching: Sequence[Resource]) -> tuple[Named, Set[str]]:
        selectors: list[Tags] = [
            tags
            for side in (self.before, self.after)
            for kind in kinds_of(policy_type)
            for policy in side.old.of(kind)
            for tags in selectors_of(policy.spec, "sources")
        ]
        for policy in reaching:
            named = from_tags(policy)
            selectors += named
            if policy_type == "MeshFaultInjection":  # each tag is negated by itself (C19)
                selectors += [{k: v} for tags in named for k, v in tags.items()]
        found = clients(selectors, several=policy_type == "MeshTrafficPermission")
        if found is None:
            self.too_many[policy_type] = None
            found = []
        here = existing(self._proxies, selectors)
        every = dict.fromkeys((*found, *here))
        if policy_type in ("MeshFaultInjection", "MeshRateLimit"):
            every[BARE] = None
        loose = {shown(client) for client in every if is_loose(client)}
        named_by = {shown(client): client for client in every}
        return named_by, loose - {shown(client) for client in here}

    @cached_property
    def _proxies(self) -> list[TaggedProxy]:
        return [
            proxy_of(dataplane, self.before.state.environment.zone)
            for side in (self.before, self.after)
            for dataplane in side.state.of_type("Dataplane")
        ]


def from_tags(policy: Resource) -> list[Tags]:
    """Return the tags of clients that a policy names in `from`."""
    found: list[Tags] = []
    for item in mappings(policy.spec.get("from")):
        ref = item.get("targetRef")
        if not isinstance(ref, Mapping):
            continue
        tags = tags_of(ref.get("tags"))
        if ref.get("kind") in ("MeshService", "MeshServiceSubset"):
            tags[SERVICE] = str(ref.get("name") or "")
        found.append(tags)
    return found


def shown(client: Identity) -> str:
    """Return a client as a reader calls it, different ones differently."""
    if client == BARE:
        return "a client without a sidecar"
    several = {k for k, v in client if v != OTHER}
    parts = [
        f"{k}={'any other' if v == OTHER else v}"
        for k, v in sorted(client)
        if v != OTHER or k in several or k not in (SERVICE, ZONE)
    ]
    return ", ".join(parts) or "any other client"


def existing(proxies: Iterable[TaggedProxy], selectors: Sequence[Tags]) -> frozenset[Identity]:
    """Return proxies as the clients that selectors take them for.

    A certificate names the tags of all inbounds together, a header those of each.
    """
    values = _named(selectors)
    found: set[Identity] = set()
    for proxy in proxies:
        sets = [frozenset(tags.items()) for tags in proxy.tag_sets]
        for tags in {*sets, frozenset(pair for one in sets for pair in one)}:
            read = {(k, v if v in values[k] else OTHER) for k, v in tags if k in values}
            found.add(_filled(frozenset(read)))
    return frozenset(found)


def clients(selectors: Iterable[Tags], *, several: bool) -> list[Identity] | None:
    """Return one client for each set of tags that selectors tell apart; None: too many.

    Every client carries a service and a zone. `several`: also clients with two values of a tag,
    as the certificate of a proxy with two inbounds has.
    """
    seeds = _seeds(selectors)
    closed: set[Identity] = {frozenset()}
    for seed in sorted(seeds, key=sorted):
        joined = {tags | seed for tags in closed}
        closed |= {tags for tags in joined if len({k for k, _ in tags}) == len(tags)}
        if len(closed) > MOST_CLIENTS:
            return None
    full = [_filled(tags) for tags in sorted(closed, key=lambda t: (len(t), sorted(t)))]
    if several and len(full) <= 24:
        full += [a | b for i, a in enumerate(full) for b in full[i + 1 :] if a | b not in full]
    return list(dict.fromkeys(full))


def _seeds(selectors: Iterable[Tags]) -> set[Identity]:
    """Return the tags of selectors, "present" as every value that is named, and as one more."""
    listed = list(selectors)
    values = _named(listed)
    seeds: set[Identity] = set()
    for tags in listed:
        ways = [
            [(k, v)] if v != ANY else [(k, one) for one in sorted(values[k])]
            for k, v in sorted(tags.items())
            if not (v == ANY and k in (SERVICE, ZONE))
        ]
        seeds |= {frozenset(way) for way in product(*ways)}
    return seeds


def _named(selectors: Iterable[Tags]) -> dict[str, set[str]]:
    """Return the values that selectors name for each key, and one that stands for all others."""
    values: dict[str, set[str]] = {}
    for tags in selectors:
        for key, value in tags.items():
            values.setdefault(key, {OTHER}).add(OTHER if value == ANY else value)
    return values


def is_loose(client: Identity) -> bool:
    """Whether a client has a value of some tag that nobody names, service and zone apart."""
    return any(v == OTHER and k not in (SERVICE, ZONE) for k, v in client)


def _filled(tags: Identity) -> Identity:
    keys = {k for k, _ in tags}
    return tags | {(key, OTHER) for key in (SERVICE, ZONE) if key not in keys}
