"""What conversions owe to those who deploy them (legacy-notes §6), asked through the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.cases import SHARED
from tests.frontdoor import command, some
from tests.prove.states import COMMITTED
from tests.sourcedest.meshes import ROUTE_ALL

MESH = """type: Mesh
name: default
skipCreatingInitialPolicies: ['*']
tracing:
  defaultBackend: jaeger
  backends:
  - name: jaeger
    type: zipkin
    conf: {url: 'http://jaeger:9411/api/v2/spans'}
---
type: Dataplane
name: web-1
mesh: default
networking:
  address: 10.0.0.1
  inbound: [{port: 8080, tags: {kuma.io/service: web, kuma.io/protocol: http}}]
  outbound: [{port: 10001, tags: {kuma.io/service: PEER}}]
---
type: Dataplane
name: db-1
mesh: default
networking:
  address: 10.0.0.2
  inbound: [{port: 8080, tags: {kuma.io/service: db, kuma.io/protocol: tcp}}]
  outbound: [{port: 10001, tags: {kuma.io/service: db}}]
---
"""
TRACE = """type: TrafficTrace
name: all
mesh: default
selectors: [{match: {kuma.io/service: '*'}}]
---
"""
ROUTE = f"{ROUTE_ALL}---\n"


@pytest.mark.parametrize("release", ["2.9", "2.14"])
@pytest.mark.parametrize("routed", [False, True])
def test_requests_that_proxies_send_begin_to_be_traced(
    release: str, *, routed: bool, tmp_path: Path
) -> None:
    """Without a TrafficRoute the old engine traces only what comes in (notes C18)."""
    file = tmp_path / "a.yaml"
    file.write_text(MESH.replace("PEER", "web") + TRACE + (ROUTE if routed else ""))
    words = ("--from", release, "--target", release, "--select", "legacy-traffic-trace")
    report = command("run", file, *words, "--format", "json").json
    assert [f["status"] for f in report["findings"]] == ["fixed"]
    proxies = report["proof"]["claims"]["live"]["dataplanes"]
    begun = [
        name
        for name, said in proxies.items()
        for w in said["witnesses"]
        if (w["field"], w["effect"], w["after"]["value"]) == ("outbounds", "activation", "traced")
    ]
    assert ("web-1" in begun) is not routed
    assert "db-1" not in begun


def test_without_its_last_route_an_old_trace_loses_what_proxies_send(tmp_path: Path) -> None:
    (tmp_path / "before").mkdir()
    (tmp_path / "after").mkdir()
    mesh = MESH.replace("PEER", "web") + TRACE
    (tmp_path / "before" / "a.yaml").write_text(mesh + ROUTE)
    (tmp_path / "after" / "a.yaml").write_text(mesh)
    words = (tmp_path / "before", tmp_path / "after", "--target", "2.9", "--format", "json")
    proved = command("prove", *words)
    found = proved.json["claims"]["live"]["dataplanes"]["web-1"]["witnesses"]
    assert ("outbounds", "value") in {(w["field"], w["effect"]) for w in found}
    assert proved.code == 4


ARGO = """apiVersion: kuma.io/v1alpha1
kind: TrafficPermission
mesh: default
metadata:
  name: allow-all
  annotations:
    argocd.argoproj.io/sync-wave: "3" # before the gateways
    argocd.argoproj.io/tracking-id: "mesh:kuma.io/TrafficPermission:default/allow-all"
    owner: platform
spec:
  sources: [{match: {kuma.io/service: '*'}}]
  destinations: [{match: {kuma.io/service: '*'}}]
"""


def test_annotations_go_to_the_successor_but_those_that_name_the_object(tmp_path: Path) -> None:
    """A sync wave holds for what comes of it, a tracking id names what went (notes C24)."""
    file = tmp_path / "a.yaml"
    file.write_text(ARGO)
    command("run", file, "--target", "2.14")
    text = file.read_text()
    assert "kind: MeshTrafficPermission\n" in text
    assert 'argocd.argoproj.io/sync-wave: "3" # before the gateways\n' in text
    assert "owner: platform\n" in text
    assert "tracking-id" not in text


BREAKER = """type: CircuitBreaker
name: eject
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {CONF}
---
type: MeshCircuitBreaker
name: NAME
mesh: default
spec:
  targetRef: {kind: Mesh}
  to:
  - targetRef: {kind: Mesh}
    default: {connectionLimits: {maxConnections: 1024, maxPendingRequests: 1024,
                                 maxRequests: 1024, maxRetries: 3}}
