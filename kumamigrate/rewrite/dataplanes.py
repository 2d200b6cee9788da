"""What rules read of Universal Dataplanes and write into them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kumamigrate.model.resource import NAMESPACE, SERVICE, Resource, mapping
from kumamigrate.pattern import pattern
from kumamigrate.rewrite.manifest import Json, items
from kumamigrate.source.text import FieldPath, at_path

DNS_LABEL = pattern(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
"""A name as RFC 1035 wants it: what a MeshService must be called."""

WORKLOAD = "kuma.io/workload"

_GENERATED = pattern(r"([^_]+)_([^_]+)_svc_([0-9]{1,10})")


def tag_paths(dataplane: Resource) -> Iterator[FieldPath]:
    """Yield the path of every set of tags: those of inbounds, then those of a gateway."""
    at = (*dataplane.spec_path, "networking")
    for index in range(len(items(dataplane.body, (*at, "inbound")))):
        if isinstance(at_path(dataplane.body, (*at, "inbound", index, "tags")), Mapping):
            yield (*at, "inbound", index, "tags")
    if isinstance(at_path(dataplane.body, (*at, "gateway", "tags")), Mapping):
        yield (*at, "gateway", "tags")


def services_of(dataplane: Resource) -> tuple[str, ...]:
    """Return the services that the inbounds of a Dataplane belong to, each once."""
    inbounds = items(dataplane.spec, ("networking", "inbound"))
    named = (at_path(inbound, ("tags", SERVICE)) for inbound in inbounds)
    return tuple(dict.fromkeys(str(name) for name in named if name))


def written_labels(dataplane: Resource) -> Mapping[str, str]:
    """Return the labels of a Universal resource as its manifest has them."""
    return mapping(dataplane.body.get("labels"))


def workload_to_come(dataplane: Resource) -> str:
    """Return the workload that a Universal Dataplane gets with the upgrade, if it is clear."""
    services = services_of(dataplane)
    if is_from_kubernetes(dataplane) or WORKLOAD in written_labels(dataplane) or len(services) != 1:
        return ""
    return services[0] if DNS_LABEL.fullmatch(services[0]) else ""


def with_labels(dataplane: Resource, labels: Mapping[str, str]) -> Json:
    """Return the manifest of a Universal resource with further labels, below its name."""
    merged = {**written_labels(dataplane), **labels}
    body: dict[str, Json] = {}
    for key, value in dataplane.body.items():
        body[key] = merged if key == "labels" else value
        if key == "name" and "labels" not in dataplane.body:
            body["labels"] = merged
    return body if "labels" in body else {**body, "labels": merged}


def is_from_kubernetes(dataplane: Resource) -> bool:
    """Say whether a Dataplane was exported from Kubernetes, where nobody writes it by hand."""
    return NAMESPACE in written_labels(dataplane)


def generated_name(service: str) -> tuple[str, str, int] | None:
    """Take `name_namespace_svc_port` apart, the tag that Kubernetes Services get."""
    found = _GENERATED.fullmatch(service)
    return (found[1], found[2], int(found[3])) if found else None
