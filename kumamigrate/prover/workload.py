"""Proxies of Kubernetes workloads: what Pods, Services and Namespaces make of them (§5).

A repository holds these instead of Dataplanes. A workload that comes or goes is no change of a
proxy; one that both sides have and that is no longer what it was is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.effective.difference import Witness
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.model.kinds import WORKLOADS
from kumamigrate.model.kubernetes.pods import injects, mesh_of_namespace
from kumamigrate.model.kubernetes.workloads import implied_dataplanes, possible_dataplanes
from kumamigrate.model.resource import MESH, SERVICE, Resource, mapping
from kumamigrate.prover.nonpolicy import dataplane_differences
from kumamigrate.targetref.backendref import ports_of
from kumamigrate.universe.dataplaneparts import inbounds_of, networking
from kumamigrate.universe.endpoints import PROTOCOL
from kumamigrate.universe.side import Side

Key = tuple[str, str]
"""Namespace and name."""

_MODELLED = frozenset({MESH, "kuma.io/sidecar-injection"})
_WORDS = {"yes": "true", "enabled": "true", "no": "false", "disabled": "false"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A workload on both sides; None where it has no proxy. `sure`: it is known to have one."""

    key: Key
    was: Resource | None
    now: Resource | None
    sure: bool


def changed_workloads(
    before: Side, after: Side, said: Callable[[Resource | None], Any] | None = None
) -> Iterator[Workload]:
    """Yield the workloads that both sides have and that are no longer what they were, or of whose
    Dataplanes something else is `said`.

    One that only one side has in this mesh counts, too, unless the workload itself comes or goes.
    """
    said = _said if said is None else said
    sides = (before, after)
    there = [
        {(r.namespace, r.name) for r in side.state.of_type(*sorted(WORKLOADS))} for side in sides
    ]
    listed = {(r.namespace, r.name) for side in sides for r in side.state.of_type("Dataplane")}
    sure = [_by_key(implied_dataplanes(side.state, side.mesh)) for side in sides]
    maybe = [_by_key(possible_dataplanes(side.state, side.mesh)) for side in sides]
    for key in dict.fromkeys(key for found in (*sure, *maybe) for key in found):
        known = key in sure[0] or key in sure[1]
        was, now = (found.get(key) for found in (sure if known else maybe))
        if key in there[0] & there[1] - listed and said(was) != said(now):
            yield Workload(key=key, was=was, now=now, sure=known)


def workload_differences(
    was: Resource, now: Resource, mesh: str, tags: frozenset[str], labels: frozenset[str]
) -> Iterator[Witness]:
    """Yield what differs in the Dataplane that a workload makes: its inbounds, who finds them.

    Of `tags` and `labels` those count by which something is chosen.
    """
    old, new = (replace(d, spec={"networking": _made(d, tags)}) for d in (was, now))
    yield from dataplane_differences(mesh, old, new, labels)


def note_doubts(one: Workload) -> Iterator[Doubt]:
    """Yield a doubt for each annotation of Kuma's that changed: none of them is modelled."""
    if one.was is not None and one.now is not None:
        yield from changed_note_doubts(one.was, one.now)


def changed_note_doubts(
    was: Resource, now: Resource, besides: frozenset[str] = frozenset()
) -> Iterator[Doubt]:
    """Yield a doubt for each annotation of Kuma's that changed, but for some."""
    for name in _changed(_notes(was), _notes(now)):
        if name not in besides:
            yield Doubt(
                DoubtKind.WORKLOAD,
                f"annotation {name} of workload {was.name} changed; see by hand what it does",
            )


def unsure(one: Workload) -> Doubt:
    """Return the doubt about a workload of which nothing tells whether it has a proxy."""
    return Doubt(
        DoubtKind.WORKLOAD,
        f"workload {one.key[1]} changed, and whether its Pods have a sidecar is not known; add"
        f" Namespace {one.key[0]}",
    )


def workload_doubts(before: Side, after: Side) -> Iterator[Doubt]:
    """Yield what changed for Pods that neither side holds."""
    yield from namespace_doubts(before, after)
    yield from _service_doubts(before, after)


