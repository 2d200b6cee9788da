"""Dataplanes that Pods will become."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kumamigrate.effective.admitted import certificates
from kumamigrate.model.kubernetes.workloads import _number, implied_dataplanes
from kumamigrate.model.read import read_resources
from kumamigrate.model.state import Environment, State
from kumamigrate.prover.workload import changed_workloads
from kumamigrate.source.reading.load import read_file
from kumamigrate.universe.contents import Contents
from kumamigrate.universe.side import Side

NAMESPACE = """apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {kuma.io/sidecar-injection: enabled}}
---
"""
DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  template:
    metadata: {labels: {app: web, tier: ""}}
    spec: {serviceAccountName: web, containers: [{ports: [{name: http, containerPort: 8080}]}]}
---
"""
SERVICE = """apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: http, appProtocol: http}]}
---
"""


def _state(text: str, release: str = "2.14") -> State:
    resources = read_resources(read_file("a.yaml", text.encode()))
    return State(release=release, environment=Environment(zone="east"), resources=resources)


def _noted(notes: str, text: str = DEPLOYMENT) -> str:
    """Return a workload whose Pods have annotations."""
    return text.replace("metadata: {labels:", f"metadata: {{annotations: {{{notes}}}, labels:")


@pytest.mark.parametrize(
    ("said", "account"),
    [
        ("serviceAccountName: web", "web"),
        ("serviceAccount: old", "old"),
        ("serviceAccount: old, serviceAccountName: web", "web"),
        ("hostNetwork: true", "default"),
    ],
)
def test_the_service_account_is_known_by_both_names_of_its_field(said: str, account: str) -> None:
    deployment = DEPLOYMENT.replace("serviceAccountName: web", said)
    (dataplane,) = implied_dataplanes(_state(NAMESPACE + deployment + SERVICE), "default")
    assert dataplane.labels["k8s.kuma.io/service-account"] == account
    assert dataplane.labels["kuma.io/workload"] == account


def test_a_pod_gives_its_labels_to_the_dataplane_and_to_every_inbound() -> None:
    (dataplane,) = implied_dataplanes(_state(NAMESPACE + DEPLOYMENT + SERVICE), "default")
    assert dataplane.labels == {
        "app": "web",
        "tier": "",
        "kuma.io/mesh": "default",
        "kuma.io/env": "kubernetes",
        "kuma.io/origin": "zone",
        "kuma.io/zone": "east",
        "kuma.io/workload": "web",
        "k8s.kuma.io/namespace": "shop",
        "k8s.kuma.io/service-account": "web",
    }
    assert dataplane.made_up
    assert dataplane.spec["networking"]["inbound"] == [
        {
            "port": 8080,
            "name": "http",
            "protocol": "http",
            "tags": {
                "app": "web",
                "k8s.kuma.io/namespace": "shop",
                "k8s.kuma.io/service-name": "web",
                "k8s.kuma.io/service-port": "80",
                "kuma.io/zone": "east",
                "kuma.io/service": "web_shop_svc_80",
                "kuma.io/protocol": "http",
            },
        }
    ]


@pytest.mark.parametrize(
    ("release", "port", "name"),
    [
        ("2.10", "{port: 80, targetPort: 8080}", "http"),
        ("2.14", "{port: 8080, name: other}", "http"),
        ("2.14", "{port: 80, name: other, targetPort: 9090}", None),
        ("2.14", "{port: 80, name: other, targetPort: 53}", None),
        ("2.9", "{port: 80, targetPort: http}", None),
    ],
)
def test_an_inbound_is_called_after_the_port_of_the_container(
    release: str, port: str, name: str | None
) -> None:
    """Kuma finds it by name or number among those for TCP; up to 2.9 it asked the Service."""
    ports = "[{containerPort: 9090}, {name: dns, containerPort: 53, protocol: UDP}, {name: http,"
    text = DEPLOYMENT.replace("[{name: http,", ports) + SERVICE.split("ports:")[0]
    state = _state(NAMESPACE + text + f"ports: [{port}]" + "}")
    (dataplane,) = implied_dataplanes(replace(state, release=release), "default")
    (inbound,) = dataplane.spec["networking"]["inbound"]
    assert inbound.get("name") == name


def test_a_pod_that_no_service_selects_has_the_inbound_of_its_workload() -> None:
    (dataplane,) = implied_dataplanes(_state(NAMESPACE + DEPLOYMENT), "default")
    (inbound,) = dataplane.spec["networking"]["inbound"]
    assert inbound["tags"]["kuma.io/service"] == "web_shop_svc"


