"""Dataplanes that Pods will become."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kumamigrate.model.read import read_resources
from kumamigrate.model.state import Environment, State
from kumamigrate.model.workloads import _number, implied_dataplanes
from kumamigrate.source.reading.load import read_file

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


def _state(text: str) -> State:
    resources = read_resources(read_file("a.yaml", text.encode()))
    return State(release="2.14", environment=Environment(zone="east"), resources=resources)


def test_a_pod_gives_its_labels_to_the_dataplane_and_to_every_inbound() -> None:
    (dataplane,) = implied_dataplanes(_state(NAMESPACE + DEPLOYMENT + SERVICE), "default")
    assert dataplane.labels["app"] == "web"
    assert dataplane.labels["k8s.kuma.io/service-account"] == "web"
    assert dataplane.made_up
    assert dataplane.spec["networking"]["inbound"] == [
        {
            "port": 8080,
            "name": "http",
            "tags": {
                "app": "web",
                "k8s.kuma.io/namespace": "shop",
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
