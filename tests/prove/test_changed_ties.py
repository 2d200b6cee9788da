"""Old policies that tie for what a proxy is on one side alone leave its verdict unknown."""

from __future__ import annotations

import pytest

from kumamigrate.prover.prover import prove
from tests.prove.states import proxies
from tests.sourcedest.meshes import ROUTE_ALL, state

MESH = """
type: Mesh
name: default
meshServices: {mode: Exclusive}
skipCreatingInitialPolicies: ['*']
tracing:
  backends:
    - {name: one, type: zipkin, conf: {url: 'http://z/1'}}
    - {name: two, type: zipkin, conf: {url: 'http://z/2'}}
logging:
  backends:
    - {name: one, type: file, conf: {path: /1}}
    - {name: two, type: file, conf: {path: /2}}
"""
WEB = """
type: Dataplane
name: web
mesh: default
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web, kuma.io/protocol: http, version: %s}}]
  transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001}
"""
OF_V1 = {
    "TrafficTrace": """
selectors: [{{match: {{kuma.io/service: web, version: v1}}}}]
conf: {{backend: {0}}}
""",
    "TrafficLog": """
sources: [{{match: {{kuma.io/service: web, version: v1}}}}]
destinations: [{{match: {{kuma.io/service: '*'}}}}]
conf: {{backend: {0}}}
""",
    "FaultInjection": """
sources: [{{match: {{kuma.io/service: '*'}}}}]
destinations: [{{match: {{kuma.io/service: web, version: v1, kuma.io/protocol: http}}}}]
conf: {{abort: {{httpStatus: 503, percentage: {1}}}}}
""",
}


@pytest.mark.parametrize("turned", [False, True], ids=["no longer", "from now on"])
@pytest.mark.parametrize("kind", OF_V1)
def test_a_tie_of_one_side_is_a_doubt(kind: str, *, turned: bool) -> None:
    """legacy.md §2: the newer one wins, and nothing says which."""
    one, two = (
        f"\ntype: {kind}\nname: {name}\nmesh: default{OF_V1[kind].format(name, share)}"
        for name, share in (("one", 40), ("two", 50))
    )
    sides = [
        state("---".join((MESH, f"\n{ROUTE_ALL}", WEB % version, *policies)), complete=False)
        for version, policies in (("v1", (one, two)), ("v2", (one,)))
    ]
    found = prove(*(reversed(sides) if turned else sides), claims=("live",))
    told = [str(doubt).partition(";")[0] for doubt in proxies(found, "live")["web"].unknown]
    assert f"{kind} one and {kind} two: creation time decides between them" in told
