"""Old policies against what replaces them: equal where it is, and different after any change."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kumamigrate.effective.bothengines.whoanswers import covered_types
from kumamigrate.effective.difference import HARMLESS, Effect
from kumamigrate.effective.policies.meshtls import LISTENERS
from kumamigrate.prover.proof import Proof, Verdict
from kumamigrate.prover.prover import prove
from kumamigrate.sourcedest.clients import bears
from kumamigrate.universe.contents import Contents
from kumamigrate.universe.side import Side
from tests.sourcedest.meshes import ROUTE_ALL, state

MESH = """
type: Mesh
name: default
skipCreatingInitialPolicies: ['*']
"""
STRICT = "mtls: {enabledBackend: ca, backends: [{name: ca, type: builtin}]}\n"
"""Keeps clients without a sidecar away, whom no old limit or fault ever met (notes C20)."""
ROUTE = f"\n{ROUTE_ALL}"
PROXIES = """
type: Dataplane
name: web
mesh: default
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web, kuma.io/protocol: http}}]
  outbound: [{port: 10000, tags: {kuma.io/service: api}}]
---
type: Dataplane
name: api
mesh: default
networking:
  address: 10.0.0.2
  inbound: [{port: 80, tags: {kuma.io/service: api, kuma.io/protocol: http, version: v1}}]
"""
REDIRECTED = "transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001}"
INBOUND = """
  from:
    - targetRef: {kind: Mesh}
      default:
        connectionTimeout: 10s
        idleTimeout: 2h
        http: {requestTimeout: 0s, streamIdleTimeout: 1h, maxStreamDuration: 0s}
"""
TRACE = """
type: TrafficTrace
name: t
mesh: default
selectors: [{match: {kuma.io/service: '*'}}]
conf: {backend: z}
"""
TRACE_TOO = TRACE.replace("name: t", "name: u").replace("backend: z", "backend: y")
PAIRS: dict[str, tuple[str, str]] = {
    "permission": (
        """
type: TrafficPermission
name: all
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
---
type: TrafficPermission
name: web
mesh: default
sources: [{match: {kuma.io/service: web}}]
destinations: [{match: {kuma.io/service: api}}]
""",
        """
type: MeshTrafficPermission
name: all
mesh: default
spec:
  targetRef: {kind: Mesh}
  from: [{targetRef: {kind: Mesh}, default: {action: Allow}}]
---
type: MeshTrafficPermission
name: web
mesh: default
spec:
  targetRef: {kind: MeshService, name: api}
  from:
    - {targetRef: {kind: Mesh}, default: {action: Deny}}
    - {targetRef: {kind: MeshSubset, tags: {kuma.io/service: web}}, default: {action: Allow}}
""",
    ),
    "timeout": (
        """
type: Timeout
name: t
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: api}}]
conf: {connectTimeout: 7s, http: {requestTimeout: 3s}}
""",
        """
type: MeshTimeout
name: t
mesh: default
spec:
  targetRef: {kind: Mesh}
  to:
    - targetRef: {kind: MeshService, name: api}
      default:
        connectionTimeout: 7s
        idleTimeout: 0s
        http: {requestTimeout: 3s, streamIdleTimeout: 0s, maxStreamDuration: 0s}
"""
        + INBOUND.strip("\n")
        + "\n",
    ),
    "retry": (
        """
type: Retry
name: r
mesh: default
sources: [{match: {kuma.io/service: web}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {http: {numRetries: 2, retryOn: [all_5xx]}}
""",
        """
type: MeshRetry
name: r
mesh: default
spec:
  targetRef: {kind: MeshService, name: web}
  to: [{targetRef: {kind: Mesh}, default: {http: {numRetries: 2, retryOn: [5xx]}}}]
""",
    ),
    "breaker": (
        """
type: CircuitBreaker
name: c
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {detectors: {totalErrors: {}}}
""",
        """
type: MeshCircuitBreaker
name: c
mesh: default
spec:
  targetRef: {kind: Mesh}
  to:
    - targetRef: {kind: Mesh}
      default: {outlierDetection: {detectors: {totalFailures: {consecutive: 5}}}}
""",
    ),
    "probe": (
        """
type: HealthCheck
name: h
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {interval: 10s, timeout: 2s, unhealthyThreshold: 3, healthyThreshold: 1}
""",
        """
type: MeshHealthCheck
name: h
mesh: default
spec:
  targetRef: {kind: Mesh}
  to:
    - targetRef: {kind: Mesh}
      default:
        {interval: 10s, timeout: 2s, unhealthyThreshold: 3, healthyThreshold: 1, tcp: {},
         http: {disabled: true}, grpc: {disabled: true}}
""",
    ),
    "fault": (
        """
type: FaultInjection
name: f
mesh: default
sources: [{match: {kuma.io/service: web}}]
destinations: [{match: {kuma.io/service: api, kuma.io/protocol: http}}]
conf: {abort: {percentage: 50, httpStatus: 500}}
""",
        """
type: MeshFaultInjection
name: f
mesh: default
spec:
  targetRef: {kind: MeshServiceSubset, name: api, tags: {kuma.io/protocol: http}}
  from:
    - targetRef: {kind: MeshSubset, tags: {kuma.io/service: web}}
      default: {http: [{abort: {percentage: 50, httpStatus: 500}}]}
""",
    ),
    "limit": (
        """
type: RateLimit
name: l
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: api}}]
conf: {http: {requests: 5, interval: 10s}}
""",
        """
type: MeshRateLimit
name: l
mesh: default
spec:
  targetRef: {kind: MeshService, name: api}
  from:
    - targetRef: {kind: Mesh}
      default: {local: {http: {requestRate: {num: 5, interval: 10s}}}}
""",
    ),
    "route": (
        """
type: TrafficRoute
name: x
mesh: default
sources: [{match: {kuma.io/service: web}}]
destinations: [{match: {kuma.io/service: api}}]
conf:
  http: [{match: {path: {exact: /x}}, destination: {kuma.io/service: api, version: v2}}]
  split:
    - {weight: 90, destination: {kuma.io/service: api, version: v1}}
    - {weight: 10, destination: {kuma.io/service: api, version: v2}}
