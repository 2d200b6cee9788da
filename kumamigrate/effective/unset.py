"""What releases make of a proxy for which no MeshTimeout says anything (legacy-notes C16).

Since 2.10 the part of Kuma that MeshTimeout configures always runs and brings defaults of its
own; before, nothing was written where there was no policy.
"""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.effective.difference import Value, Witness
from kumamigrate.model.versions import at_least
from kumamigrate.universe.side import Side

SINCE = "2.10"
TYPES = ("MeshTimeout", "Timeout")
INBOUND = {"http.requestTimeout": ("0s", "15s"), "connectionTimeout": ("10s", "5s")}
"""By field what a proxy had for its inbounds, and what it gets."""


def unset_differences(before: Side, after: Side) -> Iterator[Witness]:
    """Yield what an upgrade changes in a mesh without any timeout policy, old or new."""
    if at_least(before.release.name, SINCE) or not at_least(after.release.name, SINCE):
        return
    if any(True for side in (before, after) for _ in side.state.of_type(*TYPES)):
        return
    for field, (had, gets) in INBOUND.items():
        yield Witness(
            mesh=before.mesh,
            proxy="",
            policy_type="MeshTimeout",
            direction="inbound",
            field=field,
            before=Value(value=had),
            after=Value(value=gets),
        )
