"""What a gateway of another mesh rests on is read by those that may call it, and by nobody else."""

from __future__ import annotations

import pytest

from kumamigrate.prover.prover import prove
from tests.prove.states import state

HOME = """
type: Mesh
name: default
---
type: Dataplane
mesh: default
name: calls
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
  outbound:
  - {port: 81, tags: {kuma.io/service: edge, kuma.io/mesh: other}}
  - {port: 82, tags: {kuma.io/service: web}}
---
type: Dataplane
mesh: default
name: stays
networking:
  address: 10.0.0.2
  inbound: [{port: 80, tags: {kuma.io/service: api}}]
  outbound: [{port: 81, tags: {kuma.io/service: web}}]
---
type: Dataplane
mesh: default
name: may
networking:
  address: 10.0.0.3
  inbound: [{port: 80, tags: {kuma.io/service: db}}]
  transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001}
---
"""
OTHER = "type: Mesh\nname: other\n---\n"
CA = "mtls: {enabledBackend: ca, backends: [{name: ca, type: builtin}]}\n"
SECURE = OTHER.replace("---", f"{CA}---")
GATEWAY = """\
type: MeshGateway
mesh: other
name: edge
selectors: [{match: {kuma.io/service: edge}}]
conf: {listeners: [{port: 80, protocol: HTTP, hostname: edge.mesh, crossMesh: true}]}
---
"""
MOVED = GATEWAY.replace("port: 80", "port: 81")
HOST = """\
type: Dataplane
mesh: other
name: edge-1
networking: {address: 10.9.0.1, gateway: {type: BUILTIN, tags: {kuma.io/service: edge}}}
---
"""
ELSEWHERE = HOST.replace("10.9.0.1", "10.9.0.2")
BESIDE = """\
type: Dataplane
mesh: other
name: api-1
networking: {address: 10.9.0.5, inbound: [{port: 80, tags: {kuma.io/service: api}}]}
---
"""
BESIDE_MOVED = BESIDE.replace("10.9.0.5", "10.9.0.6")
Told = tuple[str, str, str, str]
NONE = "None"


def _differs(was: str, now: str) -> dict[str, set[Told]]:
    before, after = (state(HOME + text, complete=True) for text in (was, now))
    claim = prove(before, after, claims=("live",)).meshes["default"].claims["live"]
    return {
        proxy.name: {
            (w.policy_type, w.field, str(w.before.value), str(w.after.value))
            for w in proxy.witnesses
        }
        for proxy in claim.proxies
        if proxy.witnesses
    }


BASE = OTHER + GATEWAY + HOST
CERTIFICATES = {("Mesh", "mtls.enabledBackend"), ("Mesh", "mtls.backends")}


@pytest.mark.parametrize(
    ("was", "now", "kinds"),
    [
        (BASE, BASE, set()),
        (BASE, OTHER + MOVED + HOST, {("MeshGateway", "conf.listeners")}),
        (BASE, OTHER + GATEWAY + ELSEWHERE, {("Dataplane", "networking.address")}),
        (BASE, SECURE + GATEWAY + HOST, CERTIFICATES),
        # Other proxies of that mesh concern nobody here, whether they move or come.
        (BASE + BESIDE, BASE + BESIDE_MOVED, set()),
        (BASE, BASE + BESIDE, set()),
        # Of the Mesh its certificates are read, of a host where and as what it is reached.
        (
            BASE,
            BASE.replace("name: other\n", "name: other\nrouting: {zoneEgress: true}\n", 1),
            set(),
        ),
        (BASE, BASE.replace("{address", "{admin: {port: 1}, address"), set()),
        (
            BASE,
            BASE.replace("{address", "{advertisedAddress: 1.1.1.1, address"),
            {("Dataplane", "networking.advertisedAddress")},
        ),
        (
            BASE,
            BASE.replace("BUILTIN, tags: {", "BUILTIN, tags: {a: b, "),
            {("Dataplane", "networking.gateway.tags.a")},
        ),
    ],
)
def test_who_may_call_the_gateway_reads_it(was: str, now: str, kinds: set[tuple[str, str]]) -> None:
    for one, two in ((was, now), (now, was)):
        found = _differs(one, two)
        told = {name: {(kind, field) for kind, field, *_ in found[name]} for name in found}
        listed = {name: of for name, of in told.items() if name in ("calls", "stays", "may")}
        assert listed == ({"calls": kinds, "may": kinds} if kinds else {})


def test_a_gateway_that_comes_or_goes_is_told_whole() -> None:
    came = _differs(OTHER + HOST, BASE)
    assert ("MeshGateway", "", NONE, "present") in came["calls"]
    assert ("MeshGateway", "", NONE, "present") in came["may"]
    assert "stays" not in came
    assert ("MeshGateway", "", "present", NONE) in _differs(BASE, OTHER + HOST)["calls"]
    # What differs besides is told as well, whatever comes first.
    third = GATEWAY.replace("edge\nselectors", "third\nselectors")
    both = _differs(OTHER + third + GATEWAY + HOST, OTHER + MOVED + ELSEWHERE)["calls"]
    assert {(kind, field) for kind, field, *_ in both} == {
        ("MeshGateway", ""),
        ("MeshGateway", "conf.listeners"),
        ("Dataplane", "networking.address"),
    }
    # Another of its hosts is an address more.
    second = HOST.replace("edge-1", "edge-2")
    assert _differs(BASE, BASE + second)["calls"] == {("Dataplane", "", NONE, "present")}


def test_each_difference_says_what_it_is_of() -> None:
    before, after = (
        state(HOME + text, complete=True) for text in (BASE, SECURE + MOVED + ELSEWHERE)
    )
    claim = prove(before, after, claims=("live",)).meshes["default"].claims["live"]
    (calls,) = (proxy for proxy in claim.proxies if proxy.name == "calls")
    told = {
        (w.direction, w.destination, w.field, str(w.before.value), str(w.after.value))
        for w in calls.witnesses
        if w.field in ("networking.address", "mtls.enabledBackend")
    }
    assert told == {
        ("outbound", "edge-1 of mesh other", "networking.address", "10.9.0.1", "10.9.0.2"),
        ("outbound", "other", "mtls.enabledBackend", NONE, "ca"),
    }
