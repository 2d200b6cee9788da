"""What of a MeshTrafficPermission counts: `rules`, and `from` only where nothing outranks it.

On a 2.x that knows both, `from` is not read at an inbound that any `rules` reach, nor at those of
a proxy that has its certificate from a MeshIdentity.
"""

from __future__ import annotations

from collections.abc import Iterable

from kumamigrate.model.identity import IDENTITY
from kumamigrate.model.release import Release
from kumamigrate.model.resource import Resource
from kumamigrate.targetref.inbound import InboundRule

PERMISSION = "MeshTrafficPermission"


def reads_both(release: Release) -> bool:
    """Whether a release knows `from` and `rules` of MeshTrafficPermission."""
    kind = release.policy_types.get(PERMISSION)
    return kind is not None and {"from", "rules"} <= set(kind.sections)


def outranked(rules: Iterable[InboundRule], identity: Resource | None) -> Resource | None:
    """Return why `from` is not read at an inbound: who has rules there, or the identity."""
    first = next(iter(rules), None)
    return first.entries[0].policy if first is not None else identity


__all__ = ["IDENTITY", "PERMISSION", "outranked", "reads_both"]
