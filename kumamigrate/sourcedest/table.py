"""The winner table of the inspect API (goldens' `legacy-2.9`): who wins where, inert or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumamigrate.model.state import State
from kumamigrate.sourcedest.order import Latest, Ties
from kumamigrate.sourcedest.proxy import TaggedProxy, proxy_of
from kumamigrate.sourcedest.winners import (
    LIST_KINDS,
    OldPolicies,
    ProxyWinners,
    old_policies,
    winners,
)


def legacy_table(state: State, ties: Ties | str = Ties.UNKNOWN) -> dict[str, list[dict[str, Any]]]:
    """Return, per Dataplane, the rows `{attachment, name, service, policies}`, sorted.

    `ties="file-order"` takes the order of files for the order of creation. With "unknown" a row
    in which creation time decides carries `ties`: kind → the names of the policies it may be;
    `policies` then names the first of them.
    """
    rule = Ties(ties)
    old = {mesh: old_policies(state, mesh, rule) for mesh in state.meshes()}
    return {
        dataplane.name: rows(old[dataplane.mesh], proxy_of(dataplane, state.environment.zone))
        for dataplane in state.of_type("Dataplane")
    }


def rows(old: OldPolicies, proxy: TaggedProxy) -> list[dict[str, Any]]:
    """Return the rows of one proxy, sorted by attachment and name; empty ones left out."""
    won = winners(old, proxy)
    every = [*_inbound_rows(won), *_outbound_rows(won), *_service_rows(won)]
    every.append(_row("dataplane", "", None, won.whole))
    return sorted(
        (row for row in every if row["policies"]), key=lambda row: (row["attachment"], row["name"])
    )


def _inbound_rows(won: ProxyWinners) -> list[dict[str, Any]]:
    result = []
    for inbound in won.proxy.inbounds:
        permission = won.inbound.get(inbound.name)
        single = {} if permission is None else {"TrafficPermission": permission}
        row = _row("inbound", inbound.name, inbound.service, single)
        for kind in LIST_KINDS:
            listed = won.lists[kind][inbound.name]
            names = [policy.name for policy in listed.policies]
            if names:
                row["policies"][kind] = names
            if not listed.known:
                row.setdefault("ties", {})[kind] = sorted(set(names))
        result.append(row)
    return result


def _outbound_rows(won: ProxyWinners) -> list[dict[str, Any]]:
    return [
        _row("outbound", outbound.name, outbound.service, _at(won.outbound, outbound.service))
        for outbound in won.proxy.outbounds
    ]


def _service_rows(won: ProxyWinners) -> list[dict[str, Any]]:
    services = {service for found in won.service.values() for service in found}
    return [_row("service", name, name, _at(won.service, name)) for name in services]


def _at(found: Mapping[str, Mapping[str, Latest]], service: str) -> dict[str, Latest]:
    return {kind: chosen[service] for kind, chosen in found.items() if service in chosen}


def _row(
    attachment: str, name: str, service: str | None, found: Mapping[str, Latest]
) -> dict[str, Any]:
    row: dict[str, Any] = {
        "attachment": attachment,
        "name": name,
        "service": service,
        "policies": {kind: [chosen.policy.name] for kind, chosen in found.items()},
    }
    tied = {kind: list(chosen.tie.names) for kind, chosen in found.items() if chosen.tie}
    return {**row, "ties": tied} if tied else row