""",
        """
type: MeshHTTPRoute
name: x
mesh: default
spec:
  targetRef: {kind: MeshService, name: web}
  to:
    - targetRef: {kind: MeshService, name: api}
      rules:
        - matches: [{path: {type: Exact, value: /x}}]
          default: {backendRefs: [{kind: MeshServiceSubset, name: api, tags: {version: v2}}]}
        - matches: [{path: {type: PathPrefix, value: /}}]
          default:
            backendRefs:
              - {kind: MeshServiceSubset, name: api, tags: {version: v1}, weight: 90}
              - {kind: MeshServiceSubset, name: api, tags: {version: v2}, weight: 10}
---
type: MeshTimeout
name: off
mesh: default
spec:
  targetRef: {kind: Mesh}
  to:
    - targetRef: {kind: Mesh}
      default:
        connectionTimeout: 5s
        idleTimeout: 0s
        http: {requestTimeout: 0s, streamIdleTimeout: 0s, maxStreamDuration: 0s}
"""
        + INBOUND.strip("\n")
        + "\n",
    ),
}
MUTATIONS = [
    ("permission", "{targetRef: {kind: Mesh}, default: {action: Deny}}", None),
    ("permission", "kuma.io/service: web", "kuma.io/service: shop"),
    ("permission", "name: api", "name: web"),
    ("timeout", "requestTimeout: 3s", "requestTimeout: 4s"),
    ("timeout", "idleTimeout: 0s", "idleTimeout: 1h"),
    ("timeout", "name: api", "name: db"),
    ("timeout", "idleTimeout: 2h", "idleTimeout: 1h"),
    ("retry", "numRetries: 2", "numRetries: 3"),
    ("retry", "kind: MeshService, name: web", "kind: MeshService, name: api"),
    ("breaker", "{consecutive: 5}", "{consecutive: 6}"),
    ("breaker", "{consecutive: 5}", "{}"),
    ("probe", "timeout: 2s", "timeout: 3s"),
    ("probe", "http: {disabled: true}", "http: {path: /}"),
    ("fault", "percentage: 50", "percentage: 51"),
    ("fault", "tags: {kuma.io/service: web}", "tags: {kuma.io/service: db}"),
    ("limit", "num: 5", "num: 6"),
    ("limit", "name: api", "name: web"),
    ("route", "weight: 90", "weight: 80"),
    ("route", "type: Exact, value: /x", "type: PathPrefix, value: /x"),
    ("route", "version: v2}, weight", "version: v3}, weight"),
    ("route", "streamIdleTimeout: 0s", "streamIdleTimeout: 5m"),
]


def _proof(before: str, after: str, *, proxies: bool = True, routed: bool = True) -> Proof:
    common = [MESH + STRICT, *([PROXIES] if proxies else [])]
    left = [*common, *([ROUTE] if routed else []), before]
    right = [*common, *([ROUTE] if routed and "MeshHTTPRoute" not in after else []), after]
    sides = [state("---".join(texts), complete=False) for texts in (left, right)]
    return prove(*sides, claims=("live",))


def _harmful(proof: Proof) -> list[Any]:
    return [w for w in proof.witnesses("live") if w.effect not in HARMLESS]


@pytest.mark.parametrize("name", PAIRS)
def test_an_exhaustive_successor_is_the_same(name: str) -> None:
    proof = _proof(*PAIRS[name])
    assert _harmful(proof) == []
    assert proof.unknown("live") == ()


@pytest.mark.parametrize("name", [n for n in PAIRS if n not in ("probe", "route")])
def test_it_is_the_same_without_any_known_proxy(name: str) -> None:
    proof = _proof(*PAIRS[name], proxies=False)
    assert _harmful(proof) == []


@pytest.mark.parametrize(("name", "part", "instead"), MUTATIONS)
def test_any_change_is_seen(name: str, part: str, instead: str | None) -> None:
    before, after = PAIRS[name]
    assert part in after
    if instead is None:
        changed = "\n".join(line for line in after.split("\n") if part not in line)
    else:
        changed = after.replace(part, instead, 1)
    proof = _proof(before, changed)
    assert _harmful(proof) or proof.unknown("live")


@pytest.mark.parametrize(
    ("pair", "said"),
    [(PAIRS["timeout"], True), (PAIRS["limit"], True), ((TRACE, f"{TRACE}---{TRACE_TOO}"), False)],
    ids=["outbounds", "clients", "traces"],
)
def test_gateways_that_are_not_there_are_taken_for_granted_where_they_would_read_it(
    pair: tuple[str, str], said: bool
) -> None:
    """An old trace is read by every proxy in one way."""
    (mesh,) = _proof(*pair).meshes.values()
    assert any("no built-in gateway" in one for one in mesh.assumptions) is said


def test_no_policy_at_all_is_different() -> None:
    for name in PAIRS:
        if name != "route":
            assert _harmful(_proof(PAIRS[name][0], "")), name


def test_unchanged_old_policies_are_equal() -> None:
    before = PAIRS["timeout"][0]
    assert _proof(before, before).verdict("live") is Verdict.EQUIVALENT


def test_what_no_policy_can_say_is_residue() -> None:
    both = "requestTimeout: 3s, idleTimeout: 9s"
    before = PAIRS["timeout"][0].replace("requestTimeout: 3s", both)
    after = PAIRS["timeout"][1].replace("idleTimeout: 0s", "idleTimeout: 9s", 1)
    found = _proof(before, after).witnesses("live")
    assert {w.effect for w in found} == {Effect.RESIDUE}
    assert {w.before.value for w in found} == {"9s", "2h0m0s"}


def test_a_tie_is_unknown_whoever_is_taken() -> None:
    one = PAIRS["retry"][0]
    two = one.replace("name: r", "name: s").replace("numRetries: 2", "numRetries: 3")
    for wins in ("2", "3"):
        after = PAIRS["retry"][1].replace("numRetries: 2", f"numRetries: {wins}")
        proof = _proof(f"{one}---{two}", after)
        assert proof.verdict("live") is not Verdict.EQUIVALENT
        assert any("creation time decides" in reason for reason in proof.unknown("live"))


def test_a_tie_that_stays_a_tie_is_the_same() -> None:
    one = PAIRS["retry"][0]
    two = one.replace("name: r", "name: s").replace("numRetries: 2", "numRetries: 3")
    loser = one.replace("name: r", "name: t").replace("service: web", "service: '*'")
    proof = _proof(f"{one}---{two}---{loser}", f"{one}---{two}")
    assert not [w for w in _harmful(proof) if w.proxy == "web"]


def test_old_limits_keep_new_ones_away() -> None:
    before, after = PAIRS["limit"]
    proof = _proof(before, f"{before}---{after.replace('num: 5', 'num: 1')}")
    assert proof.verdict("live") is Verdict.EQUIVALENT


@pytest.mark.parametrize(
    ("mesh", "verdict"),
    [
        (MESH, Verdict.DIFFERENT),
        (MESH + STRICT, Verdict.EQUIVALENT),
        (MESH + STRICT.replace("builtin", "builtin, mode: PERMISSIVE"), Verdict.DIFFERENT),
    ],
    ids=["no mTLS", "strict", "permissive"],
)
def test_limits_reach_clients_without_a_sidecar_unless_mtls_is_strict(
    mesh: str, verdict: Verdict
) -> None:
    sides = [state("---".join((mesh, PROXIES, limit)), complete=False) for limit in PAIRS["limit"]]
    proof = prove(*sides, claims=("live",))
    assert proof.verdict("live") is verdict
    met = {w.destination for w in _harmful(proof)}
    assert all("a client without a sidecar" in where for where in met)


@pytest.mark.parametrize(
    ("headers", "same"),
    [
        ("{set: [{name: x, value: y}], add: [{name: z, value: w}]}", True),
        ("{add: [{name: x, value: y}, {name: z, value: w}]}", False),
        ("{set: [{name: x, value: y}, {name: z, value: w}]}", False),
    ],
)
def test_a_header_of_a_limit_is_set_unless_it_is_appended(headers: str, *, same: bool) -> None:
    """legacy.md: `append: true` adds one, without it the header is overwritten."""
    before, after = PAIRS["limit"]
    old = "{headers: [{key: x, value: y}, {key: z, value: w, append: true}]}"
    proof = _proof(
        before.replace("interval: 10s", f"interval: 10s, onRateLimit: {old}"),
        after.replace("interval: 10s}", f"interval: 10s}}, onRateLimit: {{headers: {headers}}}"),
    )
    assert (_harmful(proof) == []) is same


def test_who_a_limit_reaches_is_unknown_without_the_mesh() -> None:
    sides = [state("---".join((PROXIES, limit)), complete=False) for limit in PAIRS["limit"]]
    proof = prove(*sides, claims=("live",))
    assert proof.verdict("live") is Verdict.UNKNOWN
    assert any("up to the mTLS mode of the mesh" in reason for reason in proof.unknown("live"))


def test_both_engines_log_and_probe() -> None:
    before, after = PAIRS["probe"]
    assert _harmful(_proof(before, f"{before}---{after}"))


def test_the_protocol_of_an_unknown_service_decides() -> None:
    before = PAIRS["timeout"][0].replace(
        "http: {requestTimeout: 3s}", "tcp: {idleTimeout: 5s}, http: {idleTimeout: 9s}"
    )
    after = PAIRS["timeout"][1].replace("idleTimeout: 0s", "idleTimeout: 9s", 1)
    after = after.replace("requestTimeout: 3s", "requestTimeout: 0s")
    assert _harmful(_proof(before, after)) == []
    proof = _proof(before, after, proxies=False)
    assert any("protocol of the service" in reason for reason in proof.unknown("live"))


EXTERNAL = """
type: ExternalService
name: bank
mesh: default
tags: {kuma.io/service: bank}
networking: {address: "bank.com:443"}
"""
ONLY_BATCH = """
type: TrafficPermission
name: batch
mesh: default
sources: [{match: {kuma.io/service: batch}}]
destinations: [{match: {kuma.io/service: bank}}]
"""
LEADS_THERE = """
type: TrafficRoute
name: some
mesh: default
sources: [{match: {kuma.io/service: web}}]
destinations: [{match: {kuma.io/service: api}}]
conf:
  split:
    - {weight: 1, destination: {kuma.io/service: bank}}
    - {weight: 9, destination: {kuma.io/service: api}}
