"""Dataplanes implied by Kubernetes workloads: what the control plane would make of their Pods.

A Pod gives its labels both to the Dataplane (as labels) and to every inbound (as tags, but for
keys of kuma.io and empty values); Services that select it give the inbounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kumamigrate.model.digits import is_number
from kumamigrate.model.kinds import WORKLOADS
from kumamigrate.model.resource import (
    ENV,
    MESH,
    NAMESPACE,
    ORIGIN,
    SERVICE,
    ZONE,
    Resource,
    mapping,
)
from kumamigrate.model.state import State
from kumamigrate.model.versions import at_least

_INJECTION = "kuma.io/sidecar-injection"
_ON = ("enabled", "true", "yes")
_GATEWAY = "kuma.io/gateway"
_ACCOUNT = "k8s.kuma.io/service-account"
_PROTOCOL = "kuma.io/protocol"
_SERVICELESS_PORT = 49151


def implied_dataplanes(state: State, mesh: str) -> tuple[Resource, ...]:
    """Return one made-up Dataplane per injected Pod template of a mesh, in file order.

    Made once for a state.

    From 2.10 on an inbound has the name of its container's port (catalogue, dp-inbound-name);
    earlier ones are left without. A Pod that no Service of the state selects has the one inbound
    of its workload.
    """
    return _kept(state, mesh, sure=True)


def possible_dataplanes(state: State, mesh: str) -> tuple[Resource, ...]:
    """Return the same for the Pods that their namespace, which the state lacks, may inject."""
    return _kept(state, mesh, sure=False)


def _kept(state: State, mesh: str, *, sure: bool) -> tuple[Resource, ...]:
    if ("implied", mesh, sure) not in state.known:
        state.known["implied", mesh, sure] = _implied(state, mesh, sure=sure)
    found: tuple[Resource, ...] = state.known["implied", mesh, sure]
    return found


def _implied(state: State, mesh: str, *, sure: bool) -> tuple[Resource, ...]:
    namespaces = {r.name: r for r in state.of_type("Namespace")}
    services = _Services(state.of_type("Service"))
    found = []
    for workload in state.of_type(*sorted(WORKLOADS)):
        for pod in pod_templates(workload):
            around = namespaces.get(workload.namespace)
            if _injected(pod, around) is (True if sure else None) and (
                _mesh(pod, around) == mesh if sure else _own_mesh(pod) in ("", mesh)
            ):
                near = services.of(workload.namespace, _meta(pod, "labels"))
                found.append(_dataplane(state, workload, pod, near, mesh))
    return tuple(found)


class _Services:
    """Services by namespace and a label that their selector asks for: few select one Pod."""

    def __init__(self, services: Iterable[Resource]) -> None:
        self._by_label: dict[tuple[str, str, str], list[tuple[int, Resource]]] = {}
        for at, service in enumerate(services):
            for key, value in mapping(service.spec.get("selector")).items():
                found = self._by_label.setdefault((service.namespace, key, str(value)), [])
                found.append((at, service))
                break

    def of(self, namespace: str, labels: Mapping[str, str]) -> list[Resource]:
        """Return those that select a Pod with some labels, in their order."""
        near = [
            one
            for key, value in labels.items()
            for one in self._by_label.get((namespace, key, value), ())
        ]
        return [
            service
            for _, service in sorted(near, key=lambda one: one[0])
            if all(
                labels.get(key) == str(value)
                for key, value in mapping(service.spec["selector"]).items()
            )
        ]


def injecting(resources: Iterable[Resource]) -> frozenset[str]:
    """Return the names of the Namespaces whose Pods get a sidecar without asking for it."""
    return frozenset(r.name for r in resources if r.type == "Namespace" and injects(r))


def pod_templates(workload: Resource) -> Iterator[Mapping[str, Any]]:
    """Yield the templates of a workload's Pods; a Pod is its own."""
    if workload.type == "Pod":
        yield workload.body
        return
    spec: Any = workload.spec
    if workload.type == "CronJob":
        spec = mapping(mapping(spec.get("jobTemplate")).get("spec"))
    template = spec.get("template")
    if isinstance(template, Mapping):
        yield template


def _injected(pod: Mapping[str, Any], namespace: Resource | None) -> bool | None:
    """Say whether a Pod gets a sidecar; None where its namespace, which is unknown, decides.

    Labels ask for it; an annotation of that name does nothing since 2.2.
    """
    labels, notes = _meta(pod, "labels"), _meta(pod, "annotations")
    if labels.get(_GATEWAY) or notes.get(_GATEWAY):
        return True
    if labels.get(_INJECTION):
        return labels[_INJECTION] in _ON
    return None if namespace is None else injects(namespace)


