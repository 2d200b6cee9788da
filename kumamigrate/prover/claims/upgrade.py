"""What an upgrade itself changes beside policies: what a later release no longer reads (§5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.effective.difference import Value, Witness
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.effective.unset import begins, unset_differences
from kumamigrate.model.kri import Kri, kri_of
from kumamigrate.model.kubernetes.workloads import NAMED_SINCE, implied_dataplanes
from kumamigrate.model.meshservices import generated_services
from kumamigrate.model.packed import packed
from kumamigrate.model.resource import Resource, mapping
from kumamigrate.model.state import mesh_services_mode
from kumamigrate.model.universalservices import WORKLOAD
from kumamigrate.model.versions import at_least
from kumamigrate.prover.assumptions.subset_service import comes_for_share
from kumamigrate.prover.claims.reached import FIELDS, reach_differences, reach_doubts
from kumamigrate.prover.gateway import is_builtin
from kumamigrate.prover.nonpolicy import dataplane_differences, ground_differences
from kumamigrate.prover.workload import (
    Workload,
    changed_note_doubts,
    changed_workloads,
    workload_differences,
)
from kumamigrate.targetref.backendref import DEFAULT_PROTOCOL
from kumamigrate.targetref.route import RealResource
from kumamigrate.universe.answering import answered, workload_endpoints
from kumamigrate.universe.backend import called
from kumamigrate.universe.endpoints import PROTOCOL
from kumamigrate.universe.side import Side, inbounds_of, networking

_REACH = (*FIELDS, "directAccessServices")
"""What a Dataplane says of services that it reaches: see reached.py and `_unread`."""
GATEWAYS = ("MeshGateway", "MeshGatewayRoute")
"""Kinds that go with the built-in gateways, and that no other proxy reads."""
_SERVICES = ("%KUMA_SOURCE_SERVICE%", "%KUMA_DESTINATION_SERVICE%")
"""What a log format writes where a line shall name services."""


def upgrade_differences(before: Side, after: Side, labels: frozenset[str]) -> Iterator[Witness]:
    """Yield differences in what both releases read of resources that are no policies.

    What the later one words differently is left out (tables/upgrade.json); the Mesh, of which it
    reads nothing, and the kinds it does not know are doubts.
    """
    yield from unset_differences(before, after)
    yield from _answered_by_others(before, after)
    if not _ends(before, after):
        yield from ground_differences(before, after, labels)
        return
    moved = _table()["moved"]
    gone = _table()["gone"]
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
    if _ends(before, after):
        yield from reach_differences(before, after, was, now)
        was, now = _in_common(was), _in_common(now)
    yield from dataplane_differences(before.mesh, was, now, frozenset())


def upgraded_workloads(before: Side, after: Side) -> Iterator[Workload]:
    """Yield the workloads of which something both releases read is no longer what it was."""
    ends = _ends(before, after)

    def said(proxy: Resource | None) -> Any:
        if proxy is None:
            return None
        labels = {k: v for k, v in proxy.labels.items() if k != WORKLOAD}
        reach = mapping(networking(proxy).get("transparentProxying"))
        one = _in_common(proxy) if ends else proxy
        return labels, _called_alike(one, before, after).spec, reach

    return changed_workloads(before, after, said)


def upgrade_workload_differences(
    before: Side, after: Side, one: Workload, tags: frozenset[str]
) -> Iterator[Witness]:
    """Yield differences in what both releases read of the Dataplane that a workload makes."""
    if one.was is None or one.now is None:
        return
    was, now = (_called_alike(proxy, before, after) for proxy in (one.was, one.now))
    if _ends(before, after):
        yield from upgrade_dataplane_differences(before, after, was, now)
    else:
        yield from workload_differences(was, now, before.mesh, tags, frozenset())


def _called_alike(proxy: Resource, before: Side, after: Side) -> Resource:
    """Return a Dataplane made of a Pod without what only one of the releases writes into it."""
    inbounds = [dict(inbound) for inbound in inbounds_of(proxy)]
    for inbound in inbounds:
        tags = mapping(inbound.get("tags"))
        inbound.setdefault("protocol", tags.get(PROTOCOL, DEFAULT_PROTOCOL))
        if before.release != after.release and not at_least(before.state.release, NAMED_SINCE):
            inbound.pop("name", None)
    net = {**networking(proxy), **({"inbound": inbounds} if inbounds else {})}
    return replace(proxy, spec={**proxy.spec, "networking": net})


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


def _never_made(before: Side, after: Side) -> Iterator[Doubt]:
    """Yield the services that mode Disabled has by tag, and of which the later release makes no
    real one: it refuses what would come of them, or looks for another label."""
    if mesh_services_mode(before.state, before.mesh) != "Disabled":
        return
    held = [one for one in before.state.resources if not one.made_up]
    come = generated_services(replace(before.state, resources=tuple(held)), switched=True)
    there = {
        called(RealResource(kri_of(r))) for r in after.state.of_type("MeshService") if not r.made_up
    }
    for name in sorted(
        {called(RealResource(kri_of(one))) for one in come if one.mesh == before.mesh} - there
    ):
        yield Doubt(
            DoubtKind.RELEASE,
            f"release {after.release.name} makes no MeshService of {name}, which proxies reach by"
            " its service tag: it refuses the protocol, or finds no label kuma.io/workload",
        )


def _coming(before: Side) -> set[tuple[str, str]]:
    """Return the services that the later release generates where mode Disabled had none.

    What they stand for has service-tag outbounds before, with which they are compared.
    """
    made = generated_services(before.state, switched=True)
    names = (f"{r.name}.{r.namespace}" if r.namespace else r.name for r in made)
    return {("MeshService", name) for name in names}


def upgrade_doubts(before: Side, after: Side) -> Iterator[Doubt]:
    """Yield what the earlier release read and the later one does not, and nobody compares."""
    yield from _half_dead(before, after)
    if not _ends(before, after):
        return
    for mesh in before.state.of_type("Mesh"):
        for path, said in _table()["mesh"].items():
            if _says(mesh, path, said["when"]) and not (
                said["compared"] and not any(_says(m, path, said["when"]) for m in _meshes(after))
            ):
                yield Doubt(
                    DoubtKind.RELEASE,
                    f"release {after.release.name} does not read {path} of Mesh {mesh.name};"
                    f" {said['advice']}",
                )
    yield from _unread(before, after)
    yield from _never_made(before, after)
    for kind in (k for k in _table()["gone"] if k not in GATEWAYS):
        yield from _gone(before, after, kind)


def _half_dead(before: Side, after: Side) -> Iterator[Doubt]:
    """Yield the old Timeouts of which the later release overrules half (legacy.md fact 6)."""
    if not begins(before, after) or not after.old.routed:
        return
    for policy in after.old.of("Timeout"):
        yield Doubt(
            DoubtKind.RELEASE,
            f"release {after.release.name} overrules what Timeout {policy.name} says of connecting"
            " and of idle connections; let a MeshTimeout say it before the upgrade",
        )


def _gone(before: Side, after: Side, kind: str) -> Iterator[Doubt]:
    for resource in before.state.of_type(kind):
        advice = _table()["gone"][kind]
        yield Doubt(
            DoubtKind.RELEASE,
            f"release {after.release.name} has no {kind} ({resource.name}); {advice}",
        )


def upgrade_gateway_doubts(before: Side, after: Side) -> Iterator[Doubt]:
    """Yield what goes with built-in gateways, and concerns no other proxy."""
    if not _ends(before, after):
        return
    for kind in GATEWAYS:
        yield from _gone(before, after, kind)
    for proxy in filter(is_builtin, before.state.of_type("Dataplane")):
        advice = _table()["gone"]["MeshGateway"]
        yield Doubt(
            DoubtKind.RELEASE,
            f"release {after.release.name} has no built-in gateways ({proxy.name}); {advice}",
        )


def upgrade_notes(before: Side, after: Side) -> Iterator[str]:
    """Yield what the upgrade changes by itself and no manifest can keep as it was."""
    if not _ends(before, after):
        return
    for policy in after.state.of_type("MeshHealthCheck"):
        if any(_at(item, "default.http") is not None for item in policy.spec.get("to") or ()):
            yield (
                f"probes of MeshHealthCheck {policy.name} send the labels of a proxy in x-kuma-tags"
                f" from release {after.release.name} on, where {before.release.name} sends its tags"
            )
    for policy in after.state.of_type("MeshAccessLog"):
        if any(map(_names_services, _logged(policy.spec))):
            yield (
                f"access logs of MeshAccessLog {policy.name} name a proxy by its kuma.io/workload,"
                f" or `unknown`, and a named inbound as `kri_dp_…` from release"
                f" {after.release.name} on, where {before.release.name} writes its kuma.io/service"
            )
    by_tag = mesh_services_mode(before.state, before.mesh) != "Exclusive"
    if by_tag and not any(map(_times_all, after.state.of_type("MeshTimeout"))):
        yield (
            f"where no MeshTimeout is about a service, a request by its tag has no time limit on"
            f" {before.release.name} and release {after.release.name} gives it 15s (idle streams"
            " 30m); one to kind Mesh that says both decides it"
        )
    if next(after.state.of_type("MeshFaultInjection"), None) is not None:
        yield (
            f"requests carry the labels of a proxy in x-kuma-tags from release {after.release.name}"
            f" on, where {before.release.name} sends its tags"
        )


def _times_all(timeout: Resource) -> bool:
    """Say whether a MeshTimeout is about all traffic that every proxy sends."""
    top = mapping(timeout.spec.get("targetRef"))
    about = (_at(item, "targetRef.kind") for item in timeout.spec.get("to") or ())
    return top.keys() <= {"kind"} and top.get("kind", "Mesh") == "Mesh" and "Mesh" in about


def _logged(spec: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the backends of a MeshAccessLog."""
    for section in ("to", "from", "rules"):
        for item in spec.get(section) or ():
            yield from _at(item, "default.backends") or ()


