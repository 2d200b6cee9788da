"""Shares of a service: what a service tag with further tags means, as a MeshService by labels.

2.x sends a share of the traffic to the inbounds that carry some tags (kind MeshServiceSubset). 3.0
has no tags: a MeshService of its own selects the Dataplanes by labels (MADR 058). The two mean the
same where they reach the same inbounds of the known Dataplanes. Where neither reaches any, the
labels must follow from how the known ones are labelled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kumamigrate.model.resource import NAMESPACE, SERVICE, Resource, mapping, numbered, texts

WORKLOAD = "kuma.io/workload"
NAMING = ("app.kubernetes.io/name", "app", "k8s-app", "name", WORKLOAD)
"""Labels that tell which application a proxy belongs to, by custom."""
FEWEST_SERVICES = 2
"""So many different services must show a custom before it is believed."""

Inbound = tuple[str, str, int]
Tags = Mapping[str, str]


def tagged_inbounds(tags: Tags, known: Sequence[Resource]) -> frozenset[Inbound]:
    """Return the inbounds that carry some tags: namespace and name of the proxy, index."""
    return frozenset(
        (proxy.namespace, proxy.name, at)
        for proxy in known
        for at, _, own in _inbounds(proxy)
        if tags.items() <= own.items()
    )


def protocols(tags: Tags, known: Sequence[Resource]) -> set[str]:
    """Return the protocols of the inbounds that carry some tags."""
    return {
        own.get("kuma.io/protocol", "tcp")
        for proxy in known
        for *_, own in _inbounds(proxy)
        if tags.items() <= own.items()
    }


def services_of_proxy(proxy: Resource) -> set[str]:
    """Return the services of a proxy, by tag and by workload."""
    tags = {own.get(SERVICE, "") for *_, own in _inbounds(proxy)}
    return {*tags, proxy.labels.get(WORKLOAD, "")} - {""}


def labelled_inbounds(
    labels: Mapping[str, str], target: Any, zone: str, known: Sequence[Resource]
) -> frozenset[Inbound]:
    """Return the inbounds on a target port, by number or name, of the proxies with some labels.

    A MeshService has the proxies of its own zone only.
    """
    return frozenset(
        (proxy.namespace, proxy.name, at)
        for proxy in known
        if labels.items() <= proxy.labels.items() and proxy.zone == zone
        for at, inbound, _ in _inbounds(proxy)
        if str(target) in (str(inbound.get("port")), str(inbound.get("name") or ""))
    )


def is_share(
    labels: Mapping[str, str],
    target: Any,
    zone: str,
    tags: Tags,
    known: Sequence[Resource],
) -> bool:
    """Say whether labels mean what a service tag with further tags means.

    `tags` are all of them, kuma.io/service included.
    """
    today = tagged_inbounds(tags, known)
    if not labels or labelled_inbounds(labels, target, zone, known) != today:
        return False
    return bool(today) or _is_shown(labels, target, zone, tags, known)


def share_tags(
    labels: Mapping[str, str], target: Any, zone: str, known: Sequence[Resource]
) -> dict[str, str]:
    """Return the tags that labels stand for among the known proxies, kuma.io/service included,
    none where they stand for no share of one service."""
    chosen = labelled_inbounds(labels, target, zone, known)
    sets = [
        own
        for proxy in known
        for at, _, own in _inbounds(proxy)
        if (proxy.namespace, proxy.name, at) in chosen
    ]
    services = {tags.get(SERVICE, "") for tags in sets} if sets else _alike(labels, known)
    naming = {NAMESPACE, *(() if sets else NAMING)}
    said = {
        k: v
        for k, v in labels.items()
        if k not in naming and all(tags.get(k) == v for tags in sets)
    }
    tried = ({**said, SERVICE: service} for service in sorted(services - {""}))
    found = [tags for tags in tried if is_share(labels, target, zone, tags, known)]
    return found[0] if len(found) == 1 else {}


def _alike(labels: Mapping[str, str], known: Sequence[Resource]) -> set[str]:
    """Return the services of proxies that belong to the application that labels name."""
    named = {k: v for k, v in labels.items() if k in NAMING}
    found = {labels.get(WORKLOAD, "")}
    for proxy in known:
        if named and named.items() <= proxy.labels.items():
            found |= {own.get(SERVICE, "") for *_, own in _inbounds(proxy)}
    return found


def may_be_share(
    labels: Mapping[str, str], target: Any, zone: str, tags: Tags, known: Sequence[Resource]
) -> bool:
    """Say whether labels may mean what tags mean: no known proxy has either, and the labels say
    the tags and something of the service besides. Only people know then."""
    extra = {k: v for k, v in tags.items() if k != SERVICE}
    said = all(labels.get(k) == v for k, v in extra.items())
    rest = labels.keys() - extra.keys() - {NAMESPACE}
    if not said or not rest:
        return False
    return not tagged_inbounds(tags, known) and not labelled_inbounds(labels, target, zone, known)


def _is_shown(
    labels: Mapping[str, str], target: Any, zone: str, tags: Tags, known: Sequence[Resource]
) -> bool:
    """Say whether the known proxies show which labels the share would have."""
    extra = {k: v for k, v in tags.items() if k != SERVICE}
    if not all(labels.get(k) == v and mirrors(k, known) for k, v in extra.items()):
        return False
    rest = {k: v for k, v in labels.items() if k not in extra}
    if not rest.keys() - {NAMESPACE}:
        return False
    whole = tagged_inbounds({SERVICE: tags[SERVICE]}, known)
    if whole:
        return labelled_inbounds(rest, target, zone, known) == whole
    return rest in named_by_custom(tags[SERVICE], known)


def mirrors(key: str, known: Sequence[Resource]) -> bool:
    """Say whether label and tag of a key are the same on every known proxy, neither included."""
    for proxy in known:
        values = {tags.get(key) for tags in _tag_sets(proxy)}
        if values and values != {proxy.labels.get(key)}:
            return False
    return bool(known)


def named_by_custom(service: str, known: Sequence[Resource]) -> list[dict[str, str]]:
    """Return the labels that the proxies of a service would have, if they are like all others.

    On every known proxy a label of `NAMING` says the name in one of its service tags, and the
    label of the namespace says the namespace in it; several services must show it. Gateways show
    nothing. On Universal one is enough for `WORKLOAD`: 3.0 makes its services of that label.
    """
    name, namespace = _parts(service)
    place = {NAMESPACE: namespace} if namespace else {}
    return [
        {key: name, **place}
        for key in NAMING
        if len(_customary(key, known, with_namespace=bool(namespace))) >= _fewest(key, namespace)
    ]


def _fewest(key: str, namespace: str) -> int:
    return 1 if key == WORKLOAD and not namespace else FEWEST_SERVICES


def _customary(key: str, known: Sequence[Resource], *, with_namespace: bool) -> set[str]:
    """Return the services whose name a label says, none where one proxy has it otherwise."""
    seen: set[str] = set()
    for proxy in known:
        services = {own[SERVICE] for *_, own in _inbounds(proxy) if SERVICE in own}
        told = {_parts(s) for s in services}
        mine = (proxy.labels.get(key, ""), proxy.labels.get(NAMESPACE, ""))
        if told and (mine not in told or bool(mine[1]) != with_namespace):
            return set()
        seen |= {mine[0]} if told else set()
    return seen


def _parts(service: str) -> tuple[str, str]:
    parts = service.split("_")
    return (parts[0], parts[1]) if len(parts) in (3, 4) and parts[2] == "svc" else (service, "")


def match_labels(service: Resource) -> dict[str, str]:
    """Return the labels by which a MeshService selects Dataplanes, none where it has others."""
    found = mapping(service.spec.get("selector")).get("dataplaneLabels")
    return texts(mapping(found).get("matchLabels"))


def _inbounds(proxy: Resource) -> Iterator[tuple[int, Mapping[str, Any], dict[str, str]]]:
    """Yield the inbounds of a proxy with their place and their tags."""
    for at, inbound in numbered(mapping(proxy.spec.get("networking")).get("inbound")):
        yield at, inbound, texts(inbound.get("tags"))


def _tag_sets(proxy: Resource) -> list[dict[str, str]]:
    gateway = mapping(proxy.spec.get("networking")).get("gateway")
    if isinstance(gateway, Mapping):
        return [texts(gateway.get("tags"))]
    return [own for *_, own in _inbounds(proxy)]
