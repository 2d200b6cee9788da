"""Changes that a proof once overlooked: each of them reaches some proxy, or may do so."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.prover import Effect, Verdict
from kumamigrate.prover.prover import prove
from tests.prove.states import live, proxies, state

TCP_ROUTE = """
type: MeshTCPRoute
name: t
mesh: default
spec:
  to:
  - targetRef: {{kind: MeshService, name: web}}
    rules: [{{default: {{backendRefs: [{{kind: MeshService, name: {backend}}}]}}}}]
"""


@pytest.mark.parametrize("mode", ["Disabled", "Exclusive", None])
def test_a_tcp_route_in_a_mesh_without_http_routes(mode: str | None) -> None:
    before, after = (state(TCP_ROUTE.format(backend=name), mode=mode) for name in ("v1", "v2"))
    assert live(before, after).verdict("live") is Verdict.DIFFERENT


FAULT = """
type: MeshFaultInjection
name: f
mesh: default
spec:
  targetRef: {{kind: Mesh, proxyTypes: [Sidecar]}}
  {rules}
---
type: MeshProxyPatch
name: p
mesh: default
spec:
  default:
    appendModifications:
    - httpFilter: {{operation: Remove, match: {{name: {name}}}}}
"""
ABORT = "default: {http: [{abort: {httpStatus: 503, percentage: 10}}]}"


def test_a_filter_that_gets_another_name_where_a_patch_goes_by_it() -> None:
    old = FAULT.format(rules=f"from: [{{targetRef: {{kind: Mesh}}, {ABORT}}}]", name="x")
    new = FAULT.format(rules=f"rules: [{{{ABORT}}}]", name="x")
    proof = live(state(old, mode="Disabled"), state(new, mode="Disabled"))
    assert {w.effect for w in proof.witnesses("live")} == {Effect.VALUE}


INBOUND = """
type: MeshTimeout
name: c
mesh: default
spec:
  targetRef: {{kind: Mesh{types}}}
  rules: [{{default: {{http: {{requestTimeout: 3s}}}}}}]
"""


@pytest.mark.parametrize(("claim", "release"), [("live", "2.14"), ("release", "3.0")])
def test_gateways_alone_and_all_proxies_are_not_taken_for_the_same(
    claim: str, release: str
) -> None:
    before = state(INBOUND.format(types=", proxyTypes: [Gateway]"), mode="Exclusive")
    after = state(INBOUND.format(types=""), mode="Exclusive", release=release)
    assert prove(before, after, claims=(claim,)).verdict(claim) is Verdict.DIFFERENT


def test_what_stays_as_it_is_takes_nothing_for_granted() -> None:
    text = INBOUND.format(types=", proxyTypes: [Sidecar]")
    changed = text.replace("3s", "4s")
    assert live(state(text, mode="Exclusive"), state(changed, mode="Exclusive")).beyond == ()


ONE_OF_TWO_PORTS = """
apiVersion: v1
kind: Service
metadata: {{name: web, namespace: shop}}
spec: {{selector: {{app: web}}, ports: [{ports}]}}
---
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {{name: z, namespace: kuma-system, labels: {{kuma.io/mesh: default}}}}
spec:
  targetRef: {{{top}}}
  rules: [{{default: {{http: {{requestTimeout: 4s}}}}}}]
"""
BY_SERVICE = "kind: MeshService, name: web_shop_svc_80"
BY_LABELS = "kind: Dataplane, labels: {app: web, k8s.kuma.io/namespace: shop}"


@pytest.mark.parametrize(
    ("ports", "verdict"),
    [("{port: 80}", Verdict.EQUIVALENT), ("{port: 80}, {port: 81}", Verdict.DIFFERENT)],
)
def test_labels_choose_the_inbounds_of_all_ports(ports: str, verdict: Verdict) -> None:
    before, after = (
        state(ONE_OF_TWO_PORTS.format(ports=ports, top=top), mode="Exclusive")
        for top in (BY_SERVICE, BY_LABELS)
    )
    assert live(before, after).verdict("live") is verdict


ON_ROUTE = """
type: MeshHTTPRoute
name: r
mesh: default
spec:
  to:
  - targetRef: {{kind: MeshService, name: web}}
    rules: [{{matches: [{{path: {{type: PathPrefix, value: /v1}}}}], default: {{}}}}]