"""
ROUTED_THERE = """
type: MeshHTTPRoute
name: some
mesh: default
spec:
  targetRef: {kind: MeshService, name: web}
  to:
    - targetRef: {kind: MeshService, name: api}
      rules:
        - matches: [{path: {type: PathPrefix, value: /}}]
          default:
            backendRefs:
              - {kind: MeshService, name: bank, weight: 1}
              - {kind: MeshService, name: api, weight: 9}
"""


BETA_OLD = """
type: TrafficRoute
name: beta
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: api}}]
conf:
  http: [{match: {path: {exact: /beta}}, destination: {kuma.io/service: bank}}]
  destination: {kuma.io/service: '*'}
"""
BETA_NEW = """
type: MeshHTTPRoute
name: beta
mesh: default
spec:
  targetRef: {kind: Mesh}
  to:
    - targetRef: {kind: MeshService, name: api}
      rules:
        - matches: [{path: {type: Exact, value: /beta}}]
          default: {backendRefs: [{kind: MeshService, name: bank}]}
"""
BANKING = """
type: Dataplane
name: bank
mesh: default
networking:
  address: 10.0.0.3
  inbound: [{port: 80, tags: {kuma.io/service: bank, kuma.io/protocol: %s}}]
"""


@pytest.mark.parametrize(("protocol", "leads"), [("http", True), ("tcp", False), ("kafka", False)])
def test_a_route_of_requests_leads_to_no_service_of_another_protocol(
    protocol: str, leads: bool
) -> None:
    """Old routes send requests wherever they say; of new ones 2.x leaves such a reference out."""
    common = (MESH, PROXIES, BANKING % protocol)
    sides = [state("---".join((*common, *own))) for own in ((ROUTE, BETA_OLD), (BETA_NEW,))]
    found = [w for w in prove(*sides, claims=("live",)).witnesses("live") if w.field == "routes"]
    told = [(w.destination, w.before.value, w.after.value) for w in found]
    assert told == ([] if leads else [("api (path /beta)", "bank 1", "api 1")])


FAULTY_TEAMS = """
type: FaultInjection
name: teams
mesh: default
sources: [{match: {kuma.io/service: '*', team: '*'}}]
destinations: [{match: {kuma.io/service: api, kuma.io/protocol: http}}]
conf: {abort: {httpStatus: 500, percentage: 50}}
"""


def test_clients_with_a_value_that_nobody_has_are_said_not_to_be_compared() -> None:
    """No client has a team; one that comes to have any meets faults before, and none after."""
    common = (MESH + STRICT, PROXIES)
    sides = [state("---".join((*common, *own)), complete=False) for own in ((FAULTY_TEAMS,), ())]
    proof = prove(*sides, claims=("live",))
    assert proof.verdict("live") is Verdict.EQUIVALENT
    assert any("clients with team=any other" in why for why in proof.beyond)
    kept = prove(sides[0], sides[0], claims=("live",))
    assert not any("clients with" in why for why in kept.beyond)


def _opened(
    before: tuple[str, ...], after: tuple[str, ...], proxies: str = PROXIES, mesh: str = MESH
) -> Proof:
    common = (mesh, proxies, EXTERNAL)
    sides = [state("---".join((*common, *own)), complete=False) for own in (before, after)]
    return prove(*sides, claims=("live",))


def _opens_the_bank(proof: Proof) -> set[str]:
    return {w.proxy for w in proof.witnesses("live") if w.policy_type == "ExternalService"}


def test_an_external_service_that_nobody_uses_is_opened_for_nobody_known() -> None:
    own = "  outbound: [{port: 10000, tags: {kuma.io/service: web}}]\n"
    proof = _opened((ROUTE, ONLY_BATCH), (ONLY_BATCH,), proxies=PROXIES + own)
    assert not _opens_the_bank(proof)
    assert any("traffic to bank, which depends on its outbounds" in why for why in proof.beyond)
    nobody = _opened((ROUTE, ONLY_BATCH), (ONLY_BATCH,), proxies="\n{}\n")
    assert _opens_the_bank(nobody)


@pytest.mark.parametrize(
    ("before", "after", "proxies"),
    [
        pytest.param(
            (ROUTE, ONLY_BATCH),
            (ONLY_BATCH,),
            PROXIES.replace("outbound: [", "outbound: [{port: 1, tags: {kuma.io/service: bank}}, "),
            id="outbound",
        ),
        pytest.param(
            (ROUTE, LEADS_THERE, ONLY_BATCH), (ROUTED_THERE, ONLY_BATCH), PROXIES, id="led"
        ),
        pytest.param(
            (ROUTE, ONLY_BATCH),
            (ONLY_BATCH,),
            PROXIES.replace("outbound: [{port: 10000, tags: {kuma.io/service: api}}]", REDIRECTED),
            id="transparent",
        ),
    ],
)
def test_an_external_service_is_opened_for_those_who_lead_there(
    before: tuple[str, ...], after: tuple[str, ...], proxies: str
) -> None:
    assert "web" in _opens_the_bank(_opened(before, after, proxies))
    assert not _opens_the_bank(_opened(before, before, proxies))


def test_what_a_zone_egress_lets_through_is_unknown() -> None:
    """legacy.md §2.7: there the egress filters, on behalf of either engine."""
    own = "outbound: [{port: 1, tags: {kuma.io/service: bank}}, "
    listed = PROXIES.replace("outbound: [", own)
    egress = MESH + STRICT + "routing: {zoneEgress: true}\n"
    for mesh, opened in ((MESH, True), (egress, False)):
        proof = _opened((ROUTE, ONLY_BATCH), (ONLY_BATCH,), listed, mesh)
        assert ("web" in _opens_the_bank(proof)) is opened
        assert any("zone egress" in str(doubt) for doubt in proof.doubts("live")) is not opened


@pytest.mark.parametrize("more", ["", ", kuma.io/protocol: http, kuma.io/zone: east"])
def test_an_external_service_is_not_opened_for_those_whom_a_permission_names(more: str) -> None:
    """Also where it names all tags that `web` has."""
    own = "{port: 1, tags: {kuma.io/service: bank}}, "
    proxies = PROXIES.replace("outbound: [", f"outbound: [{own}")
    web = ONLY_BATCH.replace("kuma.io/service: batch", f"kuma.io/service: web{more}")
    assert "web" not in _opens_the_bank(_opened((ROUTE, web), (web,), proxies))


def test_a_policy_that_is_made_anew_wins_a_tie() -> None:
    one = PAIRS["retry"][0].replace("mesh: default", "mesh: default\ncreationTime: '2024-01-02'")
    two = one.replace("name: r", "name: s").replace("numRetries: 2", "numRetries: 3")
    again = two.replace("2024-01-02", "2024-01-03")
    newer = one.replace("2024-01-02", "2024-01-04")
    assert _harmful(_proof(f"{one}---{again}", f"{newer}---{again}"))


TO_ALL = """
type: TrafficPermission
name: {name}
mesh: default
sources: [{{match: {{version: {version}}}}}]
destinations: [{{match: {{kuma.io/service: {service}}}}}]
"""


def test_a_client_is_not_taken_for_one_with_a_value_more() -> None:
    """A proxy of two inbounds may have version v1 and another one, too."""
    by_all = TO_ALL.format(name="a", version="'*'", service="other")
    by_one = TO_ALL.format(name="b", version="v1", service="web")
    found = _harmful(_proof(f"{by_all}---{by_one}", by_all))
    assert {w.destination.split(", ")[-1] for w in found} >= {"version=v1"}


def test_a_known_proxy_is_a_client_whatever_selectors_name() -> None:
    by_all = TO_ALL.format(name="a", version="'*'", service="web")
    found = _harmful(_proof(by_all, by_all.replace("version: '*'", "version: v2")))
    assert any(w.proxy == "web" for w in found)


FAULT = """
type: FaultInjection
name: f
mesh: default
sources: [{match: {kuma.io/service: web, kuma.io/protocol: http}}]
destinations: [{match: {kuma.io/service: api, kuma.io/protocol: http}}]
conf: {abort: {httpStatus: 500, percentage: 10}}
"""
MESH_FAULT = """
type: MeshFaultInjection
name: f
mesh: default
spec:
  targetRef: {kind: MeshServiceSubset, name: api, tags: {kuma.io/protocol: http}}
  from:
    - targetRef: {kind: MeshSubset, tags: {kuma.io/service: web, kuma.io/protocol: http}}
      default: {http: [{abort: {httpStatus: 500, percentage: 10}}]}
