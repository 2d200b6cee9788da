"""Permissions that nobody is asked for: they go with the upgrade, on the user's word."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.model.identity import nobody_is_asked
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.identities.permissions import entries_of, only_denies
from kumamigrate.rewrite.manifest import change, finding
from kumamigrate.rewrite.view import View

OLD, NEW = "TrafficPermission", "MeshTrafficPermission"


def plan(view: View) -> Iterator[Change]:
    """Yield the removal of each permission by tags where the state tells that nobody is asked.

    Old ones also say who reaches an ExternalService, with certificates or without.
    """
    guarded = {service.mesh for service in view.state.of_type("ExternalService")}
    for policy in view.of_type(OLD, NEW):
        if policy.type == OLD and policy.mesh in guarded:
            continue
        by_tags = policy.type == OLD or (entries_of(policy) and not only_denies(policy))
        if by_tags and nobody_is_asked(view.state, policy.mesh):
            path = (*policy.spec_path, "sources" if policy.type == OLD else "from")
            told = finding(view, policy, path, pending=True, mesh=policy.mesh)
            yield change(view, policy, (), (told,))