def namespace_doubts(before: Side, after: Side) -> Iterator[Doubt]:
    """Yield the Namespaces whose Pods join another mesh, or one at all, or none any more."""
    old, new = _homes(before), _homes(after)
    for name in sorted(old.keys() & new.keys()):
        if old[name] != new[name] and before.mesh in (old[name], new[name]):
            yield Doubt(
                DoubtKind.WORKLOAD,
                f"Namespace {name} sends its Pods elsewhere; what they are is not compared",
            )


def _homes(side: Side) -> dict[str, str]:
    """Return by Namespace the mesh of its Pods; empty where it injects no sidecars."""
    release = side.state.release
    return {
        one.name: mesh_of_namespace(one, release) if injects(one) else ""
        for one in side.state.of_type("Namespace")
    }


def _service_doubts(before: Side, after: Side) -> Iterator[Doubt]:
    sides = (before, after)
    homes = [_homes(side) for side in sides]
    services = [_by_key(side.state.of_type("Service")) for side in sides]
    pods = [
        proxy
        for side in sides
        for find in (implied_dataplanes, possible_dataplanes)
        for proxy in find(side.state, side.mesh)
    ]
    for key in dict.fromkeys((*services[0], *services[1])):
        found = [one for one in (services[0].get(key), services[1].get(key)) if one is not None]
        if not any(one.spec.get("selector") for one in found) or not any(
            home.get(key[0], before.mesh) == before.mesh for home in homes
        ):
            continue
        notes = [_notes(one) for one in found]
        noted = len(notes) == 2 and bool(_changed(*notes))
        same = len(found) == 2 and _ports(found[0]) == _ports(found[1])
        if noted or (not same and not any(_selects(one, pod) for one in found for pod in pods)):
            yield Doubt(
                DoubtKind.WORKLOAD,
                f"Service {key[1]} of namespace {key[0]} changed, and which proxies it is for is"
                " not known; add the workloads, or compare by hand",
            )


def _by_key(found: Any) -> dict[Key, Resource]:
    return {(r.namespace, r.name): r for r in found}


def _said(proxy: Resource | None) -> Any:
    return proxy and (proxy.labels, proxy.spec, _notes(proxy))


def _made(proxy: Resource, tags: frozenset[str]) -> Mapping[str, Any]:
    """Return the networking of a Dataplane with the tags that something goes by."""
    kept = {SERVICE, PROTOCOL, *tags}
    inbounds = [
        {**i, "tags": {k: v for k, v in mapping(i.get("tags")).items() if k in kept}}
        for i in inbounds_of(proxy)
    ]
    gateway = mapping(networking(proxy).get("gateway"))
    own = {k: v for k, v in mapping(gateway.get("tags")).items() if k in kept}
    return {
        "inbound": sorted(inbounds, key=repr),
        **({"gateway": {**gateway, "tags": own}} if gateway else {}),
    }


def _notes(resource: Resource) -> dict[str, str]:
    """Return the annotations Kuma may read, yes and no in one spelling."""
    return {
        key: _WORDS.get(value, value)
        for key, value in resource.annotations.items()
        if "kuma.io/" in key
        and key not in _MODELLED
        and not key.endswith(".service.kuma.io/protocol")
    }


def _changed(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    return [key for key in sorted({*old, *new}) if old.get(key) != new.get(key)]


def _selects(service: Resource, proxy: Resource) -> bool:
    wanted = mapping(service.spec.get("selector"))
    return service.namespace == proxy.namespace and all(
        proxy.labels.get(str(key)) == str(value) for key, value in wanted.items()
    )


def _ports(service: Resource) -> Any:
    """Return what a Service says of inbounds."""
    noted = {k: v for k, v in service.annotations.items() if k.endswith("kuma.io/protocol")}
    read = ("port", "targetPort", "appProtocol", "protocol", "name")
    ports = [{k: port.get(k) for k in read} for port in ports_of(service.spec)]
    return service.spec.get("selector"), ports, noted