"""


@pytest.mark.parametrize("protocol", ["http", "kafka", "*"])
def test_a_client_bears_each_of_the_values_of_a_tag(protocol: str) -> None:
    client = {
        ("kuma.io/service", "web"),
        ("kuma.io/protocol", "http"),
        ("kuma.io/protocol", "kafka"),
    }
    assert bears(client, {"kuma.io/service": "web", "kuma.io/protocol": protocol})
    assert not bears(client, {"kuma.io/service": "web", "version": protocol})


def test_a_client_with_several_inbounds_has_several_values_of_a_tag() -> None:
    second = ", {port: 81, tags: {kuma.io/service: web-admin, kuma.io/protocol: kafka}}]"
    proxies = PROXIES.replace("http}}]\n  outbound", "http}}" + second + "\n  outbound")
    assert "web-admin" in proxies
    sides = [state("---".join((MESH, proxies, own)), complete=False) for own in (FAULT, MESH_FAULT)]
    assert _harmful(prove(*sides, claims=("live",))) == []


BUILTIN = """
type: Dataplane
name: gw
mesh: default
networking: {address: 10.0.0.9, gateway: {type: BUILTIN, tags: {kuma.io/service: gw}}}
"""


def test_what_a_built_in_gateway_reads_is_unknown_without_any_route() -> None:
    one = PAIRS["retry"][0].split("---")[0]
    before, after = (
        state("---".join((MESH, BUILTIN, text)))
        for text in (one, one.replace("numRetries: 2", "numRetries: 3"))
    )
    proof = prove(before, after, claims=("live",))
    assert proof.verdict("live") is Verdict.UNKNOWN


LIMITED = """
type: ExternalService
name: es
mesh: default
tags: {kuma.io/service: es, kuma.io/protocol: http}
networking: {address: 'es.example:80'}
---
type: RateLimit
name: limit
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: es}}]
conf: {http: {requests: 5, interval: 10s}}
"""


def test_limits_on_the_way_out_go_with_the_routes() -> None:
    proxies = f"{PROXIES}  {REDIRECTED}\n"
    before = state("---".join((MESH, ROUTE, proxies, LIMITED)))
    after = state("---".join((MESH, proxies, LIMITED)))
    reasons = prove(before, after, claims=("live",)).unknown("live")
    assert any("RateLimit limit" in reason for reason in reasons)


ELSEWHERE = """
type: TrafficRoute
name: some
mesh: default
sources: [{match: {kuma.io/service: web}}]
destinations: [{match: {kuma.io/service: api}}]
conf: {destination: {kuma.io/service: api-next, zone: east}}
"""
LED_ELSEWHERE = """
type: MeshTCPRoute
name: some
mesh: default
spec:
  targetRef: {kind: MeshService, name: web}
  to:
    - targetRef: {kind: MeshService, name: api}
      rules:
        - default:
            backendRefs:
              - {kind: MeshServiceSubset, name: api-next, tags: {zone: east%s}}