---
type: MeshTimeout
name: inert
mesh: default
spec:
  targetRef: {{kind: MeshHTTPRoute, name: r}}
  to: [{{targetRef: {{kind: Mesh}}, default: {{http: {{requestTimeout: 7s}}}}}}]
---
type: MeshTimeout
name: a
mesh: default
spec:
  to: [{{targetRef: {{kind: {target}}}, default: {{http: {{requestTimeout: {value}}}}}}}]
"""


@pytest.mark.parametrize("target", ["Mesh", "MeshHTTPRoute, name: r"])
def test_a_value_that_had_an_effect_is_no_activation(target: str) -> None:
    """Policy `inert` says 7s, too, and says it in vain, before and after."""
    before, after = (
        state(ON_ROUTE.format(target=target, value=value), mode="Exclusive")
        for value in ("10s", "7s")
    )
    assert {w.effect for w in live(before, after).witnesses("live")} == {Effect.VALUE}


ENDPOINTS = """
type: Dataplane
name: d1
mesh: default
networking:
  address: 192.0.2.1
  inbound: [{{port: 1, {protocols[0]}}}]
---
type: Dataplane
name: d2
mesh: default
networking:
  address: 192.0.2.2
  inbound: [{{port: 1, {protocols[1]}}}]
---
type: MeshTimeout
name: z
mesh: default
spec:
  to:
  - targetRef: {{kind: MeshService, name: web}}
    default: {{http: {{requestTimeout: {value}}}}}
"""
BY_TAG = "tags: {{kuma.io/service: web, kuma.io/protocol: {}}}"


@pytest.mark.parametrize(
    "protocols",
    [
        (BY_TAG.format("grpc"), BY_TAG.format("http2")),
        (BY_TAG.format("http"),) * 2,
    ],
)
def test_the_protocol_that_endpoints_have_in_common(protocols: tuple[str, str]) -> None:
    before, after = (
        state(ENDPOINTS.format(protocols=protocols, value=value), mode="Disabled")
        for value in ("3s", "4s")
    )
    assert live(before, after).verdict("live") is Verdict.DIFFERENT


HASHING = """
type: MeshService
name: db
mesh: default
spec: {{ports: [{{port: 80, appProtocol: {protocol}}}]}}
---
type: MeshLoadBalancingStrategy
name: z
mesh: default
spec:
  to:
  - targetRef: {{kind: MeshService, name: db}}
    default:
      hashPolicies: [{{type: Connection, connection: {{sourceIP: {value}}}}}]
      loadBalancer: {{type: RingHash}}
"""


@pytest.mark.parametrize(
    ("protocol", "verdict"),
    [("tcp", Verdict.EQUIVALENT), ("kafka", Verdict.EQUIVALENT), ("http", Verdict.DIFFERENT)],
)
def test_hashing_of_connections(protocol: str, verdict: Verdict) -> None:
    """Hash policies stand at routes, whatever they hash; goldens features 93 and 94."""
    before, after = (
        state(HASHING.format(value=v, protocol=protocol), mode="Exclusive")
        for v in ("true", "false")
    )
    assert live(before, after).verdict("live") is verdict


TO_GATEWAYS = """
type: MeshRateLimit
name: r
mesh: default
spec:
  to:
  - targetRef: {{kind: Mesh}}
    default: {{local: {{http: {{requestRate: {{num: {number}, interval: 10s}}}}}}}}
"""


def test_what_only_unknown_gateways_read_is_unknown() -> None:
    before, after = (state(TO_GATEWAYS.format(number=n), mode="Exclusive") for n in (1, 5))
    assert live(before, after).verdict("live") is Verdict.UNKNOWN
    assert live(before, before).verdict("live") is Verdict.EQUIVALENT


EXTERNAL = """
type: MeshExternalService
name: x
mesh: default
spec:
  match: {{type: HostnameGenerator, port: 80, protocol: http}}
  endpoints: [{{address: {address}, port: 80}}]
