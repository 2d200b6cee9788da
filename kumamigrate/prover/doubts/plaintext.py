"""What proxies with certificates of a MeshIdentity send in plain text before 3.0, or after it.

2.x has them call every real resource with TLS, whoever has a certificate there, and what goes by
a service tag in plain text. 3.0 knows real resources alone, and encrypts where the Dataplanes of a
service have certificates as well (asked of 2.14 and 3.0).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.model.identity import (
    has_mtls,
    holder_of,
    identities_of,
    is_ready,
    match_labels,
    mode_of,
    spiffe_id,
)
from kumamigrate.model.kri import Kri
from kumamigrate.model.resource import NAMESPACE, Resource, mapping
from kumamigrate.prover.claims.laststep import is_last_step
from kumamigrate.targetref.backendref import meant_by
from kumamigrate.targetref.route import Destination, RealResource, ServiceTag
from kumamigrate.universe.askedservices import backend_refs
from kumamigrate.universe.backend import called, written_outbounds
from kumamigrate.universe.side import ROUTES, Side
from kumamigrate.universe.traffic import successors

_BY_STATUS = ("MeshService",)
"""What 3.0 calls with TLS or without, as its Dataplanes have certificates."""
_SOME = "zone"


def plaintext_doubts(before: Side, after: Side, was: Resource) -> Iterator[Doubt]:
    """Yield what a proxy sends so: by its outbounds, and by the routes that reach it."""
    if not is_last_step(before, after) or before.certified(was) is False:
        return
    written = written_outbounds(before, was)
    called_by = {one.destination for one in (written or {}).values()}
    routes = [
        policy
        for kind in (ROUTES if written != {} else ())
        if kind in before.types
        for policy in before.selection(was, kind).policies
    ]
    led_to = {one for policy in routes for one in _led_to(before, policy)}
    mine = {o.kri.of_section("") for o in called_by | led_to if isinstance(o, RealResource)}
    yield from _no_longer(before, after, before.real if written is None else mine)
    if not has_mtls(before.state, before.mesh):
        for service in _tags(called_by):
            yield from _doubt(after, f"{was.name} calls {service}", service)
        yield from _of_routes(before, after, routes)


def unheld_plaintext_doubts(before: Side, after: Side) -> Iterator[Doubt]:
    """Yield the same of proxies that the states do not hold."""
    if is_last_step(before, after) and _gives(before):
        yield from _no_longer(before, after, before.real)
        if not has_mtls(before.state, before.mesh):
            yield from _of_routes(before, after, before.state.of_type(*ROUTES))


def unnamed_doubts(before: Side, after: Side) -> Iterator[Doubt]:
    """Yield the Dataplanes whose certificates have a name that nobody knows: 2.x has clients see
    that it is another one, which 3.0 does not."""
    if not is_last_step(before, after):
        return
    zone = after.state.environment.zone or _SOME
    for proxy in after.state.of_type("Dataplane"):
        mine = proxy.mesh == after.mesh and not proxy.labels.get(NAMESPACE)
        holder = holder_of(proxy, after.state) if mine else None
        if holder is not None and spiffe_id(holder.identity, proxy, zone) is None:
            yield Doubt(
                DoubtKind.RELEASE,
                f"the id that MeshIdentity {holder.identity.name} gives to {proxy.name} is made of"
                " a label that it has not; give it the label",
            )


def _no_longer(before: Side, after: Side, called_by: Iterable[Kri]) -> Iterator[Doubt]:
    """Yield the services that are called with TLS and may not be any more."""
    mode, identities = mode_of(after.state, after.mesh), identities_of(after.state, after.mesh)
    ready = all(is_ready(one, mode) for one in identities)
    wanted = [match_labels(one) for one in identities if ready]
    if {} in wanted:
        return
    for kri in sorted(called_by, key=str):
        service = after.real.get(kri)
        if service is None or service.made_up or service.type not in _BY_STATUS:
            continue
        labels = _labels_of(service).items()
        if kri in before.real and not any(w is not None and w.items() <= labels for w in wanted):
            yield Doubt(
                DoubtKind.RELEASE,
                f"{before.release.name} calls {service.type} {called(RealResource(kri))} with TLS"
                " from wherever a MeshIdentity gives a certificate, and release"
                f" {after.release.name} in plain text where Dataplanes of the service have none",
            )


def _led_to(before: Side, policy: Resource) -> Iterator[Destination]:
    for ref in backend_refs(policy.spec.get("to")):
        found = meant_by(before.places, ref, policy)
        yield from (found.destination, *found.instead) if found.destination is not None else ()


def _tags(destinations: Iterable[Destination]) -> list[str]:
    return sorted({one.service for one in destinations if isinstance(one, ServiceTag)})


def _of_routes(before: Side, after: Side, policies: Iterable[Resource]) -> Iterator[Doubt]:
    for policy in policies:
        for service in _tags(_led_to(before, policy)):
            yield from _doubt(after, f"{policy.type} {policy.name} leads to {service}", service)


def _doubt(after: Side, does: str, service: str) -> Iterator[Doubt]:
    if not _stays_plain(after, service):
        yield Doubt(
            DoubtKind.RELEASE,
            f"{does} by its tag in plain text, and release {after.release.name} encrypts it where"
            " the Dataplanes of the service have certificates as well",
        )


def _stays_plain(after: Side, service: str) -> bool:
    """Whether no MeshIdentity can select a Dataplane of what takes the place of a service tag."""
    kris = {one.kri.of_section("") for one in successors(after, service)}
    labels = [_labels_of(after.real[kri]) for kri in kris]
    wanted = [match_labels(one) for one in identities_of(after.state, after.mesh)]
    return bool(kris) and all(
        one is None or _are_apart(one, mine) for one in wanted for mine in labels
    )


def _labels_of(service: Resource) -> Mapping[str, Any]:
    """Return the labels by which a MeshService chooses Dataplanes."""
    chosen = mapping(mapping(service.spec.get("selector")).get("dataplaneLabels"))
    return mapping(chosen.get("matchLabels"))


def _are_apart(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether nobody has all of the labels of both."""
    return any(str(one[key]) != str(other[key]) for key in one.keys() & other.keys())


def _gives(side: Side) -> bool:
    """Whether somebody may have a certificate of a MeshIdentity."""
    mode = mode_of(side.state, side.mesh)
    return any(
        match_labels(one) is not None and is_ready(one, mode) is not False
        for one in identities_of(side.state, side.mesh)
    )
