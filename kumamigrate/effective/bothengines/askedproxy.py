"""A proxy as both engines see it, with the outbounds that it has by service tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from kumamigrate.dataclass import dataclass
from kumamigrate.model.resource import SERVICE, Resource, with_zone_tag
from kumamigrate.sourcedest.proxy import TaggedProxy, proxy_of
from kumamigrate.sourcedest.selector import Tags
from kumamigrate.universe.dataplaneparts import may_be_transparent


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedProxy:
    """A proxy as both engines see it.

    `services` are those of its outbounds, `outbounds` the different tags that outbounds have, in
    order; of equal ones the last stands (notes C2b). `named` is the same to look things up by,
    `known_by` the tag sets by which policies choose the proxy. `ordered`: they are written down.
    """

    dataplane: Resource
    proxy: TaggedProxy
    services: tuple[str, ...]
    outbounds: tuple[Mapping[str, str], ...]
    named: tuple[tuple[tuple[str, str], ...], ...]
    known_by: tuple[frozenset[tuple[str, str]], ...]
    ordered: bool


def asked_of(dataplane: Resource, zone: str, services: Sequence[str]) -> AskedProxy:
    """Return a Dataplane as both engines see it; a transparent one reaches all services.

    The control plane adds the zone tag to what it stores (legacy-notes.md G2), so both see it.
    """
    proxy = proxy_of(dataplane, zone)
    written = [o.tags for o in proxy.outbounds if o.service]
    reached, outbounds, named = _reached(written)
    if not written and may_be_transparent(dataplane):
        reached, outbounds, named = _reached_plainly(tuple(services))
    return AskedProxy(
        dataplane=with_zone_tag(dataplane, dataplane.zone or zone),
        proxy=proxy,
        services=reached,
        outbounds=outbounds,
        named=named,
        known_by=tuple(frozenset(tags.items()) for tags in proxy.tag_sets),
        ordered=bool(written),
    )


Reached = tuple[tuple[str, ...], tuple[Tags, ...], tuple[tuple[tuple[str, str], ...], ...]]


def _reached(tags: Sequence[Tags]) -> Reached:
    """Return the services of outbounds, and their tags, of equal ones the last."""
    last = {mentioned(one): one for one in reversed(tags)}
    outbounds = tuple(reversed(last.values()))
    named = tuple(tuple(one.items()) for one in outbounds)
    return tuple(dict.fromkeys(one[SERVICE] for one in tags)), outbounds, named


@cache
def _reached_plainly(services: tuple[str, ...]) -> Reached:
    return _reached([{SERVICE: service} for service in services])


def mentioned(tags: Mapping[str, str]) -> str:
    """Return a service with its further tags as readers see a cluster."""
    rest = ",".join(f"{k}={v}" for k, v in sorted(tags.items()) if k != SERVICE)
    return f"{tags.get(SERVICE, '')}{{{rest}}}" if rest else tags.get(SERVICE, "")
