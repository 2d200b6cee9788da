"""Proxies that nobody lists, beside TrafficRoutes: delegated gateways, and policies on routes."""

from __future__ import annotations

import pytest

from kumamigrate.dataclass import replace
from kumamigrate.effective.difference import Effect
from kumamigrate.prover.proof import MeshProof, Verdict
from kumamigrate.prover.prover import prove
from tests.prove.states import state
from tests.sourcedest.meshes import ROUTE_ALL

TYPED = """
type: MeshTimeout
name: typed
mesh: default
spec:
  targetRef: {kind: Mesh, proxyTypes: [%s]}
  to: [{targetRef: {kind: Mesh}, default: {connectionTimeout: %s}}]
"""
ROUTE = """
type: MeshHTTPRoute
name: r
mesh: default
spec:
  to:
  - targetRef: {kind: MeshService, name: api}
    rules: [{matches: [{path: {type: PathPrefix, value: /v1}}], default: {}}]
"""
ON_IT = """
type: MeshTimeout
name: on-route
mesh: default
spec:
  targetRef: {kind: MeshHTTPRoute, name: r}
  to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: %s}}}]
"""
FOR_V1 = """
type: MeshTimeout
name: for-v1
mesh: default
spec:
  targetRef: {kind: MeshSubset, tags: {version: v1}}
  to: [{targetRef: {kind: Mesh}, default: {connectionTimeout: 2s%s}}]
"""
LISTED = """
type: Dataplane
name: api
mesh: default
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: api, kuma.io/protocol: http}}]
  transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001}
"""


def _mesh(before: tuple[str, ...], after: tuple[str, ...], mode: str = "Disabled") -> MeshProof:
    old, new = (state("---".join((ROUTE_ALL, *texts)), mode=mode) for texts in (before, after))
    (mesh,) = prove(old, new, claims=("live",)).meshes.values()
    return mesh


@pytest.mark.parametrize("kind", ["Sidecar", "Gateway"])
def test_a_policy_for_one_type_of_proxies_is_tried_on_such_a_proxy(kind: str) -> None:
    """A delegated gateway has outbounds like a sidecar, and old policies choose it by its tags."""
    mesh = _mesh((TYPED % (kind, "3s"),), (TYPED % (kind, "4s"),))
    claim = mesh.claims["live"]
    assert claim.verdict is Verdict.DIFFERENT
    assert {w.field for w in claim.witnesses} == {"connectionTimeout"}
    assert {p.name for p in claim.proxies if p.witnesses} == {
        "any gateway" if kind == "Gateway" else "any proxy"
    }


def test_listed_sidecars_settle_nothing_for_gateways() -> None:
    """The old policies stay as they are, so they are no reason to leave a gateway out."""
    mesh = _mesh((TYPED % ("Gateway", "3s"), LISTED), (TYPED % ("Gateway", "4s"), LISTED))
    assert {p.name for p in mesh.claims["live"].proxies if p.witnesses} == {"any gateway"}


OF_API = """
type: MeshRetry
name: of-api
mesh: default
spec:
  targetRef: {kind: MeshService, name: api}
  to: [{targetRef: {kind: Mesh}, default: {http: {numRetries: 7}}}]
"""
OF_WEB = """
type: MeshRetry
name: of-web
mesh: default
spec:
  targetRef: %s
  to: [{targetRef: {kind: Mesh}, default: {http: {numRetries: 9}}}]
"""
OLD_RETRY = """
type: Retry
name: old
mesh: default
sources: [{match: {kuma.io/service: nobody}}]
destinations: [{match: {kuma.io/service: "*"}}]
conf: {http: {numRetries: 2}}
"""


@pytest.mark.parametrize("beside", [(), (OLD_RETRY,)], ids=["routes", "of-the-kind"])
@pytest.mark.parametrize("exported", [(), ("default",)], ids=["files", "exported"])
def test_old_policies_that_stay_excuse_no_proxy(
    beside: tuple[str, ...], exported: tuple[str, ...]
) -> None:
    """Of two inbounds one is of api, one of web in v1: only such a proxy reads both policies.

    A MeshServiceSubset outranks the MeshService, a MeshSubset does not. No listed Dataplane has
    both, and of the one service that is named nobody but the listed one may have endpoints: either
    is a difference without TrafficRoutes, and so it is with them.
    """
    refs = (
        "{kind: MeshServiceSubset, name: web, tags: {version: v1}}",
        "{kind: MeshSubset, tags: {kuma.io/service: web, version: v1}}",
    )
    listed = LISTED.replace("http}", "tcp}")
    texts = ["---".join((ROUTE_ALL, OF_API, OF_WEB % ref, *beside, listed)) for ref in refs]
    old, new = (replace(state(text), exported=frozenset(exported)) for text in texts)
    (mesh,) = prove(old, new, claims=("live",)).meshes.values()
    claim = mesh.claims["live"]
    assert {w.field for w in claim.witnesses} == {"http.numRetries"}
    assert all(p.made_up for p in claim.proxies if p.witnesses)


