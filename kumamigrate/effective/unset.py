"""What releases make of a proxy for which no MeshTimeout says anything (legacy-notes C16).

Since 2.10 the part of Kuma that MeshTimeout configures always runs and brings defaults of its
own; before, nothing was written where there was no policy.
"""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.effective.difference import Effect, Value, Witness
from kumamigrate.effective.outboundfacts import writes_defaults
from kumamigrate.effective.policies.meshtimeout import DOWNSTREAM, of_rules
from kumamigrate.effective.reading import At, SlotKind
from kumamigrate.universe.side import Side

TYPE = "MeshTimeout"


def unset_differences(before: Side, after: Side) -> Iterator[Witness]:
    """Yield what an upgrade changes in a mesh without any MeshTimeout.

    An old Timeout keeps nothing as it was: it never had a say at inbounds (legacy.md fact 6).
    """
    if not begins(before, after):
        return
    if any(True for side in (before, after) for _ in side.state.of_type(TYPE)):
        return
    was, now = (writes_defaults(side) for side in (before, after))
    had, gets = (of_rules((), None, _inbound(always=always)) for always in (was, now))
    for field in had:
        if had[field] != gets[field]:
            yield Witness(
                mesh=before.mesh,
                proxy="",
                policy_type=TYPE,
                direction="inbound",
                field=field,
                before=Value(value=had[field]),
                after=Value(value=gets[field]),
                effect=Effect.RESIDUE if field == DOWNSTREAM else Effect.VALUE,
            )


def begins(before: Side, after: Side) -> bool:
    """Whether the later release brings the defaults of a MeshTimeout and the earlier does not."""
    return writes_defaults(after) and not writes_defaults(before)


def _inbound(*, always: bool) -> At:
    return At(part=SlotKind.INBOUND, reached=False, always=always)
