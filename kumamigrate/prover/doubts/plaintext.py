"""What proxies with certificates of a MeshIdentity send in plain text, by service tags.

Such a certificate is for real resources alone: where a release ends what goes by tags, what takes
its place encrypts, if the Dataplanes of the service have certificates as well (asked of 2.14 and
3.0).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.model.identity import IDENTITY, has_mtls, match_labels
from kumamigrate.model.resource import Resource, mapping
from kumamigrate.prover.claims.laststep import is_last_step
from kumamigrate.targetref.backendref import meant_by
from kumamigrate.targetref.route import ServiceTag
from kumamigrate.universe.askedservices import backend_refs
from kumamigrate.universe.backend import written_outbounds
from kumamigrate.universe.side import ROUTES, Side
from kumamigrate.universe.traffic import successors


def plaintext_doubts(before: Side, after: Side, was: Resource) -> Iterator[Doubt]:
    """Yield what a proxy sends so: its outbounds, and the routes that reach it."""
    if not _ends(before, after) or before.certified(was) is False:
        return
    written = written_outbounds(before, was)
    called_by = (one.destination for one in (written or {}).values())
    for service in sorted({one.service for one in called_by if isinstance(one, ServiceTag)}):
        yield from _doubt(after, f"{was.name} calls {service}", service)
    for kind in ROUTES:
        if kind in before.types and (written or written is None):
            for policy in before.selection(was, kind).policies:
                yield from _of_route(before, after, policy)


def unheld_plaintext_doubts(before: Side, after: Side) -> Iterator[Doubt]:
    """Yield what routes make proxies send so that the states do not hold."""
    if _ends(before, after) and _identities(before):
        for policy in before.state.of_type(*ROUTES):
            yield from _of_route(before, after, policy)


def _ends(before: Side, after: Side) -> bool:
    return is_last_step(before, after) and not has_mtls(before.state, before.mesh)


def _of_route(before: Side, after: Side, policy: Resource) -> Iterator[Doubt]:
    meant = (meant_by(before.places, ref, policy) for ref in backend_refs(policy.spec.get("to")))
    services = {one.destination.service for one in meant if isinstance(one.destination, ServiceTag)}
    for service in sorted(services):
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
    own = [mapping(after.real[kri].spec.get("selector")).get("dataplaneLabels") for kri in kris]
    labels = [mapping(mapping(one).get("matchLabels")) for one in own]
    wanted = [match_labels(one) for one in _identities(after)]
    return bool(kris) and all(
        one is None or _are_apart(one, mine) for one in wanted for mine in labels
    )


def _are_apart(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether nobody has all of the labels of both."""
    return any(str(one[key]) != str(other[key]) for key in one.keys() & other.keys())


def _identities(side: Side) -> list[Resource]:
    return [one for one in side.state.of_type(IDENTITY) if one.mesh == side.mesh]
