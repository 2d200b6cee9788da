"""The scenarios of the design documents, with what 2.14 really does where it differs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import yaml

from kumamigrate.model.kri import Kri, kri_of
from kumamigrate.model.read import read_resources
from kumamigrate.model.state import Environment, State
from kumamigrate.scene.storedstate import state_of
from kumamigrate.source.reading.load import read_file
from kumamigrate.targetref.matcher import Matcher
from kumamigrate.targetref.route import RealResource, ServiceTag

BACKEND = Kri(
    type="MeshService", mesh="default", zone="east", namespace="backend-ns", name="backend"
)


def _state(manifests: Iterable[dict[str, Any]]) -> State:
    text = "---\n".join(yaml.safe_dump(one) for one in manifests)
    resources = read_resources(read_file("mesh.yaml", text.encode()))
    state, rejections = state_of(resources, release="2.14", environment=Environment(zone="east"))
    assert rejections == ()
    return state


def _k8s(
    kind: str, name: str, namespace: str, spec: dict[str, Any], **labels: str
) -> dict[str, Any]:
    return {
        "apiVersion": "kuma.io/v1alpha1",
        "kind": kind,
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {"kuma.io/mesh": "default", **labels},
        },
        "spec": spec,
    }


def _service() -> dict[str, Any]:
    ports = [{"port": 80, "targetPort": 80, "appProtocol": "http", "name": "main"}]
    return _k8s("MeshService", "backend", "backend-ns", {"selector": {}, "ports": ports})


def _proxy(namespace: str, **tags: str) -> dict[str, Any]:
    inbound = {"port": 80, "tags": {"kuma.io/service": f"web_{namespace}_svc_80", **tags}}
    return {
        "apiVersion": "kuma.io/v1alpha1",
        "kind": "Dataplane",
        "mesh": "default",
        "metadata": {"name": "web", "namespace": namespace, "labels": {"kuma.io/mesh": "default"}},
        "spec": {"networking": {"address": "192.0.2.1", "inbound": [inbound]}},
    }


def _route(name: str, namespace: str, ref: dict[str, Any], path: str = "/slow") -> dict[str, Any]:
    rules = [{"matches": [{"path": {"type": "PathPrefix", "value": path}}], "default": {}}]
    to = [{"targetRef": {"kind": "MeshService", "name": "backend", **ref}, "rules": rules}]
    return _k8s("MeshHTTPRoute", name, namespace, {"to": to})


def _timeout(
    name: str, namespace: str, ref: dict[str, Any], value: str, **more: Any
) -> dict[str, Any]:
    conf = {"http": {"requestTimeout": value, **more}}
    return _k8s("MeshTimeout", name, namespace, {"to": [{"targetRef": ref, "default": conf}]})


def _own(kind: str, name: str) -> dict[str, Any]:
    return {"kind": kind, "name": name}


def _other(kind: str, name: str) -> dict[str, Any]:
    return {"kind": kind, "name": name, "namespace": "backend-ns"}


CONSUMER_ROUTE = _timeout("a", "frontend-ns", _own("MeshHTTPRoute", "consumer-route"), "1s")
CONSUMER_ON_PRODUCER = _timeout("b", "frontend-ns", _other("MeshHTTPRoute", "producer-route"), "2s")
PRODUCER_ON_PRODUCER = _timeout("c", "backend-ns", _own("MeshHTTPRoute", "producer-route"), "3s")
CONSUMER_SERVICE = _timeout("d", "frontend-ns", _other("MeshService", "backend"), "4s")
PRODUCER_SERVICE = _timeout("e", "backend-ns", _own("MeshService", "backend"), "5s")
PRODUCER_ROUTE = _route("producer-route", "backend-ns", {})
OVERRIDING_ROUTE = _route("consumer-route", "frontend-ns", {"namespace": "backend-ns"})


def _read(state: State, route: str | None) -> Any:
    """Return the request timeout of the frontend's proxy at a route, or at the service itself."""
    matcher = Matcher(state)
    proxy = matcher.proxies()[0]
    kri = next((kri_of(r) for r in state.of_type("MeshHTTPRoute") if r.name == route), None)
    found = matcher.resource(matcher.selection(proxy, "MeshTimeout"), BACKEND, kri)
    return found.conf["http"]["requestTimeout"] if found is not None else None


def _frontend(*more: dict[str, Any]) -> State:
    return _state([_service(), _proxy("frontend-ns"), *more])


def test_consumer_route_goes_before_producer_route_with_the_same_matches() -> None:
    state = _frontend(PRODUCER_ROUTE, OVERRIDING_ROUTE)
    matcher = Matcher(state)
    routes = matcher.http_routes(matcher.proxies()[0], RealResource(BACKEND))
    assert {r.entry.policy.name for r in routes if r.entry is not None} == {"consumer-route"}