"""


@pytest.mark.parametrize(
    ("own", "kept", "same"),
    [
        ("", "", True),
        (", zone: west", "", True),
        (", version: v1", "", False),
        (", version: v1", ", version: v1", True),
    ],
)
def test_a_destination_has_the_tags_of_the_outbound_that_it_does_not_say(
    own: str, kept: str, same: bool
) -> None:
    """legacy.md §1.2: routes of the new engine lead where they say, to no part of it."""
    proxies = PROXIES.replace("kuma.io/service: api}}]", f"kuma.io/service: api{own}}}}}]")
    proxies = proxies.replace("protocol: http", "protocol: tcp")
    sides = [(ROUTE, ELSEWHERE), (LED_ELSEWHERE % kept,)]
    proof = prove(
        *(state("---".join((MESH, proxies, *own)), complete=False) for own in sides),
        claims=("live",),
    )
    led = {w.destination for w in _harmful(proof) if w.field == "routes" and w.proxy == "web"}
    assert (not led) is same


def test_without_a_route_an_outbound_keeps_its_tags() -> None:
    tagged = PROXIES.replace("kuma.io/service: api}}]", "kuma.io/service: api, version: v1}}]")
    proof = _opened((ROUTE,), (), proxies=tagged)
    assert not [w for w in _harmful(proof) if w.field == "routes"]


LIMIT_OUTSIDE = """
type: RateLimit
name: slow
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: bank}}]
conf: {http: {requests: 1, interval: 1s}}
"""


@pytest.mark.parametrize("uses", [True, False])
def test_a_limit_where_requests_leave_matters_to_those_who_send_there(uses: bool) -> None:
    own = "  outbound: [{port: 10000, tags: {kuma.io/service: web}}]\n"
    proxies = (PROXIES + own).replace(
        "service: api}}]", f"service: {'bank' if uses else 'api'}}}}}]"
    )
    allow = ONLY_BATCH.replace("batch", "'*'", 2).replace("name: '*'", "name: all")
    proof = _opened((ROUTE, allow, LIMIT_OUTSIDE), (allow, LIMIT_OUTSIDE), proxies=proxies)
    doubts = [why for why in proof.unknown("live") if "RateLimit slow limits" in why]
    assert bool(doubts) is uses
    assert uses or any("RateLimit slow limits" in why for why in proof.beyond)


TAKES_OVER = """
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
  to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 3s}}}]
