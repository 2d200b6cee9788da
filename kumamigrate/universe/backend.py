"""Which clusters there are, and which of them a reference means (matcher.md (f))."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.model.kri import Kri
from kumamigrate.model.resource import SERVICE, Resource, mapping, mappings, texts
from kumamigrate.targetref.backendref import Meant, meant_by, port_said, tagged
from kumamigrate.targetref.resolve import EXTERNAL
from kumamigrate.targetref.route import Destination, RealResource, ServiceTag
from kumamigrate.universe.dataplaneparts import may_be_transparent, networking
from kumamigrate.universe.madeup import ANY_PORT
from kumamigrate.universe.side import Side


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A cluster: the destination whose settings it reads, and what else tells it apart.

    `stands_for` is the cluster by tags whose place a real service takes.
    """

    destination: Destination
    tags: tuple[tuple[str, str], ...] = ()
    stands_for: Cluster | None = None

    @property
    def key(self) -> str:
        """Return text that is equal for equal clusters."""
        if self.stands_for is not None:
            return self.stands_for.key
        tags = "".join(f",{k}={v}" for k, v in self.tags)
        return place_of(self.destination) + tags

    @property
    def place(self) -> tuple[str, ...]:
        """Return the key of its facts: what it is, and what a reader calls it."""
        if self.stands_for is not None:
            return self.stands_for.place
        return ("cluster", self.key, called(self.destination))


@dataclass(frozen=True, slots=True, kw_only=True)
class Referred:
    """The cluster that a reference means, None where it means nothing at all (backendref.py).

    `instead` are those that it means where another resource is the oldest.
    """

    cluster: Cluster | None
    lacks_port: bool = False
    instead: tuple[Cluster, ...] = ()


def place_of(destination: Destination) -> str:
    """Return the identity of a destination as text."""
    if isinstance(destination, ServiceTag):
        return f"{SERVICE}={destination.service}"
    return str(destination.kri)


def called(destination: Destination) -> str:
    """Return what a reader calls a destination."""
    if isinstance(destination, ServiceTag):
        return destination.service or "a service chosen by labels"
    kri = destination.kri
    name = f"{kri.name}.{kri.namespace}" if kri.namespace else kri.name
    return f"{name}:{kri.section}" if kri.section not in ("", str(ANY_PORT)) else name


def own_cluster(destination: Destination) -> Cluster:
    """Return the cluster of the destination itself."""
    return Cluster(destination=destination)


def cluster_of(side: Side, ref: Mapping[str, Any], policy: Resource | None) -> Cluster:
    """Return the cluster that a reference names, whether it is there or not."""
    found = referred_to(side, ref, policy).cluster
    return found if found is not None else Cluster(destination=RealResource(_said(side, ref)))


def referred_to(side: Side, ref: Mapping[str, Any], policy: Resource | None) -> Referred:
    """Return what a backendRef means, as a cluster."""
    found = meant_by(side.places, ref, policy)
    return Referred(
        cluster=_cluster(found),
        lacks_port=found.lacks_port,
        instead=tuple(Cluster(destination=d) for d in found.instead),
    )


def tag_cluster(ref: Mapping[str, Any]) -> Cluster:
    """Return the cluster of the service tag that a reference names."""
    found = tagged(ref)
    return Cluster(destination=ServiceTag(str(ref.get("name") or "")), tags=found.tags)


def _cluster(found: Meant) -> Cluster | None:
    if found.destination is None:
        return None
    return Cluster(destination=found.destination, tags=found.tags)


def _said(side: Side, ref: Mapping[str, Any]) -> Kri:
    """Return an identifier, made of what a reference says, that no resource has."""
    labels = ref.get("labels")
    listed = sorted(labels.items()) if isinstance(labels, Mapping) else ()
    text = ",".join(f"{k}={v}" for k, v in listed)
    kind, port = str(ref.get("kind") or ""), port_said(ref)
    name = f"({text})"
    return Kri(type=kind, mesh=side.mesh, zone="", namespace="", name=name, section=port)


