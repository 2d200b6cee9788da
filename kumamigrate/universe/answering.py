"""Which inbounds answer for which service: the endpoints that clusters of other proxies have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.model.conf import canonical
from kumamigrate.model.identity import ids_of
from kumamigrate.model.kri import Kri, kri_of
from kumamigrate.model.kubernetes.workloads import implied_dataplanes
from kumamigrate.model.resource import SERVICE, Resource, mapping, texts
from kumamigrate.model.state import State
from kumamigrate.targetref.select import has_tags
from kumamigrate.targetref.share import match_labels
from kumamigrate.universe.dataplaneparts import inbounds_of, networking
from kumamigrate.universe.endpoints import PROTOCOL, gets_traffic
from kumamigrate.universe.side import Side

Tags = tuple[tuple[str, str], ...]
Mark = tuple[str, ...]
"""Something that an endpoint has, a tag or a label with its value, a tag, or a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An inbound that gets traffic: all that clusters know of it.

    `labels` are those by which traffic stays near; `tags` have the protocol, wherever it is said.
    `port` is the name of the inbound, where a MeshService asks for it, `ids` those by which clients
    know its certificate.
    """

    proxy: Resource
    address: str
    tags: Mapping[str, str]
    labels: Mapping[str, str]
    probed: Any = None
    port: str = ""
    ids: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        """Return text that is equal for endpoints that clusters do not tell apart."""
        told = [self.address, dict(self.tags), dict(self.labels), self.probed, self.port]
        return canonical([*told, *self.ids])

    @property
    def called(self) -> str:
        """Return what a reader calls it: its proxy, its address and what else tells it apart."""
        rest = {**self.tags, **self.labels}
        if self.port:
            rest["port"] = self.port
        if self.ids:
            rest["id"] = " or ".join(self.ids)
        more = ", ".join(f"{k}={v}" for k, v in sorted(rest.items()) if k != SERVICE)
        return f"{self.proxy.name} at {self.address}" + (f" with {more}" if more else "")


def endpoints(side: Side, near: Set[str]) -> Iterator[Endpoint]:
    """Yield the endpoints that the known Dataplanes are; `near`: labels by which one is near."""
    yield from _endpoints_of(side, side.state.of_type("Dataplane"), near)


def workload_endpoints(side: Side) -> Iterator[Endpoint]:
    """Yield the endpoints that the Pods of known workloads are, each called by its workload."""
    yield from _endpoints_of(side, implied_dataplanes(side.state, side.mesh), frozenset())


def _endpoints_of(side: Side, proxies: Iterable[Resource], near: Set[str]) -> Iterator[Endpoint]:
    asked = _asked_ports(side)
    for proxy in proxies:
        net = networking(proxy)
        # From 3.0 on nobody is told another address than the one the proxy has.
        told = net.get("advertisedAddress") if side.release.subset_rules else None
        for inbound in filter(gets_traffic, inbounds_of(proxy)):
            host = inbound.get("address") or told or net.get("address")
            tags = texts(inbound.get("tags"))
            if inbound.get("protocol"):
                tags = {PROTOCOL: str(inbound["protocol"]), **tags}
            yield Endpoint(
                proxy=proxy,
                address=f"{host}:{inbound.get('port')}",
                tags=tags,
                labels={k: v for k, v in proxy.labels.items() if k in near},
                probed=inbound.get("serviceProbe"),
                port=name if (name := str(inbound.get("name") or "")) in asked else "",
                ids=ids_of(proxy, side.state),
            )


def _asked_ports(side: Side) -> frozenset[str]:
    """Return the names of inbounds that ports of MeshServices lead to."""
    listed = (service.spec.get("ports") for service in side.state.of_type("MeshService"))
    ports = (mapping(port) for one in listed if isinstance(one, list) for port in one)
    found = (port.get("targetPort") for port in ports)
    return frozenset(name for name in found if isinstance(name, str))


def answered(side: Side, endpoint: Endpoint) -> Iterator[Kri]:
    """Yield the real resources of a side that an endpoint answers for, without their ports."""
    services = [s for s in _services_near(side.state, endpoint) if _selects(s, endpoint)]
    yield from map(kri_of, services)
    for several in side.state.of_type("MeshMultiZoneService"):
        wanted = mapping(mapping(several.spec.get("selector")).get("meshService"))
        labels = mapping(wanted.get("matchLabels"))
        if any(all(s.labels.get(str(k)) == str(v) for k, v in labels.items()) for s in services):
            yield kri_of(several)


def _services_near(state: State, endpoint: Endpoint) -> list[Resource]:
    """Return the MeshServices that ask for something that an endpoint has, in file order."""
    if "services by mark" not in state.known:
        by_mark: dict[Mark, list[int]] = {}
        services = tuple(state.of_type("MeshService"))
        for at, service in enumerate(services):
            for mark in _marks_asked(service):
                by_mark.setdefault(mark, []).append(at)
        state.known["services by mark"] = (services, by_mark)
    services, by_mark = state.known["services by mark"]
    near = {at for mark in _marks_of(endpoint) for at in by_mark.get(mark, ())}
    return [services[at] for at in sorted(near)]


def _marks_asked(service: Resource) -> Iterator[Mark]:
    """Yield one thing for each way in which a service selects: who lacks it is not selected so."""
    named, tags, labels = _selector(service)
    if named:
        yield "name", named
    for key, value in tags[:1]:
        yield ("tag", key) if value == "*" else ("tag", key, value)
    for pair in [*labels.items()][:1]:
        yield "label", *pair


def _marks_of(endpoint: Endpoint) -> Iterator[Mark]:
    yield "name", endpoint.proxy.name
    yield "name", endpoint.proxy.display_name
    for key, value in endpoint.tags.items():
        yield "tag", key
        yield "tag", key, value
    for pair in endpoint.proxy.labels.items():
        yield "label", *pair


def _selects(service: Resource, endpoint: Endpoint) -> bool:
    named, tags, labels = _selector(service)
    own = endpoint.proxy.labels
    return (
        (bool(tags) and has_tags(endpoint.tags, tags))
        or (bool(labels) and all(own.get(k) == v for k, v in labels.items()))
        or named in (endpoint.proxy.name, endpoint.proxy.display_name)
    )


def _selector(service: Resource) -> tuple[Any, Tags, Mapping[str, str]]:
    """Return the name, the tags and the labels by which a service selects Dataplanes."""
    selector = mapping(service.spec.get("selector"))
    named = mapping(selector.get("dataplaneRef")).get("name")
    tags = tuple((str(k), str(v)) for k, v in mapping(selector.get("dataplaneTags")).items())
    return named, tags, match_labels(service)
