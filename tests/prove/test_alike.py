"""What policies say counts, not what a service tag and the service in its place disagree on."""

from __future__ import annotations

import pytest

from kumamigrate.model.state import State
from kumamigrate.prover import Proof, Verdict
from kumamigrate.prover.prover import prove
from tests.prove.states import state

MESH = """
type: MeshService
name: {name}
mesh: default
labels: {{kuma.io/origin: zone, kuma.io/zone: east, kuma.io/service: {name}}}
spec:
  selector: {{dataplaneTags: {{kuma.io/service: {name}}}}}
  ports: [{{port: 80, targetPort: 8080, name: main, appProtocol: {port}}}]
---
type: Dataplane
name: {name}-0
mesh: default
networking:
  address: 192.0.2.1
  inbound: [{{port: 8080, tags: {{kuma.io/service: {name}, kuma.io/protocol: {inbound}}}}}]
---
"""
TIMEOUT = """
type: MeshTimeout
name: t
mesh: default
spec: {{to: [{{targetRef: {{kind: MeshService, {ref}}}, default: {conf}}}]}}
---
"""
NAMED, LABELLED = "name: pay", "labels: {kuma.io/display-name: pay}"
BOTH = "{idleTimeout: 2m, http: {requestTimeout: 9s}}"


def release(before: State, after: State, *, one_protocol: bool) -> Proof:
    return prove(before, after, claims=("release",), one_protocol=one_protocol)


def pair(
    conf: str, *, inbound: str = "http", port: str = "tcp", then: str = ""
) -> tuple[State, State]:
    there = MESH.format(name="pay", inbound=inbound, port=port)
    now = MESH.format(name="pay", inbound=inbound, port=then or port)
    return (
        state(there + TIMEOUT.format(ref=NAMED, conf=BOTH), mode="Disabled"),
        state(now + TIMEOUT.format(ref=LABELLED, conf=conf), mode="Disabled", release="3.0"),
    )


@pytest.mark.parametrize(("one_protocol", "verdict"), [(True, False), (False, True)])
def test_protocols_at_odds(one_protocol: bool, verdict: bool) -> None:
    proof = release(*pair(BOTH), one_protocol=one_protocol)
    assert any(w.destination == "pay:main" for w in proof.witnesses("release")) is verdict


@pytest.mark.parametrize("conf", ["{idleTimeout: 2m}", "{http: {requestTimeout: 9s}}"])
@pytest.mark.parametrize(("inbound", "port"), [("http", "tcp"), ("tcp", "http")])
def test_what_either_protocol_reads_counts(conf: str, inbound: str, port: str) -> None:
    proof = release(*pair(conf, inbound=inbound, port=port), one_protocol=True)
    assert proof.verdict("release") is Verdict.DIFFERENT


def test_a_protocol_that_the_change_itself_writes_counts() -> None:
    states = pair(BOTH, port="http", then="tcp")
    assert release(*states, one_protocol=True).verdict("release") is Verdict.DIFFERENT


ROUTE = """
type: MeshHTTPRoute
name: r
mesh: default
spec:
  to:
  - targetRef: {{kind: MeshService, {web}}}
    rules:
    - matches: [{{path: {{type: PathPrefix, value: /a}}}}]
      default: {{backendRefs: [{{kind: MeshService, {pay}}}]}}
---
"""
WEB = MESH.format(name="web", inbound="http", port="http")
PAY = MESH.format(name="pay", inbound="http", port="http")
BREAKER = """
type: MeshCircuitBreaker
name: c
mesh: default
labels: {{kuma.io/mesh: default, kuma.io/display-name: c, kuma.io/origin: global}}
spec:
  to:
  - targetRef: {{kind: MeshService, {ref}}}
    default: {{connectionLimits: {{maxConnections: 3}}}}
"""


@pytest.mark.parametrize(
    ("ref", "same"), [(LABELLED, True), ("labels: {kuma.io/display-name: web}", False)]
)
def test_a_backend_by_tag_reads_what_the_tag_reads(ref: str, same: bool) -> None:
    """The policy of the global control plane means the tag; on 2.14 no service has its KRI."""
    old = WEB + PAY + ROUTE.format(web="name: web", pay="name: pay") + BREAKER.format(ref=NAMED)
    new = ROUTE.format(
        web="labels: {kuma.io/display-name: web}",
        pay="labels: {kuma.io/display-name: pay}, port: 80",
    )
    before = state(old, mode="Disabled")
    after = state(WEB + PAY + new + BREAKER.format(ref=ref), mode="Disabled", release="3.0")
    places = {
        w.destination for w in release(before, after, one_protocol=False).witnesses("release")
    }
    assert ("web:main → pay:main" in places) is not same