"""


@pytest.mark.parametrize(
    ("address", "verdict"), [("a.com", Verdict.EQUIVALENT), ("b.com", Verdict.DIFFERENT)]
)
def test_an_endpoint_must_survive_an_upgrade(address: str, verdict: Verdict) -> None:
    before = state(EXTERNAL.format(address="a.com"), mode="Exclusive")
    after = state(EXTERNAL.format(address=address), mode="Exclusive", release="3.0")
    assert prove(before, after, claims=("release",)).verdict("release") is verdict


KEPT = """type: MeshTimeout
name: kept
mesh: default
spec:
  to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 0s, streamIdleTimeout: 5m}}}]
"""
"""Says of requests by tag what they have without it."""


@pytest.mark.parametrize(
    "left_behind",
    [
        "type: Mesh\nname: default\nmtls: {enabledBackend: a, backends: [{name: a}]}",
        "type: Mesh\nname: default\nnetworking: {outbound: {passthrough: false}}",
        "type: ExternalService\nname: e\nmesh: default\ntags: {kuma.io/service: e}",
    ],
)
def test_what_an_upgrade_leaves_behind_is_no_equivalence(left_behind: str) -> None:
    text = f"{left_behind}\n---\n{KEPT}"
    before, after = state(text), state(text, release="3.0")
    assert prove(before, after, claims=("release",)).verdict("release") is Verdict.UNKNOWN


HOSTNAMES = """
type: HostnameGenerator
name: h
spec: {{selector: {{meshService: {{matchLabels: {{a: b}}}}}}, template: "{template}"}}
"""


def test_what_belongs_to_no_mesh_counts_where_there_is_none() -> None:
    before, after = (state(HOSTNAMES.format(template=t)) for t in ("x", "y"))
    assert live(before, after).verdict("live") is Verdict.DIFFERENT


CHOSEN = """
type: MeshService
name: web
mesh: default
labels: {{team: red}}
spec: {{ports: [{{port: 80, appProtocol: http}}]}}
---
type: MeshService
name: db
mesh: default
labels: {{tier: gold}}
spec: {{ports: [{{port: 80, appProtocol: http}}]}}
---
type: MeshTimeout
name: {first}
mesh: default
spec:
  to:
  - targetRef: {{kind: MeshService, labels: {{team: red}}}}
    default: {{http: {{requestTimeout: 3s}}}}
---
type: MeshTimeout
name: {second}
mesh: default
spec:
  to:
  - targetRef: {{kind: MeshService, labels: {{tier: gold}}}}
    default: {{http: {{requestTimeout: 9s}}}}
"""


def test_a_service_that_two_sets_of_labels_choose() -> None:
    """None of the services known is one, but there may be one."""
    before, after = (
        state(CHOSEN.format(first=first, second=second), mode="Exclusive")
        for first, second in ("ab", "ba")
    )
    assert live(before, after).verdict("live") is Verdict.DIFFERENT


BY_NAME = """
type: MeshService
name: web
mesh: default
labels: {{kuma.io/display-name: web}}
spec: {{ports: [{{port: 80, appProtocol: http}}]}}
---
type: MeshService
name: other
mesh: default
labels: {{kuma.io/zone: west, kuma.io/origin: zone}}
spec: {{ports: [{{port: 80, appProtocol: http}}]}}
---
type: MeshTimeout
name: z
mesh: default
spec:
  to:
  - targetRef: {{kind: MeshService, {target}}}
    default: {{http: {{requestTimeout: 4s}}}}