def test_pods_without_a_sidecar_or_of_another_mesh_are_none() -> None:
    assert implied_dataplanes(_state(DEPLOYMENT + SERVICE), "default") == ()
    assert implied_dataplanes(_state(NAMESPACE + DEPLOYMENT), "other") == ()


@pytest.mark.parametrize(
    ("said", "number"), [("80", 80), (80, 80), ("http", None), (None, None), ([80], None)]
)
def test_a_port_is_a_number_or_says_none(said: object, number: int | None) -> None:
    assert _number(said) == number


@pytest.mark.parametrize(
    ("service", "tags"),
    [
        (SERVICE, ["web_shop_svc_80"]),
        (SERVICE.replace("{selector:", "{type: ExternalName, selector:"), ["web_shop_svc"]),
        (SERVICE.replace("namespace:", "annotations: {kuma.io/ignore: 'true'}, namespace:"), None),
        (
            SERVICE.replace("namespace:", "labels: {k8s.kuma.io/zone-proxy-type: e}, namespace:"),
            None,
        ),
        (
            SERVICE.replace("name: web", "name: z") + SERVICE.replace("name: web", "name: b"),
            ["b_shop_svc_80", "z_shop_svc_80"],
        ),
    ],
)
def test_services_give_inbounds_by_their_names(service: str, tags: list[str] | None) -> None:
    """Not one of another cluster's, not one that Kuma shall ignore, not a zone proxy's."""
    (dataplane,) = implied_dataplanes(_state(NAMESPACE + DEPLOYMENT + service), "default")
    inbounds = dataplane.spec["networking"]["inbound"]
    assert [one["tags"]["kuma.io/service"] for one in inbounds] == (tags or ["web_shop_svc"])


@pytest.mark.parametrize(
    ("said", "noted", "protocol"),
    [
        ("HTTP2", "", "http2"),
        ("kubernetes.io/h2c", "", "tcp"),
        ("kubernetes.io/ws", "80.service.kuma.io/protocol: http", "http"),
        ("grpc", "80.service.kuma.io/protocol: http", "grpc"),
        ("''", "80.service.kuma.io/protocol: Mongo", "mongo"),
    ],
)
def test_a_protocol_that_kuma_does_not_speak_is_none(said: str, noted: str, protocol: str) -> None:
    service = SERVICE.replace("appProtocol: http", f"appProtocol: {said}")
    service = service.replace("namespace: shop", f"namespace: shop, annotations: {{{noted}}}")
    (dataplane,) = implied_dataplanes(_state(NAMESPACE + DEPLOYMENT + service), "default")
    (inbound,) = dataplane.spec["networking"]["inbound"]
    assert inbound["protocol"] == inbound["tags"]["kuma.io/protocol"] == protocol


@pytest.mark.parametrize(
    ("kind", "gateway"),
    [
        ("enabled", {"kuma.io/service": "web_shop_svc_80", "kuma.io/protocol": None}),
        ("provided", {"kuma.io/service-name": "web_shop_svc", "kuma.io/service": None}),
        ("builtin", {"kuma.io/service": "edge", "kuma.io/zone": "east", "app": None}),
    ],
)
def test_a_gateway_has_the_tags_of_its_kind(kind: str, gateway: dict[str, str | None]) -> None:
    """One delegated to a Service is TCP, so it names no other protocol."""
    notes = f"""kuma.io/gateway: {kind}, kuma.io/tags: '{{"kuma.io/service": "edge"}}'"""
    (dataplane,) = implied_dataplanes(_state(NAMESPACE + _noted(notes) + SERVICE), "default")
    networking = dataplane.spec["networking"]
    tags = networking["gateway"]["tags"]
    assert "inbound" not in networking
    assert {key: tags.get(key) for key in gateway} == gateway


