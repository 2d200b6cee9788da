"""Field reports about source/destination policies and what replaces them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frontdoor import command
from tests.reports.repo import DISABLED, documents, run
from tests.sourcedest.meshes import ROUTE_ALL

NO_DEFAULTS = DISABLED + "skipCreatingInitialPolicies: ['*']\n"


def permission(client: str, *, created: str = "") -> str:
    """Return the permission of one client to reach `a`."""
    when = f'creationTime: "{created}"\n' if created else ""
    return (
        f"type: TrafficPermission\nname: {client}-to-a\nmesh: default\n{when}"
        f"sources: [{{match: {{kuma.io/service: {client}}}}}]\n"
        "destinations: [{match: {kuma.io/service: a}}]\n"
    )


MTLS = NO_DEFAULTS + "mtls: {enabledBackend: ca, backends: [{name: ca, type: builtin}]}\n"


def test_2417_permissions_that_shadow_one_another_are_not_both_granted(tmp_path: Path) -> None:
    """#2417: one winner per inbound; converted one by one both clients would be let in."""
    text = documents(MTLS, permission("b"), permission("c"))
    done = run(tmp_path, text)
    assert done.after["a.yaml"] == text
    assert [f.status.value for f in done.of("legacy-traffic-permission")] == ["manual", "manual"]
    assert "b-to-a and c-to-a tie" in done.said
    assert "MeshTrafficPermission" not in "".join(done.after.values())


def test_2417_with_creation_times_only_the_winner_is_granted(tmp_path: Path) -> None:
    """#2417: the permission created later wins, so the other's client is not let in."""
    text = documents(
        MTLS,
        permission("b", created="2024-01-01T00:00:00Z"),
        permission("c", created="2024-02-01T00:00:00Z"),
    )
    done = run(tmp_path, text)
    for found in done.after.values():
        new = [d for d in found.split("---\n") if "type: MeshTrafficPermission" in d]
        assert not any("kuma.io/service: b" in d for d in new)


TIMEOUT = """type: Timeout
name: to-backend
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: backend}}]
conf: {connectTimeout: 31s, http: {requestTimeout: 33s, idleTimeout: 34s}}
"""


BESIDE = """type: MeshTimeout
name: global
mesh: default
spec: {targetRef: WHOM, to: [{targetRef: {kind: Mesh}, default: {connectionTimeout: 21s}}]}
"""


def test_9484_both_kinds_at_once_are_not_said_to_be_equal(tmp_path: Path) -> None:
    """#9484, #6644: a Timeout beside a MeshTimeout gives a mix that is in neither of them."""
    new = BESIDE.replace("WHOM", "{kind: MeshSubset, tags: {version: v1}}")
    text = documents(NO_DEFAULTS, ROUTE_ALL, TIMEOUT, new)
    done = run(tmp_path, text, select=("legacy-timeout",))
    assert done.after["a.yaml"] == text
    statuses = {f.status.value for f in done.of("legacy-timeout")}
    assert statuses <= {"manual", "held"}
    assert statuses
    assert "both engines act" in done.said


def test_9484_a_timeout_that_a_meshtimeout_overrules_for_all_goes(tmp_path: Path) -> None:
    """A 2.14.3 control plane gave a client of `backend` the same with and without the Timeout."""
    new = BESIDE.replace("WHOM", "{kind: Mesh}")
    text = documents(NO_DEFAULTS, ROUTE_ALL, TIMEOUT, new)
    done = run(tmp_path, text, select=("legacy-timeout",))
    assert done.after["a.yaml"] == documents(NO_DEFAULTS, ROUTE_ALL, new)


LOG = """type: TrafficLog
name: logs
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {backend: file-1}
"""
LOGGING = "logging: {defaultBackend: file-1, backends: [{name: file-1, type: file, conf: {path: \
/dev/stdout}}]}\n"


def test_1961_a_converted_policy_replaces_the_old_one_under_its_name(tmp_path: Path) -> None:
    """kuma-website#1961: the old document goes, its name stays, the backend is inlined."""
    files = {"mesh.yaml": NO_DEFAULTS + LOGGING, "log.yaml": documents(ROUTE_ALL, LOG)}
    done = run(tmp_path, files, select=("legacy-traffic-log",))
    after = done.after["log.yaml"]
    assert "type: TrafficLog" not in after
    assert "type: MeshAccessLog\nname: logs\n" in after
    assert "/dev/stdout" in after
    assert after.startswith(ROUTE_ALL)


