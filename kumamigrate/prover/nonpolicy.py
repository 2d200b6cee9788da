"""What is no policy and yet configures proxies: Mesh, services, gateways, Dataplanes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Any

from kumamigrate.effective.changed import mode_moved, slots_of_mesh
from kumamigrate.effective.difference import Value, Witness
from kumamigrate.effective.mtlsmode import sent_by_clients
from kumamigrate.effective.reading import flat
from kumamigrate.model.kinds import ENTERPRISE_TOP, KUBERNETES, OLD_POLICIES
from kumamigrate.model.packed import packed
from kumamigrate.model.resource import DISPLAY_NAME, NAMESPACE, SERVICE, ZONE, Resource, mapping
from kumamigrate.model.state import State, mesh_services_mode
from kumamigrate.prover.doubts.identities import CERTIFICATES, mtls_went_unused
from kumamigrate.targetref.resolve import EXTERNAL, REAL
from kumamigrate.universe.dataplaneparts import networking
from kumamigrate.universe.side import Side

_SECRETS = ("Secret", "GlobalSecret")
_NAMES = "VirtualOutbound"
_SINK = "MeshOpenTelemetryBackend"
CALLED = (DISPLAY_NAME, NAMESPACE, ZONE)
"""Labels that clusters and routes of a real resource are called by, and clusters of a sink."""
_SILENT = KUBERNETES | {"DataplaneInsight", "MeshInsight", "ServiceInsight", "ZoneInsight"}


def ground_differences(before: Side, after: Side, labels: frozenset[str]) -> Iterator[Witness]:
    """Yield differences in resources that are neither policies nor Dataplanes, field by field.

    `labels` are those by which others choose. The mode of `Mesh.meshServices` is one of
    the differences: switching it changes every proxy. What a MeshIdentity says is compared by
    whom permissions let in, and so is what the Mesh says of mTLS where it gives no certificates.
    What slots of policies have of the Mesh is compared there.
    """
    left, right = _ground(before), _ground(after)
    unused = mtls_went_unused(before, after)
    elsewhere = slots_of_mesh(before, after)
    for key in dict.fromkeys((*left, *right)):
        was, now = left.get(key), right.get(key)
        old, new = _fields(was, labels), _fields(now, labels)
        if was is None or now is None:
            there = Value(value="present" if was is not None else None)
            then = Value(value="present" if now is not None else None)
            yield _witness(before.mesh, key, "", there, then)
            continue
        for field in sorted({*old, *new}):
            if unused and key[0] == "Mesh" and field.startswith("mtls."):
                continue
            if key[0] == "Mesh" and _is_below(field, elsewhere):
                continue
            if key[0] in ENTERPRISE_TOP and field.startswith("targetRef."):
                continue  # whom it is for nobody compares: that it changed is a doubt
            if old.get(field) != new.get(field):
                yield _witness(
                    before.mesh,
                    key,
                    field,
                    Value(value=_shown(was, old.get(field), "secret")),
                    Value(value=_shown(now, new.get(field), "another secret")),
                )


def sent_differences(before: Side, after: Side) -> Iterator[Witness]:
    """Yield what proxies send to services where the Mesh alone says so: no MeshTLS has a say."""
    was, now = (sent_by_clients(side.mesh_spec) for side in (before, after))
    if mode_moved(before, after) and was != now:
        yield Witness(
            mesh=before.mesh,
            proxy="",
            policy_type="MeshTLS",
            direction="outbound",
            field="sent",
            before=Value(value=was),
            after=Value(value=now),
        )


def _shown(resource: Resource, value: Any, instead: str) -> Any:
    """Return a value as a report may show it: what a Secret holds goes into no log."""
    hidden = resource.type in _SECRETS and value is not None
    return instead if hidden else value


def _ground(side: Side) -> dict[tuple[str, str, str], Resource]:
    silent = set(side.release.policy_types) | _policies_of(side) | _SILENT
    silent |= {"Dataplane", *CERTIFICATES}
    found = [r for r in side.state.resources if r.type not in silent]
    # What is made up may be called like what there is, which it must not hide.
    found.sort(key=lambda resource: not resource.made_up)
    return {(r.type, r.namespace, r.name): r for r in found}


def _policies_of(side: Side) -> frozenset[str]:
    """Return the old policies that are compared as policies.

    A VirtualOutbound is none: it makes names and outbounds by the tags of whatever Dataplanes
    there are, for every proxy that is transparent. In mode Exclusive nothing reads it.
    """
    if mesh_services_mode(side.state, side.mesh) == "Exclusive":
        return OLD_POLICIES
    return OLD_POLICIES - {_NAMES}


def _fields(resource: Resource | None, labels: frozenset[str]) -> Mapping[str, Any]:
    """Return the fields that some proxy may read, by dotted path (tables/unread.json).

    Of the labels those count by which others choose.
    """
    if resource is None:
        return {}
    fields = {**flat(resource.spec), **_labels(resource, labels)}
    unread = tuple(_unread().get(resource.type, ()))
    return {k: v for k, v in fields.items() if not _is_below(k, unread)}


def _is_below(field: str, roots: Collection[str]) -> bool:
    """Say whether a field is one of some, or below one."""
    return field in roots or field.startswith(tuple(f"{root}." for root in roots))


@cache
def _unread() -> Mapping[str, Mapping[str, str]]:
    found: Mapping[str, Mapping[str, str]] = packed("prover/tables", "unread.json")
    return found


def _witness(
    mesh: str, key: tuple[str, str, str], field: str, before: Value, after: Value
) -> Witness:
    kind, namespace, name = key
    called = f"{name}.{namespace}" if namespace else name
    return Witness(
        mesh=mesh,
        proxy="",
        policy_type=kind,
        direction="mesh",
        destination=called,
        place=called,
        field=field,
        before=before,
        after=after,
    )


def _labels(resource: Resource, chosen: frozenset[str]) -> dict[str, Any]:
    """Return the labels by which others choose, and those that a service is called by.

    All those of a MeshExternalService stand at its endpoint, where traffic may stay near by them.
    """
    sent = resource.labels.keys() - {SERVICE} if resource.type == EXTERNAL else chosen
    own = {key: value for key, value in resource.labels.items() if key in sent}
    if resource.type in (*REAL, _SINK):
        names = (resource.display_name, resource.namespace_label, resource.zone)
        own |= {key: name for key, name in zip(CALLED, names, strict=True) if name}
    return {f"labels.{key}": value for key, value in own.items()}


def dataplane_differences(
    mesh: str, was: Resource, now: Resource, labels: frozenset[str]
) -> Iterator[Witness]:
    """Yield differences in a Dataplane itself, its outbounds left out, and in some labels."""
    old, new = _without_outbounds(was), _without_outbounds(now)
    if old == new and was.labels == now.labels:
        return
    left, right = ({**flat(s), **_labels(d, labels)} for s, d in ((old, was), (new, now)))
    for field in sorted({*left, *right}):
        if left.get(field) != right.get(field):
            yield Witness(
                mesh=mesh,
                proxy="",
                policy_type="Dataplane",
                direction="proxy",
                place=was.name,
                field=field,
                before=Value(value=left.get(field)),
                after=Value(value=right.get(field)),
            )


def _without_outbounds(dataplane: Resource) -> Mapping[str, Any]:
    kept = {k: v for k, v in networking(dataplane).items() if k != "outbound"}
    inbounds = kept.get("inbound")
    if isinstance(inbounds, list):
        kept["inbound"] = [_with_protocol(inbound) for inbound in inbounds]
    return {**dataplane.spec, "networking": kept}


def _with_protocol(inbound: Any) -> Any:
    """Say the protocol of an inbound as a field too; its tag means the same."""
    protocol = mapping(mapping(inbound).get("tags")).get("kuma.io/protocol")
    return {"protocol": protocol, **inbound} if protocol else inbound


def dataplanes(state: State) -> dict[tuple[str, str], Resource]:
    """Return the Dataplanes by namespace and name."""
    return {(r.namespace, r.name): r for r in state.of_type("Dataplane")}