---
"""
EJECTS = "detectors: {totalErrors: {consecutive: 3}}"
LIMITS = "thresholds: {maxConnections: 7}"


@pytest.mark.parametrize("release", ["2.9", "2.14"])
def test_limits_alone_leave_the_old_detectors_at_work(release: str, tmp_path: Path) -> None:
    """Envoy still ejects (notes C26): neither is that policy removed, nor is that advised."""
    file = tmp_path / "a.yaml"
    name = "mesh-circuit-breaker-all-default"
    breaker = BREAKER.replace("NAME", name).replace("CONF", EJECTS)
    file.write_text(MESH.replace("PEER", "web") + ROUTE + breaker)
    report = command("run", file, "--from", release, "--target", release, "--format", "json").json
    found = [f for f in report["findings"] if f["rule"] == "legacy-circuit-breaker"]
    assert [f["status"] for f in found] == ["manual"]
    assert not found[0]["message"].startswith("shadowed")
    assert "type: CircuitBreaker" in file.read_text()


def test_detectors_join_limits_that_a_new_policy_has(tmp_path: Path) -> None:
    """Asked of a 2.14: the same limits and the same ejection, on every proxy."""
    file = tmp_path / "a.yaml"
    breaker = BREAKER.replace("NAME", "limits").replace("CONF", EJECTS)
    file.write_text(MESH.replace("PEER", "web") + ROUTE + breaker)
    said = command("run", file, "--select", "legacy-circuit-breaker").out
    assert "CircuitBreaker eject (a.yaml): becomes MeshCircuitBreaker eject" in said
    assert "Proved: " in said
    assert "connectionLimits" not in file.read_text().partition("name: limits")[0]


def test_limits_of_which_nothing_is_left_go(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    breaker = BREAKER.replace("NAME", "limits").replace("CONF", LIMITS)
    file.write_text(MESH.replace("PEER", "web") + ROUTE + breaker)
    command("run", file, "--from", "2.9", "--target", "2.9", "--select", "legacy-circuit-breaker")
    assert "type: CircuitBreaker" not in file.read_text()


def _goldens(root: Path) -> list[Path]:
    found = sorted((root / "legacy-2.9").glob("*.yaml"))
    return found[::4] if root is COMMITTED else list(some(found))[::10]


def _not_taken(path: Path, release: str) -> set[tuple[str, str]]:
    """Return the resources that a release refuses, or reads only a part of."""
    report = command("check", path, "--target", release, "--from", release, "--format", "json").json
    return {
        (f["resource"]["type"], f["resource"]["name"])
        for f in report["findings"]
        if f["rule"] in ("refused-by-release", "ignored-field")
    }


@pytest.mark.parametrize("root", [COMMITTED, SHARED / "goldens"], ids=["committed", "shared"])
def test_what_goes_out_before_the_upgrade_is_read_by_both_releases(
    root: Path, tmp_path: Path
) -> None:
    """`--from 2.9 --target 2.14` writes nothing that either would not take whole (notes C25)."""
    goldens = _goldens(root)
    if not goldens:
        pytest.skip("the goldens are not beside the checkout")
    written = 0
    for golden in goldens:
        file = tmp_path / golden.stem / golden.name
        file.parent.mkdir()
        file.write_bytes(golden.read_bytes())
        releases = ("2.9", "2.14")
        before = {release: _not_taken(file, release) for release in releases}
        words = ("--from", "2.9", "--target", "2.14", "--zone", "east", "--format", "json")
        ran = command("run", file, *words)
        assert ran.out, (golden.name, ran.err)
        written += bool(json.loads(ran.out)["written"])
        after = {release: _not_taken(file, release) for release in releases}
        assert all(after[r] <= before[r] for r in releases), golden.name
    assert written


def test_what_two_probes_of_one_service_ask_for_lets_the_rest_be_converted(tmp_path: Path) -> None:
    """Both engines probe: at a service that a MeshHealthCheck is for no new policy makes two
    probes of it. Once the old one names the others alone it is converted."""
    old = """type: HealthCheck
name: old
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {interval: 10s, timeout: 2s, unhealthyThreshold: 3, healthyThreshold: 1}
---
type: MeshHealthCheck
name: new
mesh: default
spec:
  to:
    - targetRef: {kind: MeshService, name: web}
      default: {interval: 5s, timeout: 1s, unhealthyThreshold: 2, healthyThreshold: 1, tcp: {}}
"""
    file = tmp_path / "a.yaml"
    text = MESH.replace("PEER", "db") + ROUTE + old
    file.write_text(text)
    words = ("--select", "legacy-health-check")
    said = command("run", file, *words).out
    assert "name under destinations all services but web, then this HealthCheck converts" in said
    assert file.read_text() == text
    any_service, conf = "destinations: [{match: {kuma.io/service: '*'}}]\n", "conf: {interval"
    file.write_text(text.replace(any_service + conf, any_service.replace("'*'", "db") + conf))
    assert (
        "HealthCheck old (a.yaml): becomes MeshHealthCheck old" in command("run", file, *words).out
    )


def test_a_new_policy_that_says_nothing_is_none_beside_old_ones(tmp_path: Path) -> None:
    old = """type: Retry
name: old
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {http: {numRetries: 3}}
---
type: MeshRetry
name: new
mesh: default
spec:
  targetRef: {kind: Mesh}
  to: []
