"""Services that select a Pod by one port: 2.14 ends with the last one's listener, 3.0 with the
first one's inbound, in the order of their names. On 2.14 a log is written for each Service, faults
of `from` are there for each and those of `rules` for each pair, limits once (asked of both on
Kubernetes)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frontdoor import command

STATE = """apiVersion: kuma.io/v1alpha1
kind: Mesh
metadata: {name: default}
spec: {meshServices: {mode: Exclusive}, skipCreatingInitialPolicies: ['*']}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {kuma.io/sidecar-injection: enabled}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: web, ports: [{name: http, containerPort: 8080}]}]}
"""
SERVICE = """---
apiVersion: v1
kind: Service
metadata: {name: %s, namespace: shop}
spec: {selector: {app: web}, ports: [{port: %s, targetPort: %s, %s}]}
"""


@pytest.mark.parametrize(
    ("services", "said"),
    [
        ((("aa", 80, 8080, "http"), ("bb", 80, 8080, "tcp")), ("tcp", "http")),
        ((("zz", 80, 8080, "http"), ("bb", 80, 8080, "tcp")), ("http", "tcp")),
        ((("aa", 80, 8080, "http"), ("bb", 80, 8080, "grpc")), ("grpc", "http")),
        ((("aa", 80, 8080, "http"), ("bb", 81, 8080, "http")), None),
        ((("aa", 80, 8080, "http"), ("bb", 81, 9090, "tcp")), None),
        ((("aa", 80, 8080, "http"), ("bb", 81, 9090, "tcp"), ("cc", 80, 8080, "http")), None),
    ],
)
def test_the_upgrade_takes_the_protocol_of_another_service(
    tmp_path: Path,
    services: tuple[tuple[str, int, int, str], ...],
    said: tuple[str, str] | None,
) -> None:
    state = tmp_path / "state.yaml"
    state.write_text(
        STATE
        + "".join(
            SERVICE % (name, port, target, f"appProtocol: {protocol}")
            for name, port, target, protocol in services
        )
    )
    answer = command(
        "prove", state, state, "--from", "2.14", "--target", "3.0", "--format", "json"
    ).json
    release = answer["claims"]["release"]
    found = [
        tuple(one[side]["value"][0]["protocol"] for side in ("before", "after"))
        for proxy in release["dataplanes"].values()
        for one in proxy["witnesses"]
    ]
    assert found == ([said] if said else [])
    assert release["verdict"] == ("different" if said else "equivalent")


POLICY = """---
apiVersion: kuma.io/v1alpha1
kind: %s
metadata: {name: one, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  %s
"""
FAULT = "{http: [{abort: {httpStatus: 503, percentage: 5}}]}"
LOG = "{backends: [{type: File, file: {path: /tmp/log}}]}"
LIMIT = "{local: {http: {requestRate: {num: 5, interval: 1s}}}}"
FROM = """targetRef: {kind: Mesh, proxyTypes: [Sidecar]}
  from: [{targetRef: {kind: Mesh}, default: %s}]"""
RULES = """targetRef: {kind: Dataplane}
  rules: [{default: %s}]"""


@pytest.mark.parametrize(
    ("kind", "conf", "forms", "target", "verdict"),
    [
        ("MeshFaultInjection", FAULT, (FROM, RULES), "2.14", "unknown"),
        ("MeshFaultInjection", FAULT, (RULES, RULES), "2.14", "equivalent"),
        ("MeshFaultInjection", FAULT, (RULES, RULES), "3.0", "unknown"),
        ("MeshAccessLog", LOG, (FROM, RULES), "2.14", "equivalent"),
        ("MeshAccessLog", LOG, (RULES, RULES), "3.0", "unknown"),
        ("MeshRateLimit", LIMIT, (FROM, RULES), "2.14", "equivalent"),
        ("MeshRateLimit", LIMIT, (RULES, RULES), "3.0", "equivalent"),
    ],
)
@pytest.mark.parametrize("services", [("aa", "bb"), ("aa",)])
def test_what_a_policy_adds_is_there_for_each_service(
    tmp_path: Path,
    kind: str,
    conf: str,
    forms: tuple[str, str],
    target: str,
    verdict: str,
    services: tuple[str, ...],
) -> None:
    states = tmp_path / "before.yaml", tmp_path / "after.yaml"
    state = STATE + "".join(SERVICE % (one, 80, 8080, "appProtocol: http") for one in services)
    for path, form in zip(states, forms, strict=True):
        path.write_text(state + POLICY % (kind, form % conf))
    answer = command("prove", *states, "--from", "2.14", "--target", target, "--format", "json")
    claim = answer.json["claims"]["live" if target == "2.14" else "release"]
    assert claim["allowing"] == (verdict if len(services) > 1 else "equivalent")


OLD = """---
apiVersion: kuma.io/v1alpha1
kind: FaultInjection
mesh: default
metadata: {name: old}
spec:
  sources: [{match: {kuma.io/service: '*'}}]
  destinations: [{match: {kuma.io/service: '*', kuma.io/protocol: http}}]
  conf: {abort: {httpStatus: 503, percentage: 5}}
"""


@pytest.mark.parametrize(("services", "doubted"), [(("aa", "bb"), True), (("aa",), False)])
def test_an_old_fault_is_there_once(
    tmp_path: Path, services: tuple[str, ...], doubted: bool
) -> None:
    states = tmp_path / "before.yaml", tmp_path / "after.yaml"
    state = STATE + "".join(SERVICE % (one, 80, 8080, "appProtocol: http") for one in services)
    new = POLICY % ("MeshFaultInjection", RULES % FAULT)
    for path, policy in zip(states, (OLD, new), strict=True):
        path.write_text(state + policy)
    answer = command("prove", *states, "--target", "2.14", "--format", "json").json
    assert ("acts more than once there" in str(answer["claims"]["live"])) is doubted
