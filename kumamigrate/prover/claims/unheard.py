"""What a release reads and the one after it does not, so that nobody can compare it (§5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.effective.unset import begins
from kumamigrate.model.kri import kri_of
from kumamigrate.model.kubernetes.workloads import implied_dataplanes
from kumamigrate.model.meshservices import generated_services
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import mesh_services_mode
from kumamigrate.prover.claims.laststep import at_dotted, is_last_step, table
from kumamigrate.prover.claims.reached import reach_doubts
from kumamigrate.prover.gateway import is_builtin
from kumamigrate.prover.workload import (
    changed_note_doubts,
)
from kumamigrate.targetref.route import RealResource
from kumamigrate.universe.backend import called
from kumamigrate.universe.dataplaneparts import inbounds_of, networking
from kumamigrate.universe.side import Side

GATEWAYS = ("MeshGateway", "MeshGatewayRoute")
"""Kinds that go with the built-in gateways, and that no other proxy reads."""


def upgrade_doubts(before: Side, after: Side) -> Iterator[Doubt]:
    """Yield what the earlier release read and the later one does not, and nobody compares."""
    yield from _half_dead(before, after)
    if not is_last_step(before, after):
        return
    for mesh in before.state.of_type("Mesh"):
        for path, said in table()["mesh"].items():
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
    for kind in (k for k in table()["gone"] if k not in GATEWAYS):
        yield from _gone(before, after, kind)


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
        advice = table()["gone"][kind]
        yield Doubt(
            DoubtKind.RELEASE,
            f"release {after.release.name} has no {kind} ({resource.name}); {advice}",
        )


def upgrade_gateway_doubts(before: Side, after: Side) -> Iterator[Doubt]:
    """Yield what goes with built-in gateways, and concerns no other proxy."""
    if not is_last_step(before, after):
        return
    for kind in GATEWAYS:
        yield from _gone(before, after, kind)
    for proxy in filter(is_builtin, before.state.of_type("Dataplane")):
        advice = table()["gone"]["MeshGateway"]
        yield Doubt(
            DoubtKind.RELEASE,
            f"release {after.release.name} has no built-in gateways ({proxy.name}); {advice}",
        )


def upgrade_proxy_doubts(
    before: Side, after: Side, was: Resource, now: Resource
) -> Iterator[Doubt]:
    """Yield what a Dataplane says that the later release does not read."""
    if is_last_step(before, after):
        yield from _unread_of(after, was, now)
        yield from reach_doubts(before, after, was, now)
        yield from _share_a_port(before, after, was)


def _share_a_port(before: Side, after: Side, was: Resource) -> Iterator[Doubt]:
    """Yield the ports of an application that inbounds reach at several addresses: one cluster for
    all of them, and then one for each (asked of 2.14 and 3.0)."""
    places: dict[Any, set[Any]] = {}
    for inbound in inbounds_of(was):
        at = inbound.get("serviceAddress") or inbound.get("address")
        port = inbound.get("servicePort") or inbound.get("port")
        places.setdefault(port, set()).add(at or networking(was).get("address"))
    for port in (port for port, found in places.items() if len(found) > 1):
        yield Doubt(
            DoubtKind.RELEASE,
            f"inbounds of {was.name} lead to port {port} at several addresses:"
            f" {before.release.name} sends all of it to one, {after.release.name} to each its own",
        )


def upgrade_workload_doubts(before: Side, after: Side) -> Iterator[Doubt]:
    """Yield what Pods no longer say, or what the later release does not read of them: it concerns
    those Pods."""
    ends = is_last_step(before, after)
    pods = {r.identity: r for r in implied_dataplanes(after.state, after.mesh)}
    for pod in implied_dataplanes(before.state, before.mesh):
        now = pods.get(pod.identity)
        notes = now.annotations if now is not None else {}
        if now is not None:
            yield from changed_note_doubts(pod, now, _reworded() if ends else frozenset())
        for name, said in table()["annotations"].items() if ends else ():
            if _counts(pod.annotations.get(name), said) and said.get("instead") not in notes:
                yield _not_read(after, f"annotation {name} of workload {pod.name}", said)


@cache
def _reworded() -> frozenset[str]:
    """Return the annotations that the later release does not read, and what takes their place."""
    known = table()["annotations"]
    unread = (name for name, said in known.items() if "only" not in said)
    return frozenset((*unread, *(said["instead"] for said in known.values() if "instead" in said)))


def _unread(before: Side, after: Side) -> Iterator[Doubt]:
    """Yield what services say that the later release does not read."""
    for kind in table()["unread"]:
        if kind == "Dataplane":
            continue
        later = {r.identity: r for r in after.state.of_type(kind)}
        for resource in before.state.of_type(kind):
            yield from _unread_of(after, resource, later.get(resource.identity))


def _unread_of(after: Side, was: Resource, now: Resource | None) -> Iterator[Doubt]:
    for path, said in table()["unread"][was.type].items():
        new = at_dotted(now.spec, said.get("instead", "")) if now is not None else None
        if _counts(at_dotted(was.spec, path), said) and new is None:
            yield _not_read(after, f"{path} of {was.type} {was.name}", said)


def _counts(value: Any, said: Mapping[str, Any]) -> bool:
    if not value or value in (said.get("harmless"), [said.get("harmless")]):
        return False
    return "only" not in said or str(value).lower() == said["only"].lower()


def _not_read(after: Side, what: str, said: Mapping[str, Any]) -> Doubt:
    return Doubt(
        DoubtKind.RELEASE, f"release {after.release.name} does not read {what}; {said['advice']}"
    )


def _meshes(side: Side) -> Iterator[Resource]:
    return side.state.of_type("Mesh")


def _says(mesh: Resource, path: str, when: Any) -> bool:
    value = at_dotted(mesh.spec, path)
    return bool(value) if when == "set" else value is when