def outbound_destinations(
    side: Side, proxy: Resource, outbound: Mapping[str, Any]
) -> tuple[Cluster, ...]:
    """Return the destination of an outbound in a Dataplane, or those that labels may mean."""
    ref = outbound.get("backendRef")
    if isinstance(ref, Mapping):
        ref = {"port": "0", **ref} if "port" not in ref else ref
        others = referred_to(side, ref, proxy).instead
        return tuple(sorted((cluster_of(side, ref, proxy), *others), key=lambda one: one.key))
    found = texts(outbound.get("tags"))
    service = found.pop(SERVICE, str(outbound.get("service") or ""))
    return (Cluster(destination=ServiceTag(service), tags=tuple(sorted(found.items()))),)


def is_same(one: Cluster, other: Cluster | None) -> bool:
    """Say whether two outbounds lead to one cluster; one outside of the mesh has one port, which
    only some releases ask for."""
    if other is None or one == other:
        return other is not None
    kinds = [
        d.kri.type for d in (one.destination, other.destination) if isinstance(d, RealResource)
    ]
    return kinds == [EXTERNAL, EXTERNAL] and one.key == other.key


def written_outbounds(side: Side, proxy: Resource) -> dict[str, Cluster] | None:
    """Return the outbounds in a Dataplane by `address:port`; None where it may reach every service.

    That is a transparent proxy: of outbounds of its own those by tags count for nothing, and those
    to real resources only say which of those it reaches.
    """
    return None if may_be_transparent(proxy) else listed_outbounds(side, proxy)


def listed_outbounds(side: Side, proxy: Resource) -> dict[str, Cluster]:
    """Return the outbounds that stand in a Dataplane, by `address:port`.

    Where labels mean several resources, of which the oldest counts, each stands here. From 3.0 on
    there is one outbound for each destination: the last.
    """
    return side.once("listed outbounds", proxy, _listed_outbounds)


def _listed_outbounds(side: Side, proxy: Resource) -> dict[str, Cluster]:
    found = [
        (address, outbound_destinations(side, proxy, item))
        for address, item in _by_address(proxy)
        if not _never_made(side, proxy, item)
    ]
    if not side.release.subset_rules:
        last = {clusters: address for address, clusters in found}
        found = [(address, clusters) for address, clusters in found if last[clusters] == address]
    return {
        f"{address}{_or(cluster, at)}": cluster
        for address, clusters in found
        for at, cluster in enumerate(clusters)
    }


def said_port(proxy: Resource, address: str) -> str:
    """Return the port that the backendRef of an outbound names; "" where it names none."""
    refs = (mapping(item.get("backendRef")) for at, item in _by_address(proxy) if at == address)
    return next((port_said(ref) for ref in refs), "")


def _by_address(proxy: Resource) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the outbounds that stand in a Dataplane, each with its `address:port`."""
    for item in mappings(networking(proxy).get("outbound")):
        yield f"{item.get('address') or '127.0.0.1'}:{item.get('port')}", item


def _or(cluster: Cluster, at: int) -> str:
    return f" or {called(cluster.destination)}" if at else ""


def _never_made(side: Side, proxy: Resource, outbound: Mapping[str, Any]) -> bool:
    """Whether a zone makes no outbound for what a Dataplane says.

    Before 3.0 a name means a resource of the Dataplane's own zone, of which a
    MeshMultiZoneService is only where its labels say so by hand; from then on tags mean nothing.
    """
    ref = outbound.get("backendRef")
    if not side.release.subset_rules:
        return not isinstance(ref, Mapping)
    if not isinstance(ref, Mapping) or ref.get("labels"):
        return False
    if ref.get("kind") != "MeshMultiZoneService" or not proxy.zone:
        return False
    several = side.state.of_type("MeshMultiZoneService")
    return not any(
        r.name == ref.get("name") and r.zone == proxy.zone for r in several if not r.made_up
    )
