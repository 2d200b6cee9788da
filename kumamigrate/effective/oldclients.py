"""Clients of inbounds beside old policies: one for each set of tags that selectors tell apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from kumamigrate.model.resource import SERVICE, ZONE
from kumamigrate.sourcedest.proxy import Proxy
from kumamigrate.sourcedest.selector import ANY, Tags

OTHER = "\x00other"
BARE = frozenset[tuple[str, str]]()
"""A client without a sidecar: it sends no header x-kuma-tags (notes C20)."""
MOST_CLIENTS = 400

Identity = frozenset[tuple[str, str]]
Named = Mapping[str, Identity]
"""Clients by what a reader is shown of them."""


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


def existing(proxies: Iterable[Proxy], selectors: Sequence[Tags]) -> frozenset[Identity]:
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