def injects(namespace: Resource) -> bool:
    """Say whether the Pods of a Namespace get a sidecar without asking for it."""
    return namespace.labels.get(_INJECTION) in _ON


def mesh_of_namespace(namespace: Resource) -> str:
    """Return the mesh of the Pods of a Namespace that name none themselves."""
    return namespace.labels.get(MESH) or namespace.annotations.get(MESH) or "default"


def _mesh(pod: Mapping[str, Any], namespace: Resource | None) -> str:
    around = "default" if namespace is None else mesh_of_namespace(namespace)
    return _own_mesh(pod) or around


def _own_mesh(pod: Mapping[str, Any]) -> str:
    return _meta(pod, "labels").get(MESH) or _meta(pod, "annotations").get(MESH) or ""


def _dataplane(
    state: State,
    workload: Resource,
    pod: Mapping[str, Any],
    services: list[Resource],
    mesh: str,
) -> Resource:
    zone = state.environment.zone if state.environment.mode == "zone" else ""
    own = _meta(pod, "labels")
    labels = {**own, MESH: mesh, ENV: "kubernetes", NAMESPACE: workload.namespace}
    if zone:
        labels |= {ORIGIN: "zone", ZONE: zone}
    spec = mapping(pod.get("spec"))
    labels[_ACCOUNT] = str(spec.get("serviceAccountName") or "default")
    shared = {k: v for k, v in own.items() if v and "kuma.io/" not in k}
    shared[NAMESPACE] = workload.namespace
    if zone:
        shared[ZONE] = zone
    inbounds = [
        {**inbound, "tags": {**shared, **inbound["tags"]}}
        for service in services
        for inbound in _inbounds(service, spec, named=at_least(state.release, "2.10"))
    ]
    if not inbounds:
        tags = {SERVICE: f"{workload.name}_{workload.namespace}_svc", _PROTOCOL: "tcp"}
        inbounds = [{"port": _SERVICELESS_PORT, "tags": {**shared, **tags}}]
    networking: dict[str, Any] = {"address": "0.0.0.0"}  # none is known
    if _meta(pod, "annotations").get(_GATEWAY) in ("enabled", "true", "provided"):
        networking["gateway"] = {"type": "DELEGATED", "tags": inbounds[0]["tags"]}
    else:
        networking["inbound"] = inbounds
    return Resource(
        type="Dataplane",
        mesh=mesh,
        name=workload.name,
        namespace=workload.namespace,
        labels=labels,
        annotations=_meta(pod, "annotations"),
        spec={"networking": networking},
        where=workload.where,
        made_up=True,
        templated=workload.templated,
    )


def _inbounds(
    service: Resource, pod: Mapping[str, Any], *, named: bool
) -> Iterator[dict[str, Any]]:
    ports = list(_container_ports(pod))
    declared = {name: number for name, number in ports if name}
    for port in service.spec.get("ports") or ():
        if not isinstance(port, Mapping) or port.get("protocol", "TCP") != "TCP":
            continue
        number = port.get("port")
        goal = port.get("targetPort")
        goal = number if goal is None else goal
        name = goal if isinstance(goal, str) and not is_number(goal) else ""
        tags = {SERVICE: service_tag(service, port), _PROTOCOL: port_protocol(service, port)}
        inbound: dict[str, Any] = {
            "port": declared.get(name) if name else _number(goal),
            "tags": tags,
        }
        shown = name or next((n for n, at in ports if at == inbound["port"]), "")
        if named and shown:
            inbound["name"] = shown
        if inbound["port"] is not None:
            yield inbound


def _container_ports(pod: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield name and number of the TCP ports that the containers of a Pod declare, in order."""
    for container in pod.get("containers") or ():
        ports = mapping(container).get("ports")
        for port in map(mapping, ports if isinstance(ports, list) else ()):
            if port.get("protocol", "TCP") == "TCP":
                yield str(port.get("name") or ""), port.get("containerPort")


def service_tag(service: Resource, port: Mapping[str, Any]) -> str:
    """Return the service tag that inbounds get from a port of a Kubernetes Service."""
    return f"{service.name}_{service.namespace}_svc_{port.get('port')}"


def port_protocol(service: Resource, port: Mapping[str, Any]) -> str:
    """Return the protocol that inbounds get from a port of a Kubernetes Service."""
    noted = service.annotations.get(f"{port.get('port')}.service.kuma.io/protocol")
    return str(port.get("appProtocol") or noted or "tcp")


def _number(value: Any) -> int | None:
    return int(value) if isinstance(value, int | str) and is_number(str(value)) else None


def _meta(pod: Mapping[str, Any], part: str) -> dict[str, str]:
    metadata = mapping(pod.get("metadata"))
    return {str(k): str(v) for k, v in mapping(metadata.get(part)).items()}
