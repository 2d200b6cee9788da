"""Dataplanes implied by Kubernetes workloads: what the control plane would make of their Pods.

A Pod gives its labels both to the Dataplane (as labels) and to every inbound (as tags, but for
keys of kuma.io and empty values); Services that select it give the inbounds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kumamigrate.model.digits import is_number
from kumamigrate.model.kinds import WORKLOADS
from kumamigrate.model.kubernetes.kubeservices import IGNORE, SERVICE_NAME, ZONE_PROXY
from kumamigrate.model.kubernetes.pods import (
    GATEWAY,
    ON,
    WITHOUT_TAGS,
    has_sidecar,
    mesh_of_pod,
    meta_of,
    own_mesh,
    pod_templates,
)
from kumamigrate.model.resource import (
    ENV,
    MESH,
    NAMESPACE,
    ORIGIN,
    SERVICE,
    ZONE,
    Resource,
    mapping,
    sequence,
)
from kumamigrate.model.state import State
from kumamigrate.model.universalservices import SPOKEN, WORKLOAD
from kumamigrate.model.versions import at_least
from kumamigrate.source.reading.load import read_file

_ACCOUNT = "k8s.kuma.io/service-account"
_PROTOCOL = "kuma.io/protocol"
_GATEWAY_TAGS = "kuma.io/tags"
_SERVICES_REACHED = "kuma.io/transparent-proxying-reachable-services"
_BACKENDS_REACHED = "kuma.io/reachable-backends"
_SERVICELESS_PORT = 49151
NAMED_SINCE, _WORKLOADS_SINCE, _FIELD_SINCE, _LISTENERS_SINCE = "2.10", "2.13", "2.14", "2.14"
_ONE_A_PORT_SINCE = "3.0"


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
    services = _Services(s for s in state.of_type("Service") if _gives_inbounds(s, state.release))
    found = []
    for workload in state.of_type(*sorted(WORKLOADS)):
        for pod in pod_templates(workload):
            around = namespaces.get(workload.namespace)
            if has_sidecar(pod, around, state.release) is (True if sure else None) and (
                mesh_of_pod(pod, around, state.release) == mesh
                if sure
                else own_mesh(pod, state.release) in ("", mesh)
            ):
                near = services.of(workload.namespace, meta_of(pod, "labels"))
                found.append(_dataplane(state, workload, pod, near, mesh))
    return tuple(found)


def _gives_inbounds(service: Resource, release: str) -> bool:
    """Say whether the ports of a Service become inbounds of the Pods that it selects."""
    if service.spec.get("type") == "ExternalName" or service.annotations.get(IGNORE) in ON:
        return False
    return not (at_least(release, _LISTENERS_SINCE) and ZONE_PROXY in service.labels)


class _Services:
    """Services by namespace and a label that their selector asks for: few select one Pod."""

    def __init__(self, services: Iterable[Resource]) -> None:
        self._by_label: dict[tuple[str, str, str], list[Resource]] = {}
        for service in services:
            for key, value in mapping(service.spec.get("selector")).items():
                found = self._by_label.setdefault((service.namespace, key, str(value)), [])
                found.append(service)
                break

    def of(self, namespace: str, labels: Mapping[str, str]) -> list[Resource]:
        """Return those that select a Pod with some labels, by name, as their inbounds come."""
        near = (
            one
            for key, value in labels.items()
            for one in self._by_label.get((namespace, key, value), ())
        )
        return sorted(
            (
                service
                for service in near
                if all(
                    labels.get(key) == str(value)
                    for key, value in mapping(service.spec["selector"]).items()
                )
            ),
            key=lambda service: service.name,
        )


def _dataplane(
    state: State,
    workload: Resource,
    pod: Mapping[str, Any],
    services: list[Resource],
    mesh: str,
) -> Resource:
    zone = state.environment.zone if state.environment.mode == "zone" else ""
    own = meta_of(pod, "labels")
    labels = {**own, MESH: mesh, ENV: "kubernetes", NAMESPACE: workload.namespace}
    if zone:
        labels |= {ORIGIN: "zone", ZONE: zone}
    spec = mapping(pod.get("spec"))
    # Kubernetes reads the old name of the field where the new one is not there.
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    labels[_ACCOUNT] = str(account or "default")
    if at_least(state.release, _WORKLOADS_SINCE):
        labels[WORKLOAD] = labels[_ACCOUNT]  # unless the control plane is set to look at labels
    around = {NAMESPACE: workload.namespace, **({ZONE: zone} if zone else {})}
    return Resource(
        type="Dataplane",
        mesh=mesh,
        name=workload.name,
        namespace=workload.namespace,
        labels=labels,
        annotations=meta_of(pod, "annotations"),
        spec={"networking": _networking(workload, pod, services, around, state.release)},
        where=workload.where,
        made_up=True,
        templated=workload.templated,
    )


def _networking(
    workload: Resource,
    pod: Mapping[str, Any],
    services: list[Resource],
    around: Mapping[str, str],
    release: str,
) -> dict[str, Any]:
    """Return address and inbounds, or the gateway, of a Pod; `around`: tags of its place."""
    networking: dict[str, Any] = {"address": "0.0.0.0"}  # none is known
    reach = _reach(meta_of(pod, "annotations"), release)
    if reach:
        networking["transparentProxying"] = reach
    kind = meta_of(pod, "annotations").get(GATEWAY)
    if kind == "builtin":
        return {**networking, "gateway": {"type": "BUILTIN", "tags": _gateway_tags(pod, around)}}
    if kind == "provided" and workload.type == "Deployment":
        # Not a service tag: nothing reaches such a gateway by one.
        tags = {"kuma.io/service-name": f"{workload.name}_{workload.namespace}_svc"}
        return {**networking, "gateway": {"type": "DELEGATED", "tags": tags}}
    own = {k: v for k, v in meta_of(pod, "labels").items() if v}
    shared = {k: v for k, v in own.items() if "kuma.io/" not in k}
    inbounds: list[Mapping[str, Any]] = [
        {**inbound, "tags": {**shared, **around, **inbound["tags"]}}
        for service in services
        for inbound in _inbounds(service, mapping(pod.get("spec")), release)
    ]
    if at_least(release, _ONE_A_PORT_SINCE):
        inbounds = _first_of_each_port(inbounds)
    if not inbounds:
        tags = {SERVICE: f"{workload.name}_{workload.namespace}_svc", _PROTOCOL: "tcp"}
        alone = {"port": _SERVICELESS_PORT, "tags": {**own, **around, **tags}}
        inbounds = [_speaking(alone, "tcp", release)]
    if kind is None:
        return {**networking, "inbound": inbounds}
    tags = dict(inbounds[0]["tags"])
    if kind in ON and tags[_PROTOCOL] != "tcp":
        del tags[_PROTOCOL]
    return {**networking, "gateway": {"type": "DELEGATED", "tags": tags}}


def _first_of_each_port(inbounds: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the first inbound at each port: several Services may select a Pod by one."""
    found: dict[Any, Mapping[str, Any]] = {}
    for inbound in inbounds:
        found.setdefault(inbound.get("port"), inbound)
    return list(found.values())


