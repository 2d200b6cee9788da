"""Services of a repository are destinations, in every command (world.md §2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.frontdoor import command

MESH = """\
apiVersion: kuma.io/v1alpha1
kind: Mesh
metadata: {name: default}
spec: {meshServices: {mode: %s}}
"""
NAMESPACE = """\
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {kuma.io/sidecar-injection: enabled}}
"""
SERVICE = """\
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop, labels: {app: cart}}
spec:
  selector: {app: cart}
  ports:
  - {name: web, port: 80, targetPort: 8080, appProtocol: http}
"""
POLICY = """\
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: t, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  to:
  - targetRef: {kind: MeshService, name: cart, namespace: shop, sectionName: web}
    default: {http: {requestTimeout: 7s}}
"""
KEPT = """\
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: kept, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 0s, streamIdleTimeout: 5m}}}]
"""
"""Says of requests by tag what they have without it."""
MADE = """\
apiVersion: kuma.io/v1alpha1
kind: MeshService
metadata:
  name: cart
  namespace: shop
  labels:
    app: cart
    kuma.io/mesh: default
    kuma.io/display-name: cart
    kuma.io/zone: %s
    kuma.io/origin: zone
    kuma.io/env: kubernetes
    kuma.io/managed-by: k8s-controller
    k8s.kuma.io/namespace: shop
    k8s.kuma.io/service-name: cart
    k8s.kuma.io/is-headless-service: "false"
spec:
  selector: {dataplaneTags: {app: cart, k8s.kuma.io/namespace: shop}}
  ports:
  - {name: web, port: 80, targetPort: 8080, appProtocol: http}
