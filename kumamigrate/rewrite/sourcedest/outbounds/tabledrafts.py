"""Few exhaustive policies that say what a winner table says.

The policy of a class restates all that its proxies read, so nothing depends on a broader policy
showing through (legacy-notes.md C6).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.sourcedest.classes import WinnerClass
from kumamigrate.rewrite.sourcedest.conversion import Json, Manual, distinct
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.rewrite.sourcedest.newpolicies import PolicyDraft
from kumamigrate.rewrite.sourcedest.outbounds import exhaustive
from kumamigrate.rewrite.sourcedest.outbounds.winnertable import Row, WinnerSetting
from kumamigrate.rewrite.sourcedest.routetargets import OTHER_SERVICE


def confs_of(table: Mapping[WinnerClass, Row]) -> dict[WinnerClass, dict[str, Json | None]]:
    """Return what each class reads, whoever says it."""
    return {c: {service: _conf(s) for service, s in row.items()} for c, row in table.items()}


def _conf(setting: WinnerSetting | None) -> Json | None:
    return setting.conf if setting is not None else None


def drafts_of(
    type_: str,
    kept: Mapping[WinnerClass, Row],
    world: KnownWorld,
    said: Mapping[str, Mapping[str, Any]],
) -> tuple[tuple[PolicyDraft, ...], tuple[Manual, ...]]:
    """Return a policy for each class kept, the broadest first, and what would come through anyway.

    `said` is what new policies of the mesh say of services that are left to them.
    """
    written: dict[WinnerClass, dict[str, Json]] = {}
    drafts: list[PolicyDraft] = []
    manual: list[Manual] = []
    for item, row in kept.items():
        lower = [written[c] for c in written if c != item and item.within(c)]
        entries: dict[str, Json] = {}
        winners: list[Resource] = []
        other = row[OTHER_SERVICE]
        for service, setting in row.items():
            below = [e for confs in lower for e in _for_service(confs, service)]
            if service != OTHER_SERVICE:
                below += [entries[OTHER_SERVICE]] if OTHER_SERVICE in entries else []
                if OTHER_SERVICE in entries and _conf(setting) == _conf(other):
                    continue
            none = exhaustive.off_at(type_, service, world)
            if _conf(setting) in (None, none) and not (below and _reached(service, lower, entries)):
                continue  # so it is where nothing is said
            wanted = setting.conf if setting is not None else none
            entries[service], inherited = exhaustive.exhaustive(type_, wanted, below)
            if setting is not None:
                winners.extend(setting.winners)
            if inherited and setting is not None:
                manual.append(_leak(setting.winners[0], service, inherited))
        left = []
        for service, conf in said.items() if OTHER_SERVICE in entries else ():
            own, inherited = exhaustive.kept_out(type_, conf, entries[OTHER_SERVICE])
            if inherited and winners:
                manual.append(_leak(winners[0], service, inherited))
            if own:
                entries[service] = own
                left.append(service)
        written[item] = entries
        if entries and not winners:  # it only switches off what broader classes have
            winners.extend(r for d in drafts if item.within(d.item) for r in d.winners)
        if entries and winners:
            to = _to(type_, entries)
            drafts.append(
                PolicyDraft(item=item, to=to, winners=distinct(winners), left=tuple(left))
            )
    return tuple(drafts), tuple(manual)


def _reached(
    service: str, lower: Sequence[Mapping[str, Json]], entries: Mapping[str, Json]
) -> bool:
    return any(name in confs for confs in (*lower, entries) for name in (OTHER_SERVICE, service))


def _for_service(confs: Mapping[str, Json], service: str) -> list[Json]:
    """Return what is merged below an entry; the entry for any service covers all the others."""
    if service == OTHER_SERVICE:
        return list(confs.values())
    return [confs[name] for name in dict.fromkeys((OTHER_SERVICE, service)) if name in confs]


def _leak(policy: Resource, service: str, inherited: tuple[str, ...]) -> Manual:
    where = "any other service" if service == OTHER_SERVICE else service
    return Manual(
        resource=policy,
        message=f"for {where} it would inherit {', '.join(inherited)} from a broader policy,"
        " and nothing can be written that stops it",
        action="set the field in this policy, or take it out of the broader one",
    )


def _to(type_: str, entries: Mapping[str, Json]) -> list[Json]:
    """Return entries; one for a service needs not say again what that for all traffic says, which
    outranks what broader policies say of the service as well."""
    result = []
    for service, conf in entries.items():
        if service != OTHER_SERVICE and OTHER_SERVICE in entries:
            conf = exhaustive.beside(type_, conf, entries[OTHER_SERVICE])
        ref: Json = {"kind": "MeshService", "name": service}
        if service == OTHER_SERVICE:
            ref = {"kind": "Mesh"}
        result.append({"targetRef": ref, "default": conf})
    return result