def test_1961_without_the_mesh_the_backend_is_not_guessed(tmp_path: Path) -> None:
    """kuma-website#1961: where file-1 is defined is not in the repository."""
    done = run(tmp_path, LOG)
    assert done.after["a.yaml"] == LOG
    assert [f.status.value for f in done.of("legacy-traffic-log")] == ["manual"]
    assert "the Mesh that holds its logging backends" in done.said


GATEWAY = """type: MeshGateway
name: edge
mesh: default
selectors: [{match: {kuma.io/service: edge_gateway}}]
conf: {listeners: [{port: 80, protocol: HTTP, hostname: '*'}]}
"""
GATEWAY_ROUTE = """type: MeshGatewayRoute
name: edge
mesh: default
selectors: [{match: {kuma.io/service: edge_gateway}}]
conf: {http: {rules: [{matches: [{path: {match: PREFIX, value: /}}], backends: [{weight: 1, \
destination: {kuma.io/service: web}}]}]}}
"""


def test_8923_gateway_routes_are_not_converted_on_the_way_to_3_0(tmp_path: Path) -> None:
    """#8923: built-in gateways end with 3.0, so a new route for one is a dead end."""
    text = documents(NO_DEFAULTS, GATEWAY, GATEWAY_ROUTE)
    done = run(tmp_path, text, target="3.0")
    assert done.after["a.yaml"].count("MeshGatewayRoute") == 1
    assert "MeshHTTPRoute" not in done.after["a.yaml"]
    assert ("mesh-gateway", "manual", "edge") in done.found
    assert "delegated gateway" in done.said
    assert done.of("legacy-gateway-route") == []


def test_8923_gateway_routes_are_shown_and_held_for_2x(tmp_path: Path) -> None:
    """#8923: up to 2.14 a built-in gateway takes MeshHTTPRoute, and the conversion is shown."""
    text = documents(NO_DEFAULTS, GATEWAY, GATEWAY_ROUTE)
    done = run(tmp_path, text)
    assert done.after["a.yaml"] == text
    assert ("legacy-gateway-route", "held", "edge") in done.found
    assert "becomes MeshHTTPRoute edge" in done.said
    assert "no field that Kuma knows" not in done.said


@pytest.mark.xfail(strict=True, reason="gateways differ for the prover, which no word settles")
def test_8923_gateway_routes_are_written_on_the_users_word_for_2x(tmp_path: Path) -> None:
    """#8923: what the proof does not model is unknown, so --accept writes it."""
    text = documents(NO_DEFAULTS, GATEWAY, GATEWAY_ROUTE)
    done = run(tmp_path, text, accept=("legacy-gateway-route",))
    assert "type: MeshHTTPRoute\nname: edge\n" in done.after["a.yaml"]
    assert "MeshGatewayRoute" not in done.after["a.yaml"]


@pytest.mark.parametrize(("mesh", "verdicts"), [(DISABLED, {"manual"}), (NO_DEFAULTS, {"fixed"})])
def test_18661_policies_that_a_control_plane_makes_are_part_of_before(
    mesh: str, verdicts: set[str], tmp_path: Path
) -> None:
    """#18661, #12730: whether an old Timeout works hangs on a TrafficRoute that nobody wrote.

    Only skipCreatingInitialPolicies says that there is none; then the Timeout does nothing.
    """
    files = documents(mesh, TIMEOUT)
    done = run(tmp_path, files, initial_policies=None, select=("legacy-timeout",))
    assert {f.status.value for f in done.of("legacy-timeout")} == verdicts


def test_5462_a_flagger_canary_is_warned_about_and_left_alone(tmp_path: Path) -> None:
    """#5462: Flagger writes TrafficRoutes again, whatever Git says; its targetRef is not Kuma's."""
    text = """apiVersion: flagger.app/v1beta1
kind: Canary
metadata: {name: web, annotations: {kuma.io/mesh: default}}
spec: {provider: kuma, targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
"""
    done = run(tmp_path, text, target="3.0")
    assert done.after["a.yaml"] == text
    assert done.found == [("flagger-canary", "manual", "web")]


def _let_in(number: int) -> str:
    return (
        f"type: MeshTrafficPermission\nname: new-{number:02}\nmesh: default\n"
        "spec:\n  targetRef: {kind: MeshSubset, tags: {version: v1}}\n"
        "  from: [{targetRef: {kind: Mesh}, default: {action: Allow}}]\n"
    )


