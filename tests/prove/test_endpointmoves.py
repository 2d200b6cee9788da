"""Who answers for a service is a difference for those who may reach it, and for nobody else."""

from __future__ import annotations

import pytest

from kumamigrate.prover.prover import prove
from tests.prove.states import state

MESH = """
type: Mesh
name: default
meshServices: {{mode: {mode}}}
---
"""
PROXY = """
type: Dataplane
mesh: default
name: {name}
labels: {{app: {name}}}
networking:
  address: 10.0.0.{number}
  {more}
---
"""
ROUTE_ALL = """
type: TrafficRoute
mesh: default
name: r
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {destination: {kuma.io/service: '*'}}
---
"""
TO_DB = """
type: MeshTCPRoute
mesh: default
name: t
spec:
  to:
  - targetRef: {kind: MeshService, name: web}
    rules: [{default: {backendRefs: [{kind: MeshService, name: db}]}}]
---
"""


def _inbound(service: str) -> str:
    return f"inbound: [{{port: 80, tags: {{kuma.io/service: {service}}}}}]"


def _to(service: str, of: str = "x") -> str:
    outbound = f"outbound: [{{port: 81, tags: {{kuma.io/service: {service}}}}}]"
    return f"{_inbound(of)}\n  {outbound}"


def _proxy(name: str, number: int, more: str) -> str:
    return PROXY.format(name=name, number=number, more=more)


PORTS = "redirectPortInbound: 15006, redirectPortOutbound: 15001"


def _with(of: str, transparent: str) -> str:
    return f"{of}\n  transparentProxying: {{{transparent}}}"


DB = _proxy("db-1", 9, _inbound("db"))
SECOND = _proxy("db-2", 10, _inbound("db"))
WEB = _proxy("web-1", 8, _inbound("web"))
BASE = DB + WEB


def _told(asking: str, was: str, now: str, *, mode: str = "Disabled") -> list[object]:
    """Return which endpoints of db come and go for a proxy."""
    before, after = (
        state(MESH.format(mode=mode) + _proxy("one", 1, asking) + text, complete=True)
        for text in (was, now)
    )
    claim = prove(before, after, claims=("live",)).meshes["default"].claims["live"]
    return [
        (w.destination, len(w.before.value or ()), len(w.after.value or ()))
        for proxy in claim.proxies
        if proxy.name == "one"
        for w in proxy.witnesses
        if w.field == "endpoints"
    ]


PART = {"none": "", "new": TO_DB, "old": ROUTE_ALL}


@pytest.mark.parametrize(
    ("asking", "routes", "mode", "reached"),
    [
        pytest.param(_to("db"), "none", "Disabled", True, id="an outbound to it"),
        pytest.param(_to("web"), "none", "Disabled", False, id="an outbound to another"),
        pytest.param(_to("web"), "new", "Disabled", True, id="led there by a new route"),
        pytest.param(_to("web"), "old", "Disabled", True, id="old routes may lead anywhere"),
        pytest.param(_inbound("x"), "none", "Disabled", False, id="no outbound"),
        pytest.param(_inbound("x"), "old", "Disabled", False, id="no outbound to be led from"),
        pytest.param(_with(_inbound("x"), PORTS), "none", "Disabled", True, id="transparent"),
        # Without outbounds for tags a proxy has those endpoints that it asks for by address.
        pytest.param(_with(_to("x"), PORTS), "none", "Exclusive", False, id="no tags"),
        pytest.param(
            _with(_to("x"), "directAccessServices: [db]"), "none", "Exclusive", True, id="direct"
        ),
        pytest.param(
            _with(_to("x"), "directAccessServices: ['*']"), "none", "Exclusive", True, id="all"
        ),
        pytest.param(
            _with(_to("x"), "directAccessServices: [a]"), "none", "Exclusive", False, id="others"
        ),
        pytest.param(
            "gateway: {type: BUILTIN, tags: {kuma.io/service: edge}}",
            "none",
            "Disabled",
            True,
            id="built in",
        ),
    ],
)
def test_an_endpoint_that_comes_or_goes(asking: str, routes: str, mode: str, reached: bool) -> None:
    base = BASE + PART[routes]

    def told(was: str, now: str) -> list[object]:
        return _told(asking, was, now, mode=mode)

    assert told(base, base) == []
    assert told(base, base + SECOND) == ([("db", 0, 1)] if reached else [])
    assert told(base + SECOND, base) == ([("db", 1, 0)] if reached else [])
    assert told(base, WEB + PART[routes]) == ([("db", 1, 0)] if reached else [])


@pytest.mark.parametrize(
    ("asked", "asks", "told"),
    [("web", "web", False), ("db", "web", True), ("web", "db", True), ("db", "db", True)],
)
def test_who_reaches_it_on_either_side_is_told(asked: str, asks: str, told: bool) -> None:
    head = MESH.format(mode="Disabled")
    before = state(head + _proxy("one", 1, _to(asked)) + BASE, complete=True)
    after = state(head + _proxy("one", 1, _to(asks)) + BASE + SECOND, complete=True)
    claim = prove(before, after, claims=("live",)).meshes["default"].claims["live"]
    (one,) = (proxy for proxy in claim.proxies if proxy.name == "one")
    found = [
        (w.policy_type, w.direction, w.destination) for w in one.witnesses if w.field == "endpoints"
    ]
    assert found == ([("Dataplane", "outbound", "db")] if told else [])


SERVED = """
type: MeshService
mesh: default
name: db
spec:
  selector: {{dataplaneTags: {{kuma.io/service: db}}}}
  ports: [{{port: 90, targetPort: {port}, appProtocol: tcp}}]
---
"""
REAL = "outbound: [{port: 81, backendRef: {kind: MeshService, name: db, port: 90}}]"


@pytest.mark.parametrize(
    ("port", "told"), [("main", True), ("other", True), ("80", False), ("third", False)]
)
def test_an_inbound_that_a_port_of_a_service_names(port: str, told: bool) -> None:
    """What it was called and what it is called now, each may be what the service asks for."""

    def named(name: str) -> str:
        inbound = f"inbound: [{{port: 80, name: {name}, tags: {{kuma.io/service: db}}}}]"
        proxies = _proxy("one", 1, f"{_inbound('x')}\n  {REAL}") + _proxy("db-1", 2, inbound)
        return MESH.format(mode="Exclusive") + SERVED.format(port=port) + proxies

    before, after = (state(named(name), complete=True) for name in ("main", "other"))
    claim = prove(before, after, claims=("live",)).meshes["default"].claims["live"]
    (one,) = (proxy for proxy in claim.proxies if proxy.name == "one")
    found = {(w.policy_type, w.destination, w.field) for w in one.witnesses}
    assert found == ({("Dataplane", "db", "endpoints")} if told else set())