@pytest.mark.parametrize(
    ("text", "release", "meshes"),
    [
        (_noted("kuma.io/gateway: enabled"), "2.14", ""),
        (_noted("kuma.io/gateway: builtin"), "2.14", "default"),
        (NAMESPACE + _noted("kuma.io/ingress: enabled"), "2.14", ""),
        (NAMESPACE + _noted("kuma.io/ingress: enabled"), "3.0", "default"),
        (NAMESPACE + _noted("kuma.io/mesh: other"), "2.14", "other"),
        (NAMESPACE + _noted("kuma.io/mesh: other"), "3.0", "default"),
        (
            NAMESPACE.replace("labels:", "annotations: {kuma.io/mesh: other}, labels:")
            + DEPLOYMENT,
            "2.14",
            "other",
        ),
        (
            NAMESPACE.replace("labels:", "annotations: {kuma.io/mesh: other}, labels:")
            + DEPLOYMENT,
            "3.0",
            "default",
        ),
        (
            NAMESPACE + DEPLOYMENT.replace("{app: web", "{kuma.io/sidecar-injection: off"),
            "2.14",
            "",
        ),
        (NAMESPACE + DEPLOYMENT.replace("[{ports", "[{name: kuma-sidecar}, {ports"), "2.14", ""),
        (_noted("kuma.io/sidecar-injected: 'true'"), "2.14", "default"),
    ],
)
def test_labels_and_annotations_tell_who_joins_which_mesh(
    text: str, release: str, meshes: str
) -> None:
    """3.0 reads no mesh and no zone proxy off an annotation."""
    state = _state(text, release)
    joined = [mesh for mesh in ("default", "other") if implied_dataplanes(state, mesh)]
    assert joined == meshes.split()


POD = "{metadata: {labels: {app: web}}, spec: {serviceAccountName: web}}"
OF_A_TEMPLATE = {
    "CronJob": ("batch/v1", f"{{jobTemplate: {{spec: {{template: {POD}}}}}}}"),
    "Job": ("batch/v1", f"{{template: {POD}}}"),
    **dict.fromkeys(
        ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"),
        ("apps/v1", f"{{template: {POD}}}"),
    ),
}


@pytest.mark.parametrize("kind", [*OF_A_TEMPLATE, "Pod"])
def test_whatever_makes_pods_makes_dataplanes(kind: str) -> None:
    version, spec = OF_A_TEMPLATE.get(kind, ("v1", "{serviceAccountName: web}"))
    labels = "labels: {app: web}" if kind == "Pod" else "labels: {}"
    head = f"apiVersion: {version}\nkind: {kind}\n"
    text = f"{head}metadata: {{name: web, namespace: shop, {labels}}}\nspec: {spec}\n"
    state = _state(NAMESPACE + text)
    (made,) = implied_dataplanes(state, "default")
    assert (made.labels["app"], made.labels["kuma.io/workload"]) == ("web", "web")
    other = _state(NAMESPACE + text.replace("app: web", "app: api"))
    mesh = [Side(one, "default", Contents()) for one in (state, other)]
    assert [one.key for one in changed_workloads(*mesh)] == [("shop", "web")]


@pytest.mark.parametrize(("release", "label"), [("2.12", None), ("2.13", "web"), ("3.0", "web")])
def test_the_service_account_is_the_workload(release: str, label: str | None) -> None:
    (dataplane,) = implied_dataplanes(_state(NAMESPACE + DEPLOYMENT, release), "default")
    assert dataplane.labels.get("kuma.io/workload") == label


def test_labels_of_kuma_are_tags_where_no_service_selects_a_pod() -> None:
    labelled = DEPLOYMENT.replace("{app: web", "{kuma.io/team: a, app: web")
    (alone,) = implied_dataplanes(_state(NAMESPACE + labelled), "default")
    (served,) = implied_dataplanes(_state(NAMESPACE + labelled + SERVICE), "default")
    inbounds = [one.spec["networking"]["inbound"][0]["tags"] for one in (alone, served)]
    assert [tags.get("kuma.io/team") for tags in inbounds] == ["a", None]


def test_a_pod_shows_the_certificate_that_its_dataplane_would() -> None:
    """Of the CA of its mesh: the service, and every tag (identities.md)."""
    mtls = "mtls: {enabledBackend: ca, backends: [{name: ca, type: builtin}]}"
    text = f"{NAMESPACE}{DEPLOYMENT}{SERVICE}type: Mesh\nname: default\n{mtls}\n"
    (shown,) = certificates(_state(text), "default").items()
    name, names = shown
    assert (name, names[0]) == ("web.shop", "spiffe://default/web_shop_svc_80")
    assert {"kuma://app/web", "kuma://kuma.io/zone/east"} <= {*names}


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [('tier: ""', 'tier: ""', False), ('tier: ""', "tier: x", True)],
)
def test_a_workload_is_the_same_wherever_it_stands(old: str, new: str, *, changed: bool) -> None:
    text = NAMESPACE + DEPLOYMENT + SERVICE
    later = f"kind: Other\n---\n{text.replace(old, new)}"
    before, after = (Side(_state(one), "default", Contents()) for one in (text, later))
    assert bool([*changed_workloads(before, after)]) is changed
