"""Which protocols service tags have, and which tags a port of a MeshService replaces."""

from __future__ import annotations

from kumamigrate.model.kri import Kri, section_of
from kumamigrate.model.kubernetes.workloads import port_protocol, service_tag
from kumamigrate.model.protocols import UNKNOWN_PROTOCOL
from kumamigrate.model.release import release as release_of
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.model.state import State
from kumamigrate.targetref.backendref import DEFAULT_PROTOCOL, ports_of, protocols_at
from kumamigrate.universe.dataplaneparts import inbounds_of
from kumamigrate.universe.endpoints import endpoint_protocols


def tag_protocols(state: State) -> dict[str, set[str]]:
    """Return the protocols of service tags.

    Dataplanes and ExternalServices give them; of other services the MeshService says the same,
    as long as its ports agree: which of them the tag means the MeshService does not say. A Service
    of Kubernetes gives its inbounds the tag and its protocol.
    """
    found = endpoint_protocols(
        (
            *(i for d in state.of_type("Dataplane") for i in inbounds_of(d)),
            *(r.spec for r in state.of_type("ExternalService")),
        ),
        release_of(state.release),
    )
    told: dict[str, set[str]] = {}
    for service in state.of_type("MeshService"):
        for port in ports_of(service.spec) if not service.made_up else ():
            section = section_of(port)
            protocol = str(port.get("appProtocol") or DEFAULT_PROTOCOL)
            for tag, _ in tags_of(service, section):
                told.setdefault(tag, set()).add(protocol)
    for kubernetes in state.of_type("Service"):
        for port in ports_of(kubernetes.spec) if not kubernetes.templated else ():
            told[service_tag(kubernetes, port)] = {port_protocol(kubernetes, port)}
    agreed = {tag: protocols for tag, protocols in told.items() if len(protocols) == 1}
    return {**agreed, **found}


def tags_of(service: Resource, section: str) -> list[tuple[str, str]]:
    """Return the service tags that a port of a MeshService replaces, with the port's number.

    By label `kuma.io/service`, else `name_namespace_svc_port`, else the plain name.
    """
    label = service.labels.get(SERVICE)
    if label:
        return [(label, "")]
    name, space = service.display_name, service.namespace_label
    if not space:
        return [(name, "")]
    numbers = [
        str(port.get("port", "")) for port in ports_of(service.spec) if section_of(port) == section
    ]
    return [(f"{name}_{space}_svc_{number}", number) for number in numbers]


def real_protocol(resource: Resource, kri: Kri) -> str:
    """Return the protocol that a real resource says at a port, where it says one."""
    protocols = protocols_at(resource, kri.section) if not resource.made_up else frozenset[str]()
    return next(iter(protocols)) if len(protocols) == 1 else UNKNOWN_PROTOCOL
