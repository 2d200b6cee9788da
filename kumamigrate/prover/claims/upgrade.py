"""What differs after an upgrade in what both releases read, beside policies (§5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.effective.difference import Value, Witness
from kumamigrate.effective.unset import unset_differences
from kumamigrate.model.kri import Kri, kri_of
from kumamigrate.model.kubernetes.workloads import NAMED_SINCE, implied_dataplanes
from kumamigrate.model.meshservices import generated_services
from kumamigrate.model.protocols import HTTP_LIKE
from kumamigrate.model.resource import Resource, mapping
from kumamigrate.model.universalservices import WORKLOAD, is_universal
from kumamigrate.model.versions import at_least
from kumamigrate.prover.assumptions.subset_service import comes_for_share
from kumamigrate.prover.claims.laststep import is_last_step, table
from kumamigrate.prover.claims.reached import FIELDS, reach_differences
from kumamigrate.prover.nonpolicy import dataplane_differences, ground_differences
from kumamigrate.prover.workload import (
    Workload,
    changed_workloads,
    workload_differences,
)
from kumamigrate.targetref.backendref import DEFAULT_PROTOCOL
from kumamigrate.universe.answering import answered, workload_endpoints
from kumamigrate.universe.dataplaneparts import inbounds_of, networking
from kumamigrate.universe.endpoints import PROTOCOL
from kumamigrate.universe.side import Side

_KAFKA = "kafka"
_REACH = (*FIELDS, "directAccessServices")
"""What a Dataplane says of services that it reaches: see reached.py and unheard.py."""


def upgrade_differences(before: Side, after: Side, labels: frozenset[str]) -> Iterator[Witness]:
    """Yield differences in what both releases read of resources that are no policies.

    What the later one words differently is left out (tables/upgrade.json); the Mesh, of which it
    reads nothing, and the kinds it does not know are doubts.
    """
    yield from unset_differences(before, after)
    yield from _answered_by_others(before, after)
    if not is_last_step(before, after):
        yield from ground_differences(before, after, labels)
        return
    moved = table()["moved"]
    gone = table()["gone"]
    coming, by_tags = _coming(before), _by_tags(before)
    for witness in ground_differences(before, after, labels):
        if witness.policy_type == "Mesh" or witness.policy_type in gone:
            continue
        if comes_for_share(after, witness):
            continue
        if witness.before.value is None and (witness.policy_type, witness.destination) in coming:
            continue
        roots = moved.get(witness.policy_type, ())
        if witness.policy_type == "MeshService" and witness.destination in by_tags:
            roots = (*roots, "selector.dataplaneLabels")
        if not any(witness.field == root or witness.field.startswith(f"{root}.") for root in roots):
            yield witness


def _answered_by_others(before: Side, after: Side) -> Iterator[Witness]:
    """Yield the services for which other workloads answer, where both sides have both."""
    both = _workloads(before) & _workloads(after)
    old, new = _answering(before), _answering(after)
    for kri in sorted(old.keys() & new.keys()):
        was, now = (sorted(found[kri] & both) for found in (old, new))
        if was != now:
            name = f"{kri.name}.{kri.namespace}" if kri.namespace else kri.name
            yield Witness(
                mesh=before.mesh,
                proxy="",
                policy_type="MeshService",
                direction="mesh",
                destination=name,
                place=name,
                field="endpoints",
                before=Value(value=was),
                after=Value(value=now),
            )


def _workloads(side: Side) -> set[str]:
    return {_full_name(pod) for pod in implied_dataplanes(side.state, side.mesh)}


def _answering(side: Side) -> dict[Kri, set[str]]:
    """Return the workloads that answer for each MeshService."""
    found: dict[Kri, set[str]] = {kri_of(r): set() for r in side.state.of_type("MeshService")}
    for one in workload_endpoints(side):
        for kri in answered(side, one):
            if kri in found:
                found[kri].add(_full_name(one.proxy))
    return found


def _full_name(resource: Resource) -> str:
    return f"{resource.name}.{resource.namespace}" if resource.namespace else resource.name


def upgrade_dataplane_differences(
    before: Side, after: Side, was: Resource, now: Resource
) -> Iterator[Witness]:
    """Yield differences in what both releases read of a Dataplane: its addresses, its ports."""
    if is_last_step(before, after):
        yield from reach_differences(before, after, was, now)
        was, now = _in_common(was), _in_common(_made_of(now))
    yield from dataplane_differences(before.mesh, was, now, frozenset())


def upgraded_workloads(before: Side, after: Side) -> Iterator[Workload]:
    """Yield the workloads of which something both releases read is no longer what it was."""
    ends = is_last_step(before, after)

    def said(proxy: Resource | None) -> Any:
        if proxy is None:
            return None
        labels = {k: v for k, v in proxy.labels.items() if k != WORKLOAD}
        reach = mapping(networking(proxy).get("transparentProxying"))
        one = _in_common(proxy) if ends else proxy
        return labels, _called_alike(one, before, after).spec, reach

    return changed_workloads(before, after, said)


def upgrade_workload_differences(
    before: Side, after: Side, was: Resource, now: Resource, tags: frozenset[str]
) -> Iterator[Witness]:
    """Yield differences in what both releases read of the Dataplane that a workload makes."""
    old, new = (_called_alike(proxy, before, after) for proxy in (was, now))
    if is_last_step(before, after):
        yield from upgrade_dataplane_differences(before, after, old, new)
    else:
        yield from workload_differences(old, new, before.mesh, tags, frozenset())


def _called_alike(proxy: Resource, before: Side, after: Side) -> Resource:
    """Return a Dataplane made of a Pod without what only one of the releases writes into it.

    Where several Services select a Pod by one port, 2.14 writes an inbound for each, and Envoy
    gets the listener of the last; 3.0 writes the first alone (asked of both, on Kubernetes).
    """
    listed = inbounds_of(proxy)
    if is_last_step(before, after):
        listed = _last_of_each(listed, lambda one: one.get("port"))
    inbounds = [dict(inbound) for inbound in listed]
    for inbound in inbounds:
        tags = mapping(inbound.get("tags"))
        inbound.setdefault("protocol", tags.get(PROTOCOL, DEFAULT_PROTOCOL))
        if before.release != after.release and not at_least(before.state.release, NAMED_SINCE):
            inbound.pop("name", None)
    net = {**networking(proxy), **({"inbound": inbounds} if inbounds else {})}
    return replace(proxy, spec={**proxy.spec, "networking": net})


def _made_of(dataplane: Resource) -> Resource:
    """Return a Dataplane with what a release makes of its inbounds that reads no tags.

    Those without a `protocol` carry TCP, and of several of one name the last is there. On
    Kubernetes a control plane writes them.
    """
    if not is_universal(dataplane):
        return dataplane
    named = _last_of_each(inbounds_of(dataplane), lambda one: one.get("name") or one.get("port"))
    inbounds = [*map(_spoken, named)]
    net = {**networking(dataplane), **({"inbound": inbounds} if inbounds else {})}
    return replace(dataplane, spec={**dataplane.spec, "networking": net})


def _last_of_each(
    inbounds: Iterable[Mapping[str, Any]], key: Callable[[Mapping[str, Any]], Any]
) -> list[Mapping[str, Any]]:
    """Return the last of the inbounds with one key, each where the first of them stands."""
    return list({str(key(one)): one for one in inbounds}.values())


def _spoken(inbound: Mapping[str, Any]) -> Mapping[str, Any]:
    by_tag = mapping(inbound.get("tags")).get(PROTOCOL)
    if inbound.get("protocol") or by_tag not in (*HTTP_LIKE, _KAFKA):
        return inbound  # to an inbound any other is TCP as well
    return {**inbound, "protocol": DEFAULT_PROTOCOL}


def _in_common(dataplane: Resource) -> Resource:
    """Return a Dataplane without what the later release words in another way, or not at all."""
    net = {k: v for k, v in networking(dataplane).items() if k != "gateway"}
    if isinstance(net.get("inbound"), list):
        net["inbound"] = [_without_tags(inbound) for inbound in net["inbound"]]
    transparent = net.get("transparentProxying")
    if isinstance(transparent, Mapping):
        kept = {k: v for k, v in transparent.items() if k not in _REACH}
        net["transparentProxying"] = kept
        if dataplane.made_up and not kept:
            del net["transparentProxying"]  # of a Pod nobody knows the rest
    spec = {k: v for k, v in dataplane.spec.items() if k not in ("metrics", "probes")}
    return replace(dataplane, spec={**spec, "networking": net})


def _without_tags(inbound: Any) -> Any:
    if not isinstance(inbound, Mapping):
        return inbound
    spoken = inbound.get("protocol") or mapping(inbound.get("tags")).get(PROTOCOL)
    kept = {k: v for k, v in inbound.items() if k != "tags"}
    return {**kept, "protocol": spoken or DEFAULT_PROTOCOL}


def _by_tags(side: Side) -> set[str]:
    """Return the MeshServices that choose by tags, for which the later release wants labels."""
    return {
        _full_name(r)
        for r in side.state.of_type("MeshService")
        if "dataplaneTags" in mapping(r.spec.get("selector"))
    }


def _coming(before: Side) -> set[tuple[str, str]]:
    """Return the services that the later release generates where mode Disabled had none.

    What they stand for has service-tag outbounds before, with which they are compared.
    """
    made = generated_services(before.state, switched=True)
    names = (f"{r.name}.{r.namespace}" if r.namespace else r.name for r in made)
    return {("MeshService", name) for name in names}
