"""Proxies that no policy of a state can tell apart are worked out once."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence

from kumamigrate.dataclass import dataclass
from kumamigrate.model.resource import DISPLAY_NAME, NAMESPACE, ORIGIN
from kumamigrate.targetref.select import Proxy, Selector

Values = Mapping[str, frozenset[str]]

Need = tuple[str, str, str]
"""A label or a tag: ("label" or "tag", key, value)."""


@dataclass(frozen=True, slots=True)
class Traits:
    """What selectors look at: values of labels and of tags, and names of Dataplanes."""

    labels: Values
    tags: Values
    names: frozenset[str]


def traits_of(selectors: Sequence[Selector]) -> Traits:
    """Return all that the selectors look at."""
    labels: dict[str, set[str]] = {}
    tags: dict[str, set[str]] = {}
    names = set[str]()
    for selector in _all(selectors):
        top = selector.top
        for key, value in top.labels or ():
            labels.setdefault(key, set()).add(value)
            if key == DISPLAY_NAME:
                names.add(value)
        for key, value in top.asked_tags:
            tags.setdefault(key, set()).add(value)
        if selector.identity is not None:
            names.add(top.name or "")
    return Traits(_frozen(labels), _frozen(tags), frozenset(names))


def _frozen(values: Mapping[str, set[str]]) -> Values:
    return {k: frozenset(values[k]) for k in sorted(values)}


def class_of(proxy: Proxy, traits: Traits) -> Hashable:
    """Return a value that is equal for proxies all the selectors select alike."""
    dataplane = proxy.resource
    labels, name = dataplane.labels, dataplane.display_name
    return (
        dataplane.mesh,
        labels.get(ORIGIN) == "zone",
        dataplane.zone,
        dataplane.namespace_label,
        name if name in traits.names else None,
        _seen(labels, traits.labels),
        proxy.gateway,
        proxy.gateway_name,
        _seen(proxy.gateway_tags, traits.tags),
        tuple(
            (p.name, p.port, p.hostname, p.zone_proxy, _seen(p.tags, traits.tags))
            for p in proxy.places
        ),
    )


def _seen(given: Mapping[str, str], values: Values) -> tuple[str | bool, ...]:
    """Return each value some selector names; any other only as there (`*` asks) or not."""
    return tuple(
        given[key] if given.get(key) in wanted else key in given for key, wanted in values.items()
    )


def need_of(selector: Selector) -> Need | None:
    """Return one label or tag without which a proxy cannot be selected, None if there is none."""
    own = ("label", NAMESPACE, selector.namespace) if selector.namespace else None
    return _needed_by(selector) or own


def _needed_by(selector: Selector) -> Need | None:
    """Return what the reference itself cannot do without."""
    top = selector.top
    if top.kind == "Dataplane" and selector.identity is None:
        named = (("label", k, v) for k, v in top.labels or () if k != DISPLAY_NAME)
        return next(named, None)
    if top.kind in ("MeshService", "MeshServiceSubset", "MeshSubset"):
        wanted = (("tag", k, v) for k, v in top.asked_tags if v != "*")
        return next(wanted, None)
    return None if selector.through is None else need_of(selector.through)


def offers_of(proxy: Proxy) -> Iterator[Need]:
    """Yield every label and tag of a proxy, each once."""
    for key, value in proxy.resource.labels.items():
        yield ("label", key, value)
    tags = {pair for place in proxy.places for pair in place.tags.items()}
    for key, value in tags | set(proxy.gateway_tags.items()):
        yield ("tag", key, value)


def _all(selectors: Sequence[Selector]) -> Iterator[Selector]:
    for selector in selectors:
        yield selector
        if selector.through is not None:
            yield from _all([selector.through])