"""


@pytest.mark.parametrize(
    ("labels", "verdict"),
    [
        ("kuma.io/display-name: web", Verdict.DIFFERENT),
        ("kuma.io/display-name: web, kuma.io/zone: east", Verdict.EQUIVALENT),
    ],
)
def test_labels_without_a_zone_choose_services_of_all_zones(labels: str, verdict: Verdict) -> None:
    before = state(BY_NAME.format(target="name: web"), mode="Exclusive")
    after = state(BY_NAME.format(target=f"labels: {{{labels}}}"), mode="Exclusive")
    assert live(before, after).verdict("live") is verdict


WORKLOAD = """
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop}}
spec: {{template: {{metadata: {{labels: {labels}}}, spec: {{containers: []}}}}}}
---
apiVersion: v1
kind: Namespace
metadata: {{name: shop, labels: {namespace}}}
---
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {{name: z, namespace: kuma-system, labels: {{kuma.io/mesh: default}}}}
spec:
  targetRef: {{kind: MeshSubset, tags: {{version: v1}}}}
  rules: [{{default: {{http: {{requestTimeout: 4s}}}}}}]
"""
INJECTED = "{kuma.io/sidecar-injection: enabled}"


@pytest.mark.parametrize(
    ("labels", "namespace", "verdict"),
    [
        ("{version: v1}", INJECTED, Verdict.EQUIVALENT),
        ("{version: v1, unread: x}", INJECTED, Verdict.EQUIVALENT),
        ("{}", INJECTED, Verdict.DIFFERENT),
        ("{version: v1}", "{}", Verdict.DIFFERENT),
    ],
)
def test_labels_that_make_a_proxy_of_a_workload(
    labels: str, namespace: str, verdict: Verdict
) -> None:
    before = state(WORKLOAD.format(labels="{version: v1}", namespace=INJECTED))
    after = state(WORKLOAD.format(labels=labels, namespace=namespace))
    assert live(before, after).verdict("live") is verdict


def test_a_service_that_only_a_policy_names_shows_nothing_of_proxies() -> None:
    """It is made up, without a selector: labels of its namespace are not its proxies."""
    whole = "kind: Dataplane, labels: {k8s.kuma.io/namespace: shop}"
    before, after = (
        state(ONE_OF_TWO_PORTS.split("---")[1].format(top=top)) for top in (BY_SERVICE, whole)
    )
    assert live(before, after).verdict("live") is Verdict.DIFFERENT


PORTS_OF_A_TAG = """
type: MeshService
name: web
mesh: default
labels: {{kuma.io/service: web}}
spec:
  ports: [{{port: 80, appProtocol: grpc}}, {{port: 81, name: admin, appProtocol: http}}]
---
type: MeshTimeout
name: z
mesh: default
spec:
  to:
  - targetRef: {{kind: MeshService, name: web}}
    default: {{http: {{requestTimeout: {value}}}}}
"""


def test_ports_of_several_protocols_leave_that_of_the_tag_open() -> None:
    before, after = (
        state(PORTS_OF_A_TAG.format(value=value), mode="Disabled") for value in ("3s", "4s")
    )
    assert live(before, after).verdict("live") is Verdict.DIFFERENT


BOTH_OUTBOUNDS = """
type: MeshService
name: web
mesh: default
labels: {kuma.io/service: web, team: red}
spec:
  selector: {dataplaneTags: {kuma.io/service: web}}
  ports: [{port: 80, targetPort: 80, appProtocol: http, name: main}]
---
type: MeshTimeout
name: everywhere
mesh: default
spec:
  to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 3s}}}]
"""
REAL_ONLY = """
---
type: MeshTimeout
name: real
mesh: default
spec:
  to:
  - targetRef: {kind: MeshService, labels: {team: red}}
    default: {http: {requestTimeout: 10s}}
"""


@pytest.mark.parametrize("mode", ["Everywhere", "ReachableBackends"])
def test_what_a_real_outbound_read_must_stay_whatever_its_tag_read(mode: str) -> None:
    before = state(BOTH_OUTBOUNDS + REAL_ONLY, mode=mode)
    after = state(BOTH_OUTBOUNDS, mode=mode, release="3.0")
    proof = prove(before, after, claims=("release",))
    assert {
        (w.field, w.before.value, w.after.value, w.effect)
        for w in proof.witnesses("release")
        if w.policy_type == "MeshTimeout"
    } == {("http.requestTimeout", "10s", "3s", Effect.VALUE)}


INJECTED_SHOP = """
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {kuma.io/sidecar-injection: enabled}}
---
"""
WEB_PODS = """
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop}}
spec:
  template: {{metadata: {{labels: {{app: web{labels}}}, annotations: {{{notes}}}}}, spec: {{}}}}
