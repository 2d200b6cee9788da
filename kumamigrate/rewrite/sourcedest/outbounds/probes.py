"""Probes of services that no MeshHealthCheck probes: a MeshProxyPatch sets them (§1.6).

The patch replaces all health checks of a cluster, so that of two patches the later one counts
whole, as with the exhaustive entries of other kinds: a class that has no probe of a service which
a broader class probes is given an empty list.
"""

from __future__ import annotations

from collections.abc import Mapping

from kumamigrate.dataclass import replace
from kumamigrate.effective.policies.meshhealthcheck import UNPROBED
from kumamigrate.effective.policies.patched import PATCH, may_touch, plain_services
from kumamigrate.model.resource import Resource, mapping
from kumamigrate.model.state import mesh_services_mode
from kumamigrate.rewrite.sourcedest.classes import WinnerClass, prune
from kumamigrate.rewrite.sourcedest.confnotes import Notes
from kumamigrate.rewrite.sourcedest.conversion import Conversion, Json, Manual, distinct
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.rewrite.sourcedest.newpolicies import PolicyDraft
from kumamigrate.rewrite.sourcedest.outbounds.probeconf import envoy_health_check, mesh_health_check
from kumamigrate.rewrite.sourcedest.outbounds.winnertable import Row, WinnerSetting
from kumamigrate.sourcedest.oldconf import read_conf

_LASTS = (
    "a MeshProxyPatch sets the probe on its cluster. That holds while service tags name the"
    " clusters: not in 3.0, not with meshServices Exclusive, not for a part of the service that a"
    " route picks by tags"
)
_ASK = "say kuma.io/protocol: tcp on its inbounds if that is what it speaks"
_THEN = "; once its inbounds say kuma.io/protocol: tcp the MeshHealthCheck does it, drop the patch"


def why_unpatched(world: KnownWorld, service: str) -> str:
    """Return why no patch can set the probe of a service that is not probed otherwise, or ""."""
    mode = mesh_services_mode(world.state, world.mesh)
    if world.onward:
        return "clusters have other names in 3.0"
    if mode != "Disabled":
        return f"meshServices is {mode or 'not known'}, and real services have other clusters"
    if service not in plain_services(world.state, world.old, world.proxies, world.protocols):
        return "outbounds or routes may reach a part of it by tags, which has another cluster"
    others = [p for p in world.existing(PATCH) if _touches(p, service)]
    if others:
        return f"MeshProxyPatch {others[0].name} may change its cluster as well"
    return ""


def _touches(policy: Resource, service: str) -> bool:
    found = mapping(policy.spec.get("default")).get("appendModifications")
    if not isinstance(found, list):
        return policy.templated
    return policy.templated or any(may_touch(one, service) for one in found)


def patches(world: KnownWorld, table: Mapping[WinnerClass, Row]) -> tuple[PolicyDraft, ...]:
    """Return what sets the probes of each class on clusters of services not probed otherwise."""
    services = [
        service
        for service in world.services
        if world.protocols.get(service) in UNPROBED and not why_unpatched(world, service)
    ]
    probes = {
        item: {service: _check(row.get(service)) for service in services}
        for item, row in table.items()
    }
    drafts: list[PolicyDraft] = []
    for item, checks in prune(probes).items():
        around = [draft for draft in drafts if item.within(draft.item)]
        named = {one["cluster"]["match"]["name"] for d in around for one in _changes(d)}
        changes = [
            _patch(service, check)
            for service, check in checks.items()
            if check is not None or service in named
        ]
        own = [r for s in services if (found := table[item].get(s)) for r in found.winners]
        winners = distinct(own or [r for draft in around for r in draft.winners])
        if changes:
            default = {"appendModifications": changes}
            drafts.append(PolicyDraft(item=item, winners=winners, default=default))
    return tuple(drafts)


def with_lasting(done: Conversion, world: KnownWorld) -> Conversion:
    """Return a conversion that says of each service whose probe a patch sets how long it holds."""
    told: dict[str, Manual] = {}
    for policy in done.policies if done.writable else ():
        for change in policy.spec.get("default", {}).get("appendModifications", ()):
            service = change["cluster"]["match"]["name"]
            written = all(_as_text(source) for source in policy.sources)
            message = (
                f"{service} says protocol {world.protocol(service)}, which a MeshHealthCheck does"
                f" not probe; {_LASTS}{_THEN if written else ''}"
            )
            note = Manual(resource=policy.home, message=message, action=_ASK, blocking=False)
            told.setdefault(service, note)
    return replace(done, manual=(*done.manual, *told.values()))


def _as_text(policy: Resource) -> bool:
    """Say whether a MeshHealthCheck can hold the probe of a policy."""
    notes = Notes()
    mesh_health_check(read_conf("HealthCheck", policy.spec), notes)
    return not notes.items


def _changes(draft: PolicyDraft) -> list[Json]:
    changes: list[Json] = (draft.default or {})["appendModifications"]
    return changes


def _check(setting: WinnerSetting | None) -> Json | None:
    """Return the TCP health check of a cell as Envoy has it; None where nothing is probed so."""
    if setting is None:
        return None
    conf = read_conf("HealthCheck", setting.winners[0].spec)
    return envoy_health_check(conf) if conf.get("http") is None else None


def _patch(service: str, check: Json | None) -> Json:
    value = [] if check is None else [check]
    change = {"op": "add", "path": "/healthChecks", "value": value}
    return {"cluster": {"operation": "Patch", "match": {"name": service}, "jsonPatches": [change]}}