TRACED = """
type: TrafficTrace
name: all
mesh: default
selectors: [{match: {kuma.io/service: web}}]
conf: {}
"""
SPANS = """
type: MeshTrace
name: gateways
mesh: default
spec:
  targetRef: {kind: Mesh, proxyTypes: [Gateway]}
  default: {backends: [{type: Zipkin, zipkin: {url: 'http://%s:9411/api/v2/spans'}}]}
"""


def test_so_is_what_a_gateway_reads_as_a_whole() -> None:
    mesh = _mesh((TRACED, SPANS % "a"), (TRACED, SPANS % "b"))
    assert {p.name for p in mesh.claims["live"].proxies if p.witnesses} == {"any gateway"}


BREAKER = """
type: MeshCircuitBreaker
name: c
mesh: default
spec: {to: [{targetRef: {kind: Mesh}, default: {connectionLimits: {maxRetries: %s}}}]}
"""
SERVICES = """
type: MeshService
name: api
mesh: default
spec: {selector: {dataplaneTags: {kuma.io/service: api}}, ports: [{port: 80, appProtocol: http}]}
---
type: MeshService
name: web
mesh: default
spec: {selector: {dataplaneTags: {kuma.io/service: web}}, ports: [{port: 80, appProtocol: http}]}
"""
TO_WEB = """
type: MeshTimeout
name: t
mesh: default
spec: {to: [{targetRef: {kind: MeshService, name: web}, default: {connectionTimeout: %s}}]}
"""


@pytest.mark.parametrize("policy", [BREAKER % "%d", TO_WEB % "%ds"], ids=["all", "another service"])
@pytest.mark.parametrize("routed", [True, False])
def test_in_mode_exclusive_a_route_decides_who_has_outbounds_at_all(
    policy: str, routed: bool
) -> None:
    """Beside a TrafficRoute real outbounds are there for proxies that some route reaches, to all
    services that speak HTTP, and for nobody else."""
    route = ROUTE.replace("spec:", "spec:\n  targetRef: {kind: MeshSubset, tags: {version: v1}}")
    texts = ((SERVICES, *([route] if routed else []), policy % n) for n in (3, 4))
    claim = _mesh(*texts, mode="Exclusive").claims["live"]
    assert claim.verdict is (Verdict.DIFFERENT if routed else Verdict.EQUIVALENT)
    assert {p.name for p in claim.proxies if p.witnesses} == (
        {"any proxy with version=v1"} if routed else set()
    )


TIED = """
apiVersion: kuma.io/v1alpha1
kind: MeshCircuitBreaker
metadata:
  name: %s
  namespace: kuma-system
  labels: {kuma.io/mesh: default, kuma.io/display-name: same}
spec: {to: [{targetRef: {kind: Mesh}, default: {connectionLimits: {maxRetries: %d}}}]}
"""


@pytest.mark.parametrize("values", [(3, 4), (4, 3)])
def test_what_chance_decides_there_is_unknown(values: tuple[int, int]) -> None:
    """One display name ranks alike: chance decides which one wins, whatever a guess would say."""
    route = ROUTE.replace("spec:", "spec:\n  targetRef: {kind: MeshSubset, tags: {version: v1}}")
    others = (SERVICES, route)
    tied = [TIED % one for one in zip("ab", values, strict=True)]
    claims = _mesh((*others, TIED % ("a", 3)), (*others, *tied), mode="Exclusive").claims
    assert claims["live"].verdict is Verdict.UNKNOWN


CHOSEN = """
type: MeshRetry
name: %s
mesh: default
spec:
  targetRef: {kind: Dataplane, %s}
  to: [{targetRef: {kind: Mesh}, default: {http: {numRetries: %d}}}]
"""


@pytest.mark.parametrize("ref", ["sectionName: main", "sectionName: '8080'", "name: web"])
def test_nor_one_that_is_chosen_by_its_name_or_an_inbound(ref: str) -> None:
    """The one that is listed has neither; who has it retries once more, as without old policies."""
    mesh = _mesh(*((OLD_RETRY, LISTED, CHOSEN % ("new", ref, n)) for n in (7, 8)))
    claim = mesh.claims["live"]
    assert {w.field for w in claim.witnesses} == {"http.numRetries"}
    assert all(p.made_up for p in claim.proxies if p.witnesses)


def test_nor_one_with_two_inbounds_that_different_policies_name() -> None:
    """Of two that rank alike the smaller name wins: who has both inbounds has 7 retries, then 9."""
    sides = (
        (OLD_RETRY, LISTED, CHOSEN % (a, "sectionName: a", 7), CHOSEN % (b, "sectionName: b", 9))
        for a, b in (("p", "q"), ("q", "p"))
    )
    claim = _mesh(*sides).claims["live"]
    shown = {p.name for p in claim.proxies for w in p.witnesses if w.effect is Effect.VALUE}
    assert shown == {"any proxy with inbound b and inbound a"}
