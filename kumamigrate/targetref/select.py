"""Does a policy select a proxy, and which of its points (matcher.md (d), matcher-notes A-D)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.model.release import Release
from kumamigrate.model.resource import (
    DISPLAY_NAME,
    NAMESPACE,
    ORIGIN,
    Form,
    Resource,
    mapping,
    mappings,
    texts,
    with_zone_tag,
)
from kumamigrate.model.targetref import TargetRef
from kumamigrate.targetref.items import top_of
from kumamigrate.targetref.sort import role_of

Tags = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """An inbound, a listener of a built-in gateway, or a zone-proxy listener.

    `hostname` is set ("*" for none) only for gateway listeners; several may share a port.
    """

    address: str
    port: int
    name: str
    tags: Mapping[str, str]
    hostname: str = ""
    zone_proxy: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """A Dataplane as selection sees it. `gateway` is "builtin", "delegated" or ""."""

    resource: Resource
    gateway: str
    gateway_tags: Mapping[str, str]
    gateway_name: str
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class SelectedPlaces:
    """What one selector selects of one proxy: indexes of places, and the gateway as such."""

    places: tuple[int, ...] = ()
    delegated: bool = False

    def __bool__(self) -> bool:
        return bool(self.places) or self.delegated


NOTHING = SelectedPlaces()


@dataclass(frozen=True, slots=True)
class Selector:
    """All that decides whether a policy selects a proxy; equal selectors select alike.

    `zone` and `namespace` are None where the gate is open. `identity` is what a Dataplane name
    resolves against. `through` is the route's selector of a top-level MeshHTTPRoute;
    `unresolved` that there is no such route. `never` that it selects nobody, whoever there is.
    """

    mesh: str
    zone: str | None
    namespace: str | None
    top: TargetRef
    identity: tuple[str, str] | None = None
    through: Selector | None = None
    unresolved: bool = False
    never: bool = False


def selector_of(
    policy: Resource,
    top: TargetRef,
    routes: Mapping[tuple[str, str], Resource],
    release: Release,
) -> Selector:
    """Return a policy's selector. `routes` finds a route by mesh and display name."""
    role = role_of(policy)
    zone = namespace = None
    # A namespace without a name tells no Dataplane, and does not mean all of them either; labels
    # do, beside a name as well, if there is none among them.
    by_name = top.kind == "Dataplane" and top.labels is None
    never = by_name and bool(top.namespace) and not top.name
    if release.gates:
        if role != "producer" and policy.labels.get(ORIGIN) == "zone" and policy.zone:
            zone = policy.zone
        if role in ("consumer", "workload-owner"):
            namespace = policy.namespace_label
            # On Universal a policy has the role that is written, and a namespace only if one is.
            never = never or (policy.form is Form.UNIVERSAL and NAMESPACE not in policy.labels)
    identity, through, unresolved = None, None, False
    if by_name and top.name:
        identity = (policy.zone, top.namespace or policy.namespace_label)
    if top.kind == "MeshHTTPRoute":
        route = routes.get((policy.mesh, top.name or ""))
        unresolved = route is None
        if route is not None:
            through = selector_of(route, top_of(route, release), {}, release)
    return Selector(policy.mesh, zone, namespace, top, identity, through, unresolved, never)


def passes_gates(selector: Selector, proxy: Resource) -> bool:
    """Whether mesh, zone and namespace let the policy reach the proxy at all."""
    if selector.mesh != proxy.mesh or selector.never:
        return False
    if selector.namespace is not None and selector.namespace != proxy.namespace_label:
        return False
    if selector.zone is not None and proxy.labels.get(ORIGIN) == "zone":
        return selector.zone == proxy.zone
    return True


def reach(selector: Selector, proxy: Proxy, release: Release) -> SelectedPlaces:
    """Return what of a proxy the selector selects; an empty Reach means the policy is dropped."""
    if not passes_gates(selector, proxy.resource) or selector.top.kind not in release.top_kinds:
        return NOTHING
    top = selector.top
    match top.kind:
        case "Mesh":
            return _everything(proxy) if _type_fits(top, proxy) else NOTHING
        case "MeshSubset":
            return _by_tags(proxy, top.asked_tags) if _type_fits(top, proxy) else NOTHING
        case "MeshService" | "MeshServiceSubset":
            return _by_tags(proxy, top.asked_tags)
        case "MeshGateway":
            if proxy.gateway != "builtin" or proxy.gateway_name != top.name:
                return NOTHING
            return _by_tags(proxy, top.tags or ())
        case "Dataplane":
            return _by_dataplane(selector, proxy, release)
        case "MeshHTTPRoute" if selector.through is not None:
            return reach(selector.through, proxy, release)
        case _:
            return NOTHING


def _everything(proxy: Proxy) -> SelectedPlaces:
    return SelectedPlaces(tuple(range(len(proxy.places))), proxy.gateway == "delegated")