---
"""
WEB_SERVICE = """
apiVersion: v1
kind: Service
metadata: {{name: web, namespace: shop, annotations: {{{notes}}}}}
spec: {{selector: {{app: {app}}}, ports: [{{port: 80{port}}}]}}
---
"""
PLAIN_SERVICE = WEB_SERVICE.format(notes="", app="web", port="")


@pytest.mark.parametrize(
    ("service", "verdict"),
    [
        (WEB_SERVICE.format(notes="", app="web", port=", appProtocol: http"), Verdict.DIFFERENT),
        (WEB_SERVICE.format(notes="", app="web", port=", targetPort: 81"), Verdict.DIFFERENT),
        (WEB_SERVICE.format(notes="", app="other", port=""), Verdict.DIFFERENT),
        (
            WEB_SERVICE.format(notes="80.service.kuma.io/protocol: http", app="web", port=""),
            Verdict.DIFFERENT,
        ),
        (WEB_SERVICE.format(notes="kuma.io/other: x", app="web", port=""), Verdict.UNKNOWN),
        ("", Verdict.DIFFERENT),
        (WEB_SERVICE.format(notes="", app="web", port=", appProtocol: tcp"), Verdict.EQUIVALENT),
    ],
)
def test_a_service_makes_the_inbounds_of_its_pods(service: str, verdict: Verdict) -> None:
    pods = INJECTED_SHOP + WEB_PODS.format(labels="", notes="")
    before, after = (state(pods + text + IDENTITY) for text in (PLAIN_SERVICE, service))
    assert live(before, after).verdict("live") is verdict


@pytest.mark.parametrize(
    ("service", "verdict"),
    [
        (PLAIN_SERVICE, Verdict.EQUIVALENT),
        (WEB_SERVICE.format(notes="", app="web", port=", appProtocol: http"), Verdict.UNKNOWN),
        ("", Verdict.UNKNOWN),
    ],
    ids=["the same", "another port", "gone"],
)
def test_a_service_without_known_workloads_may_be_for_any(service: str, verdict: Verdict) -> None:
    sides = [state(INJECTED_SHOP + text + IDENTITY) for text in (PLAIN_SERVICE, service)]
    for before, after in (sides, sides[::-1]):
        proof = live(before, after)
        assert proof.verdict("live") is verdict
        said = [r for r in proof.unknown("live") if r.startswith("Service web of namespace shop")]
        assert len(said) == (verdict is Verdict.UNKNOWN)


IDENTITY = """
type: MeshIdentity
name: id
mesh: default
spec:
  selector: {dataplane: {matchLabels: {team: red}}}
  provider: {type: Bundled, bundled: {autogenerate: {enabled: true}}}
"""


@pytest.mark.parametrize("around", [INJECTED_SHOP, ""])
def test_a_service_whose_pods_are_elsewhere_is_unknown(around: str) -> None:
    changed = WEB_SERVICE.format(notes="", app="web", port=", appProtocol: http")
    before, after = (state(around + text + IDENTITY) for text in (PLAIN_SERVICE, changed))
    assert live(before, after).verdict("live") is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("labels", "notes", "verdict"),
    [
        (", team: red", "", Verdict.DIFFERENT),
        (", unread: x", "", Verdict.EQUIVALENT),
        ("", "kuma.io/gateway: enabled", Verdict.DIFFERENT),
        ("", "kuma.io/virtual-probes: disabled", Verdict.UNKNOWN),
        ("", "kuma.io/sidecar-injection: disabled", Verdict.EQUIVALENT),
        ("", "other: x", Verdict.EQUIVALENT),
    ],
)
def test_what_a_pod_says_of_its_proxy(labels: str, notes: str, verdict: Verdict) -> None:
    before, after = (
        state(INJECTED_SHOP + WEB_PODS.format(**said) + PLAIN_SERVICE + IDENTITY)
        for said in ({"labels": "", "notes": ""}, {"labels": labels, "notes": notes})
    )
    proof = live(before, after)
    assert proof.verdict("live") is verdict
    # What comes is there afterwards, and what goes was there before.
    told = {w.field: (w.before.value, w.after.value) for w in proof.witnesses("live")}
    assert "labels.team" not in told or told["labels.team"] == (None, "red")
    assert told.get("networking.gateway.type", (None, "DELEGATED")) == (None, "DELEGATED")


def test_pods_of_a_namespace_that_is_not_there_may_have_a_sidecar() -> None:
    before, after = (
        state(WEB_PODS.format(labels=labels, notes="") + IDENTITY) for labels in ("", ", team: red")
    )
    assert live(before, after).verdict("live") is Verdict.UNKNOWN


def test_a_namespace_whose_pods_leave_the_mesh() -> None:
    gone = INJECTED_SHOP.replace("enabled", "disabled")
    before, after = (state(text + IDENTITY) for text in (INJECTED_SHOP, gone))
    assert live(before, after).verdict("live") is Verdict.UNKNOWN


CHOSEN_BY_LABEL = {
    "HostnameGenerator": """
