"""What a ZoneEgress of 2.14 was configured with, asked of it over xDS: of breakers, probes and
balancers what all policies say to a MeshExternalService, whomever they are for; of permissions,
limits and faults of an ExternalService what is for kind Mesh or for its service tag. Each was
asked twice, but for a MeshSubset of all Dataplanes and for two breakers that say the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frontdoor import command

WORLD = """type: Mesh
name: default
meshServices: {mode: Exclusive}
routing: {zoneEgress: true}
mtls: {enabledBackend: ca, backends: [{name: ca, type: builtin}]}
---
type: MeshExternalService
name: ext
mesh: default
spec:
  match: {type: HostnameGenerator, port: 443, protocol: http}
  endpoints: [{address: 192.168.9.9, port: 8443}]
---
type: ExternalService
name: es
mesh: default
tags: {kuma.io/service: es, kuma.io/protocol: http, tier: x}
networking: {address: "192.168.8.8:80"}
"""
DATAPLANE = """---
type: Dataplane
name: %s
mesh: default
labels: {app: %s}
networking:
  address: 10.0.0.1
  inbound: [{port: 8080, tags: {kuma.io/service: %s, kuma.io/protocol: http, app: %s}}]
"""
BREAKER = """---
type: MeshCircuitBreaker
name: %s
mesh: default
spec:
  targetRef: {kind: %s: {app: %s}}
  to: [{targetRef: {kind: Mesh}, default: {connectionLimits: {maxConnections: %s}}}]
"""
FOR_API = BREAKER % ("b", "Dataplane, labels", "api", 7)


def _egress(tmp_path: Path, before: str, after: str) -> list[tuple[str, object, object]]:
    world = WORLD + "".join(DATAPLANE % ((name,) * 4) for name in ("web", "api"))
    for name, policies in (("before", before), ("after", after)):
        (tmp_path / f"{name}.yaml").write_text(world + policies)
    states = (tmp_path / "before.yaml", tmp_path / "after.yaml")
    live = command("prove", *states, "--zone", "east", "--format", "json").json["claims"]["live"]
    found = live["dataplanes"].get("any ZoneEgress", {"witnesses": []})["witnesses"]
    alone = {one["verdict"] for name, one in live["dataplanes"].items() if name != "any ZoneEgress"}
    assert alone == {"equivalent"} or "MeshTrafficPermission" in before
    return [(w["destination"], w["before"].get("value"), w["after"].get("value")) for w in found]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # The smaller name wins; a MeshSubset outranks a Dataplane.
        (("a", "Dataplane, labels", "web", 5), ("c", "Dataplane, labels", "web", 5)),
        (("c", "MeshSubset, tags", "web", 5), ("c", "Dataplane, labels", "web", 5)),
    ],
)
def test_policies_for_others_take_their_turn_there(
    tmp_path: Path, before: tuple[str, str, str, int], after: tuple[str, str, str, int]
) -> None:
    found = _egress(tmp_path, BREAKER % before + FOR_API, BREAKER % after + FOR_API)
    assert found == [("ext", 5, 7)]


def test_their_order_is_nothing_where_both_say_the_same(tmp_path: Path) -> None:
    same = (BREAKER % (name, "Dataplane, labels", "web", 7) + FOR_API for name in "ac")
    assert _egress(tmp_path, *same) == []


FROM = """---
type: %s
name: a
mesh: default
spec:
  targetRef: {kind: %s}
  from: [{targetRef: {kind: Mesh}, default: %s}]
"""
ALLOW = "{action: Allow}"
LIMIT = "{local: {http: {requestRate: {num: 5, interval: 1s}}}}"
FAULT = "{http: [{abort: {httpStatus: 503, percentage: 5}}]}"


@pytest.mark.parametrize(
    ("kind", "before", "after", "conf"),
    [
        ("MeshTrafficPermission", "Mesh", "Dataplane", ALLOW),
        ("MeshTrafficPermission", "Mesh", "'MeshSubset', tags: {}", ALLOW),
        ("MeshRateLimit", "Mesh, proxyTypes: [Sidecar]", "Dataplane", LIMIT),
        ("MeshFaultInjection", "Mesh, proxyTypes: [Sidecar]", "Dataplane", FAULT),
    ],
)
def test_what_is_for_dataplanes_is_not_for_an_external_service(
    tmp_path: Path, kind: str, before: str, after: str, conf: str
) -> None:
    found = _egress(tmp_path, FROM % (kind, before, conf), FROM % (kind, after, conf))
    assert {one[0] for one in found} == (set() if "MeshSubset" in after else {"es"})


def test_of_an_external_service_the_service_tag_counts_alone(tmp_path: Path) -> None:
    by_tier = FROM % ("MeshTrafficPermission", "MeshSubset, tags: {tier: x}", ALLOW)
    by_service = FROM % ("MeshTrafficPermission", "MeshService, name: es", ALLOW)
    assert _egress(tmp_path, by_tier, "") == []
    assert [one[0] for one in _egress(tmp_path, by_service, "")] == ["es"]