def test_first_priority_is_a_consumer_policy_on_a_consumer_route() -> None:
    everything = (CONSUMER_ROUTE, CONSUMER_ON_PRODUCER, PRODUCER_ON_PRODUCER, CONSUMER_SERVICE)
    state = _frontend(PRODUCER_ROUTE, OVERRIDING_ROUTE, *everything, PRODUCER_SERVICE)
    assert _read(state, "consumer-route") == "1s"


def test_second_priority_is_a_consumer_policy_on_a_producer_route() -> None:
    policies = (CONSUMER_ON_PRODUCER, PRODUCER_ON_PRODUCER, CONSUMER_SERVICE, PRODUCER_SERVICE)
    assert _read(_frontend(PRODUCER_ROUTE, *policies), "producer-route") == "2s"


def test_third_priority_is_a_producer_policy_on_a_producer_route() -> None:
    policies = (PRODUCER_ON_PRODUCER, CONSUMER_SERVICE, PRODUCER_SERVICE)
    assert _read(_frontend(PRODUCER_ROUTE, *policies), "producer-route") == "3s"


def test_fourth_and_fifth_priority_are_policies_on_the_service_consumer_first() -> None:
    assert (
        _read(_frontend(PRODUCER_ROUTE, CONSUMER_SERVICE, PRODUCER_SERVICE), "producer-route")
        == "4s"
    )
    assert _read(_frontend(PRODUCER_ROUTE, PRODUCER_SERVICE), "producer-route") == "5s"


def test_route_conf_is_producer_merged_with_consumer_and_without_service_conf() -> None:
    state = _frontend(
        PRODUCER_ROUTE,
        _timeout("p", "backend-ns", _own("MeshHTTPRoute", "producer-route"), "3s"),
        _k8s("MeshTimeout", "c", "frontend-ns", {"to": [
            {"targetRef": _other("MeshHTTPRoute", "producer-route"),
             "default": {"http": {"streamIdleTimeout": "9s"}}}]}),
        _k8s("MeshTimeout", "s", "backend-ns", {"to": [
            {"targetRef": _own("MeshService", "backend"), "default": {"idleTimeout": "7s"}}]}),
    )  # fmt: skip
    matcher = Matcher(state)
    route = kri_of(next(state.of_type("MeshHTTPRoute")))
    selection = matcher.selection(matcher.proxies()[0], "MeshTimeout")
    found = matcher.resource(selection, BACKEND, route)
    assert found is not None
    assert found.conf == {"http": {"requestTimeout": "3s", "streamIdleTimeout": "9s"}}
    service = matcher.resource(selection, BACKEND)
    assert service is not None
    assert service.conf == {"idleTimeout": "7s"}


def test_mesh_wide_conf_does_flow_into_a_route_unlike_the_document_says() -> None:
    """MADR 063 wants route conf alone; 2.14 merges mesh-wide items into it (matcher.md (f))."""
    state = _frontend(
        PRODUCER_ROUTE,
        _k8s("MeshTimeout", "all", "kuma-system", {"to": [
            {"targetRef": {"kind": "Mesh"}, "default": {"idleTimeout": "8s"}}]}),
        _timeout("p", "backend-ns", _own("MeshHTTPRoute", "producer-route"), "3s"),
    )  # fmt: skip
    matcher = Matcher(state)
    route = kri_of(next(state.of_type("MeshHTTPRoute")))
    found = matcher.resource(matcher.selection(matcher.proxies()[0], "MeshTimeout"), BACKEND, route)
    assert found is not None
    assert found.conf == {"idleTimeout": "8s", "http": {"requestTimeout": "3s"}}


def test_policy_and_route_on_disjoint_proxies_give_no_proxy_anything() -> None:
    def subset(namespace: str) -> dict[str, Any]:
        return {"targetRef": {"kind": "MeshSubset", "tags": {"k8s.kuma.io/namespace": namespace}}}

    route, policy = _route("producer-route", "backend-ns", {}), PRODUCER_ON_PRODUCER
    route = {**route, "spec": {**subset("frontend-ns"), **route["spec"]}}
    policy = {**policy, "spec": {**subset("other-ns"), **policy["spec"]}}
    for namespace in ("frontend-ns", "other-ns", "backend-ns"):
        proxy = _proxy(namespace, **{"k8s.kuma.io/namespace": namespace})
        state = _state([_service(), proxy, route, policy])
        matcher = Matcher(state)
        dataplane = matcher.proxies()[0]
        has_route = bool(matcher.selection(dataplane, "MeshHTTPRoute").policies)
        has_policy = bool(matcher.selection(dataplane, "MeshTimeout").policies)
        assert not (has_route and has_policy)