type: HostnameGenerator
name: h
spec: {template: '{{ .DisplayName }}.mesh', selector: {meshService: {matchLabels: {team: red}}}}
""",
    "MeshMultiZoneService": """
type: MeshMultiZoneService
name: m
mesh: default
spec: {selector: {meshService: {matchLabels: {team: red}}}, ports: [{port: 80}]}
""",
    "MeshService": """
type: MeshService
name: s
mesh: default
spec: {selector: {dataplaneLabels: {matchLabels: {team: red}}}, ports: [{port: 80}]}
""",
    "nobody": "",
}
LABELLED = """
type: MeshService
name: web
mesh: default
labels: {{team: {team}}}
spec: {{selector: {{dataplaneTags: {{kuma.io/service: web}}}}, ports: [{{port: 80}}]}}
---
type: Dataplane
name: web-1
mesh: default
labels: {{team: {team}}}
networking: {{address: 192.0.2.1, inbound: [{{port: 1, tags: {{kuma.io/service: web}}}}]}}
---
"""


@pytest.mark.parametrize("by", CHOSEN_BY_LABEL)
def test_labels_by_which_services_and_proxies_are_chosen(by: str) -> None:
    before, after = (
        state(LABELLED.format(team=team) + CHOSEN_BY_LABEL[by], mode="Exclusive")
        for team in ("red", "blue")
    )
    wanted = Verdict.EQUIVALENT if by == "nobody" else Verdict.DIFFERENT
    assert live(before, after).verdict("live") is wanted


@pytest.mark.parametrize("instead", ["", "{{ if .Values.other }}"])
def test_a_template_may_leave_a_policy_out(instead: str) -> None:
    policy = INBOUND.format(types="")
    texts = [f"{branch}\n{policy}{branch and '{{ end }}'}" for branch in ("{{ if .a }}", instead)]
    before, after = map(state, texts)
    assert live(before, after).verdict("live") is Verdict.UNKNOWN


def test_that_values_of_templates_stay_is_said() -> None:
    same = state(INBOUND.format(types="").replace("3s", '"{{ .Values.t }}"'))
    (mesh,) = live(same, same).meshes.values()
    assert any("templates" in assumption for assumption in mesh.assumptions)


SIDECAR = """
type: Dataplane
name: d
mesh: default
networking:
  address: 192.0.2.1
  inbound: [{{port: 1, tags: {{kuma.io/service: web}}}}]
  {more}
