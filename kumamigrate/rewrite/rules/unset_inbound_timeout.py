"""Meshes whose inbounds get other timeouts by the upgrade alone (legacy-notes C16)."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import finding
from kumamigrate.rewrite.view import View

KEEPING = (
    "a MeshTimeout that keeps the old values: targetRef: {kind: Mesh}, from: [{targetRef:"
    " {kind: Mesh}, default: {connectionTimeout: 10s, idleTimeout: 2h, http: {requestTimeout: 0s,"
    " streamIdleTimeout: 1h, maxStreamDuration: 0s}}}]"
)


def plan(view: View) -> Iterator[Finding]:
    """Yield a finding for each Mesh without a timeout policy, old or new."""
    timed = {policy.mesh for policy in view.state.of_type("MeshTimeout", "Timeout")}
    for mesh in view.of_type("Mesh"):
        if mesh.name not in timed:
            yield finding(view, mesh, (), mesh=mesh.name, notes=(KEEPING,))
