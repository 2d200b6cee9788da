"""Which Services and Dataplanes become MeshServices, and what they are (world.md §2)."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.model.meshservices import as_generated, generated_services
from kumamigrate.model.read import read_resources
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import Environment, State, mesh_services_mode
from kumamigrate.source.reading.load import read_file

MESH = "type: Mesh\nname: default\nmeshServices: {mode: %s}\n"
NAMESPACE = """\
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {kuma.io/sidecar-injection: enabled}}
"""
SERVICE = """\
apiVersion: v1
kind: Service
metadata:
  name: cart
  namespace: shop
  labels: {app: cart}
spec:
  selector: {app: cart}
  ports:
  - {name: web, port: 80, targetPort: http, appProtocol: http}
  - {port: 9090}
  - {name: dns, port: 53, protocol: UDP}
"""


def _made(
    *texts: str, release: str = "2.14", mode: str = "Exclusive", known: tuple[Resource, ...] = ()
) -> list[Resource]:
    environment = Environment(zone="east")
    text = "---\n".join((MESH % mode, *texts))
    file = read_file("all.yaml", text.encode())
    assert not file.refusals
    state = State(release=release, environment=environment, resources=read_resources(file))
    return list(generated_services(state, known))


def test_a_service_gives_its_ports_protocols_labels_and_selector() -> None:
    (made,) = _made(NAMESPACE, SERVICE)
    assert made.identity == ("MeshService", "default", "shop", "cart")
    assert made.spec == {
        "selector": {"dataplaneTags": {"app": "cart", "k8s.kuma.io/namespace": "shop"}},
        "ports": [
            {"name": "web", "port": 80, "targetPort": "http", "appProtocol": "http"},
            {"name": "9090", "port": 9090, "targetPort": 9090, "appProtocol": "tcp"},
        ],
    }
    assert made.labels == {
        "app": "cart",
        "kuma.io/mesh": "default",
        "kuma.io/display-name": "cart",
        "kuma.io/zone": "east",
        "kuma.io/origin": "zone",
        "kuma.io/env": "kubernetes",
        "kuma.io/managed-by": "k8s-controller",
        "k8s.kuma.io/namespace": "shop",
        "k8s.kuma.io/service-name": "cart",
        "k8s.kuma.io/is-headless-service": "false",
    }


def test_from_3_0_on_it_selects_by_labels_and_the_mode_counts_no_more() -> None:
    (made,) = _made(NAMESPACE, SERVICE, release="3.0", mode="Disabled")
    assert made.spec["selector"] == {
        "dataplaneLabels": {"matchLabels": {"app": "cart", "k8s.kuma.io/namespace": "shop"}}
    }


def _service(**changes: Any) -> str:
    """Return the Service with some metadata or fields besides."""
    lines = "".join(f"  {key}: {value}\n" for key, value in changes.items() if key[0].islower())
    return SERVICE.replace("  labels: {app: cart}\n", "  labels: {app: cart}\n" + lines)


NOT_ONE = {
    "mode Disabled": ((NAMESPACE, SERVICE), {"mode": "Disabled"}),
    "a release before MeshServices": ((NAMESPACE, SERVICE), {"release": "2.8"}),
    "a namespace without injection": ((NAMESPACE.replace("enabled", "disabled"), SERVICE), {}),
    "a namespace that nobody knows": ((SERVICE,), {}),
    "a Service of Knative": (
        (NAMESPACE, SERVICE.replace("apiVersion: v1", "apiVersion: serving.knative.dev/v1")),
        {},
    ),
    "an ignored one": ((NAMESPACE, _service(annotations='{kuma.io/ignore: "true"}')), {}),
    "one for a gateway": ((NAMESPACE, _service(annotations="{kuma.io/gateway: enabled}")), {}),
    "one for a zone proxy": (
        (NAMESPACE, SERVICE.replace("app: cart}", "k8s.kuma.io/zone-proxy-type: ingress}", 1)),
        {},
    ),
    "a headless one": ((NAMESPACE, SERVICE.replace("spec:\n", "spec:\n  clusterIP: None\n")), {}),
    "a name for something outside": (
        (NAMESPACE, SERVICE.replace("spec:\n", "spec:\n  type: ExternalName\n")),
        {},
    ),
    "one in front of gateway Pods": (
        (
            NAMESPACE,
            SERVICE,
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: g, namespace: shop}\n"
            "spec: {template: {metadata: {labels: {app: cart, x: y}, annotations:"
            " {kuma.io/gateway: enabled}}}}\n",
        ),
        {},
    ),
    "one that a template names": ((NAMESPACE, SERVICE.replace("name: cart", "name: {{ x }}")), {}),
}


@pytest.mark.parametrize("case", NOT_ONE)
def test_what_becomes_no_meshservice(case: str) -> None:
    texts, options = NOT_ONE[case]
    assert _made(*texts, **options) == []


STILL_ONE = {
    "ignored before 2.10": (_service(annotations='{kuma.io/ignore: "true"}'), "2.9"),
    "ignored with another word": (_service(annotations='{kuma.io/ignore: "false"}'), "2.14"),
    "for a zone proxy before 2.14": (
        SERVICE.replace("app: cart}", "k8s.kuma.io/zone-proxy-type: ingress}", 1),
        "2.13",
    ),
    "with a cluster address": (
        SERVICE.replace("spec:\n", "spec:\n  clusterIP: 10.0.0.7\n"),
        "2.14",
    ),
}


@pytest.mark.parametrize("case", STILL_ONE)
def test_what_still_becomes_one(case: str) -> None:
    text, release = STILL_ONE[case]
    assert [made.name for made in _made(NAMESPACE, text, release=release)] == ["cart"]


@pytest.mark.parametrize(
    ("service", "namespace", "release", "mesh"),
    [
        ("labels: {kuma.io/mesh: own}", "", "2.14", "own"),
        ("annotations: {kuma.io/mesh: own}", NAMESPACE, "2.14", "own"),
        ("annotations: {kuma.io/mesh: own}", NAMESPACE, "3.0", "default"),
        ("", NAMESPACE.replace("labels: {", "labels: {kuma.io/mesh: around, "), "2.14", "around"),
        ("", NAMESPACE, "2.14", "default"),
    ],
)
def test_its_mesh_is_its_own_or_that_of_its_namespace(
    service: str, namespace: str, release: str, mesh: str
) -> None:
    text = SERVICE.replace("  labels: {app: cart}\n", f"  {service}\n" if service else "")
    texts = (namespace, text) if namespace else (text,)
    assert [made.mesh for made in _made(*texts, release=release)] == [mesh]


@pytest.mark.parametrize(
    ("mode", "complete", "number"), [("zone", False, 1), ("zone", True, 0), ("global", False, 0)]
)
def test_only_a_zone_makes_them_where_not_all_is_known(
    mode: Any, complete: bool, number: int
) -> None:
    """A global control plane gets them, and a whole inventory has them."""
    resources = read_resources(
        read_file("a.yaml", (MESH % "Exclusive" + "---\n" + NAMESPACE + "---\n" + SERVICE).encode())
    )
    environment = Environment(zone="east", mode=mode)
    state = State(release="2.14", environment=environment, resources=resources, complete=complete)
    assert len(generated_services(state)) == number


def test_a_meshservice_of_that_name_stays_what_it_is() -> None:
    own = (
        "apiVersion: kuma.io/v1alpha1\nkind: MeshService\n"
        "metadata: {name: cart, namespace: shop, labels: {kuma.io/mesh: default}}\n"
        "spec: {ports: [{port: 80}]}\n"
    )
    assert _made(NAMESPACE, SERVICE, own) == []


def test_one_that_a_control_plane_made_tells_the_mesh() -> None:
    (known,) = _made(NAMESPACE, SERVICE)
    (made,) = _made(SERVICE, known=(known,))
    assert (made.mesh, made.spec) == ("default", known.spec)


DATAPLANE = """\
type: Dataplane
mesh: default
name: %s
labels: {kuma.io/workload: %s}
networking:
  address: 192.0.2.1
  inbound:
  - port: 8080
    name: main
    tags: {kuma.io/service: web, kuma.io/protocol: %s}
  - port: 9090
    tags: {kuma.io/service: admin_ui, kuma.io/protocol: http}