"""


def test_a_route_that_takes_an_outbound_over_brings_its_own_values() -> None:
    """Without its own value the route does what the TrafficRoute did; with it `/v1` is cut off."""
    before = state("---".join((MESH, ROUTE, PROXIES)))
    found = []
    for more in ((), (ON_IT,)):
        after = state("---".join((MESH, ROUTE, PROXIES, TAKES_OVER, *more)))
        found.append(prove(before, after, claims=("live",)).witnesses("live"))
    plain, own = ({w.field for w in witnesses if w.proxy == "web"} for witnesses in found)
    assert "on routes" not in plain
    assert "on routes" in own


def test_a_tie_is_a_doubt_about_the_proxies_whose_policies_tie() -> None:
    """Of two HealthChecks the newer one wins, and nothing says which: for `web`, which has one."""
    before, after = (
        state("---".join((MESH, ROUTE, PROXIES, TIED.format("a", 2), TIED.format("b", 3), text)))
        for text in (PROBES.format(3), PROBES.format(5))
    )
    (mesh,) = prove(before, after, claims=("live",)).meshes.values()
    verdicts = {p.name: p.verdict for p in mesh.claims["live"].proxies if not p.made_up}
    assert verdicts == {"web": Verdict.UNKNOWN, "api": Verdict.EQUIVALENT}


TIED = """
type: HealthCheck
name: {}
mesh: default
sources: [{{match: {{kuma.io/service: web}}}}]
destinations: [{{match: {{kuma.io/service: api}}}}]
conf: {{interval: 10s, timeout: {}s, unhealthyThreshold: 3, healthyThreshold: 1}}
"""
PROBES = """
type: MeshHealthCheck
name: also
mesh: default
spec:
  targetRef: {{kind: Mesh}}
  to: [{{targetRef: {{kind: Mesh}}, default: {{http: {{path: /}}, unhealthyThreshold: {}}}}}]
"""


BANK = PROXIES.replace("outbound: [", "outbound: [{port: 1, tags: {kuma.io/service: bank}}, ")


@pytest.mark.parametrize("sides", [(PROXIES, BANK), (BANK, PROXIES)], ids=["comes", "goes"])
def test_an_outbound_that_a_dataplane_lists_comes_or_goes(sides: tuple[str, str]) -> None:
    before, after = (state("---".join((MESH, proxies)), complete=True) for proxies in sides)
    (found,) = prove(before, after, claims=("live",)).witnesses("live")
    assert (found.proxy, found.field) == ("web", "networking.outbound")
    ends = [None if proxies is PROXIES else "kuma.io/service=bank" for proxies in sides]
    assert [found.before.value, found.after.value] == ends


PERMISSIVE = STRICT.replace("builtin", "builtin, mode: PERMISSIVE")
TLS = """---
type: MeshTLS
name: t
mesh: default
spec: {targetRef: {kind: Mesh}, from: [{targetRef: {kind: Mesh}, default: {mode: MODE}}]}
"""


@pytest.mark.parametrize(
    ("before", "after", "modes"),
    [
        (PERMISSIVE, STRICT, [("Permissive", "Strict")] * 2),
        (PERMISSIVE, STRICT + TLS.replace("MODE", "Permissive"), []),
        (STRICT, PERMISSIVE + TLS.replace("MODE", "Strict"), []),
    ],
    ids=["the Mesh alone", "stays permissive", "stays strict"],
)
def test_a_mode_of_inbounds_is_the_policy_s_and_what_is_sent_the_mesh_s(
    before: str, after: str, modes: list[tuple[str, str]]
) -> None:
    """legacy-notes C17: clients go by the backend of the Mesh, whatever MeshTLS says.

    One that comes opens listeners where traffic is not redirected (goldens mixed-2.14/21-0096).
    """
    sides = [state(f"{MESH}{mesh}---{PROXIES}", complete=True) for mesh in (before, after)]
    found = prove(*sides, claims=("live",)).witnesses("live")
    assert [(w.before.value, w.after.value) for w in found if w.field == "mode"] == modes
    opened = {LISTENERS} if TLS.partition("MODE")[0] in after else set()
    assert {w.field for w in found} - {"mode"} == {"sent", *opened}


def test_where_a_request_goes_is_told_on_both_sides() -> None:
    before, after = PAIRS["route"]
    shifted = after.replace("weight: 90", "weight: 80").replace("weight: 10", "weight: 20")
    found = [w for w in _harmful(_proof(before, shifted)) if w.field.endswith("routes")]
    assert {w.before.value for w in found} == {"api,version=v1 0.9, api,version=v2 0.1"}
    assert {w.after.value for w in found} == {"api,version=v1 0.8, api,version=v2 0.2"}


BY_ZONE = """---
type: MeshTimeout
name: z
mesh: default
spec:
  targetRef: {kind: MeshSubset, tags: {kuma.io/zone: ZONE}}
  to: [{targetRef: {kind: Mesh}, default: {connectionTimeout: 3s}}]
"""


@pytest.mark.parametrize(("zone", "reached"), [("east", {"web"}), ("west", set[str]())])
def test_a_dataplane_has_the_tag_of_its_zone_without_saying_so(
    zone: str, reached: set[str]
) -> None:
    """A control plane adds it; `api` calls nobody."""
    before = "---".join((MESH, PROXIES, ROUTE)) + BY_ZONE.replace("ZONE", zone)
    sides = [state(text, complete=True) for text in (before, before.replace("3s", "4s"))]
    found = prove(*sides, claims=("live",)).witnesses("live")
    assert {(w.proxy, w.field) for w in found} == {(web, "connectionTimeout") for web in reached}


WRITTEN = """---
type: MeshTimeout
name: in
mesh: default
spec:
  targetRef: {kind: Mesh}
  from: [{targetRef: {kind: Mesh}, default: CONF}]