"""
REDIRECT = "transparentProxying: {redirectPortInbound: 1, redirectPortOutbound: 2, "


def upgraded(text: str, mode: str | None = None) -> Verdict:
    """Return the verdict on an upgrade that changes no file."""
    before, after = (state(text, mode=mode, release=name) for name in ("2.14", "3.0"))
    return prove(before, after, claims=("release",)).verdict("release")


@pytest.mark.parametrize(
    ("more", "verdict"),
    [
        (REDIRECT + "reachableServices: [a]}", Verdict.UNKNOWN),
        (REDIRECT + "reachableServices: ['*']}", Verdict.EQUIVALENT),
        (REDIRECT + "reachableServices: [a], reachableBackends: {refs: []}}", Verdict.EQUIVALENT),
        (REDIRECT + "directAccessServices: [a]}", Verdict.UNKNOWN),
        (REDIRECT + "directAccessServices: ['*']}", Verdict.EQUIVALENT),
        ("\nprobes: {port: 9000}", Verdict.UNKNOWN),
        ("\nmetrics: {type: prometheus}", Verdict.UNKNOWN),
    ],
)
def test_what_an_upgrade_does_not_read_of_a_dataplane(more: str, verdict: Verdict) -> None:
    assert upgraded(SIDECAR.format(more=more), mode="Exclusive") is verdict


SELECTED = """
type: MeshService
name: web
mesh: default
spec: {{selector: {{{by}}}, ports: [{{port: 80}}]}}
"""


@pytest.mark.parametrize(
    ("by", "verdict"),
    [
        ("dataplaneTags: {kuma.io/service: web}", Verdict.UNKNOWN),
        ("dataplaneLabels: {matchLabels: {app: web}}", Verdict.EQUIVALENT),
    ],
)
def test_an_upgrade_finds_no_endpoints_by_tags(by: str, verdict: Verdict) -> None:
    assert upgraded(SELECTED.format(by=by), mode="Exclusive") is verdict


def test_what_an_upgrade_does_not_read_of_a_pod() -> None:
    notes = "kuma.io/transparent-proxying-reachable-services: a"
    pods = INJECTED_SHOP + WEB_PODS.format(labels="", notes=notes)
    assert upgraded(f"{pods}\n---\n{KEPT}") is Verdict.UNKNOWN


BUILT_IN = """
type: Dataplane
name: edge
mesh: default
networking:
  address: 192.0.2.1
  gateway: {{type: BUILTIN, tags: {{kuma.io/service: edge}}}}
---
type: MeshTimeout
name: t
mesh: default
spec: {{to: [{{targetRef: {{kind: Mesh}}, default: {{http: {{requestTimeout: {value}}}}}}}]}}
"""


@pytest.mark.parametrize("value", ["3s", "4s"])
def test_a_built_in_gateway_is_never_proven_to_survive(value: str) -> None:
    """3.0 has none: nothing said of one is equivalent, and what differs elsewhere still counts."""
    before = state(BUILT_IN.format(value="3s"), mode="Exclusive")
    after = state(BUILT_IN.format(value=value), mode="Exclusive", release="3.0")
    proof = prove(before, after, claims=("release",))
    assert any("built-in gateways (edge)" in reason for reason in proof.unknown("release"))
    expected = Verdict.UNKNOWN if value == "3s" else Verdict.DIFFERENT
    assert proof.verdict("release") is expected
    assert all(w.direction != "gateway" for w in proof.witnesses("release"))


SECRETS = (
    "type: Secret\nname: ca\nmesh: default\ndata: {value}\n",
    "apiVersion: v1\nkind: Secret\nmetadata: {{name: ca, namespace: kuma-system}}\n"
    "type: system.kuma.io/secret\ndata: {{value: {value}}}\n",
    "apiVersion: v1\nkind: Secret\nmetadata: {{name: ca, namespace: kuma-system}}\n"
    "type: system.kuma.io/global-secret\nstringData: {{value: {value}}}\n",
)


@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_counts_and_is_not_shown(text: str) -> None:
    before, after = (state(text.format(value=value)) for value in ("b2xk", "bmV3"))
    (witness,) = live(before, after).witnesses("live")
    assert (witness.before.value, witness.after.value) == ("secret", "another secret")


CARRIED = """
type: Dataplane
name: web
mesh: default
labels: {app: web}
networking:
  address: 192.0.2.1
  inbound: [{port: 80, tags: {kuma.io/service: web, kuma.io/protocol: http}}]
  OUT
---
type: Dataplane
name: api
mesh: default
networking:
  address: 192.0.2.2
  inbound: [{port: 80, tags: {kuma.io/service: api, kuma.io/protocol: http}}]
