"""FaultInjection → MeshFaultInjection: faults stack in the old engine, lists replace in the new.

So every class of inbounds names, for every class of clients, the whole list it meets (§1.7).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kumamigrate.effective.policies.meshfault import FAULT, GRPC_SINCE
from kumamigrate.model.resource import Resource
from kumamigrate.model.versions import at_least
from kumamigrate.rewrite.sourcedest.apart import in_parts, sharing, stays_too
from kumamigrate.rewrite.sourcedest.classes import Classes, WinnerClass, classes_by, prune
from kumamigrate.rewrite.sourcedest.conversion import Conversion, Dropped, Json, Manual, distinct
from kumamigrate.rewrite.sourcedest.intorstring import int_or_text
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.rewrite.sourcedest.newpolicies import PolicyDraft, emit
from kumamigrate.rewrite.sourcedest.notconverted import standstill
from kumamigrate.rewrite.sourcedest.wildcards import wildcard_notes
from kumamigrate.sourcedest.oldconf import differing, read_conf
from kumamigrate.sourcedest.order import CreationTie, merge_ties
from kumamigrate.sourcedest.proxy import PROTOCOL
from kumamigrate.sourcedest.selector import matches, selectors_of
from kumamigrate.sourcedest.winners import Listed, inbound_list

_UNITS = {"mbps": "Mbps", "gbps": "Gbps"}

Stack = tuple[Resource, ...]
"""Policies whose faults one request meets, in the old engine's order."""


def convert_fault_injection(world: KnownWorld) -> Conversion:
    """Return the MeshFaultInjections for the FaultInjections of a mesh."""
    return in_parts(world, _convert)


def _convert(world: KnownWorld, staying: Sequence[Resource]) -> Conversion:
    policies = world.old.of("FaultInjection")
    stopped = standstill(world, "FaultInjection", "MeshFaultInjection", policies, routed=False)
    if stopped is not None:
        return stopped
    targets = classes_by("destinations", policies, world)
    clients = classes_by("sources", policies, world)
    ties: list[CreationTie] = []
    groups = {item: _listed(item, world).policies for item in targets.classes}
    stuck = [p for p in policies if _grpc_too_early(p, world)]
    spread = sharing([*stuck, *staying], groups.values())
    stacks = {
        item: {} if any(p in spread for p in groups[item]) else _stacks(item, clients, world, ties)
        for item in targets.classes
    }
    values = {
        item: {client: [fault(p) for p in stack] for client, stack in row.items()}
        for item, row in stacks.items()
    }
    drafts = tuple(
        PolicyDraft(item=item, winners=_met(stacks[item]), from_=_from(prune(values[item])))
        for item in prune(values)
        if any(stacks[item].values())
    )
    return Conversion(
        kind="FaultInjection",
        mesh=world.mesh,
        target=world.target,
        policies=emit(
            world,
            "MeshFaultInjection",
            drafts,
            chosen_by="destinations",
            sidecar=True,
        ),
        dropped=_dropped([p for p in policies if p not in spread], drafts),
        manual=distinct(
            [
                *wildcard_notes(targets, policies, "destinations"),
                *wildcard_notes(clients, policies, "sources"),
                *(_limit_note(p) for p in policies if _renamed(p)),
                *(_grpc_note(p) for p in stuck),
                *(stays_too(p) for p in spread if p not in (*stuck, *staying)),
            ]
        ),
        ties=merge_ties(ties),
        steps=(
            "apply the MeshFaultInjections first: they do nothing while a FaultInjection matches"
            " the inbound, and take over when it is deleted",
        ),
    )


def _listed(item: WinnerClass, world: KnownWorld) -> Listed:
    return inbound_list(world.old.of("FaultInjection"), item.witness, world.old.ties)


def _stacks(
    item: WinnerClass, clients: Classes, world: KnownWorld, ties: list[CreationTie]
) -> dict[WinnerClass, Stack]:
    listed = _listed(item, world)
    result: dict[WinnerClass, Stack] = {}
    for client in clients.classes:
        met = tuple(
            p
            for p in listed.policies
            if any(matches(tags, client.witness) for tags in selectors_of(p.spec, "sources"))
        )
        result[client] = met
        if not listed.known and differing(met):
            ties.append(CreationTie(policies=distinct(met)))
    return result


def _met(stacks: dict[WinnerClass, Stack]) -> tuple[Resource, ...]:
    return distinct(policy for stack in stacks.values() for policy in stack)


def _from(values: dict[WinnerClass, list[Json]]) -> list[Json]:
    entries: list[Json] = []
    for client, faults in values.items():
        ref: Json = {"kind": "Mesh"}
        if client.tags:
            ref = {"kind": "MeshSubset", "tags": client.as_map}
        if faults:
            entries.append({"targetRef": ref, "default": {"http": faults}})
    return entries


def fault(policy: Resource) -> Json:
    """Return one element of a MeshFaultInjection's list for a FaultInjection."""
    conf = read_conf("FaultInjection", policy.spec)
    result: Json = {}
    if conf.get("delay"):
        delay = conf.get("delay")
        result["delay"] = {
            "percentage": int_or_text(delay["percentage"]),
            "value": str(delay["value"]),
        }
    if conf.get("abort"):
        abort = conf.get("abort")
        result["abort"] = {
            "percentage": int_or_text(abort["percentage"]),
            "httpStatus": abort["httpStatus"],
        }
    if conf.get("responseBandwidth"):
        band = conf.get("responseBandwidth")
        result["responseBandwidth"] = {
            "percentage": int_or_text(band["percentage"]),
            "limit": _limit(band["limit"]),
        }
    return result


def _limit(text: str) -> str:
    for old, new in _UNITS.items():
        text = text.replace(old, new)
    return text


def _renamed(policy: Resource) -> bool:
    limit = read_conf("FaultInjection", policy.spec).get("responseBandwidth", "limit")
    return limit is not None and _limit(limit) != limit


def _limit_note(policy: Resource) -> Manual:
    limit = read_conf("FaultInjection", policy.spec).get("responseBandwidth", "limit")
    return Manual(
        resource=policy,
        message=f"{limit} made the control plane fail for the proxies it matches;"
        f" as {_limit(limit)} it works",
        action="make sure that the limit is wanted",
        path=("conf", "responseBandwidth", "limit"),
        blocking=False,
    )


def _grpc_too_early(policy: Resource, world: KnownWorld) -> bool:
    grpc = any(t.get(PROTOCOL) == "grpc" for t in selectors_of(policy.spec, "destinations"))
    return grpc and not at_least(world.target, GRPC_SINCE)


def _grpc_note(policy: Resource) -> Manual:
    return Manual(
        resource=policy,
        message=f"it stays: before {GRPC_SINCE} a {FAULT} does nothing on grpc inbounds",
        action=f"convert it once the control plane is {GRPC_SINCE}",
        path=("destinations",),
        blocking=False,
    )


def _dropped(policies: Iterable[Resource], drafts: Iterable[PolicyDraft]) -> tuple[Dropped, ...]:
    carried = [w for draft in drafts for w in draft.winners]
    return tuple(
        Dropped(resource=policy, reason="no inbound that can exist matches it")
        for policy in policies
        if not any(w is policy for w in carried)
    )