def _names_services(backend: Any) -> bool:
    """Say whether a line of a log names services, which the default formats do as well."""
    for block in ("file", "tcp"):
        said = _at(backend, block)
        if isinstance(said, Mapping):
            return _is_default(said.get("format")) or _is_in(said, _SERVICES)
    otel = _at(backend, "openTelemetry")
    return isinstance(otel, Mapping) and (not otel.get("body") or _is_in(otel, _SERVICES))


def _is_default(form: Any) -> bool:
    return not _at(form, "plain") and not _at(form, "json")


def _is_in(value: Any, words: tuple[str, ...]) -> bool:
    """Say whether one of some words stands in a value, however deep."""
    if isinstance(value, Mapping):
        return any(_is_in(inner, words) for inner in value.values())
    if isinstance(value, list):
        return any(_is_in(inner, words) for inner in value)
    return isinstance(value, str) and any(word in value for word in words)


def upgrade_proxy_doubts(
    before: Side, after: Side, was: Resource, now: Resource
) -> Iterator[Doubt]:
    """Yield what a Dataplane says that the later release does not read."""
    if _ends(before, after):
        yield from _unread_of(after, was, now)
        yield from reach_doubts(before, after, was, now)


def upgrade_workload_doubts(before: Side, after: Side) -> Iterator[Doubt]:
    """Yield what Pods no longer say, or what the later release does not read of them: it concerns
    those Pods."""
    ends = _ends(before, after)
    pods = {r.identity: r for r in implied_dataplanes(after.state, after.mesh)}
    for pod in implied_dataplanes(before.state, before.mesh):
        now = pods.get(pod.identity)
        notes = now.annotations if now is not None else {}
        if now is not None:
            yield from changed_note_doubts(pod, now, _reworded() if ends else frozenset())
        for name, said in _table()["annotations"].items() if ends else ():
            if _counts(pod.annotations.get(name), said) and said.get("instead") not in notes:
                yield _not_read(after, f"annotation {name} of workload {pod.name}", said)