"""
OF_29 = (
    "{connectionTimeout: 10s, idleTimeout: 2h, http: {requestTimeout: 0s, streamIdleTimeout: 1h}}"
)
OF_214 = "{connectionTimeout: 5s, idleTimeout: 1h, http: {requestTimeout: 15s}}"


@pytest.mark.parametrize(
    ("release", "conf", "same"),
    [("2.14", OF_29, False), ("2.14", OF_214, True), ("2.9", OF_29, True), ("2.9", OF_214, False)],
)
def test_inbounds_are_those_of_the_release_beside_an_old_timeout(
    release: str, conf: str, same: bool
) -> None:
    """Asked of a 2.14.3: connecting 5s to 10s, idle 1h to 2h, requests 15s to off, and nothing."""
    before = "---".join((MESH, PROXIES, ROUTE, PAIRS["timeout"][0]))
    after = before + WRITTEN.replace("CONF", conf)
    sides = [state(text, release=release, complete=True) for text in (before, after)]
    proof = prove(*sides, claims=("live",))
    assert (proof.allowing("live", HARMLESS) is Verdict.EQUIVALENT) is same


FAULT_OLD = """
type: FaultInjection
name: f
mesh: default
sources:
- match: {kuma.io/service: web}
- match: {kuma.io/service: other}
destinations: [{match: {kuma.io/service: api, kuma.io/protocol: http}}]
conf: {abort: {httpStatus: 500, percentage: 50}}
"""
FAULT_NEW = """
type: MeshFaultInjection
name: f
mesh: default
spec:
  targetRef: {kind: MeshServiceSubset, name: api, tags: {kuma.io/protocol: http}}
  from:
  - targetRef: {kind: MeshSubset, tags: {kuma.io/service: web}}
    default: {http: [{abort: {httpStatus: 500, percentage: 50}}]}
  - targetRef: {kind: MeshSubset, tags: {kuma.io/service: other}}
    default: {http: [{abort: {httpStatus: 500, percentage: 50}}]}
"""


@pytest.mark.parametrize("second", ["", "  - match: {kuma.io/service: other}"])
def test_a_client_of_two_inbounds_is_named_where_policies_name_two(second: str) -> None:
    """Asked of a 2.14.3: one filter for both sources before, one for each after."""
    old, new = FAULT_OLD, FAULT_NEW
    if not second:
        old = old.replace("- match: {kuma.io/service: other}\n", "")
        new = new[: new.rindex("  - targetRef")]
    found = _proof(old, new)
    assert found.verdict("live") is Verdict.EQUIVALENT
    assert any("one inbound" in fact for fact in found.assumptions) is bool(second)


def _abort(name: str, status: int, to: str = "api", percentage: int = 50) -> str:
    return f"""
type: FaultInjection
name: {name}
mesh: default
sources: [{{match: {{kuma.io/service: web}}}}]
destinations: [{{match: {{kuma.io/service: {to}, kuma.io/protocol: http}}}}]
conf: {{abort: {{httpStatus: {status}, percentage: {percentage}}}}}
"""


ONE, TWO = _abort("one", 500), _abort("two", 503)


@pytest.mark.parametrize(
    ("after", "same"),
    [
        ((ONE, TWO, _abort("more", 404, to="web")), True),
        ((TWO, ONE, _abort("more", 404, to="web")), True),
        ((ONE, _abort("two", 503, percentage=51)), False),
        ((ONE,), False),
    ],
)
def test_faults_of_one_rank_may_be_met_in_any_order(after: tuple[str, ...], *, same: bool) -> None:
    """Which was created first Git does not tell (product.md law 5): nothing is said of what may
    be met otherwise, and the same policies are the same in every order."""
    found = _proof("---".join((ONE, TWO)), "---".join(after))
    assert [w for w in found.witnesses("live") if "api" in str(w.destination)] == []
    tied = "FaultInjection one and FaultInjection two: creation time decides between them"
    assert any(tied in str(doubt) for doubt in found.doubts("live")) is not same


@pytest.mark.parametrize("second", [True, False])
def test_clients_that_old_policies_alone_name_are_named(*, second: bool) -> None:
    """Only clients named by tags are told apart."""
    old = FAULT_OLD if second else FAULT_OLD.replace("service: other}", "service: '*'}")
    found = _proof(old, old.replace("percentage: 50", "percentage: 60"))
    assert any("one inbound" in fact for fact in found.assumptions) is second


TAGGING = {
    "MeshFaultInjection": {
        "spec": {
            "targetRef": {"kind": "MeshSubset", "tags": {"version": "v1"}},
            "from": [{"targetRef": {"kind": "Mesh"}, "default": {"http": []}}],
        }
    },
    "FaultInjection": {
        "sources": [{"match": {"kuma.io/service": "*"}}],
        "destinations": [{"match": {"kuma.io/service": "nobody", "kuma.io/protocol": "http"}}],
        "conf": {"abort": {"httpStatus": 500, "percentage": 10}},
    },
}


@pytest.mark.parametrize("kind", TAGGING)
def test_the_first_policy_that_asks_for_tags_puts_them_on_all_requests(kind: str) -> None:
    """prover.md §6 F: `x-kuma-tags` is written on the outbounds of the whole mesh."""
    policy = json.dumps({"type": kind, "mesh": "default", "name": "f", **TAGGING[kind]})
    sides = ["---".join((MESH, PROXIES, *more)) for more in ((), (f"\n{policy}\n",))]
    found = prove(*(state(text, release="2.14") for text in sides), claims=("live",))
    assert {w.proxy for w in found.witnesses("live") if "x-kuma-tags" in w.field} >= {"web"}


@pytest.mark.parametrize(
    ("release", "kept", "effects"),
    [("2.14", None, {"residue"}), ("2.14", "FaultInjection", set()), ("2.9", None, set())],
)
def test_the_tags_on_requests_go_with_the_last_traffic_route(
    release: str, kept: str | None, effects: set[str]
) -> None:
    """The old engine writes `x-kuma-tags` whoever reads it, the new one for a reader, or up to 2.9.

    A control plane 2.14.3 shows the header on the HTTP outbounds of a mesh with a TrafficRoute and
    no other policy, and without the TrafficRoute none.
    """
    reader = {"type": kept, "mesh": "default", "name": "f", **TAGGING[kept]} if kept else None
    more = (json.dumps(reader),) if reader else ()
    sides = ["\n---\n".join((MESH, PROXIES, *more, *routes)) for routes in ((ROUTE,), ())]
    found = prove(*(state(text, release=release) for text in sides), claims=("live",))
    seen = {w.effect.value for w in found.witnesses("live") if "x-kuma-tags" in w.field}
    assert seen == effects


def test_tags_on_requests_that_come_with_a_traffic_route_are_a_change() -> None:
    sides = ["\n---\n".join((MESH, PROXIES, *routes)) for routes in ((), (ROUTE,))]
    found = prove(*(state(text, release="2.14") for text in sides), claims=("live",))
    seen = {(w.proxy, w.effect.value) for w in found.witnesses("live") if "x-kuma-tags" in w.field}
    assert ("web", "value") in seen


def test_a_residue_is_shown_at_one_proxy_and_a_change_at_each() -> None:
    """What no policy can say is told once, wherever it stood; what is read otherwise everywhere."""
    back = "\n  outbound: [{port: 10001, tags: {kuma.io/service: web}}]\n"
    proxies = f"{PROXIES.rstrip()}{back}"

    def shown(*sides: tuple[str, ...]) -> list[str]:
        texts = ("\n---\n".join((MESH, proxies, *routes)) for routes in sides)
        found = prove(*(state(text, release="2.14") for text in texts), claims=("live",))
        return sorted(w.proxy for w in found.witnesses("live") if "x-kuma-tags" in w.field)

    assert len(shown((ROUTE,), ())) == 1
    assert shown((), (ROUTE,)) == ["api", "web"]


@pytest.mark.parametrize("protocol", ["", ", kuma.io/protocol: tcp"])
def test_only_an_old_retry_connects_again_to_a_service_that_nobody_offers(protocol: str) -> None:
    """Without a Dataplane a service has no protocol, and MeshRetry is for those that have one.

    A control plane 2.14.3 gave a Retry of 4 attempts its 4 and the MeshRetry of as many 1, at an
    outbound to a service of which the mesh had no Dataplane.
    """
    outbound = PROXIES.replace("kuma.io/service: api}}]", "kuma.io/service: ghost}}]", 1)
    offers = f"""