---
type: MeshService
name: api
mesh: default
labels: {kuma.io/display-name: api}
spec:
  selector: {dataplaneTags: {kuma.io/service: api}}
  ports: [{port: 80, name: main, appProtocol: http}]
---
type: MeshService
name: web
mesh: default
labels: {kuma.io/display-name: web}
spec:
  selector: {dataplaneTags: {kuma.io/service: web}}
  ports: [{port: 80, name: main, appProtocol: http}]
---
type: MeshHTTPRoute
name: r
mesh: default
spec:
  to:
  - targetRef: {kind: MeshService, name: api}
    rules: [{matches: [{path: {type: PathPrefix, value: /v1}}], default: {}}]
---
type: MeshTimeout
name: t
mesh: default
spec:
  targetRef: {kind: TOP}
  to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 9s}}}]
"""
TRANSPARENT = "transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001}"
WRITTEN = "outbound: [{port: 10000, tags: {kuma.io/service: api}}]"


@pytest.mark.parametrize(
    ("top", "verdict"),
    [("Mesh", Verdict.EQUIVALENT), ("MeshHTTPRoute, name: r", Verdict.DIFFERENT)],
)
@pytest.mark.parametrize("out", [TRANSPARENT, WRITTEN], ids=["transparent", "written"])
def test_what_only_service_tags_read_is_not_carried(out: str, top: str, verdict: Verdict) -> None:
    """A timeout on a route at the top is read at service tags alone (product.md §1, law 2)."""
    text = CARRIED.replace("OUT", out).replace("TOP", top)
    mesh = state(text, mode="Everywhere", complete=True)
    proof = prove(mesh, mesh, claims=("carry",))
    web = proxies(proof, "carry")["web"]
    assert web.verdict is verdict
    found = {(w.field, w.before.value) for w in web.witnesses}
    assert (("http.requestTimeout", "9s") in found) is (verdict is Verdict.DIFFERENT)


NAMED = """
type: MeshTimeout
name: c
mesh: default
spec:
  targetRef: {{kind: Dataplane{which}}}
  rules: [{{default: {{http: {{requestTimeout: 3s}}}}}}]
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [(", namespace: shop", ""), ("", ", namespace: shop"), (", namespace: shop", ", labels: {}")],
)
def test_a_namespace_alone_that_selects_nobody(old: str, new: str) -> None:
    """Golden matcher-2.14/99-dataplane-by-what."""
    before, after = (state(NAMED.format(which=which), mode="Exclusive") for which in (old, new))
    assert live(before, after).verdict("live") is Verdict.DIFFERENT


def test_a_namespace_alone_that_an_upgrade_drops() -> None:
    policy = NAMED.format(which=", namespace: shop")
    before = state(policy, mode="Exclusive")
    after = state(policy, mode="Exclusive", release="3.0")
    assert prove(before, after, claims=("release",)).verdict("release") is Verdict.DIFFERENT


LEADING = """
type: MeshTCPRoute
mesh: default
name: t
spec:
  to:
  - targetRef: {kind: MeshService, name: web}
    rules: [{default: {backendRefs: [{kind: MeshService, name: %s}]}}]
"""


@pytest.mark.parametrize("mode", ["Disabled", "Exclusive"])
def test_a_route_of_connections_that_leads_elsewhere_is_found_without_any_proxy(mode: str) -> None:
    before, after = (state(LEADING % to, mode=mode) for to in ("a", "b"))
    assert live(before, after).verdict("live") is Verdict.DIFFERENT


ALONE = """
type: Dataplane
mesh: default
name: alone
networking: {address: 10.0.0.9, inbound: [{port: 80, tags: {kuma.io/service: alone}}]}
"""


@pytest.mark.parametrize(
    ("sides", "values"), [((ALONE, ""), ("present", None)), (("", ALONE), (None, "present"))]
)
def test_a_proxy_that_comes_or_goes_is_told(
    sides: tuple[str, str], values: tuple[Any, Any]
) -> None:
    """Screens know it by that word."""
    found = live(*(state(text, mode="Exclusive") for text in sides)).witnesses("live")
    told = [(one.before.value, one.after.value) for one in found if one.policy_type == "Dataplane"]
    assert told == [values]
