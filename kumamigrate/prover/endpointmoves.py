"""Whose endpoints change where Dataplanes do: others than those proxies are configured with them.

The Dataplanes themselves are compared as such, so this finds nothing in a mesh where nothing else
differs; it says of each proxy that is listed whether it is one of those concerned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cached_property

from kumamigrate.effective.difference import Value, Witness
from kumamigrate.model.kri import Kri, kri_of, section_of
from kumamigrate.model.resource import SERVICE, Resource, mapping
from kumamigrate.prover.gateway import is_builtin
from kumamigrate.prover.slots.mesh import MeshComparison
from kumamigrate.targetref.backendref import ports_of
from kumamigrate.targetref.route import Destination, RealResource, ServiceTag
from kumamigrate.universe.answering import Endpoint, answered, endpoints
from kumamigrate.universe.backend import called, listed_outbounds, place_of, written_outbounds
from kumamigrate.universe.dataplaneparts import networking
from kumamigrate.universe.side import Side
from kumamigrate.universe.traffic import kind_of, outbounds_of, successors

EVERY_SERVICE = "*"
Answering = Mapping[tuple[Destination, str], Endpoint]
"""Endpoints by the service that they answer for and what tells them apart."""
Moved = Mapping[Destination, tuple[list[Endpoint], list[Endpoint]]]
"""Services, with the endpoints that only one side has."""


class EndpointMoves:
    """What changes at the endpoints of a mesh, and which proxies have them."""

    def __init__(self, pair: MeshComparison) -> None:
        self._pair = pair
        self._sides = (pair.before, pair.after)

    def of(self, was: Resource, now: Resource) -> Iterator[Witness]:
        """Yield the services that a proxy reaches and that others answer for than before."""
        for destination, (gone, come) in self._moved.items():
            if self._reaches(self._pair.before, was, destination) or self._reaches(
                self._pair.after, now, destination
            ):
                yield Witness(
                    mesh=self._pair.before.mesh,
                    proxy="",
                    policy_type="Dataplane",
                    direction="outbound",
                    destination=called(destination),
                    place=place_of(destination),
                    outbound=kind_of(destination),
                    field="endpoints",
                    before=Value(value=[one.called for one in gone]),
                    after=Value(value=[one.called for one in come]),
                )

    @cached_property
    def _moved(self) -> Moved:
        old, new = self._by_side()
        moved: dict[Destination, tuple[list[Endpoint], list[Endpoint]]] = {}
        for at, (mine, other) in enumerate(((old, new), (new, old))):
            for key, one in mine.items():
                if key not in other:
                    moved.setdefault(key[0], ([], []))[at].append(one)
        return moved

    def _by_side(self) -> Sequence[Answering]:
        """Return the endpoints of each side's services.

        Where the later release reads no tags, those of services that both sides have, by their
        addresses: how services and labels come to be chosen is what the way there changes. What
        answers for a service tag is held to what answers for the services in its place.
        """
        if self._pair.before.release.subset_rules == self._pair.after.release.subset_rules:
            kinds = [side.kinds.get("Dataplane") for side in self._sides]
            if kinds[0] == kinds[1]:
                return [{}, {}]
            return [_by_service(side, self._pair.chosen.near) for side in self._sides]
        both = set.intersection(*({*map(kri_of, _services(side))} for side in self._sides))
        found: list[dict[tuple[Destination, str], Endpoint]] = [
            {
                (RealResource(kri), one.address): one
                for one in endpoints(side, frozenset())
                for kri in answered(side, one)
                if kri in both
            }
            for side in self._sides
        ]
        for mine, by_tag in zip(found, self._by_tag(), strict=True):
            mine.update(by_tag)
        return found

    def _by_tag(self) -> Sequence[Answering]:
        """Return what answers for each service tag that something replaces, and for that.

        What is made up in its place chooses nobody.
        """
        before, after = self._sides
        tagged = [(one.tags.get(SERVICE, ""), one) for one in endpoints(before, frozenset())]
        services = {
            service: [
                target
                for target in successors(after, service)
                if not after.real[target.kri.of_section("")].made_up
            ]
            for service, _ in tagged
            if service
        }
        old: Answering = {(ServiceTag(s), one.address): one for s, one in tagged if services.get(s)}
        answering: dict[Kri, list[Endpoint]] = {}
        for one in endpoints(after, frozenset()):
            for kri in answered(after, one):
                answering.setdefault(kri, []).append(one)
        new: Answering = {
            (ServiceTag(service), one.address): one
            for service, targets in services.items()
            for target in targets
            for one in answering.get(target.kri.of_section(""), ())
            if _is_at(after, target, one)
        }
        return old, new

    def _reaches(self, side: Side, proxy: Resource, destination: Destination) -> bool:
        """Whether a proxy may have endpoints of a service: at an outbound, or behind one."""
        if is_builtin(proxy) or _directly(proxy, destination):
            return True
        if written_outbounds(side, proxy) is None:
            return kind_of(destination) in outbounds_of(side.state, side.mesh)
        there = [cluster.destination for cluster in listed_outbounds(side, proxy).values()]
        if there and side.old.routed and isinstance(destination, ServiceTag):
            return True  # a TrafficRoute may lead anywhere
        reach = self._pair.reaches[self._sides.index(side)]
        return any(_bare(d) == destination for one in there for d in reach.clusters_at(one))


def _is_at(side: Side, target: RealResource, endpoint: Endpoint) -> bool:
    """Whether a port of a service leads to an endpoint."""
    resource = side.real[target.kri.of_section("")]
    inner = {
        str(port.get("targetPort") or port.get("port"))
        for port in ports_of(resource.spec)
        if target.kri.section in ("", section_of(port))
    }
    return not inner or not inner.isdisjoint((endpoint.address.rpartition(":")[2], endpoint.port))


def _services(side: Side) -> Iterator[Resource]:
    return side.state.of_type("MeshService", "MeshMultiZoneService")


def _by_service(side: Side, near: Set[str]) -> Answering:
    """Return the endpoints of each service, by what clusters know of them."""
    return {(d, one.said): one for one in endpoints(side, near) for d in _answered(side, one)}


def _answered(side: Side, endpoint: Endpoint) -> Sequence[Destination]:
    service = endpoint.tags.get(SERVICE)
    tagged = [ServiceTag(service)] if service else []
    return (*tagged, *(RealResource(kri) for kri in answered(side, endpoint)))


def _bare(destination: Destination) -> Destination:
    """Return a destination without its port."""
    if isinstance(destination, ServiceTag):
        return destination
    return RealResource(destination.kri.of_section(""))


def _directly(proxy: Resource, destination: Destination) -> bool:
    """Whether a proxy has a listener for each endpoint of a service."""
    listed = mapping(networking(proxy).get("transparentProxying")).get("directAccessServices")
    if not isinstance(listed, list) or not isinstance(destination, ServiceTag):
        return False
    return EVERY_SERVICE in listed or destination.service in listed