type: Dataplane
name: ghost
mesh: default
networking:
  address: 10.0.0.3
  inbound: [{{port: 80, tags: {{kuma.io/service: ghost{protocol}}}}}]
"""
    old = """
type: Retry
name: four
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: ghost}}]
conf: {tcp: {maxConnectAttempts: 4}}
"""
    new = """
type: MeshRetry
name: four
mesh: default
spec:
  targetRef: {kind: Mesh}
  to: [{targetRef: {kind: Mesh}, default: {tcp: {maxConnectAttempt: 4}}}]
"""
    known = (offers,) if protocol else ()
    sides = ["\n---\n".join((MESH, outbound, *known, ROUTE, one)) for one in (old, new)]
    found = prove(*(state(text, release="2.14") for text in sides), claims=("live",))
    attempts = {
        (w.proxy, w.before.value, w.after.value)
        for w in found.witnesses("live")
        if w.destination == "ghost" and w.field == "tcp.maxConnectAttempt"
    }
    assert attempts == (set() if protocol else {("web", 4, None)})


@pytest.mark.parametrize(
    ("there", "changed", "covered"),
    [
        ("probe", {"HealthCheck"}, {"MeshHealthCheck"}),
        ("probe", {"MeshHealthCheck"}, {"MeshHealthCheck"}),
        ("probe", {"MeshHealthCheck", "MeshProxyPatch"}, {"MeshHealthCheck", "MeshProxyPatch"}),
        ("probe", {"MeshProxyPatch"}, set()),
        ("retry", {"Retry", "MeshProxyPatch"}, {"MeshRetry"}),
        ("retry", {"MeshTimeout"}, set()),
    ],
)
def test_what_takes_the_place_of_old_kinds_is_compared_with_them(
    there: str, changed: set[str], covered: set[str]
) -> None:
    """A MeshProxyPatch counts only beside probes, of which it sets what no MeshHealthCheck can."""
    side = Side(state(MESH + "---" + PAIRS[there][0]), "default", Contents())
    assert covered_types(side, side, frozenset(changed)) == covered


SERVED = "---".join(
    f"""
type: MeshService
name: {name}
mesh: default
labels: {{kuma.io/display-name: {name}}}
spec:
  selector: {{dataplaneTags: {{kuma.io/service: {name}}}}}
  ports: [{{port: 80, targetPort: 80, appProtocol: http}}]
"""
    for name in ("web", "api")
)


@pytest.mark.parametrize("name", ["timeout", "retry"])
def test_what_replaces_old_policies_is_carried_over_as_it_is_then(name: str) -> None:
    """Claim *live* compares the old ones; real services never read them."""
    before, after = (
        state("---".join((MESH + STRICT, PROXIES, ROUTE, SERVED, text))) for text in PAIRS[name]
    )
    proof = prove(before, after, claims=("live", "carry"))
    assert proof.verdict("carry") is Verdict.EQUIVALENT


ONE_OF_TWO = """
type: TrafficRoute
name: {0}-{1}
mesh: default
sources: [{{match: {{kuma.io/service: web}}}}]
destinations: [{{match: {{kuma.io/service: {0}}}}}]
conf: {{destination: {{kuma.io/service: to-{1}}}}}
"""


def test_routes_that_tie_in_too_many_ways_leave_a_verdict_unknown() -> None:
    """Seven pairs of which nobody knows the older: 128 ways."""
    services = [f"s{number}" for number in range(7)]
    own = ", ".join(
        f"{{port: {at}, tags: {{kuma.io/service: {s}}}}}" for at, s in enumerate(services, 1)
    )
    proxies = PROXIES.replace("outbound: [", f"outbound: [{own}, ")
    tied = "---".join(ONE_OF_TWO.format(s, way) for s in services for way in "ab")
    before, after = (
        state("---".join((MESH + STRICT, proxies, ROUTE, *more))) for more in ((tied,), ())
    )
    proof = prove(before, after, claims=("live",))
    assert proof.verdict("live") is Verdict.UNKNOWN
    assert any("tie in more ways than can be tried" in why for why in proof.unknown("live"))