"""


def test_dataplanes_give_a_service_per_tag_that_is_a_name() -> None:
    (made,) = _made(DATAPLANE % ("web-1", "w", "http"), DATAPLANE % ("web-2", "w", "http"))
    assert made.identity == ("MeshService", "default", "", "web")
    assert made.spec == {
        "selector": {"dataplaneTags": {"kuma.io/service": "web"}},
        "ports": [{"name": "main", "port": 8080, "targetPort": 8080, "appProtocol": "http"}],
    }
    assert made.labels["kuma.io/managed-by"] == "meshservice-generator"


def test_from_3_0_on_it_is_the_workload_that_gives_one() -> None:
    (made,) = _made(DATAPLANE % ("web-1", "w", "http"), release="3.0")
    assert made.name == "w"
    assert made.spec["selector"] == {"dataplaneLabels": {"matchLabels": {"kuma.io/workload": "w"}}}
    assert [port["appProtocol"] for port in made.spec["ports"]] == ["tcp", "tcp"]


def test_dataplanes_that_disagree_give_what_the_oldest_says() -> None:
    young, old = (
        DATAPLANE % (name, "w", protocol) + f"creationTime: {time}\n"
        for name, protocol, time in (
            ("web-1", "grpc", "2026-11-02T00:00:00Z"),
            ("web-2", "http", "2026-11-01T00:00:00Z"),
        )
    )
    (made,) = _made(young, old)
    assert made.spec["ports"][0]["appProtocol"] == "http"
    assert _made(DATAPLANE % ("web-1", "w", "grpc"), DATAPLANE % ("web-2", "w", "http")) == []


def test_a_dataplane_of_kubernetes_gives_none() -> None:
    text = (DATAPLANE % ("web-1.shop", "w", "http")).replace(
        "labels: {", "labels: {k8s.kuma.io/namespace: shop, "
    )
    assert _made(text) == []


def test_an_export_is_what_the_controller_of_the_release_makes_of_it() -> None:
    (old,) = _made(NAMESPACE, SERVICE)
    (new,) = _made(NAMESPACE, SERVICE, release="3.0")
    assert as_generated(old, "2.14") is old
    assert as_generated(old, "3.0").spec == new.spec
    by_hand = Resource(type="MeshService", mesh="default", name="x", spec=old.spec)
    assert as_generated(by_hand, "3.0") is by_hand


@pytest.mark.parametrize(
    ("mesh", "mode"), [("default", "Exclusive"), ("other", "Disabled"), ("third", "Everywhere")]
)
def test_the_mode_of_a_mesh_is_what_its_own_mesh_says(mesh: str, mode: str) -> None:
    """product.md law 1: without the field it is Disabled; without the Mesh it is as assumed."""
    text = b"type: Mesh\nname: other\n---\ntype: Mesh\nname: default\n"
    text += b"meshServices: {mode: Exclusive}\n"
    state = State(
        release="2.14",
        environment=Environment(mesh_services="Everywhere"),
        resources=tuple(read_resources(read_file("mesh.yaml", text))),
    )
    assert mesh_services_mode(state, mesh) == mode