"""
    file = tmp_path / "a.yaml"
    text = MESH.replace("PEER", "db") + ROUTE + old
    file.write_text(text)
    said = command("run", file, "--select", "legacy-retry").out
    assert "Retry old (a.yaml): becomes MeshRetry old" in said
    assert "Proved: " in said
    other = (
        "targetRef: {kind: MeshService, name: web}\n"
        "  to: [{targetRef: {kind: Mesh}, default: {http: {perTryTimeout: 2s}}}]"
    )
    file.write_text(text.replace("targetRef: {kind: Mesh}\n  to: []", other))
    assert "both engines act" in command("run", file, "--select", "legacy-retry").out


def _new(kind: str, sections: str) -> str:
    spec = f"{{targetRef: {{kind: Mesh}}, {sections}}}"
    return f"---\ntype: {kind}\nname: new\nmesh: default\nspec: {spec}\n"


OLD_TIMEOUT = """type: Timeout
name: old
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {connectTimeout: 5s, http: {requestTimeout: 3s}}
"""
OF_INBOUNDS = "from: [{targetRef: {kind: Mesh}, default: {idleTimeout: 9s}}]"
OF_WEB = "to: [{targetRef: {kind: MeshService, name: web}, default: {idleTimeout: 9s}}]"


def test_what_new_policies_say_of_inbounds_is_nothing_beside_old_ones(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(
        MESH.replace("PEER", "web") + ROUTE + OLD_TIMEOUT + _new("MeshTimeout", OF_INBOUNDS)
    )
    said = command("run", file, "--select", "legacy-timeout").out
    assert "Timeout old (a.yaml): becomes MeshTimeout old" in said
    assert "Proved: " in said


def test_what_a_new_policy_says_of_a_service_is_kept_apart(tmp_path: Path) -> None:
    """The new engine has the outbound to web: 15s for a request and 30m for a stream, which the
    entry for all traffic would change. Asked of a 2.14 with mixed-2.14/22-0000."""
    file = tmp_path / "a.yaml"
    file.write_text(MESH.replace("PEER", "web") + ROUTE + OLD_TIMEOUT + _new("MeshTimeout", OF_WEB))
    said = command("run", file, "--select", "legacy-timeout").out
    assert "Timeout old (a.yaml): becomes MeshTimeout old" in said
    assert "Proved: " in said
    written = next(d for d in yaml.safe_load_all(file.read_text()) if d.get("name") == "old")
    of_web = [e["default"] for e in written["spec"]["to"] if e["targetRef"].get("name") == "web"]
    assert of_web == [{"http": {"requestTimeout": "15s", "streamIdleTimeout": "30m"}}]
    assert "# What another MeshTimeout says of web stays as it is: " in file.read_text()


ALLOWS = """type: TrafficPermission
name: old
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
"""


@pytest.mark.parametrize(
    ("action", "converted"), [("Deny", True), ("Allow", False)], ids=["deny", "narrower"]
)
def test_a_grant_beside_new_ones_opens_nothing(
    action: str, tmp_path: Path, *, converted: bool
) -> None:
    """Where a MeshTrafficPermission lets in some clients of db alone, one for all would let in all;
    what it denies it goes on denying, since it is for fewer proxies (asked of a 2.14)."""
    clients = "{kind: Mesh}" if action == "Deny" else "{kind: MeshSubset, tags: {env: prod}}"
    grant = f"from: [{{targetRef: {clients}, default: {{action: {action}}}}}]"
    new = _new("MeshTrafficPermission", grant).replace(
        "kind: Mesh}", "kind: MeshService, name: db}", 1
    )
    file = tmp_path / "a.yaml"
    file.write_text(MESH.replace("PEER", "db") + ALLOWS + new)
    said = command("run", file, "--select", "legacy-traffic-permission").out
    assert ("becomes MeshTrafficPermission old" in said) is converted
    assert ("both engines act" in said) is not converted


TIED = """type: TrafficPermission
name: all
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
---
type: TrafficPermission
name: of-web
mesh: default
sources: [{match: {kuma.io/service: web}}]
destinations: [{match: {kuma.io/service: '*'}}]
---
type: MeshTrafficPermission
name: to-db
mesh: default
spec:
  targetRef: %s
  from: [{targetRef: {kind: Mesh}, default: {action: Allow}}]
"""


@pytest.mark.parametrize(
    "ref", ["{kind: MeshService, name: db}", "{kind: Dataplane, labels: {app: db}}"]
)
def test_a_tie_is_told_although_others_of_the_kind_were_converted(ref: str, tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(MESH.replace("PEER", "db") + TIED % ref)
    said = command("run", file, "--select", "legacy-traffic-permission").out
    assert "all and of-web tie" in said
    assert "both engines act" not in said


def test_what_a_log_of_inbounds_says_does_not_keep_logs_of_outbounds(tmp_path: Path) -> None:
    """Real outbounds begin to be logged, as they would without the MeshAccessLog."""
    file = tmp_path / "a.yaml"
    file.write_bytes((COMMITTED / "mixed-2.14" / "20-0006" / "before.yaml").read_bytes())
    said = command("run", file, "--zone", "east", "--select", "legacy-traffic-log").out
    assert "(a.yaml): becomes MeshAccessLog m-trafficlog-4" in said
    assert "but for settings that start to work" in said
