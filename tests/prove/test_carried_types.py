"""What a service tag reads of each type, and the service that takes its place does not."""

from __future__ import annotations

import pytest

from kumamigrate.prover.prover import prove
from tests.prove.states import proxies, state

SERVICE = """
type: MeshService
name: payments
mesh: default
labels: {kuma.io/service: api}
spec:
  selector: {dataplaneTags: {kuma.io/service: api}}
  ports: [{port: 80, targetPort: 80, appProtocol: http}]
---
type: %s
name: p
mesh: default
spec:
  targetRef: {kind: Mesh}
  to: [{targetRef: {kind: MeshService, name: api}, default: %s}]
---
type: Dataplane
name: web
mesh: default
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web, kuma.io/protocol: http}}]
  transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001}
"""
CONFS = {
    "MeshTimeout": "{connectionTimeout: 9s}",
    "MeshRetry": "{http: {numRetries: 9}}",
    "MeshLoadBalancingStrategy": "{loadBalancer: {type: Random}}",
    "MeshCircuitBreaker": "{connectionLimits: {maxConnections: 9}}",
    "MeshHealthCheck": "{interval: 9s, timeout: 2s, unhealthyThreshold: 3, healthyThreshold: 1,"
    " http: {path: /}}",
    "MeshAccessLog": "{backends: [{type: File, file: {path: /log}}]}",
}


@pytest.mark.parametrize("kind", CONFS)
def test_what_is_set_for_a_tag_alone_is_not_carried(kind: str) -> None:
    """Neither for a proxy that is listed nor for one that is made up (product.md §5)."""
    mesh = state(SERVICE % (kind, CONFS[kind]), mode="Everywhere")
    proof = prove(mesh, mesh, claims=("carry",))
    found = {
        p.made_up: {w.policy_type for w in p.witnesses} for p in proxies(proof, "carry").values()
    }
    told = {kind} - {"MeshAccessLog"}
    assert found == {True: told, False: told}
