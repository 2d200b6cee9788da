"""What a control plane makes of Kubernetes Services: MeshServices (world.md §2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kumamigrate.model.kinds import WORKLOADS
from kumamigrate.model.kri import section_of
from kumamigrate.model.kubernetes.pods import GATEWAY, injects, pod_templates
from kumamigrate.model.resource import (
    ENV,
    MESH,
    NAMESPACE,
    Form,
    Resource,
    mapping,
    mappings,
    texts,
)

MANAGED_BY = "kuma.io/managed-by"
SERVICE_NAME = "k8s.kuma.io/service-name"
HEADLESS = "k8s.kuma.io/is-headless-service"
BY_KUBERNETES = "k8s-controller"
ZONE_PROXY = "k8s.kuma.io/zone-proxy-type"
IGNORE = "kuma.io/ignore"
_YES = ("true", "yes")

How = Mapping[str, Any]
"""What one release does (tables/services.json)."""

Place = tuple[str, str]
"""Namespace and name of a Service."""


class KubeCluster:
    """What decides in a cluster which Services become MeshServices, and in which mesh.

    `known` are MeshServices that a control plane is known to have made of Services: of these the
    Namespace need not be at hand.
    """

    def __init__(self, resources: Iterable[Resource], known: Iterable[Resource], how: How) -> None:
        self._how = how
        self.services: list[Resource] = []
        self._namespaces: dict[str, Resource] = {}
        self._gateways: dict[str, list[Mapping[str, str]]] = {}
        self._known = {made_of(one): one.mesh for one in known}
        for resource in resources:
            if resource.type == "Service" and resource.body.get("apiVersion") == "v1":
                self.services.append(resource)
            elif resource.type == "Namespace":
                self._namespaces[resource.name] = resource
            elif resource.type in WORKLOADS or resource.type == "Dataplane":
                home = resource.namespace or resource.namespace_label
                self._gateways.setdefault(home, []).extend(_gateway_pods(resource))

    def mesh_services(self) -> Iterator[Resource]:
        """Yield the MeshServices in file order; labels are yet to be completed."""
        for service in self.services:
            mesh = self.mesh_of(service)
            if mesh and becomes_one(service) and not self._set_aside(service):
                yield _mesh_service(service, mesh, self._how)

    def mesh_of(self, service: Resource) -> str:
        """Return the mesh of a Service, empty where it is in none or nothing tells."""
        namespace = self._namespaces.get(service.namespace)
        noted = self._how["meshAnnotation"]
        own = service.labels.get(MESH) or (service.annotations.get(MESH) if noted else "")
        if MESH in service.labels or (namespace is not None and injects(namespace)):
            around = _mesh_around(namespace, noted=noted) if namespace is not None else ""
            return own or around or "default"
        if namespace is None:
            return self._known.get((service.namespace, service.name), "")
        return ""

    def _set_aside(self, service: Resource) -> bool:
        notes = service.annotations
        if GATEWAY in notes or (self._how["ignoreAnnotation"] and notes.get(IGNORE) in _YES):
            return True
        if self._how["zoneProxyLabel"] and ZONE_PROXY in service.labels:
            return True
        return bool(self._how["gatewayPods"]) and self._for_gateway(service)

    def _for_gateway(self, service: Resource) -> bool:
        wanted = texts(service.spec.get("selector"))
        gateways = self._gateways.get(service.namespace, ())
        return bool(wanted) and any(wanted.items() <= labels.items() for labels in gateways)


def is_headless(service: Resource) -> bool:
    """Say whether a Service has no address of its own: each of its Pods is a MeshService."""
    return service.spec.get("clusterIP") == "None"


def becomes_one(service: Resource) -> bool:
    """Say whether a Service has one address, so that it can be one MeshService.

    Of what a template fills in nobody knows what it is called, or whether it is there.
    """
    elsewhere = service.spec.get("type") == "ExternalName"
    return bool(service.namespace) and not (is_headless(service) or elsewhere or service.templated)


def made_of(mesh_service: Resource) -> Place:
    """Return the namespace and name of the Service that a MeshService was made of."""
    home = mesh_service.namespace_label or mesh_service.namespace
    return (home, mesh_service.labels.get(SERVICE_NAME, ""))


def is_made(mesh_service: Resource) -> bool:
    """Say whether a control plane made a MeshService of a Kubernetes Service."""
    return (
        mesh_service.type == "MeshService"
        and mesh_service.labels.get(MANAGED_BY) == BY_KUBERNETES
        and bool(mesh_service.labels.get(SERVICE_NAME))
    )


def _mesh_around(namespace: Resource, *, noted: bool) -> str:
    return namespace.labels.get(MESH) or (namespace.annotations.get(MESH, "") if noted else "")


def _gateway_pods(resource: Resource) -> Iterator[Mapping[str, str]]:
    """Yield the labels of Pods that are a gateway's."""
    if resource.type == "Dataplane":
        if mapping(resource.spec.get("networking")).get("gateway") is not None:
            yield resource.labels
        return
    for pod in pod_templates(resource):
        metadata = mapping(pod.get("metadata"))
        if GATEWAY in mapping(metadata.get("annotations")):
            yield texts(metadata.get("labels"))


def _mesh_service(service: Resource, mesh: str, how: How) -> Resource:
    labels = {
        **service.labels,
        MESH: mesh,
        SERVICE_NAME: service.name,
        MANAGED_BY: BY_KUBERNETES,
        ENV: "kubernetes",
        HEADLESS: "false",
    }
    selected = {str(k): v for k, v in mapping(service.spec.get("selector")).items()}
    spec = {
        "selector": selector({**selected, NAMESPACE: service.namespace}, how),
        "ports": list(_ports(service)),
    }
    metadata = {"name": service.name, "namespace": service.namespace, "labels": labels}
    head = {"apiVersion": "kuma.io/v1alpha1", "kind": "MeshService"}
    return Resource(
        type="MeshService",
        mesh=mesh,
        name=service.name,
        namespace=service.namespace,
        labels=labels,
        spec=spec,
        form=Form.KUBERNETES,
        spec_path=("spec",),
        body={**head, "metadata": metadata, "spec": spec},
    )


def selector(wanted: Mapping[str, Any], how: How) -> dict[str, Any]:
    """Return the selector of a MeshService for some tags or labels, as the release writes it."""
    if how["selector"] == "dataplaneLabels":
        return {"dataplaneLabels": {"matchLabels": dict(wanted)}}
    return {"dataplaneTags": dict(wanted)}


def _ports(service: Resource) -> Iterator[dict[str, Any]]:
    for port in mappings(service.spec.get("ports")):
        if port.get("protocol", "TCP") != "TCP":
            continue
        yield {
            "name": section_of(port),
            "port": port.get("port"),
            "targetPort": port.get("targetPort", port.get("port")),
            "appProtocol": str(port.get("appProtocol") or "tcp"),
        }