def _type_fits(top: TargetRef, proxy: Proxy) -> bool:
    return not top.proxy_types or ("Gateway" if proxy.gateway else "Sidecar") in top.proxy_types


def _by_tags(proxy: Proxy, wanted: Tags) -> SelectedPlaces:
    places = tuple(
        i
        for i, place in enumerate(proxy.places)
        if not place.zone_proxy and has_tags(place.tags, wanted)
    )
    delegated = proxy.gateway == "delegated" and has_tags(proxy.gateway_tags, wanted)
    return SelectedPlaces(places, delegated)


def has_tags(tags: Mapping[str, str], wanted: Tags) -> bool:
    """Whether all wanted tags are there; `*` stands for any value."""
    return all(k in tags and v in ("*", tags[k]) for k, v in wanted)


def _by_dataplane(selector: Selector, proxy: Proxy, release: Release) -> SelectedPlaces:
    if proxy.gateway == "builtin" or not _is_dataplane(selector, proxy.resource, release):
        return NOTHING
    section = selector.top.section_name
    if not section:
        return _everything(proxy)
    places = tuple(i for i, p in enumerate(proxy.places) if (p.name or str(p.port)) == section)
    return SelectedPlaces(places, proxy.gateway == "delegated")


def _is_dataplane(selector: Selector, proxy: Resource, release: Release) -> bool:
    top = selector.top
    if selector.identity is not None:
        mine = (proxy.zone, proxy.namespace_label)
        return proxy.display_name == top.name and mine == selector.identity
    for key, value in top.labels or ():
        if key == DISPLAY_NAME and "name" not in release.reference_by:
            if proxy.display_name != value:
                return False
        elif proxy.labels.get(key) != value:
            return False
    return True


def proxy_of(dataplane: Resource, gateways: Sequence[Resource], release: Release) -> Proxy:
    """Return a Dataplane in the form selection reads; `gateways` are the MeshGateways.

    Its tags are those that its zone stores.
    """
    if release.subset_rules:
        dataplane = with_zone_tag(dataplane, dataplane.zone)
    net = mapping(dataplane.spec.get("networking"))
    address = str(net.get("address") or "")
    gateway = net.get("gateway")
    if isinstance(gateway, Mapping):
        tags = texts(gateway.get("tags"))
        if str(gateway.get("type") or "DELEGATED").upper() == "BUILTIN":
            return _builtin(dataplane, address, tags, gateways, release)
        return Proxy(
            resource=dataplane,
            gateway="delegated",
            gateway_tags=tags,
            gateway_name="",
            places=_zone_proxies(net, address, release),
        )
    places = tuple(
        Place(
            address=str(inbound.get("address") or address),
            port=_port(inbound.get("port")),
            name=str(inbound.get("name") or ""),
            tags=texts(inbound.get("tags")),
        )
        for inbound in mappings(net.get("inbound"))
        if release.ignored_inbounds != "skipped" or inbound.get("state") != "Ignored"
    )
    zone_proxies = _zone_proxies(net, address, release)
    return Proxy(
        resource=dataplane,
        gateway="",
        gateway_tags={},
        gateway_name="",
        places=places + zone_proxies,
    )


def _zone_proxies(net: Mapping[str, Any], address: str, release: Release) -> tuple[Place, ...]:
    if not release.zone_proxy_listeners:
        return ()
    return tuple(
        Place(
            address=str(listener.get("address") or address),
            port=_port(listener.get("port")),
            name=str(listener.get("name") or ""),
            tags={},
            zone_proxy=True,
        )
        for listener in mappings(net.get("listeners"))
    )


def _builtin(
    dataplane: Resource,
    address: str,
    tags: Mapping[str, str],
    gateways: Sequence[Resource],
    release: Release,
) -> Proxy:
    gateway = next((g for g in gateways if g.mesh == dataplane.mesh and _serves(g, tags)), None)
    places: tuple[Place, ...] = ()
    if gateway is not None:
        spec = gateway.spec
        shared = {**tags, **texts(spec.get("tags"))}
        places = tuple(
            Place(
                address=address,
                port=_port(listener.get("port")),
                name="",
                tags={**shared, **texts(listener.get("tags"))},
                hostname=str(listener.get("hostname") or "*"),
            )
            for listener in mappings(mapping(spec.get("conf")).get("listeners"))
        )
    name = ""
    if gateway is not None:
        name = gateway.name if release.gateway_name == "plain" else gateway.display_name
    return Proxy(
        resource=dataplane, gateway="builtin", gateway_tags=tags, gateway_name=name, places=places
    )


def _serves(gateway: Resource, tags: Mapping[str, str]) -> bool:
    return any(
        has_tags(tags, tuple(texts(s.get("match")).items()))
        for s in mappings(gateway.spec.get("selectors"))
    )


def _port(value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        return 0