def _reach(notes: Mapping[str, str], release: str) -> dict[str, Any]:
    """Return what the annotations of a Pod say of services that it reaches."""
    found: dict[str, Any] = {}
    tags = [tag.strip() for tag in notes.get(_SERVICES_REACHED, "").split(",")]
    if any(tags) and not at_least(release, WITHOUT_TAGS):
        found["reachableServices"] = [tag for tag in tags if tag]
    if _BACKENDS_REACHED in notes:
        read = read_file("annotation", notes[_BACKENDS_REACHED].encode()).documents
        said = read[0].value if read else None
        found["reachableBackends"] = dict(mapping(said))
    return found


def _gateway_tags(pod: Mapping[str, Any], around: Mapping[str, str]) -> dict[str, str]:
    """Return the tags of a built-in gateway, which an annotation holds as JSON."""
    try:
        noted = mapping(json.loads(meta_of(pod, "annotations").get(_GATEWAY_TAGS, "")))
    except ValueError:
        noted = {}
    zone = {ZONE: around[ZONE]} if ZONE in around else {}
    return {str(k): str(v) for k, v in noted.items()} | zone


def _inbounds(service: Resource, pod: Mapping[str, Any], release: str) -> Iterator[dict[str, Any]]:
    ports = list(_container_ports(pod))
    declared = {name: number for name, number in reversed(ports) if name}
    for port in service.spec.get("ports") or ():
        if not isinstance(port, Mapping) or port.get("protocol", "TCP") != "TCP":
            continue
        number = port.get("port")
        goal = port.get("targetPort")
        goal = number if goal is None else goal
        name = goal if isinstance(goal, str) and not is_number(goal) else ""
        protocol = port_protocol(service, port)
        inbound: dict[str, Any] = {
            "port": declared.get(name) if name else _number(goal),
            "tags": {
                SERVICE: service_tag(service, port),
                _PROTOCOL: protocol,
                SERVICE_NAME: service.name,
                "k8s.kuma.io/service-port": str(number),
            },
        }
        shown = name or next((n for n, at in ports if at == inbound["port"]), "")
        if shown and at_least(release, NAMED_SINCE):
            inbound["name"] = shown
        if inbound["port"] is not None:
            yield _speaking(inbound, protocol, release)


def _speaking(inbound: dict[str, Any], protocol: str, release: str) -> dict[str, Any]:
    """Return an inbound that says its protocol in a field of its own, where there is one."""
    return {**inbound, "protocol": protocol} if at_least(release, _FIELD_SINCE) else inbound


def _container_ports(pod: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield name and number of the TCP ports that the containers of a Pod declare, in order."""
    for container in pod.get("containers") or ():
        for port in map(mapping, sequence(mapping(container).get("ports"))):
            if port.get("protocol", "TCP") == "TCP":
                yield str(port.get("name") or ""), port.get("containerPort")


def service_tag(service: Resource, port: Mapping[str, Any]) -> str:
    """Return the service tag that inbounds get from a port of a Kubernetes Service."""
    return f"{service.name}_{service.namespace}_svc_{port.get('port')}"


def port_protocol(service: Resource, port: Mapping[str, Any]) -> str:
    """Return the protocol that inbounds get from a port of a Kubernetes Service.

    An `appProtocol` that Kuma does not speak counts as none; an annotation is taken as it stands.
    """
    said = str(port.get("appProtocol") or "").lower()
    noted = service.annotations.get(f"{port.get('port')}.service.kuma.io/protocol")
    return said if said in SPOKEN else str(noted or "tcp").lower()


def _number(value: Any) -> int | None:
    return int(value) if isinstance(value, int | str) and is_number(str(value)) else None
