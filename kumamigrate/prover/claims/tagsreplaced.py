"""Which services a proxy reaches by their tags, and which real resources take their place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.effective.routing import meant
from kumamigrate.model.kri import section_of
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.prover.slots.mesh import MeshComparison
from kumamigrate.targetref.backendref import ports_of
from kumamigrate.targetref.route import Destination, RealResource, ServiceTag
from kumamigrate.universe.backend import Cluster, written_outbounds
from kumamigrate.universe.network import Network
from kumamigrate.universe.traffic import successors


def couples_of(pair: MeshComparison, services: Sequence[str]) -> Network:
    """Return services with the real destinations that replace them."""
    couples = [(ServiceTag(s), d) for s in services for d in successors(pair.after, s)]
    return Network(pair.before, pair.after, couples)


def services_of(pair: MeshComparison, was: Resource) -> tuple[str, ...]:
    """Return the services that a proxy reaches through service-tag outbounds.

    A proxy that has real outbounds only (the mode was switched already) counts with the service
    tags that they replaced.
    """
    written = written_outbounds(pair.before, was)
    reached = [c.destination for c in (written or {}).values()]
    tags = [d.service for d in reached if isinstance(d, ServiceTag)]
    if not tags:
        tags = [t for d in reached if isinstance(d, RealResource) for t in _replaced(pair, d)]
    return tuple(dict.fromkeys(tags))


def _replaced(pair: MeshComparison, destination: RealResource) -> list[str]:
    """Return the service tag that a real destination takes the place of."""
    resource = pair.before.real.get(destination.kri.of_section(""))
    if resource is None or resource.type != "MeshService":
        return []
    kri = destination.kri
    names = [resource.labels.get(SERVICE), kri.name]
    for port in ports_of(resource.spec):
        if section_of(port) == kri.section:
            names.append(f"{kri.name}_{kri.namespace}_svc_{port.get('port')}")
    return [n for n in names if n and is_among(destination, successors(pair.before, n))][:1]


def targets_of(pair: MeshComparison, now: Resource, service: str) -> tuple[RealResource, ...]:
    """Return the real destinations that replace a service for a proxy."""
    all_of_them = successors(pair.after, service)
    written = written_outbounds(pair.after, now)
    mine = dict.fromkeys(c.destination for c in (written or {}).values())
    among = (d for d in mine if isinstance(d, RealResource) and is_among(d, all_of_them))
    return tuple(among) or all_of_them


def takes_over(pair: MeshComparison, old: Cluster, new: Cluster) -> bool:
    """Say whether an outbound afterwards leads to what takes the place of a service tag, which
    nobody can tell where nothing does (`carry_doubts`)."""
    if not isinstance(old.destination, ServiceTag):
        return False
    if old.tags:
        return meant(pair.after, new).stands_for == old
    every = successors(pair.after, old.destination.service)
    return not every or is_among(new.destination, every)


def unreplaced(pair: MeshComparison, services: Iterable[str]) -> tuple[str, ...]:
    """Return the services that nothing replaces."""
    return tuple(service for service in services if not successors(pair.after, service))


def carry_doubts(pair: MeshComparison, was: Resource, alone: Sequence[str]) -> tuple[Doubt, ...]:
    """Return the services of a proxy of which nothing says what replaces them.

    `alone` are those of a transparent proxy.
    """
    if written_outbounds(pair.before, was) is not None:
        alone = unreplaced(pair, services_of(pair, was))
    return tuple(
        Doubt(
            DoubtKind.MISSING,
            f"nothing says which real resource takes the place of service {service}; add its"
            " MeshService, or an inventory that has it",
        )
        for service in alone
    )


def is_among(destination: Destination, found: Sequence[RealResource]) -> bool:
    """Whether a destination is one of some, by name or by number."""
    return isinstance(destination, RealResource) and destination.kri in {d.kri for d in found}
