"""Where the old engine makes nothing of a type, no made-up proxy is asked, and nothing is lost."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.prover.slots.madeslots import MadeOutbounds
from kumamigrate.sourcedest.proxy import PASS_THROUGH
from tests.prove.states import live, shown, state
from tests.sourcedest.meshes import ROUTE_ALL

OLD = (
    f"\n{ROUTE_ALL}---"
    + """
type: TrafficPermission
name: allow-all
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
---
type: Timeout
name: timeout-web
mesh: default
sources: [{match: {kuma.io/service: web}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {connectTimeout: 4s}
"""
)
EXTERNAL = """
---
type: ExternalService
name: out
mesh: default
tags: {kuma.io/service: out, kuma.io/protocol: http}
networking: {address: 'out.example:80'}
"""
TIMEOUT = """
---
type: MeshTimeout
name: t
mesh: default
spec:
  targetRef: {kind: MeshSubset, tags: {version: v1}}
  to: [{targetRef: {kind: Mesh}, default: {connectionTimeout: %s}}]
  from: [{targetRef: {kind: Mesh}, default: {connectionTimeout: %s}}]
"""
PERMISSION = """
---
type: MeshTrafficPermission
name: p
mesh: default
spec:
  targetRef: {kind: MeshSubset, tags: {version: v1}}
  from: [{targetRef: {kind: Mesh}, default: {action: %s}}]
"""
LOG = """
---
type: TrafficLog
name: l
mesh: default
sources: [{match: {kuma.io/service: '*', version: %s}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {backend: b}
"""
LOGGING = """
type: Mesh
name: default
meshServices: {mode: Exclusive}
logging: {backends: [{name: b, type: file, conf: {path: /log}}]}
---
"""
CHANGES = {
    "outbounds": (TIMEOUT % ("3s", "9s"), TIMEOUT % ("5s", "9s")),
    "inbounds": (TIMEOUT % ("3s", "9s"), TIMEOUT % ("3s", "8s")),
    "permission": (PERMISSION % "Allow", PERMISSION % "Deny"),
}


@pytest.mark.parametrize("mode", ["Exclusive", "Everywhere", "Disabled"])
@pytest.mark.parametrize("others", ["", EXTERNAL], ids=["alone", "beside-an-external-service"])
@pytest.mark.parametrize("change", CHANGES)
def test_who_is_not_asked_would_not_have_told(
    mode: str, others: str, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = (state(OLD + others + text, mode=mode) for text in CHANGES[change])
    proof = live(old, new)
    asked: list[bool] = []
    decide = MadeOutbounds.may_differ

    def always(self: MadeOutbounds, *given: Any, **named: Any) -> bool:
        asked.append(decide(self, *given, **named))
        return True

    monkeypatch.setattr(MadeOutbounds, "may_differ", always)
    assert live(old, new) == proof
    if change == "outbounds":
        # In mode Exclusive there is nothing of the old engine on outbounds that nobody lists.
        assert {*asked} == {mode != "Exclusive"}


def test_in_mode_exclusive_traffic_that_passes_through_is_still_logged() -> None:
    """The log of it goes by no outbound (legacy.md §2.3): both engines write one in any mode."""
    old, new = (state(LOGGING + OLD + LOG % version) for version in ("v1", "v2"))
    log = [{"type": "File", "file": {"path": "/log"}}]
    field = ("MeshAccessLog", PASS_THROUGH, "backends")
    told = [shown(witness) for witness in live(old, new).witnesses("live")]
    assert told == [(*field, log, None), (*field, None, log)]
