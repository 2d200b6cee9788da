"""Inbounds that share a port: on 2.x what a policy adds to one is added for each (asked of 2.14).

Several Services that select a Pod by one port make several inbounds of it, and one listener. It
writes each line of a MeshAccessLog once for each inbound. Of a MeshFaultInjection it has the
faults of `from` once for each inbound, those of `rules` once for each pair of them, those of
an old FaultInjection once. From 3.0 on a Pod has one inbound for each port. The other policies set
what one listener has once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.model.kubernetes.workloads import implied_dataplanes
from kumamigrate.model.resource import Resource
from kumamigrate.prover.claimed import LIVE, RELEASE
from kumamigrate.prover.claims.laststep import is_last_step
from kumamigrate.universe.dataplaneparts import inbounds_of
from kumamigrate.universe.side import Side

_LOGS, _FAULTS = "MeshAccessLog", "MeshFaultInjection"
_ADDED = {_LOGS, _FAULTS}
_INBOUND = ("from", "rules")


def workload_port_doubts(before: Side, after: Side, claim: str) -> Iterator[Doubt]:
    """Yield what is not known of Pods that several Services select by one port."""
    later = {r.identity: r for r in implied_dataplanes(after.state, after.mesh)}
    for pod in implied_dataplanes(before.state, before.mesh):
        now = later.get(pod.identity)
        if now is not None:
            yield from port_doubts(before, after, claim, pod, now)


def port_doubts(
    before: Side, after: Side, claim: str, was: Resource, now: Resource
) -> Iterator[Doubt]:
    """Yield the policies that act otherwise where inbounds of a proxy share a port."""
    if not before.release.subset_rules or not _ADDED & (before.types | after.types):
        return
    ports = ", ".join(_shared_ports(was))
    if not ports:
        return
    if claim == RELEASE and is_last_step(before, after):
        acting = [kind for kind in (_LOGS, _FAULTS) if _forms(before, was, kind)]
        if acting:
            yield Doubt(
                DoubtKind.WORKLOAD,
                f"several inbounds of {was.name} share port {ports}: policies of"
                f" {' and '.join(acting)} act there once for each on {before.release.name}, and"
                f" once on {after.release.name}; let one Service select the Pod, or see by hand",
                concerns=acting[0],
            )
    elif claim == LIVE and _forms(before, was, _FAULTS) != _forms(after, now, _FAULTS):
        yield Doubt(
            DoubtKind.WORKLOAD,
            f"several inbounds of {was.name} share port {ports}: a MeshFaultInjection acts more"
            " than once there, by `rules` more often than by `from`; let one Service select the"
            " Pod, or see by hand",
            concerns=_FAULTS,
        )


def _shared_ports(proxy: Resource) -> list[str]:
    places = Counter((one.get("address"), one.get("port")) for one in inbounds_of(proxy))
    return sorted({str(port) for (_, port), times in places.items() if times > 1})


def _forms(side: Side, proxy: Resource, policy_type: str) -> frozenset[str]:
    """Return in which forms policies of a type that reach a proxy say something of inbounds."""
    if policy_type not in side.types:
        return frozenset()
    reaching = side.selection(proxy, policy_type).policies
    return frozenset(form for policy in reaching for form in _INBOUND if policy.spec.get(form))