"""


def _file(folder: Path, name: str, *texts: str) -> Path:
    path = folder / name
    path.write_text("---\n".join(texts))
    return path


def _witnesses(answer: Any, claim: str) -> set[tuple[str, str, str]]:
    proxies = answer["claims"][claim]["dataplanes"].values()
    return {
        (w["policyType"], w["destination"], w["field"]) for p in proxies for w in p["witnesses"]
    }


def test_what_a_verdict_rests_on_no_longer_names_a_service_that_is_there(tmp_path: Path) -> None:
    texts = (MESH % "Exclusive", NAMESPACE, POLICY)
    for service, assumed in (((SERVICE,), []), ((), ["mesh default has a MeshService"])):
        before = _file(tmp_path, "before.yaml", *texts, *service)
        after = _file(tmp_path, "after.yaml", *(t.replace("7s", "8s") for t in (*texts, *service)))
        found = command("prove", before, after, "--format", "json").json
        told = "mesh default has a MeshService"
        assert sorted({told for fact in found["assumptions"] if told in fact}) == assumed
        assert ("MeshTimeout", "cart.shop:web", "http.requestTimeout") in _witnesses(found, "live")


CHANGES = {
    "a protocol": ("appProtocol: http", "appProtocol: grpc", "ports"),
    "a port": ("port: 80,", "port: 81,", "ports"),
    "the selector": ("selector: {app: cart}", "selector: {app: x}", "selector.dataplaneTags.app"),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_changed_service_is_a_changed_destination(case: str, tmp_path: Path) -> None:
    old, new, field = CHANGES[case]
    texts = (MESH % "Exclusive", NAMESPACE, POLICY)
    before = _file(tmp_path, "before.yaml", *texts, SERVICE)
    after = _file(tmp_path, "after.yaml", *texts, SERVICE.replace(old, new))
    answer = command("prove", before, after, "--format", "json")
    found = {(k, d) for k, d, f in _witnesses(answer.json, "live") if f.startswith(field)}
    assert (answer.code, found) == (4, {("MeshService", "cart.shop")})


def test_a_service_that_goes_takes_its_exported_meshservice_along(tmp_path: Path) -> None:
    """The inventory was taken while it was deployed."""
    texts = (MESH % "Exclusive", NAMESPACE, POLICY)
    before = _file(tmp_path, "before.yaml", *texts, SERVICE)
    after = _file(tmp_path, "after.yaml", *texts)
    inventory = _file(tmp_path, "inventory.yaml", MADE % "default")
    answer = command("prove", before, after, "--inventory", inventory, "--format", "json")
    assert ("MeshService", "cart.shop", "") in _witnesses(answer.json, "live")
    same = command("prove", before, before, "--inventory", inventory)
    assert same.code == 0


def test_one_of_another_zone_stays(tmp_path: Path) -> None:
    texts = (MESH % "Exclusive", NAMESPACE, POLICY)
    before = _file(tmp_path, "before.yaml", *texts, SERVICE)
    inventory = _file(tmp_path, "inventory.yaml", MADE % "west")
    printed = command("inspect", before, "--inventory", inventory, "--labels", "app=x").out
    assert "MeshService shop/cart, zone default   web 80 http" in printed
    assert "MeshService shop/cart, zone west   web 80 http" in printed


def test_an_export_tells_that_a_service_is_in_the_mesh(tmp_path: Path) -> None:
    """Its Namespace is at hand in neither place; its port is that of the repository."""
    changed = SERVICE.replace("port: 80,", "port: 8000,")
    before = _file(tmp_path, "before.yaml", MESH % "Exclusive", POLICY, changed)
    inventory = _file(tmp_path, "inventory.yaml", MADE % "default")
    without = command("inspect", before, "--labels", "app=x").out
    printed = command("inspect", before, "--inventory", inventory, "--labels", "app=x").out
    assert "shop/cart" not in without.partition("Destinations")[2]
    assert "web 8000 http" in printed
    assert "web 80 http" not in printed


def test_a_policy_for_a_service_comes_alive_with_the_mode(tmp_path: Path) -> None:
    """On Kubernetes no service tag is called `cart`: in mode Disabled nobody reads the policy."""
    texts = (MESH % "Disabled", NAMESPACE, SERVICE, POLICY)
    file = _file(tmp_path, "all.yaml", *texts)
    words = ("--from", "2.14", "--target", "3.0", "--format", "json")
    found = command("prove", file, file, *words).json
    asked = _witnesses(found, "release")
    fields = {field for kind, destination, field in asked if destination == "cart.shop:web"}
    assert fields == {"http.requestTimeout", "http.streamIdleTimeout"}
    assert _witnesses(found, "live") == set()


def test_services_that_only_come_with_the_upgrade_are_no_difference(tmp_path: Path) -> None:
    file = _file(tmp_path, "all.yaml", MESH % "Disabled", NAMESPACE, SERVICE, KEPT)
    answer = command("prove", file, file, "--from", "2.14", "--target", "3.0", "--format", "json")
    assert (answer.code, _witnesses(answer.json, "release")) == (0, set())


def test_a_protocol_that_only_an_annotation_says_is_lost_with_the_service_tag(
    tmp_path: Path,
) -> None:
    """Inbounds take it from the annotation, a MeshService knows appProtocol only."""
    noted = SERVICE.replace(
        "labels: {app: cart}}", 'annotations: {80.service.kuma.io/protocol: "http"}}'
    ).replace(", appProtocol: http", "")
    policy = POLICY.replace("name: cart, namespace: shop, sectionName: web", "name: x").replace(
        "kind: MeshService, name: x", "kind: Mesh"
    )
    texts = (MESH % "Disabled", NAMESPACE, policy)
    words = ("--from", "2.14", "--target", "3.0", "--format", "json")
    for service, differs in ((SERVICE, False), (noted, True)):
        file = _file(tmp_path, "all.yaml", *texts, service)
        found = {d for _, d, _ in _witnesses(command("prove", file, file, *words).json, "release")}
        assert ("cart.shop:web" in found) is differs


def test_inspect_shows_the_outbounds_that_the_mode_gives(tmp_path: Path) -> None:
    for mode, real, tag in (
        ("Exclusive", True, False),
        ("Everywhere", True, True),
        ("Disabled", False, True),
    ):
        file = _file(tmp_path, "all.yaml", MESH % mode, NAMESPACE, SERVICE, POLICY)
        printed = command("inspect", file, "--labels", "app=x").out
        assert ("to MeshService shop/cart port web, zone default" in printed) is real
        assert ("(service-tag outbounds)" in printed) is tag
        assert ("Destinations of mesh default" in printed) is real


def test_inspect_says_that_outbounds_by_tag_read_nothing_by_labels(tmp_path: Path) -> None:
    labels = POLICY.replace(
        "name: cart, namespace: shop, sectionName: web", "labels: {app: cart}, sectionName: web"
    )
    file = _file(tmp_path, "all.yaml", MESH % "Disabled", NAMESPACE, SERVICE, labels)
    printed = command("inspect", file, "--labels", "app=x").out
    assert "to services by labels, which does nothing here (service-tag outbounds)" in printed
    assert "to anything" not in printed


def test_inspect_names_the_service_behind_a_destination(tmp_path: Path) -> None:
    headless = SERVICE.replace("name: cart", "name: db", 1).replace(
        "spec:\n", "spec:\n  clusterIP: None\n"
    )
    file = _file(tmp_path, "all.yaml", MESH % "Exclusive", NAMESPACE, SERVICE, headless)
    printed = command("inspect", file).out
    assert f"MeshService shop/cart, zone default   web 80 http   {file.name}:10" in printed
    assert "Service shop/db is headless: one MeshService for each of its Pods" in printed


def test_a_reference_says_why_its_service_is_not_known(tmp_path: Path) -> None:
    headless = SERVICE.replace("spec:\n", "spec:\n  clusterIP: None\n")
    for texts, said in (
        ((NAMESPACE, SERVICE), None),
        ((SERVICE,), "whether Service cart is a MeshService depends on Namespace shop"),
        ((NAMESPACE, headless), "Service cart is headless"),
        ((NAMESPACE,), "MeshService cart is in neither repository nor inventory"),
    ):
        file = _file(tmp_path, "all.yaml", MESH % "Exclusive", *texts, POLICY)
        words = ("run", file, "--target", "3.0", "--dry-run", "--format", "json")
        (found,) = [f for f in command(*words).json["findings"] if f["rule"] == "reference-by-name"]
        assert len(found["notes"]) == (0 if said is None else 1)
        assert said is None or said in found["notes"][0]


def test_universal_dataplanes_are_destinations_too(tmp_path: Path) -> None:
    text = (
        "type: Mesh\nname: default\nmeshServices: {mode: Exclusive}\n---\n"
        "type: Dataplane\nmesh: default\nname: web-1\nnetworking:\n  address: 192.0.2.1\n"
        "  inbound: [{port: 80, name: main, tags: {kuma.io/service: web,"
        " kuma.io/protocol: http}}]\n---\n"
        "type: MeshTimeout\nmesh: default\nname: t\nspec:\n  to:\n"
        "  - targetRef: {kind: MeshService, name: web, sectionName: main}\n"
        "    default: {http: {requestTimeout: 7s}}\n"
    )
    printed = command("inspect", _file(tmp_path, "all.yaml", text)).out
    assert "to MeshService web port main, zone default" in printed
    assert "MeshService web, zone default   main 80 http" in printed
