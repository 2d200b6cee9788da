"""What of a MeshTrafficPermission counts: `rules`, and `from` only where nothing outranks it.

On a 2.x that knows both, `from` is not read at an inbound that any `rules` reach, nor at those of
a proxy that a MeshIdentity selects.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kumamigrate.model.release import Release
from kumamigrate.model.resource import Resource, mapping
from kumamigrate.targetref.inbound import InboundRule

PERMISSION = "MeshTrafficPermission"
IDENTITY = "MeshIdentity"


def reads_both(release: Release) -> bool:
    """Whether a release knows `from` and `rules` of MeshTrafficPermission."""
    kind = release.policy_types.get(PERMISSION)
    return kind is not None and {"from", "rules"} <= set(kind.sections)


def identity_of(proxy: Resource, identities: Iterable[Resource]) -> Resource | None:
    """Return a MeshIdentity that selects a proxy by its labels."""
    return next((i for i in identities if i.mesh == proxy.mesh and selects(i, proxy)), None)


def selects(identity: Resource, proxy: Resource) -> bool:
    """Whether a MeshIdentity selects a proxy; without a selector it selects none."""
    selector = identity.spec.get("selector")
    wanted = selector.get("dataplane") if isinstance(selector, Mapping) else None
    if not isinstance(wanted, Mapping):
        return False
    labels = mapping(wanted.get("matchLabels"))
    return all(proxy.labels.get(str(k)) == str(v) for k, v in labels.items())


def outranked(rules: Iterable[InboundRule], identity: Resource | None) -> Resource | None:
    """Return why `from` is not read at an inbound: who has rules there, or the identity."""
    first = next(iter(rules), None)
    return first.entries[0].policy if first is not None else identity


__all__ = ["IDENTITY", "PERMISSION", "identity_of", "outranked", "reads_both", "selects"]