def _universal(type_: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"type": type_, "mesh": "default", "name": name, "spec": spec}


def _entry(kind: str, name: str, value: str) -> dict[str, Any]:
    return {
        "targetRef": {"kind": kind, "name": name},
        "default": {"http": {"requestTimeout": value}},
    }


def test_on_universal_a_subset_overrides_what_the_mesh_was_given() -> None:
    """conf4 over conf2 on the route, conf3 over conf1 on the service, and only for the subset."""
    group = {"kind": "MeshSubset", "tags": {"services-group": "frontend"}}
    rules = [{"matches": [{"path": {"type": "PathPrefix", "value": "/slow"}}], "default": {}}]
    common = [
        _universal(
            "MeshService",
            "backend",
            {"selector": {}, "ports": [{"port": 80, "appProtocol": "http"}]},
        ),
        _universal(
            "MeshHTTPRoute",
            "route-to-backend",
            {"to": [{"targetRef": _own("MeshService", "backend"), "rules": rules}]},
        ),
        _universal("MeshTimeout", "on-service", {"to": [_entry("MeshService", "backend", "1s")]}),
        _universal(
            "MeshTimeout", "on-route", {"to": [_entry("MeshHTTPRoute", "route-to-backend", "2s")]}
        ),
        _universal(
            "MeshTimeout",
            "z-on-service",
            {"targetRef": group, "to": [_entry("MeshService", "backend", "3s")]},
        ),
        _universal(
            "MeshTimeout",
            "z-on-route",
            {"targetRef": group, "to": [_entry("MeshHTTPRoute", "route-to-backend", "4s")]},
        ),
    ]
    backend = Kri(type="MeshService", mesh="default", zone="east", namespace="", name="backend")
    for tags, on_service, on_route in (
        ({"services-group": "frontend"}, "3s", "4s"),
        ({}, "1s", "2s"),
    ):
        inbound = {"port": 80, "tags": {"kuma.io/service": "web", **tags}}
        dataplane = {"type": "Dataplane", "mesh": "default", "name": "web-1",
                     "networking": {"address": "192.0.2.1", "inbound": [inbound]}}  # fmt: skip
        state = _state([*common, dataplane])
        matcher = Matcher(state)
        selection = matcher.selection(matcher.proxies()[0], "MeshTimeout")
        service = matcher.resource(selection, backend)
        route = matcher.resource(selection, backend, kri_of(next(state.of_type("MeshHTTPRoute"))))
        assert service is not None
        assert route is not None
        assert service.conf["http"]["requestTimeout"] == on_service
        assert route.conf["http"]["requestTimeout"] == on_route


def _tcp(
    name: str, backends: list[tuple[str, int]], top: dict[str, Any] | None = None
) -> dict[str, Any]:
    refs = [{"kind": "MeshService", "name": n, "weight": w} for n, w in backends]
    to = [{"targetRef": _own("MeshService", "db"), "rules": [{"default": {"backendRefs": refs}}]}]
    return _universal("MeshTCPRoute", name, {**({"targetRef": top} if top else {}), "to": to})


def _tcp_state(*routes: dict[str, Any]) -> State:
    inbound = {"port": 80, "tags": {"kuma.io/service": "web"}}
    networking = {"address": "192.0.2.1", "inbound": [inbound]}
    proxy = {"type": "Dataplane", "mesh": "default", "name": "web-1", "networking": networking}
    return _state([proxy, *routes])


def _backends(state: State) -> list[tuple[str, int]]:
    matcher = Matcher(state)
    (route,) = matcher.tcp_routes(matcher.proxies()[0], ServiceTag("db"))
    return [(str(ref["name"]), int(ref["weight"])) for ref in route.backend_refs or ()]


def test_a_tcp_route_has_one_rule_and_splits_by_weight() -> None:
    assert _backends(_tcp_state(_tcp("split", [("db-v1", 90), ("db-v2", 10)]))) == [
        ("db-v1", 90),
        ("db-v2", 10),
    ]


def test_a_second_tcp_rule_is_refused() -> None:
    route = _tcp("two", [("db-v1", 1)])
    route["spec"]["to"][0]["rules"] *= 2
    resources = read_resources(read_file("mesh.yaml", yaml.safe_dump(route).encode()))
    _, rejections = state_of(resources, release="2.14", environment=Environment(zone="east"))
    assert [r.resource.name for r in rejections] == ["two"]


def test_of_two_tcp_routes_the_narrower_selector_wins_whole() -> None:
    narrow = _tcp("z-narrow", [("db-v2", 1)], {"kind": "Dataplane"})
    assert _backends(_tcp_state(_tcp("a-mesh", [("db-v1", 1)]), narrow)) == [("db-v2", 1)]
