"""The MeshServices that a control plane makes of Universal Dataplanes, one by one (world.md §2)."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.model.meshservices import rules_of
from kumamigrate.model.resource import Resource
from kumamigrate.model.universalservices import (
    is_generated,
    is_universal,
    mesh_services,
    service_names,
)

SERVICE, PROTOCOL, WORKLOAD = "kuma.io/service", "kuma.io/protocol", "kuma.io/workload"
MANAGED, ENV = "kuma.io/managed-by", "kuma.io/env"
SPACE = "k8s.kuma.io/namespace"


def proxy(*inbounds: Any, name: str = "web-1", mesh: str = "default", **more: Any) -> Resource:
    spec = {"networking": {"address": "10.0.0.1", "inbound": list(inbounds)}}
    return Resource(type="Dataplane", mesh=mesh, name=name, spec=spec, **more)


def inbound(port: int, service: Any = "web", protocol: str = "", **more: Any) -> dict[str, Any]:
    tags = {SERVICE: service, **({PROTOCOL: protocol} if protocol else {})}
    return {"port": port, "tags": tags, **more}


def made(*proxies: Resource, release: str = "2.14") -> dict[tuple[str, str], Any]:
    how = rules_of(release)
    assert how is not None
    found = {(one.mesh, one.name): one.spec for one in mesh_services(proxies, how)}
    assert found.keys() <= service_names(proxies, how)
    return found


def protocols(*proxies: Resource, release: str = "2.14") -> list[str]:
    (spec,) = made(*proxies, release=release).values()
    return [port["appProtocol"] for port in spec["ports"]]


@pytest.mark.parametrize(
    ("said", "by_tag", "of_3"),
    [
        (inbound(80), "tcp", "tcp"),
        (inbound(80, protocol="http"), "http", "tcp"),
        (inbound(80, protocol="GRPC"), "grpc", "tcp"),
        ({**inbound(80, protocol="http"), "protocol": "grpc"}, "grpc", "grpc"),
        ({**inbound(80), "protocol": "mongo"}, "tcp", "tcp"),
        *((inbound(80, protocol=one), one, "tcp") for one in ("http2", "kafka", "mysql", "tls")),
    ],
)
def test_a_port_speaks_what_its_field_says_or_up_to_2_14_its_tag(
    said: Any, by_tag: str, of_3: str
) -> None:
    own = proxy(said, labels={WORKLOAD: "web"})
    assert protocols(own) == [by_tag]
    assert protocols(own, release="3.0") == [of_3]


@pytest.mark.parametrize(
    ("release", "selector"),
    [
        ("2.14", {"dataplaneTags": {SERVICE: "web"}}),
        ("3.0", {"dataplaneLabels": {"matchLabels": {WORKLOAD: "web"}}}),
    ],
)
def test_a_service_is_made_as_an_export_would_show_it(release: str, selector: Any) -> None:
    (one,) = mesh_services([proxy(inbound(80), labels={WORKLOAD: "web"})], rules_of(release) or {})
    labels = {"kuma.io/mesh": "default", MANAGED: "meshservice-generator", ENV: "universal"}
    assert (one.type, one.mesh, one.name, one.spec_path) == (
        "MeshService", "default", "web", ("spec",),
    )  # fmt: skip
    assert one.labels == {**labels, "kuma.io/display-name": "web"}
    port = {"name": "80", "port": 80, "targetPort": 80, "appProtocol": "tcp"}
    assert one.spec == {"selector": selector, "ports": [port]}
    head = {"type": "MeshService", "mesh": "default", "name": "web"}
    assert one.body == {**head, "labels": labels, "spec": one.spec}


def test_a_port_is_called_by_its_name_or_number() -> None:
    (spec,) = made(proxy(inbound(80, name="main"), inbound(81))).values()
    assert spec["ports"] == [
        {"name": "main", "port": 80, "targetPort": 80, "appProtocol": "tcp"},
        {"name": "81", "port": 81, "targetPort": 81, "appProtocol": "tcp"},
    ]


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("web", True), ("w", True), ("web-1", True), ("a" * 63, True), ("a" * 64, False),
        ("1-web", False), ("web_1", False), ("web-", False), ("Web", False), ("", False),
        (None, False),
    ],
)  # fmt: skip
def test_only_a_name_that_may_be_a_label_of_a_host_becomes_a_service(
    name: Any, is_one: bool
) -> None:
    assert made(proxy(inbound(80, name))).keys() == ({("default", name)} if is_one else set())


def test_services_are_those_of_their_mesh_and_of_universal_alone() -> None:
    own, other = proxy(inbound(80)), proxy(inbound(81, "api"), mesh="other")
    assert made(own, other).keys() == {("default", "web"), ("other", "api")}
    for more in ({"namespace": "shop"}, {"labels": {SPACE: "shop"}},
                 {"labels": {ENV: "kubernetes"}}):  # fmt: skip
        elsewhere = proxy(inbound(80), **more)  # type: ignore[arg-type]
        assert not is_universal(elsewhere)
        assert made(elsewhere) == {}
        assert service_names([elsewhere], rules_of("2.14") or {}) == set()
    assert is_universal(proxy(labels={ENV: "universal"}))


def test_from_3_0_on_one_names_the_workload() -> None:
    both = proxy(inbound(80), inbound(81, "api"), labels={WORKLOAD: "w"})
    assert made(both).keys() == {("default", "web"), ("default", "api")}
    assert made(both, release="3.0").keys() == {("default", "w")}
    assert made(proxy(inbound(80)), release="3.0") == {}


def test_where_two_disagree_the_oldest_decides_and_of_one_age_the_first_by_name() -> None:
    early, late = "2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z"

    def spoken(*given: tuple[str, str, str]) -> list[str] | None:
        proxies = [
            proxy(inbound(80, protocol=protocol), name=name, created=created)
            for name, protocol, created in given
        ]
        return protocols(*proxies) if made(*proxies) else None

    assert spoken(("a", "http", late), ("b", "grpc", early)) == ["grpc"]
    assert spoken(("b", "http", early), ("a", "grpc", early)) == ["grpc"]
    assert spoken(("a", "http", early), ("b", "grpc", "")) is None
    assert spoken(("a", "http", ""), ("b", "http", early)) == ["http"]


@pytest.mark.parametrize(
    ("kind", "manager", "generated"),
    [
        ("MeshService", "meshservice-generator", True),
        ("MeshService", "k8s-controller", False),
        ("MeshService", "", False),
        ("MeshExternalService", "meshservice-generator", False),
    ],
)
def test_one_that_was_made_says_so(kind: str, manager: str, generated: bool) -> None:
    labels = {MANAGED: manager} if manager else {}
    service = Resource(type=kind, mesh="default", name="web", labels=labels)
    assert is_generated(service) is generated
