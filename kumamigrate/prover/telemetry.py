"""What metrics, spans and logs say of the proxy that they come from: its workload, by its label."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.effective.difference import Effect, Value, Witness
from kumamigrate.effective.policies.meshtrace import OF_RELEASE_SINCE
from kumamigrate.effective.proxyfacts import LOG, has_http
from kumamigrate.model.conf import canonical
from kumamigrate.model.identity import WORKLOAD
from kumamigrate.model.resource import Resource
from kumamigrate.model.versions import at_least
from kumamigrate.universe.side import Side

_METRICS = "MeshMetric"
_TRACE = "MeshTrace"
_SPAN_TAG = "kuma.workload"


def telemetry_differences(
    before: Side, after: Side, was: Resource, now: Resource
) -> Iterator[Witness]:
    """Yield that metrics, spans or logs of a proxy name another workload: its label goes along."""
    old, new = was.labels.get(WORKLOAD), now.labels.get(WORKLOAD)
    if old == new:
        return
    for kind in (_METRICS, _TRACE, LOG):
        if _names_workload(before, was, kind) and _names_workload(after, now, kind):
            yield Witness(
                mesh=before.mesh,
                proxy="",
                policy_type=kind,
                direction="proxy",
                place=was.name,
                field=f"labels.{WORKLOAD}",
                before=Value(value=old),
                after=Value(value=new),
                effect=Effect.VALUE if old else Effect.ACTIVATION,
            )


def _names_workload(side: Side, proxy: Resource, kind: str) -> bool:
    """Whether what a policy type sends of a proxy has the workload."""
    if not side.signature(proxy, kind):
        return False
    if kind == _METRICS:
        return True
    if not at_least(side.release.name, OF_RELEASE_SINCE):
        return False
    selection = side.selection(proxy, kind)
    if kind == LOG:  # a file or a socket gets what its format says, and no more
        return any("openTelemetry" in canonical(policy.spec) for policy in selection.policies)
    found = side.matcher.single(selection)
    conf = found.conf if found is not None else {}
    own = (tag.get("name") for tag in conf.get("tags") or ())
    return bool(conf.get("backends")) and has_http(side, proxy) and _SPAN_TAG not in own
