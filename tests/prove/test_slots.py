"""Slots that the Mesh, old policies and new ones fill together: every proxy that could exist."""

from __future__ import annotations

import pytest

from kumamigrate.prover.proof import Verdict
from kumamigrate.prover.prover import prove
from tests.prove import test_patched_probes as probes
from tests.prove.states import state

MESH = """
type: Mesh
name: default
skipCreatingInitialPolicies: ['*']
"""
METRICS = f"""{MESH}metrics:
  enabledBackend: prom
  backends:
  - {{name: prom, type: prometheus, conf: {{port: 5670, path: /metrics, tls: {{mode: disabled}}}}}}
"""
FOR_ALL = """
---
type: MeshMetric
name: a-all
mesh: default
spec:
  targetRef: {kind: Mesh}
  default:
    sidecar: {includeUnused: true, profiles: {appendProfiles: [{name: All}]}}
    backends: [{type: Prometheus, prometheus: {port: 5670, path: /metrics}}]
"""
FOR_WEB = """
---
type: MeshMetric
name: z-web
mesh: default
spec:
  targetRef: {kind: MeshSubset, tags: {app: web}}
  default: {backends: [{type: Prometheus, prometheus: {port: 9000}}]}
"""
INTERVAL = ("cluster", "jsonPatches", 0, "value", 0, "interval")


@pytest.mark.parametrize(
    ("more", "verdict"), [("", Verdict.EQUIVALENT), (FOR_WEB, Verdict.DIFFERENT)]
)
def test_what_the_mesh_said_reaches_proxies_that_others_speak_of(
    more: str, verdict: Verdict
) -> None:
    """A MeshMetric for web kept all of the Mesh away, and takes what it leaves out of another."""
    found = prove(state(METRICS + more), state(MESH + more + FOR_ALL), claims=("live",))
    claim = found.meshes["default"].claims["live"]
    assert claim.verdict is verdict
    fields = {w.field for proxy in claim.proxies for w in proxy.witnesses}
    assert fields == ({"sidecar.includeUnused", "sidecar.profiles"} if more else set())


def test_a_probe_of_a_patch_counts_beside_a_template_as_well() -> None:
    """Where no health check is compared at clusters, what a patch probes is the patch's."""
    template = {
        "type": "ProxyTemplate",
        "name": "other",
        "selectors": [{"match": {"kuma.io/service": "nobody"}}],
        "conf": {"imports": ["default-proxy"]},
    }
    for more in ((), (template,)):
        ground = (*probes.GROUND, *more)
        slower = probes.changed(INTERVAL, "99s")
        found = probes.compare(
            (*ground, probes.patch(probes.PATCH)), (*ground, probes.patch(slower))
        )
        assert found.meshes["default"].claims["live"].verdict is Verdict.DIFFERENT