@cache
def _reworded() -> frozenset[str]:
    """Return the annotations that the later release does not read, and what takes their place."""
    table = _table()["annotations"]
    unread = (name for name, said in table.items() if "only" not in said)
    return frozenset((*unread, *(said["instead"] for said in table.values() if "instead" in said)))


def _unread(before: Side, after: Side) -> Iterator[Doubt]:
    """Yield what services say that the later release does not read."""
    for kind in _table()["unread"]:
        if kind == "Dataplane":
            continue
        later = {r.identity: r for r in after.state.of_type(kind)}
        for resource in before.state.of_type(kind):
            yield from _unread_of(after, resource, later.get(resource.identity))


def _unread_of(after: Side, was: Resource, now: Resource | None) -> Iterator[Doubt]:
    for path, said in _table()["unread"][was.type].items():
        new = _at(now.spec, said.get("instead", "")) if now is not None else None
        if _counts(_at(was.spec, path), said) and new is None:
            yield _not_read(after, f"{path} of {was.type} {was.name}", said)


def _counts(value: Any, said: Mapping[str, Any]) -> bool:
    if not value or value in (said.get("harmless"), [said.get("harmless")]):
        return False
    return "only" not in said or str(value).lower() == said["only"].lower()


def _not_read(after: Side, what: str, said: Mapping[str, Any]) -> Doubt:
    return Doubt(
        DoubtKind.RELEASE, f"release {after.release.name} does not read {what}; {said['advice']}"
    )


def _at(spec: Any, path: str) -> Any:
    """Return the value at a dotted path, None where there is none."""
    for key in path.split("."):
        spec = spec.get(key) if isinstance(spec, Mapping) else None
    return spec


def _meshes(side: Side) -> Iterator[Resource]:
    return side.state.of_type("Mesh")


def _ends(before: Side, after: Side) -> bool:
    """Whether the step is the one to a release of real resources and labels only."""
    return before.release.subset_rules and not after.release.subset_rules


def _says(mesh: Resource, path: str, when: Any) -> bool:
    value = _at(mesh.spec, path)
    return bool(value) if when == "set" else value is when


@cache
def _table() -> Mapping[str, Mapping[str, Any]]:
    found: Mapping[str, Mapping[str, Any]] = packed("prover/tables", "upgrade.json")
    return found
