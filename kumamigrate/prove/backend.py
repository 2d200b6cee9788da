"""Which clusters a route sends its traffic to (matcher.md (f), backendRef identifiers)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kumamigrate.match.route import Destination, EffectiveRoute, RealResource, ServiceTag
from kumamigrate.model.kri import Kri, kri_of
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.prove.madeup import ANY_PORT
from kumamigrate.prove.side import Side, networking


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
class Backend:
    """One of the clusters of a route, and its weight."""

    cluster: Cluster
    weight: Any


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


def backends_of(side: Side, route: EffectiveRoute, destination: Destination) -> tuple[Backend, ...]:
    """Return where a route sends its traffic; without backendRefs, to the destination itself."""
    if not route.backend_refs:
        return (Backend(cluster=own_cluster(destination), weight=1),)
    policy = None if route.entry is None else route.entry.policy
    return tuple(
        Backend(cluster=cluster_of(side, ref, policy), weight=ref.get("weight", 1))
        for ref in route.backend_refs
    )


def cluster_of(side: Side, ref: Mapping[str, Any], policy: Resource | None) -> Cluster:
    """Return the cluster a backendRef means.

    A MeshService is a real resource only with a port or sectionName (in 3.0 always); else its
    name is a service tag. Labels mean the first resource that has them all.
    """
    kind, name = str(ref.get("kind") or "MeshService"), str(ref.get("name") or "")
    port = str(ref.get("sectionName") or ref.get("port") or "")
    tags = ref.get("tags")
    extra = tuple(sorted((str(k), str(v)) for k, v in tags.items())) if tags else ()
    if kind in ("MeshService", "MeshServiceSubset") and side.release.subset_rules and not port:
        return Cluster(destination=ServiceTag(name), tags=extra)
    labels = ref.get("labels")
    if labels and isinstance(labels, Mapping):
        having = [(k, r) for k, r in side.real.items() if _has(r, kind, labels)]
        listed = [k for k, r in having if not r.made_up] or [k for k, _ in having]
        found = listed[0] if listed else None
        text = ",".join(f"{k}={v}" for k, v in sorted(labels.items()))
        kri = found or Kri(type=kind, mesh=side.mesh, zone="", namespace="", name=f"({text})")
    else:
        namespace = str(ref.get("namespace") or (policy.namespace_label if policy else ""))
        zone = policy.zone if policy is not None else ""
        kri = Kri(type=kind, mesh=side.mesh, zone=zone, namespace=namespace, name=name)
    return Cluster(destination=RealResource(kri.of_section(side.section_of(kri, port))))


def _has(resource: Resource, kind: str, labels: Mapping[str, Any]) -> bool:
    return resource.type == kind and all(
        resource.labels.get(str(k)) == str(v) for k, v in labels.items()
    )


def outbound_destination(side: Side, proxy: Resource, outbound: Mapping[str, Any]) -> Cluster:
    """Return the destination of an outbound in a Dataplane."""
    ref = outbound.get("backendRef")
    if isinstance(ref, Mapping):
        return cluster_of(side, {"port": "0", **ref} if "port" not in ref else ref, proxy)
    tags = outbound.get("tags")
    found = {str(k): str(v) for k, v in tags.items()} if isinstance(tags, Mapping) else {}
    service = found.pop(SERVICE, str(outbound.get("service") or ""))
    return Cluster(destination=ServiceTag(service), tags=tuple(sorted(found.items())))


def written_outbounds(side: Side, proxy: Resource) -> dict[str, Cluster] | None:
    """Return the outbounds in a Dataplane by `address:port`; None where it has none.

    A proxy without outbounds is transparent: it reaches every service.
    """
    outbounds = networking(proxy).get("outbound")
    if not isinstance(outbounds, list) or not outbounds:
        return None
    return {
        f"{item.get('address') or '127.0.0.1'}:{item.get('port')}": outbound_destination(
            side, proxy, item
        )
        for item in outbounds
        if isinstance(item, Mapping)
    }


__all__ = [
    "Backend",
    "Cluster",
    "backends_of",
    "called",
    "cluster_of",
    "kri_of",
    "outbound_destination",
    "own_cluster",
    "place_of",
    "written_outbounds",
]