def test_what_is_said_of_each_policy_does_not_grow_with_the_others(tmp_path: Path) -> None:
    """Each of 2,000 old policies named all 2,000 new ones, so reports grew with the square."""
    done = run(tmp_path, documents(MTLS, permission("b"), *map(_let_in, range(7))))
    (said,) = (f.message for f in done.of("legacy-traffic-permission"))
    assert "already (new-00, new-01, new-02, new-03 and 3 more);" in said
    (told,) = (
        f.message
        for f in run(tmp_path, documents(MTLS, permission("b"), _let_in(0))).of(
            "legacy-traffic-permission"
        )
    )
    assert "already (new-00);" in told


def test_a_client_without_a_sidecar_is_named_where_the_inbound_has_no_address(
    tmp_path: Path,
) -> None:
    """A RateLimit knows sidecars alone, a MeshRateLimit limits whoever comes."""
    limit = (
        "type: RateLimit\nname: five\nmesh: default\n"
        "sources: [{match: {kuma.io/service: '*'}}]\n"
        "destinations: [{match: {kuma.io/service: api}}]\n"
        "conf: {http: {requests: 5, interval: 10s}}\n"
    )
    said = run(tmp_path, documents(NO_DEFAULTS, limit)).said
    assert "inbound of api, a client without a sidecar   MeshRateLimit local  none → " in said


def test_a_permission_for_the_service_of_old_metrics_says_that_no_proxy_has_it(
    tmp_path: Path,
) -> None:
    for service, is_said in (("dataplane-metrics", True), ("metrics", False)):
        text = permission("prometheus").replace("service: a}", f"service: {service}}}")
        said = run(tmp_path, documents(MTLS, text)).said
        assert (f"{service} is no service of a proxy" in said) is is_said


def _dataplane(service: str) -> str:
    return (
        f"type: Dataplane\nname: {service}-1\nmesh: default\nnetworking:\n  address: 10.0.0.1\n"
        f"  inbound: [{{port: 80, tags: {{kuma.io/service: {service}, kuma.io/protocol: http}}}}]\n"
        "  outbound: [{port: 10001, tags: {kuma.io/service: pay}}]\n"
    )


def _retry(name: str, service: str, times: int) -> str:
    return (
        f"type: Retry\nname: {name}\nmesh: default\n"
        "sources: [{match: {kuma.io/service: '*'}}]\n"
        f"destinations: [{{match: {{kuma.io/service: {service}}}}}]\n"
        f"conf: {{http: {{numRetries: {times}}}}}\n"
    )


def test_services_that_are_listed_one_by_one_are_a_note_for_who_adds_one(tmp_path: Path) -> None:
    """What nobody names is of TCP, which the verdict rests on: it is no assumption of its own."""
    proxies = map(_dataplane, ("api", "pay", "web"))
    retries = (_retry("all", "'*'", 7), _retry("pay-a", "pay", 8), _retry("pay-b", "pay", 9))
    said = run(tmp_path, documents(NO_DEFAULTS, *proxies, ROUTE_ALL, *retries)).said
    assert (
        "the services known are listed (api, web), since an entry for any would reach pay as well,"
        " of which old policies stay; a service that comes later has to be added\n"
    ) in said
    assert "assumed:" not in said


def _permits(name: str, client: str, tags: str) -> str:
    return (
        f"type: TrafficPermission\nname: {name}\nmesh: default\n"
        f"sources: [{{match: {{kuma.io/service: {client}}}}}]\n"
        f"destinations: [{{match: {{{tags}}}}}]\n"
    )


def test_a_permission_for_more_stays_where_others_for_some_of_them_have_to(tmp_path: Path) -> None:
    """Two tie for v1: a new policy for all inbounds would decide there as well. One for a part of
    v1 goes, as does one for others."""
    any_service = "kuma.io/service: '*'"
    policies = (
        _permits("first", "x", f"{any_service}, version: v1"),
        _permits("second", "y", f"{any_service}, version: v1"),
        _permits("part", "z", "kuma.io/service: web, version: v1"),
        _permits("others", "z", "kuma.io/service: api, version: v2"),
        _permits("all", "'*'", any_service),
    )
    whole = documents(MTLS, *policies)
    text = run(tmp_path, whole).after["a.yaml"]
    assert "type: MeshTrafficPermission\nname: part\n" in text
    assert "type: MeshTrafficPermission\nname: others\n" in text
    assert "type: TrafficPermission\nname: all\n" in text
    said = command("check", tmp_path / "repository").out
    assert "it stays: a new policy in its place would decide where others have to stay" in said
